"""Bad input: each gets its exit code, a message with the value, a hint, and changes nothing."""

from __future__ import annotations

import resource
import sqlite3
import subprocess
from pathlib import Path

import pytest

from tests.cli.running import MODULE, Cli, Ran

TIDES = "Tides turn four times a day"


def refused(ran: Ran, code: int, message: str, hint: str) -> None:
    """Expect an error of two lines, and nothing on stdout."""
    assert ran.code == code, ran.err
    assert ran.out == ""
    lines = ran.err.splitlines()
    assert lines[-2].startswith("error: ")
    assert message in lines[-2]
    assert lines[-1].startswith("hint: ")
    assert hint in lines[-1]


@pytest.mark.parametrize("text", ["", "  \n\t ", "\ufeff"])
def test_an_empty_text_is_rejected(cli: Cli, text: str) -> None:
    refused(cli("remember", text), 2, "the memory has no text", "content")


def test_an_oversized_text_is_rejected(cli: Cli) -> None:
    ran = cli("remember", "-", stdin=b"x" * 1_048_577)

    refused(ran, 2, "1,048,577 bytes; the limit is 1,048,576", "limits.content_bytes")


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("--type", "thought"), "unknown type 'thought'", "fact, decision"),
        (("--tier", "gold"), "unknown tier 'gold'", "core, working, archival"),
        (("--link", "0000:likes"), "unknown edge 'likes'", "supports"),
        (("--link", "0000:supports:7"), "`weight` is 7", ""),
        (("--link", "0000:supports:lots"), "'lots' is not a number", "ID:EDGE:WEIGHT"),
        (("--link", "00000000"), "no memory `00000000`", "madeleine list"),
        (("--confidence", "1.5"), "`confidence` is 1.5", ""),
        (("--created", "yesterday"), "`created` is 'yesterday', not a time", "2026-11-15"),
        (("--valid-until", "2026-13-45"), "`valid_until` is '2026-13-45'", "2026-11-15"),
        (("--id", "not-a-uuid"), "`id`", ""),
    ],
)
def test_a_draft_that_makes_no_sense_writes_nothing(
    cli: Cli, words: tuple[str, str], message: str, hint: str
) -> None:
    ran = cli("remember", TIDES, *words)

    assert ran.code in (2, 3)
    assert message in ran.err
    assert hint in ran.err
    assert cli.files == []


def test_a_weight_of_seven_is_rejected(cli: Cli) -> None:
    one, two = cli.remember(TIDES), cli.remember("Boats wait for slack water")

    ran = cli("link", one, two, "--weight", "7")

    assert ran.code == 2
    assert "`weight` is 7.0; it takes a number from 0 to 1" in ran.err


def test_an_unknown_edge_is_rejected_with_the_known_ones(cli: Cli) -> None:
    one, two = cli.remember(TIDES), cli.remember("Boats wait for slack water")

    refused(cli("link", one, two, "--edge", "likes"), 2, "unknown edge 'likes'", "supports")


def test_a_link_to_itself_is_rejected(cli: Cli) -> None:
    memory = cli.remember(TIDES)

    refused(cli("link", memory, memory[:8]), 2, "cannot be connected to itself", "two memories")


def test_a_link_to_nothing_is_missing(cli: Cli) -> None:
    memory = cli.remember(TIDES)

    refused(cli("link", memory, "ffffffff"), 3, "no memory `ffffffff`", "madeleine list")


def test_an_ambiguous_prefix_lists_the_candidates(cli: Cli) -> None:
    for last, text in enumerate(("Low water", "High water")):
        cli.remember(text, "--id", f"aaaaaaaa-0000-4000-8000-00000000000{last}")

    ran = cli("show", "aaaa")

    refused(ran, 4, "`aaaa` fits 2 memories", "(Low water)")
    assert "(High water)" in ran.err


def test_a_slip_in_an_id_gets_a_suggestion(cli: Cli) -> None:
    memory = cli.remember(TIDES)
    slip = memory[:7] + ("0" if memory[7] != "0" else "1")

    refused(cli("show", slip), 3, f"no memory `{slip}`", f"did you mean `{memory[:8]}")


@pytest.mark.parametrize("command", ["recall", "list"])
def test_a_bad_date_is_rejected(cli: Cli, command: str) -> None:
    words = ("recall", "tides") if command == "recall" else ("list",)

    refused(cli(*words, "--after", "some week"), 2, "'some week', not a time", "2026-11-01")


@pytest.mark.parametrize("limit", ["0", "-3", "100000"])
def test_a_limit_out_of_range_is_rejected(cli: Cli, limit: str) -> None:
    ran = cli("recall", "tides", f"--limit={limit}")

    assert ran.code == 2
    assert f"`limit` is {limit}" in ran.err


def test_an_empty_question_is_rejected(cli: Cli) -> None:
    refused(cli("recall", "  "), 2, "`query` is empty", "looking for")


def test_invalid_utf8_in_a_word_is_rejected(cli: Cli) -> None:
    ran = cli.process("remember", b"gr\xfcn")

    refused(ran, 2, "word 2 of the command is not valid UTF-8 at byte 2", "UTF-8")
    assert not (cli.home / "vault").exists()


def test_invalid_utf8_on_standard_input_is_rejected(cli: Cli) -> None:
    ran = cli("remember", "-", stdin=b"gr\xfcn")

    refused(ran, 2, "standard input is not valid UTF-8 at byte 2", "UTF-8")


def test_a_path_trick_in_a_title_stays_inside_the_vault(cli: Cli) -> None:
    memory = cli.remember(TIDES, "--title", "../../../etc/passwd\x00\n/root")

    path = cli.ok("show", memory)["path"]
    assert "/" not in path
    assert ".." not in path
    assert [file.name for file in cli.files] == [path]


def test_a_home_that_cannot_be_made_is_unavailable(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")

    ran = Cli(tmp_path / "file" / "home")("remember", TIDES)

    refused(ran, 5, "cannot write", "make the folder writable")


@pytest.mark.soak
def test_a_full_disk_is_unavailable_and_leaves_nothing_half_written(cli: Cli) -> None:
    """The limit on file sizes stands in for the disk: the write fails halfway, for real."""
    cli.remember(TIDES)

    done = subprocess.run(
        [*MODULE, "remember", "-"],
        input=b"water " * 700_000,
        capture_output=True,
        check=False,
        env=cli.environment(MADELEINE_LIMITS_CONTENT_BYTES="9000000"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000)),
    )

    refused(Ran(done.returncode, "", done.stderr.decode()), 5, "cannot write", "free some space")
    assert len(list((cli.home / "vault").rglob("*"))) == 1
    assert cli.ok("list")["total"] == 1


def test_a_corrupt_index_heals_itself_and_says_so(cli: Cli) -> None:
    memory = cli.remember(TIDES)
    (cli.home / "index.db").write_bytes(b"this is no database" * 500)

    ran = cli("show", memory)

    assert ran.code == 0
    assert TIDES in ran.out
    assert "note: " in ran.err
    assert "made the index anew" in ran.err


def test_a_newer_index_is_damaged_until_it_is_rebuilt(cli: Cli) -> None:
    memory = cli.remember(TIDES)
    with sqlite3.connect(cli.home / "index.db") as database:
        database.execute("PRAGMA user_version = 9999")
    database.close()

    refused(cli("show", memory), 6, "has schema 9999", "madeleine rebuild")
    assert cli("rebuild").code == 0
    assert cli("show", memory).code == 0


def test_a_corrupt_journal_line_is_skipped_and_named(cli: Cli) -> None:
    memory = cli.remember(TIDES)
    journal = next((cli.home / "journal").glob("*.jsonl"))
    with journal.open("ab") as file:
        file.write(b'{"id": "half a li\n')

    ran = cli("show", memory)

    assert ran.code == 0
    assert f"note: {journal.name}:" in ran.err


def test_a_file_that_does_not_parse_is_listed_by_status(cli: Cli) -> None:
    memory = cli.remember(TIDES)
    file = cli.files[0]
    file.write_text(file.read_text(encoding="utf-8").replace("type: fact", "type: 'fact"), "utf-8")

    assert TIDES in cli("show", memory).out
    status = cli("status").out
    assert "problems   1" in status
    assert f"{file.name}:" in status


@pytest.mark.parametrize(
    ("section", "line", "said"),
    [
        ("recall", "pol = 3", "recall.pol"),
        ("judge", 'kind = "oracle"', "`judge.kind` is 'oracle'; it takes local, llm or agent"),
        ("consolidation", 'protected_types = "Rumour"', "names 'Rumour'; it takes fact, decision"),
    ],
)
def test_a_setting_that_makes_no_sense_is_rejected(
    cli: Cli, section: str, line: str, said: str
) -> None:
    cli.home.mkdir()
    (cli.home / "config.toml").write_text(f"[{section}]\n{line}\n", encoding="utf-8")

    refused(cli("list"), 2, said, "settings")


def test_undo_of_something_unknown_is_missing(cli: Cli) -> None:
    refused(cli("undo", "123456"), 3, "no change, run or night `123456`", "madeleine history")


def test_a_second_undo_is_a_conflict(cli: Cli) -> None:
    memory = cli.remember(TIDES)
    change = cli.ok("revise", memory, "--title", "Tides")["change"]
    cli.ok("undo", change)

    refused(cli("undo", change), 4, "already undone", "nothing was changed")


def test_undo_never_overwrites_what_was_written_since(cli: Cli) -> None:
    memory = cli.remember(TIDES)
    change = cli.ok("revise", memory, "--title", "Tides")["change"]
    file = cli.files[0]
    file.write_text(file.read_text(encoding="utf-8") + "and at night\n", encoding="utf-8")

    assert cli("undo", change).code == 4
    assert "and at night" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("recall",), 2, "QUERY"),
        (("recall", "tides", "--limit", "some"), 2, "--limit"),
        (("recall", "tides", "--lim", "3"), 2, "--lim"),
        (("recalls", "tides"), 2, "no command `recalls`"),
        (("remember",), 2, "nothing to remember"),
        (("remember", "text", "--home"), 2, "--home: expected one argument"),
        (("remember", "text", "--jsonl", "-"), 2, "--jsonl takes no TEXT"),
        (("remember", "--jsonl", "no/such/file"), 3, "no file no/such/file"),
        (("show", " "), 2, "an id is empty"),
        (("revise", "aaaa", "--title", "x", "--clear", "title"), 2, "both set and cleared"),
        (("revise", "aaaa"), 2, "changes nothing"),
        (("restore", "aaaa"), 3, "no forgotten memory `aaaa`"),
        (("list", "--trash", "--limit", "3"), 2, "--trash takes no filter"),
        (("proposals", "accept", "aaaa"), 2, "unknown decision 'accept'"),
        (("proposals", "approve"), 2, "no proposal is named"),
        (("proposals", "approve", "aaaa"), 3, "no proposal `aaaa`"),
        (("proposals", "--status", "open"), 2, "unknown status 'open'"),
    ],
)
def test_wrong_usage_says_what_is_wrong(
    cli: Cli, words: tuple[str, ...], code: int, message: str
) -> None:
    refused(cli(*words), code, message, "")


def test_an_error_is_also_a_document_with_json(cli: Cli) -> None:
    ran = cli("--json", "show", "ffff")

    assert ran.code == 3
    assert ran.answer["error"]["code"] == "missing"
    assert ran.answer["error"]["kind"] == "no_such_memory"
    assert ran.answer["error"]["parts"] == {"wanted": "ffff", "near": []}
    assert ran.answer["error"]["message"] == "no memory `ffff`"
    assert ran.err.startswith("error: no memory `ffff`\nhint: ")


def test_a_usage_error_is_also_a_document_with_json(cli: Cli) -> None:
    assert cli("recall", "--json").answer["error"]["code"] == "rejected"
