"""A newcomer's first week, through the real command: nothing they do loses anything."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.running import Cli

PATIENCE_SECONDS = 20.0  # a hand edit shows within a second; a busy machine may need more


@pytest.fixture
def marta(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cli]:
    """Marta, who has just installed it; the daemon ends with her test."""
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    monkeypatch.delenv("MADELEINE_HOME", raising=False)
    cli = Cli(tmp_path / "home")
    yield cli
    cli("stop")


def eventually(happens: Callable[[], bool]) -> None:
    """Wait until something is so; bounded."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not happens():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.02)


def answers(cli: Cli) -> dict[str, object]:
    """Everything a person can ask, less what asking itself changes."""
    listed = cli.ok("list", "--outdated", "--limit", "1000")["memories"]
    ids = sorted(each["id"] for each in listed)
    return {
        "shown": [said(cli.ok("show", each)) for each in ids],
        "history": [changes(cli.ok("history", each)) for each in ids],
        "trash": sorted(each["path"] for each in cli.ok("list", "--trash")["memories"]),
        "proposals": cli.ok("proposals", "--status", "all")["proposals"],
    }


def said(answer: dict[str, object]) -> dict[str, object]:
    memory = answer["memory"]
    assert isinstance(memory, dict)
    use = ("access_count", "last_accessed", "last_review", "stability", "importance")
    told = {key: value for key, value in memory.items() if key not in use}
    return {"memory": told, "connections": answer["connections"], "path": answer["path"]}


def changes(answer: dict[str, object]) -> list[object]:
    events = answer["events"]
    assert isinstance(events, list)
    return [(each["id"], each.get("outcome")) for each in events if each["kind"] != "used"]


def test_a_newcomer_tries_every_verb_and_takes_it_all_back(marta: Cli) -> None:
    decision = marta.remember("Chose SQLite over Postgres", "--type", "decision", "--space", "tide")
    rumour = marta.remember("We might move to Postgres", "--space", "tide")
    fact = marta.remember("Postgres needs a server", "--space", "tide")
    twin = marta.remember("A server is what Postgres needs, always", "--space", "tide")
    before = {file.name: file.read_bytes() for file in marta.files}

    done = [
        marta.ok("revise", decision, "--title", "SQLite it is", "--tag", "storage")["change"],
        marta.ok("link", decision, fact, "--edge", "depends_on", "--reason", "no server")["change"],
        marta.ok("retire", rumour, "--reason", "dropped", "--superseded-by", decision)["change"],
        marta.ok("merge", fact, twin, "--title", "Postgres and servers")["change"],
        marta.ok("forget", fact)["change"],
    ]
    assert {file.name for file in marta.files} != set(before)

    for change in reversed(done):
        assert marta("undo", change[:8]).code == 0
    assert {file.name: file.read_bytes() for file in marta.files} == before


def test_a_file_edited_by_hand_is_recalled_as_it_now_says(marta: Cli) -> None:
    memory = marta.remember("The ferry leaves at nine", "--title", "Ferry")
    file = marta.files[0]

    file.write_text(
        file.read_text(encoding="utf-8").replace("at nine", "at half past ten"), "utf-8"
    )

    assert (
        marta.ok("show", memory)["memory"]["content"].strip() == "The ferry leaves at half past ten"
    )
    assert marta.ok("recall", "half past ten")["results"][0]["memory"]["id"] == memory


def test_while_the_daemon_runs_edits_by_hand_show_by_themselves(marta: Cli) -> None:
    assert marta.process("serve", "--port", "0").code == 0
    memory = marta.remember("The ferry leaves at nine", "--title", "Ferry")
    file = marta.files[0]

    file.write_text(file.read_text(encoding="utf-8").replace("at nine", "at ten"), "utf-8")
    eventually(lambda: "at ten" in marta.ok("show", memory)["memory"]["content"])

    file.rename(file.with_name("renamed-by-hand.md"))
    eventually(lambda: marta.ok("show", memory)["path"] == "renamed-by-hand.md")

    (marta.home / "vault" / "note.md").write_text("Bring the anchor.\n", encoding="utf-8")
    eventually(lambda: marta.ok("list")["total"] == 2)

    file.with_name("renamed-by-hand.md").unlink()
    eventually(lambda: marta("show", memory).code == 3)


def _a_lived_in_home(cli: Cli) -> None:
    """Write, change, retire, merge, forget, undo: a little of everything."""
    one = cli.remember("Heights are whole millimetres", "--space", "tide", "--tag", "numbers")
    two = cli.remember("Heights in millimetres, never floats", "--space", "tide")
    three = cli.remember("Releases never on a Friday", "--type", "procedure")
    four = cli.remember("Marta likes short functions", "--about-self", "--type", "preference")
    cli.ok("link", three, one, "--edge", "related_to", "--reason", "a test")
    cli.ok("merge", one, two)
    cli.ok("retire", three, "--reason", "Fridays are fine now")
    change = cli.ok("revise", four, "--title", "Short functions")["change"]
    cli.ok("undo", change)
    five = cli.remember("to be forgotten")
    cli.ok("forget", five)


@pytest.mark.soak
def test_deleting_the_index_changes_no_answer(marta: Cli) -> None:
    _a_lived_in_home(marta)
    before = answers(marta)

    for name in ("index.db", "index.db-wal", "index.db-shm", "embeddings.db"):
        (marta.home / name).unlink(missing_ok=True)

    assert answers(marta) == before


def test_a_copy_of_vault_and_journal_is_the_whole_memory(marta: Cli, tmp_path: Path) -> None:
    _a_lived_in_home(marta)
    before = answers(marta)
    other = Cli(tmp_path / "other-machine")
    for folder in ("vault", "journal"):
        shutil.copytree(marta.home / folder, other.home / folder)

    assert answers(other) == before
    written = other.remember("Written on the other machine")
    assert written not in [each["id"] for each in marta.ok("list")["memories"]]


def test_what_was_forgotten_by_mistake_comes_back(marta: Cli) -> None:
    memory = marta.remember("The harbour office closes at four")
    before = marta.files[0].read_bytes()

    marta.ok("forget", memory)
    assert marta("show", memory).code == 3
    marta.ok("restore", memory[:8])

    assert marta.files[0].read_bytes() == before
    assert marta.ok("show", memory)["memory"]["content"] == "The harbour office closes at four"


def test_a_killed_daemon_leaves_everything_it_acknowledged(marta: Cli) -> None:
    pid = marta.process("serve", "--port", "0", "--json").answer["pid"]
    ids = [marta.remember(f"number {number}") for number in range(5)]

    os.kill(pid, signal.SIGKILL)
    eventually(lambda: marta("status").code == 0)

    assert {each["id"] for each in marta.ok("list")["memories"]} == set(ids)
    assert marta.process("serve", "--port", "0").code == 0
    assert {each["id"] for each in marta.ok("list")["memories"]} == set(ids)
