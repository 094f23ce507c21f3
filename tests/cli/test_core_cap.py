"""The core tier holds no more than its cap, whoever writes `tier: core` and wherever."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.cli.running import Cli
from tests.server.running import eventually, running

CAP = 5


@pytest.fixture
def full(cli: Cli) -> Cli:
    """A home whose core is full: the self, and four memories."""
    cli.home.mkdir(parents=True)
    (cli.home / "config.toml").write_text(f"[write]\ncore_cap = {CAP}\n", encoding="utf-8")
    cli.remember("I live in Bremen", "--about-self", "--tier", "core")
    for text in ("Tests run with pytest", "Money is in cents", "Errors go to Sentry"):
        cli.remember(text, "--tier", "core")
    assert len(core(cli)) == CAP
    return cli


@pytest.fixture(params=["alone", "daemon"])
def either(request: pytest.FixtureRequest, full: Cli) -> Iterator[Cli]:
    with running(full.home) if request.param == "daemon" else nullcontext():
        yield full


def core(cli: Cli) -> set[str]:
    """Return the ids of the memories whose file says that they are in core."""
    texts = (path.read_text(encoding="utf-8") for path in cli.files)
    return {id_in(text) for text in texts if re.search("^tier: core$", text, re.MULTILINE)}


def in_core(cli: Cli) -> int:
    """Return how many memories are in core as the index knows it."""
    return int(cli.ok("list", "--tier", "core", "--limit", "200")["total"])


def id_in(text: str) -> str:
    found = re.search("^id: (.+)$", text, re.MULTILINE)
    assert found is not None
    return found[1]


def file_of(cli: Cli, memory_id: str) -> Path:
    return next(path for path in cli.files if id_in(path.read_text("utf-8")) == memory_id)


def self_of(cli: Cli) -> str:
    texts = (path.read_text(encoding="utf-8") for path in cli.files)
    return next(id_in(text) for text in texts if "source: system:self" in text)


def edit_to_core(cli: Cli, memory_id: str) -> None:
    path = file_of(cli, memory_id)
    text = path.read_text(encoding="utf-8")
    changed = re.sub("^tier: .+$", "tier: core", text, count=1, flags=re.MULTILINE)
    path.write_text(changed, encoding="utf-8")


def verbs(cli: Cli, memory_id: str) -> list[str]:
    return [str(each["body"].get("verb")) for each in cli.ok("history", memory_id)["events"]]


def is_demoted(cli: Cli, memory_id: str) -> bool:
    return "demote" in verbs(cli, memory_id)


def test_the_self_counts_and_one_more_memory_moves_the_least_important(full: Cli) -> None:
    new = full.remember("The gateway runs in Frankfurt", "--tier", "core")

    assert len(core(full)) == CAP
    assert {new, self_of(full)} <= core(full)


def test_the_documented_cap_is_fifty_with_the_self(cli: Cli) -> None:
    cli.remember("I live in Bremen", "--about-self", "--tier", "core")
    for number in range(52):
        cli.remember(f"Rule number {number} of the house", "--tier", "core")

    assert len(core(cli)) == 50
    assert self_of(cli) in core(cli)


@pytest.mark.few(3)
@pytest.mark.parametrize("door", ["reconcile", "rebuild"])
def test_a_file_edited_to_core_is_held_to_the_cap_at_the_next_reconcile(
    either: Cli, door: str
) -> None:
    edited = either.remember("The gateway runs in Frankfurt")
    before = core(either)
    edit_to_core(either, edited)

    either.ok(door)

    assert len(core(either)) == CAP
    assert {edited, self_of(either)} <= core(either)
    (gone,) = before - core(either)
    assert is_demoted(either, gone)
    assert either.ok("show", gone)["memory"]["tier"] == "working"


@pytest.mark.soak
def test_the_watcher_holds_the_cap_by_itself(full: Cli) -> None:
    edited = full.remember("The gateway runs in Frankfurt")
    with running(full.home):
        edit_to_core(full, edited)

        eventually(lambda: len(core(full)) == CAP, 15)
        assert {edited, self_of(full)} <= core(full)


def test_a_file_put_into_the_vault_counts_too(full: Cli) -> None:
    for number in range(3):
        path = full.home / "vault" / f"note-{number}.md"
        path.write_text(f"---\ntier: core\n---\nNote number {number}\n", encoding="utf-8")

    ran = full("reconcile")

    assert ran.code == 0
    assert "core is full: moved" in ran.out + ran.err
    assert in_core(full) == CAP


def test_many_files_edited_at_once_leave_the_most_important(full: Cli) -> None:
    used = full.remember("The gateway runs in Frankfurt")
    others = [full.remember(f"Note number {number} of the shop") for number in range(6)]
    for each in others:
        full.ok("link", used, each)
    full.ok("sleep", "importance_scorer")
    for each in (used, *others):
        edit_to_core(full, each)

    full.ok("reconcile")

    assert len(core(full)) == CAP
    assert {used, self_of(full)} <= core(full)


@pytest.mark.parametrize("command", [("recall", "gateway"), ("status",), ("list",), ("show",)])
def test_reading_moves_nothing(full: Cli, command: tuple[str, ...]) -> None:
    edited = full.remember("The gateway runs in Frankfurt")
    edit_to_core(full, edited)
    before = {path.name: path.read_bytes() for path in full.files}

    full.ok(*command, *((edited,) if command == ("show",) else ()))

    assert {path.name: path.read_bytes() for path in full.files} == before


def test_a_demotion_is_taken_back_and_the_next_one_goes_instead(full: Cli) -> None:
    edited = full.remember("The gateway runs in Frankfurt")
    before = core(full)
    edit_to_core(full, edited)
    full.ok("reconcile")
    (gone,) = before - core(full)
    change = next(
        each["body"]["change"]
        for each in full.ok("history", gone)["events"]
        if each["body"].get("verb") == "demote"
    )

    full.ok("undo", change)
    full.ok("reconcile")

    assert gone in core(full)
    assert len(core(full)) == CAP
    assert self_of(full) in core(full)


def test_who_edits_the_file_once_more_is_obeyed(full: Cli) -> None:
    edited = full.remember("The gateway runs in Frankfurt")
    before = core(full)
    edit_to_core(full, edited)
    full.ok("reconcile")
    (gone,) = before - core(full)

    edit_to_core(full, gone)
    for _ in range(3):
        full.ok("reconcile")

    assert gone in core(full)
    assert len(core(full)) == CAP


def test_what_nobody_edited_is_left_alone_below_the_cap(full: Cli) -> None:
    before = {path.name: path.read_bytes() for path in full.files}

    full.ok("reconcile")
    full.ok("rebuild")
    full.ok("sleep", "index_updater")

    assert {path.name: path.read_bytes() for path in full.files} == before


def test_the_night_holds_what_a_restore_brought_back(full: Cli) -> None:
    kept = sorted(core(full) - {self_of(full)})[0]
    full.ok("forget", kept)
    full.remember("The gateway runs in Frankfurt", "--tier", "core")
    full.ok("restore", kept)

    before = core(full)
    (shown,) = full.ok("sleep", "index_updater", "--dry-run")["reports"]
    assert shown["counts"]["over_core_cap"] == 1
    assert core(full) == before

    (report,) = full.ok("sleep", "index_updater")["reports"]

    assert len(core(full)) == CAP
    assert self_of(full) in core(full)
    full.ok("undo", report["run"])
    assert core(full) == before


def test_an_import_of_core_memories_is_held_to_the_cap(full: Cli, tmp_path: Path) -> None:
    other = Cli(tmp_path / "other")
    for number in range(4):
        other.remember(f"Imported note number {number}", "--tier", "core")

    full.ok("import", "madeleine", str(other.home / "vault"))
    full.ok("reconcile")

    assert in_core(full) == CAP
    assert self_of(full) in core(full)
