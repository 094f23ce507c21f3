"""Files that are made to end whoever reads them: nested, endless, or hitting a fault of a library.

Whatever stands in a file, a request or a line, the process lives, says which one it is and goes on
with everything else (I14).
"""

from __future__ import annotations

import signal
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Cli
from tests.examples import others_in_soak
from tests.server.running import Daemon, eventually, running

DEEP = 28_000
HOSTILE = {
    "flow lists": "tags: " + "[" * DEEP + "]" * DEEP,
    "flow lists that never close": "tags: " + "[" * 300_000,
    "flow maps": "tags: " + "{a: " * DEEP,
    "lists and maps in turn": "tags: " + "[{a: " * DEEP,
    "a list per line": "tags:\n" + " [\n" * DEEP,
    "block lists": "tags:\n" + "- " * 500_000 + "a",
    "complex keys": "tags:\n  " + "? " * DEEP + "a",
    "block maps": "tags:\n" + "".join(" " * depth + "a:\n" for depth in range(1, 2_000)),
    "deep at the end of a long list": "tags: [" + "a, " * 20_000 + "[" * DEEP,
    "deep behind a tag": "tags: !!seq " + "[" * DEEP,
    "deep behind an anchor": "tags: &a " + "[" * DEEP,
    "deep as a merge": "origin:\n  <<: " + "{<<: " * DEEP,
    "deep as a connection": "connections:\n- target: " + "[" * DEEP,
    "deep as a date": "created: " + "[" * DEEP,
    "an alias of itself": "tags: &a\n - *a",
    "more values than anybody has": "tags: [" + "a: b, " * 300_000 + "x: y]",
    "more documents than one": "tags:\n" + "--- a\n" * 100_000,
    "a text without end": "title: |\n  " + "x" * 4_000_000,
    "a plain text without end": "title: " + "x" * 4_000_000,
    "more keys than anybody has": "".join(f"key{n}: a\n" for n in range(30_000)) + "last: a",
}


def file_of(front: str) -> str:
    return f"---\n{front}\n---\nA memory with an odd front matter.\n"


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    return Cli(tmp_path / "home")


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon on a home that held every one of the files before it started."""
    home = tmp_path_factory.mktemp("home")
    (home / "vault").mkdir()
    for name, front in HOSTILE.items():
        place = home / "vault" / f"{name}.md"
        place.write_text(file_of(front), encoding="utf-8")
    (home / "vault" / "harmless.md").write_text("The ferry leaves from pier four.\n", "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
        with running(home) as started:
            yield started


# -- what is bounded -----------------------------------------------------------------------


@pytest.mark.proves("I14")
def test_a_home_full_of_hostile_files_starts_answers_and_names_each_with_its_line(
    daemon: Daemon,
) -> None:
    eventually(lambda: daemon.recall("when does the ferry leave"), 30)
    told = {each["path"]: each for each in daemon.ok("GET", "/admin/status")["unreadable"]}

    assert {f"{name}.md" for name in HOSTILE} == set(told)
    assert all(each["line"] >= 1 and len(each["problem"]) < 500 for each in told.values())
    assert "nested too deeply" in told["flow lists.md"]["problem"]
    assert [each["content"] for each in daemon.recall("when does the ferry leave")] == [
        "The ferry leaves from pier four."
    ]


@pytest.mark.soak
def test_every_command_lives_on_such_a_home_and_says_what_to_mend(cli: Cli) -> None:
    cli.remember("The ferry leaves from pier four.")
    for name in ("flow lists", "block lists", "complex keys"):
        place = cli.home / "vault" / f"{name}.md"
        place.write_text(file_of(HOSTILE[name]), encoding="utf-8")

    opened = cli.process("status")  # if it dies, it dies alone
    words = ("status", "recall ferry", "reconcile", "doctor", "rebuild")
    ran = {word: cli(*word.split()) for word in words}

    codes = {word: each.code for word, each in ran.items()}
    assert opened.code == 0
    assert codes == {**dict.fromkeys(ran, 0), "doctor": 6}
    for word in ("status", "doctor", "reconcile", "rebuild"):
        assert "complex keys.md:3: `tags`: is nested too deeply" in ran[word].out + ran[word].err
    assert "pier four" in ran["recall ferry"].out


@pytest.mark.few(4)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_that_is_posted_is_refused_and_the_server_lives(
    daemon: Daemon, name: str
) -> None:
    body = {"content": file_of(HOSTILE[name]), "name": "x.md", "uri": f"file:///{name}.md"}

    answer = daemon.ask("POST", "/ingest/file", body, dry_run="true")

    assert 400 <= answer.status < 500, answer.body
    assert answer.error["message"]
    assert daemon.ok("GET", "/admin/health")["status"] == "ok"


def test_a_hostile_file_that_appears_while_the_daemon_runs_is_named(daemon: Daemon) -> None:
    place = daemon.vault / "later.md"
    place.write_text(file_of("title: " + "[" * DEEP), encoding="utf-8")

    def named() -> bool:
        told = daemon.ok("GET", "/admin/status")["unreadable"]
        return any(each["path"] == "later.md" for each in told)

    eventually(named)
    place.unlink()
    eventually(lambda: not named())


@pytest.mark.parametrize("name", others_in_soak("flow lists", "block lists", "complex keys"))
def test_taking_in_a_hostile_file_is_refused_with_its_line(
    cli: Cli, tmp_path: Path, name: str
) -> None:
    note = tmp_path / "x.md"
    note.write_text(file_of(HOSTILE[name]), encoding="utf-8")

    ran = cli.process("ingest", str(note))

    assert ran.code == 2
    assert "x.md: line " in ran.err
    assert "`tags` is nested too deeply" in ran.err
    assert "hint: make the property simpler, or take it out" in ran.err


@pytest.mark.soak
def test_taking_in_a_note_with_more_keys_than_anybody_has_is_refused_with_its_line(
    cli: Cli, tmp_path: Path
) -> None:
    note = tmp_path / "x.md"
    note.write_text(file_of(HOSTILE["more keys than anybody has"]), encoding="utf-8")

    ran = cli("ingest", str(note))

    assert ran.code == 2
    assert "x.md: line 2002: the front matter has more than 2,000 keys" in ran.err


def test_a_note_with_as_many_keys_as_are_read_is_a_memory(cli: Cli) -> None:
    (cli.home / "vault").mkdir(parents=True)
    front = "".join(f"key{n}: a\n" for n in range(1_999)) + "last: a"
    (cli.home / "vault" / "many.md").write_text(file_of(front), encoding="utf-8")

    status = cli.ok("status")

    assert status["unreadable"] == []
    assert status["counts"]["memories"] == 1


def test_front_matter_larger_than_anybody_has_is_named_with_its_reason(cli: Cli) -> None:
    (cli.home / "vault").mkdir(parents=True)
    front = "".join(f"k{n}: {'x' * 900_000}\n" for n in range(9))
    (cli.home / "vault" / "large.md").write_text(file_of(front), encoding="utf-8")

    (told,) = cli.ok("status")["unreadable"]

    assert told["path"] == "large.md"
    assert "more than 8,000,000 characters" in told["problem"]


@pytest.mark.few(1)
@pytest.mark.parametrize("letter", ["x", "渡", "e\u0301"])
def test_a_title_longer_than_any_screen_is_cut_at_once(cli: Cli, letter: str) -> None:
    (cli.home / "vault").mkdir(parents=True)
    text = file_of("title: " + letter * 200_000).replace("A memory", "A ferry")
    (cli.home / "vault" / "long.md").write_text(text, encoding="utf-8")
    memory = cli.ok("list")["memories"][0]["id"]

    ran = [cli(*words) for words in (["recall", "ferry"], ["list"], ["show", memory])]

    assert [each.code for each in ran] == [0, 0, 0]
    assert all(letter * 5 in each.out for each in ran)
    assert max(len(line) for each in ran for line in each.out.splitlines()) < 1_200


NOTES = ("obsidian", "basic-memory", "claude-code", "ormah", "madeleine")


@pytest.mark.parametrize(
    ("form", "packed"),
    [*((form, False) for form in NOTES), ("obsidian", True), ("madeleine", True)],
)
def test_an_import_names_the_hostile_note_and_brings_the_others(
    cli: Cli, tmp_path: Path, form: str, packed: bool
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    good = "---\nid: 0d6b5a3e-4d67-4a8c-9a55-0d2c8f0f4f11\ntype: fact\n---\nThe ferry is late.\n"
    (folder / "good.md").write_text(good, encoding="utf-8")
    (folder / "bad.md").write_text(file_of(HOSTILE["flow lists"]), encoding="utf-8")
    path = folder
    if packed:
        path = tmp_path / "notes.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            for each in folder.iterdir():
                archive.write(each, each.name)

    ran = cli("import", form, str(path))

    assert ran.code == 2
    assert "bad.md" in ran.out + ran.err
    assert "nested too deeply" in ran.out + ran.err
    assert "The ferry is late." in [each["content"] for each in cli.ok("list")["memories"]]


JSONS = ("automem", "chatgpt", "claude-ai", "madeleine", "mcp-memory", "mem0")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, '[{"content":' + "[" * 100_000])
@pytest.mark.parametrize("form", JSONS)
def test_an_import_of_json_that_is_nested_without_end_is_refused(
    cli: Cli, tmp_path: Path, form: str, text: str
) -> None:
    path = tmp_path / "export.json"
    path.write_text(text, encoding="utf-8")

    ran = cli("import", form, str(path))

    assert ran.code in (2, 6)
    assert "export.json" in ran.err + ran.out


def test_settings_that_are_nested_without_end_are_refused_by_name(cli: Cli) -> None:
    cli.home.mkdir()
    (cli.home / "config.toml").write_text("a = " + "[" * 100_000, encoding="utf-8")

    ran = cli("status")

    assert ran.code == 2
    assert "config.toml" in ran.err
    assert "nested too deeply" in ran.err


@pytest.mark.parametrize(
    "line", ["a" + ".a" * 50_000 + " = 1", "[a" + ".a" * 50_000 + "]", "a = {b" + " . 'b'" * 50_000]
)
def test_settings_with_a_key_of_endless_parts_are_refused_by_line(cli: Cli, line: str) -> None:
    cli.home.mkdir()
    (cli.home / "config.toml").write_text(f"# settings\n{line}\n", encoding="utf-8")

    ran = cli("status")

    assert ran.code == 2
    assert "config.toml:2" in ran.err
    assert "too many parts" in ran.err


def test_a_journal_line_that_is_nested_without_end_costs_only_itself(cli: Cli) -> None:
    cli.remember("The ferry leaves from pier four.")
    (journal,) = (cli.home / "journal").iterdir()
    with journal.open("a", encoding="utf-8") as file:
        file.write('{"v": 1, "body": ' + "[" * 100_000 + "\n")

    status = cli.ok("status")

    assert len(status["journal"]["problems"]) == 1
    assert cli.ok("recall", "ferry")["results"]


@pytest.mark.parametrize(
    "front",
    [
        "origin:\n  turn: " + "9" * 200_000,
        "confidence: " + "x" * 200_000,
        "created: " + "9" * 200_000,
        "id: " + "a" * 200_000,
        "type: " + "a" * 200_000,
    ],
)
def test_a_huge_value_is_quoted_by_its_beginning_only(cli: Cli, front: str) -> None:
    (cli.home / "vault").mkdir(parents=True)
    (cli.home / "vault" / "huge.md").write_text(file_of(front), encoding="utf-8")

    (told,) = cli.ok("status")["unreadable"]

    assert len(told["problem"]) < 150
    assert "…" in told["problem"]


def test_a_memory_larger_than_a_machine_is_named_and_not_read(cli: Cli) -> None:
    cli.remember("The ferry leaves from pier four.")
    with (cli.home / "vault" / "huge.md").open("wb") as file:
        file.truncate(64 * 1024**3)  # it takes no room on the disk

    (told,) = cli.ok("status")["unreadable"]

    assert told["path"] == "huge.md"
    assert told["problem"].startswith("holds 68,719,476,736 bytes; a memory has at most")


# -- what nobody foresaw -------------------------------------------------------------------

KILLER = "---\ntags: # killer\n  - ferry\n---\nThe ferry is late.\n"
FAULT = """
import signal, sys

import yaml

parse = yaml.parse


def faulty(text, *args, **more):
    if "killer" in text and {when}:
        signal.raise_signal(signal.{how})
    return parse(text, *args, **more)


yaml.parse = faulty
"""
ALWAYS = "True"
NOT_IN_A_TRIAL = "'madeleine.vault.trial_read' not in sys.orig_argv"


@pytest.fixture
def fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give every process a fault of its library, until it is mended."""
    folder = tmp_path / "fault"
    folder.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(folder))

    def make(how: str, when: str = ALWAYS) -> None:
        text = FAULT.format(how=how, when=when)
        (folder / "sitecustomize.py").write_text(text, encoding="utf-8")

    return make


def _ended_by(how: str) -> int:
    return -int(getattr(signal, how))


@pytest.mark.parametrize("how", others_in_soak("SIGSEGV", "SIGKILL"))
def test_a_file_that_ended_the_process_is_set_aside_at_the_next_start(
    cli: Cli, fault: Any, how: str
) -> None:
    cli.remember("The ferry leaves from pier four.")
    (cli.home / "vault" / "killer.md").write_text(KILLER, encoding="utf-8")
    fault(how)

    first = cli.process("status")
    status, found = cli.ok("status"), cli.ok("recall", "ferry")["results"]
    doctor, rebuilt = cli("doctor"), cli.ok("rebuild")

    assert first.code == _ended_by(how)
    (told,) = status["unreadable"]
    assert told["path"] == "killer.md"
    assert "ended the process while it was read" in told["problem"]
    assert [each["memory"]["content"] for each in found] == ["The ferry leaves from pier four."]
    assert doctor.code == 6
    assert "killer.md:1: ended the process" in doctor.out + doctor.err
    assert len(rebuilt["unreadable"]) == 1


@pytest.mark.soak
def test_what_was_known_of_a_file_that_is_set_aside_is_still_told(cli: Cli, fault: Any) -> None:
    kept = cli.remember("The ferry leaves from pier four.")
    (place,) = cli.files
    text = place.read_text(encoding="utf-8")
    place.write_text(text.replace("tier:", "tags: # killer\n  - a\ntier:"), encoding="utf-8")
    fault("SIGSEGV")

    cli.process("status")
    found = cli.ok("recall", "ferry")["results"]

    assert [each["memory"]["id"] for each in found] == [kept]


@pytest.mark.soak
def test_a_file_that_was_set_aside_is_read_again_when_it_changes(cli: Cli, fault: Any) -> None:
    (cli.home / "vault").mkdir(parents=True)
    place = cli.home / "vault" / "killer.md"
    place.write_text(KILLER, encoding="utf-8")
    fault("SIGSEGV")
    cli.process("status")
    aside = cli.ok("status")["unreadable"]

    place.write_text(KILLER.replace("killer", "mended"), encoding="utf-8")
    after = cli.ok("status")

    assert [each["path"] for each in aside] == ["killer.md"]
    assert after["unreadable"] == []
    assert after["counts"]["memories"] == 1


@pytest.mark.soak
def test_a_file_that_only_happened_to_be_read_when_somebody_killed_us_is_not_blamed(
    cli: Cli, fault: Any, tmp_path: Path
) -> None:
    (cli.home / "vault").mkdir(parents=True)
    (cli.home / "vault" / "killer.md").write_text(KILLER, encoding="utf-8")
    fault("SIGKILL")
    ended = cli.process("status")
    (tmp_path / "fault" / "sitecustomize.py").unlink()

    after = cli.ok("status")
    found = cli.ok("recall", "ferry")["results"]

    assert ended.code == _ended_by("SIGKILL")
    assert after["unreadable"] == []
    assert [each["memory"]["content"] for each in found] == ["The ferry is late."]


@pytest.mark.soak
def test_a_file_that_ends_us_twice_is_set_aside_though_a_trial_of_it_goes_well(
    cli: Cli, fault: Any
) -> None:
    (cli.home / "vault").mkdir(parents=True)
    (cli.home / "vault" / "killer.md").write_text(KILLER, encoding="utf-8")
    fault("SIGKILL", NOT_IN_A_TRIAL)

    codes = [cli.process("status").code for _ in range(2)]
    (told,) = cli.ok("status")["unreadable"]

    assert codes == [_ended_by("SIGKILL")] * 2
    assert told["path"] == "killer.md"


def test_a_daemon_that_a_file_ended_starts_and_names_it(
    tmp_path: Path, fault: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    fault("SIGSEGV")
    with running(tmp_path / "home", from_nothing=True) as daemon:
        daemon.remember("The ferry leaves from pier four.")
        (daemon.vault / "killer.md").write_text(KILLER, encoding="utf-8")
        assert daemon.launched.process.wait(20) == _ended_by("SIGSEGV")

    with running(tmp_path / "home", from_nothing=True) as daemon:
        eventually(lambda: daemon.ok("GET", "/admin/status")["unreadable"])
        (told,) = daemon.ok("GET", "/admin/status")["unreadable"]
        found = [each["content"] for each in daemon.recall("ferry")]

    assert told["path"] == "killer.md"
    assert found == ["The ferry leaves from pier four."]


@pytest.mark.soak
@pytest.mark.parametrize("how", others_in_soak("SIGSEGV", "SIGKILL"))
def test_a_note_that_ended_the_process_is_refused_until_it_changes(
    cli: Cli, tmp_path: Path, fault: Any, how: str
) -> None:
    note = tmp_path / "killer.md"
    note.write_text(KILLER, encoding="utf-8")
    fault(how)

    first = cli.process("ingest", str(note))
    second = cli("ingest", str(note))
    status = cli.ok("status")
    note.write_text(KILLER.replace("killer", "mended"), encoding="utf-8")
    third = cli("ingest", str(note))

    assert first.code == _ended_by(how)
    assert second.code == 2
    assert "ended the process while it was read" in second.err
    assert any("killer.md" in each for each in status["ingest"]["problems"])
    assert third.code == 0


def test_a_start_in_good_order_leaves_no_note_behind(cli: Cli) -> None:
    (cli.home / "vault").mkdir(parents=True)
    for number in range(5):
        text = KILLER.replace("killer", f"note {number}")
        (cli.home / "vault" / f"note-{number}.md").write_text(text, encoding="utf-8")

    first, second = cli.ok("status"), cli.ok("status")

    assert first["unreadable"] == second["unreadable"] == []
    assert first["counts"]["memories"] == second["counts"]["memories"] == 5
    assert not (cli.home / "run" / "set-aside.json").exists()


@pytest.mark.parametrize("letter", ["渡", "é", "й", "あ"])
def test_a_word_cut_in_the_middle_of_a_letter_keeps_no_question_from_being_answered(
    cli: Cli, letter: str
) -> None:
    """The text index cuts a word at so many bytes, whichever letter they end in."""
    (cli.home / "vault").mkdir(parents=True)
    (cli.home / "vault" / "ferry.md").write_text(
        "The ferry to Bergen leaves at nine\n", encoding="utf-8"
    )
    for more in range(4):
        text = f"{'a' * more}{letter * 20_000}\n"
        (cli.home / "vault" / f"long-{more}.md").write_text(text, encoding="utf-8")

    for question in ("when does the ferry to Bergen leave?", "when does the fery to Bergen leave?"):
        (hit, *_) = cli.ok("recall", question)["results"]
        assert "at nine" in hit["memory"]["content"]
