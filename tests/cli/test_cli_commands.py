"""Each command on a real home: what it prints, what its document holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import Cli

SQLITE = "Chose SQLite over Postgres for local-first"


def test_remember_says_the_id_type_and_title(cli: Cli) -> None:
    ran = cli("remember", SQLITE, "--type", "decision", "--title", "SQLite over Postgres")

    assert ran.code == 0
    short_id = cli.ok("list")["memories"][0]["short_id"]
    assert ran.out.splitlines()[0] == f"remembered {short_id}  decision  SQLite over Postgres"


def test_remember_writes_every_option_into_the_file(cli: Cli) -> None:
    other = cli.remember("Postgres needs a server")

    answer = cli.ok(
        *("remember", SQLITE, "--type", "decision", "--tier", "core", "--space", "atlas"),
        *("--title", "SQLite over Postgres", "--tag", "Storage", "--tag", "local first"),
        *("--confidence", "0.9", "--source", "agent:test", "--link", f"{other[:8]}:supports:0.7"),
        *("--created", "2026-03-01", "--valid-until", "2027-01-01T00:00:00Z", "--key", "k1"),
        *("--id", "97acbe8e-0000-4000-8000-000000000001", "--about-self"),
    )

    memory = answer["memory"]
    assert memory["id"] == "97acbe8e-0000-4000-8000-000000000001"
    assert (memory["type"], memory["tier"], memory["space"]) == ("decision", "core", "atlas")
    assert memory["tags"] == ["about_self", "storage", "local-first"]
    assert (memory["confidence"], memory["source"]) == (0.9, "agent:test")
    assert memory["created"] == "2026-03-01T00:00:00Z"
    assert memory["valid_until"] == "2027-01-01T00:00:00Z"
    assert memory["idempotency_key"] == "k1"
    link = memory["connections"][0]
    assert (link["target"], link["edge"], link["weight"]) == (other, "supports", 0.7)


def test_a_claim_replaces_an_older_value_and_is_shown(cli: Cli) -> None:
    old = cli.remember("Ana lives in Ghent", "--claim", "Ana | home city | Ghent")

    answer = cli.ok("remember", "Off to Cork", "--claim", "ana|Home City| Cork | Ireland ")

    claim = {"subject": "ana", "attribute": "Home City", "value": "Cork | Ireland"}
    assert answer["memory"]["claim"] == claim
    shown = cli("show", old).out
    assert f"replaced by {answer['memory']['id']}" in shown
    assert "claim       Ana | home city | Ghent" in shown
    assert cli.ok("revise", old, "--clear", "claim")["memory"]["claim"] is None
    assert cli("remember", "x", "--claim", "Ana | Ghent").code == 2


def test_remember_reads_standard_input_for_a_dash(cli: Cli) -> None:
    answer = cli.ok("remember", "-", stdin="first line\nzweite Zeile ü\n".encode())

    assert answer["memory"]["content"] == "first line\nzweite Zeile ü"


def test_a_text_known_already_is_named_and_not_written_again(cli: Cli) -> None:
    first = cli.remember(SQLITE)

    ran = cli("remember", SQLITE)

    assert ran.code == 0
    assert (ran.out, ran.err) == (f"known already: {first[:8]}  {SQLITE}\n", "")
    assert len(cli.files) == 1


def test_recall_prints_rows_with_score_age_and_space(cli: Cli) -> None:
    memory = cli.remember(SQLITE, "--space", "atlas", "--type", "decision")

    ran = cli("recall", "SQLite or Postgres, local-first?", "--space", "atlas")

    lines = ran.out.splitlines()
    assert lines[0] == "1 memory in `atlas`"
    assert lines[1].startswith(f"  {memory[:8]}  decision  {SQLITE}")
    assert lines[1].endswith("just now")


def test_recall_explains_each_score(cli: Cli) -> None:
    cli.remember(SQLITE)

    ran = cli("recall", SQLITE, "--explain")

    assert "close in meaning" in ran.out
    assert "chance 0." in ran.out
    assert "boosts: recency 1.05" in ran.out


def test_recall_says_what_is_below_the_floor(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.remember(SQLITE)
    cli.remember("Postgres needs a server")
    monkeypatch.setenv("MADELEINE_RECALL_FLOOR_RELATIVE", "1")

    ran = cli("recall", "SQLite local-first")
    whole = cli("recall", "SQLite local-first Postgres", "--all")

    assert ran.out.startswith("1 memory\n")
    assert "below the floor" not in whole.err
    assert whole.out.startswith("2 memories\n")
    folded = cli("recall", "SQLite local-first Postgres")
    assert folded.err == "1 more below the floor; --all shows them\n"
    assert cli.ok("recall", "SQLite local-first Postgres")["folded"] == 1


def test_recall_explains_with_the_turns_around_a_hit(cli: Cli) -> None:
    said = ("Did you go to the lighthouse?", "Yes, on Friday")
    lines = [
        {"content": text, "origin": {"session": "s1", "turn": turn, "speaker": f"P{turn}"}}
        for turn, text in enumerate(said)
    ]
    cli("remember", "--jsonl", "-", stdin="\n".join(map(json.dumps, lines)).encode())

    ran = cli("recall", "lighthouse", "--explain")

    assert "turn 1  P1: Yes, on Friday" in ran.out


def test_recall_of_nothing_is_no_failure_and_says_why(cli: Cli) -> None:
    ran = cli("recall", "anything at all")

    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith("nothing recalled: ")


@pytest.mark.few(5)
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--type", "goal"),
        ("--tier", "core"),
        ("--space", "elsewhere"),
        ("--tag", "unused"),
        ("--after", "2031-01-01"),
        ("--before", "2001-01-01"),
        ("--as-of", "2001-01-01"),
    ],
)
@pytest.mark.parametrize("command", [("recall", SQLITE), ("list",)])
def test_filters_keep_other_memories_out(
    cli: Cli, command: tuple[str, ...], option: str, value: str
) -> None:
    cli.remember(SQLITE)

    answer = cli.ok(*command, option, value)

    assert answer.get("results", answer.get("memories")) == []


def test_list_pages_through_memories_newest_first(cli: Cli) -> None:
    for number in range(5):
        cli.remember(f"number {number}", "--created", f"2026-01-0{number + 1}")

    ran = cli("list", "--limit", "2", "--offset", "1")

    lines = ran.out.splitlines()
    assert lines[0] == "2 of 5 memories"
    assert [line.split()[3] for line in lines[1:]] == ["3", "2"]


def test_show_prints_text_facts_and_connections_both_ways(cli: Cli) -> None:
    one = cli.remember("Slack water lasts twenty minutes", "--title", "Slack", "--tag", "tides")
    two = cli.remember("Tide tables come from harmonics", "--link", f"{one}:supports:0.8")
    cli.ok("link", one, two, "--edge", "depends_on", "--reason", "computed from them")

    ran = cli("show", one[:8])

    assert ran.out.splitlines()[0] == "Slack"
    assert f"id          {one}" in ran.out
    assert "tags        tides" in ran.out
    assert "\nSlack water lasts twenty minutes\n" in ran.out
    assert f"-> depends_on    0.50  {two[:8]}  Tide tables" in ran.out
    assert "computed from them" in ran.out
    assert f"<- supports      0.80  {two[:8]}  Tide tables" in ran.out


def test_show_names_the_file_it_stands_in(cli: Cli) -> None:
    memory = cli.remember(SQLITE)

    assert (cli.home / "vault" / cli.ok("show", memory)["path"]).is_file()


def test_history_names_changes_that_undo_takes(cli: Cli) -> None:
    memory = cli.remember(SQLITE)
    cli.ok("revise", memory, "--title", "New title")

    lines = cli("history", memory).out.splitlines()

    change = next(line.split()[2] for line in lines if "revise by cli" in line)
    assert cli("undo", change).code == 0
    assert cli.ok("show", memory)["memory"]["title"] is None
    assert "revise by cli (undone)" in cli("history", memory).out


def test_revise_changes_only_what_is_named(cli: Cli) -> None:
    memory = cli.remember(SQLITE, "--tag", "storage", "--space", "atlas")

    cli.ok("revise", memory, "--content", "-", "--tier", "archival", stdin=b"Chose DuckDB\n")

    now = cli.ok("show", memory)["memory"]
    assert (now["content"], now["tier"]) == ("Chose DuckDB", "archival")
    assert (now["tags"], now["space"]) == (["storage"], "atlas")


def test_revise_clears_a_field_and_says_how_to_undo(cli: Cli) -> None:
    memory = cli.remember(SQLITE, "--space", "atlas", "--valid-until", "2030-01-01")

    ran = cli("revise", memory, "--clear", "space", "--clear", "valid-until")

    assert ran.out.splitlines()[0].startswith(f"revised {memory[:8]}")
    assert "undo: madeleine undo " in ran.out
    now = cli.ok("show", memory)["memory"]
    assert (now["space"], now["valid_until"]) == (None, None)


def test_a_revision_that_says_the_same_changes_nothing(cli: Cli) -> None:
    memory = cli.remember(SQLITE, "--tier", "core")

    assert cli("revise", memory, "--tier", "core").out.startswith("nothing to change: ")


def test_retire_links_to_what_replaced_it(cli: Cli) -> None:
    old, new = cli.remember("We use Postgres"), cli.remember("We use SQLite now")

    cli.ok("retire", old, "--reason", "decided anew", "--superseded-by", new[:8])

    assert cli.ok("show", old)["memory"]["superseded_by"] == new
    assert old not in [each["id"] for each in cli.ok("list")["memories"]]
    assert old in [each["id"] for each in cli.ok("list", "--outdated")["memories"]]


def test_forget_and_restore_go_by_the_trash(cli: Cli) -> None:
    memory = cli.remember(SQLITE)
    before = cli.files[0].read_bytes()

    assert cli("forget", memory[:8], "--reason", "a test").out.startswith("forgot ")
    assert cli("list", "--trash").out.splitlines()[0] == "1 forgotten memory"
    assert cli.files == []
    assert cli("restore", memory[:8]).out.startswith("restored ")
    assert cli.files[0].read_bytes() == before


def test_unlink_takes_away_what_link_made(cli: Cli) -> None:
    one, two = cli.remember("tides turn twice a day"), cli.remember("boats wait for slack water")
    cli.ok("link", one, two, "--edge", "supports", "--weight", "0.9")

    cli.ok("unlink", one, two, "--edge", "supports")

    edges = [each["edge"] for each in cli.ok("show", one)["connections"]]
    assert "supports" not in edges


def test_merge_can_be_undone(cli: Cli) -> None:
    keep, drop = cli.remember("tides turn twice a day"), cli.remember("tides turn every six hours")

    ran = cli("merge", keep, drop, "--title", "Tides", "--content", "tides turn four times")

    assert ran.out.startswith(f"merged {drop[:8]} into {keep[:8]}  Tides")
    change = ran.out.split()[-1]
    assert cli("undo", change).out.startswith("took back 1 change, 2 memories")
    assert len(cli.files) == 2


def test_proposals_say_that_none_wait(cli: Cli) -> None:
    assert cli("proposals").out == "0 proposals\n"


def test_status_says_what_there_is(cli: Cli) -> None:
    cli.remember(SQLITE, "--space", "atlas")

    ran = cli("status")

    assert "memories   1: 1 working" in ran.out
    assert "spaces     1 atlas" in ran.out
    assert "relations  told by signs in the texts\n" in ran.out
    assert "problems   none" in ran.out


def test_reconcile_counts_and_names_what_does_not_parse(cli: Cli) -> None:
    cli.remember(SQLITE)
    (cli.home / "vault" / "broken.md").write_text("---\ntitle: 'open\n---\nx\n", encoding="utf-8")

    ran = cli("reconcile")

    assert ran.out.splitlines()[0].startswith("2 files: ")
    assert "1 unreadable" in ran.out
    assert "broken.md:" in ran.out


def test_rebuild_brings_everything_back(cli: Cli) -> None:
    memory = cli.remember(SQLITE)

    ran = cli("rebuild")

    assert ran.out.startswith("1 file: 1 indexed in ")
    assert cli.ok("show", memory)["memory"]["content"] == SQLITE


def test_compact_says_what_it_did(cli: Cli) -> None:
    cli.remember(SQLITE)

    assert "written anew" in cli("compact").out


def test_bench_lists_the_programs_of_a_checkout(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "checkout" / "bench"
    folder.mkdir(parents=True)
    program = "def helper():\n    pass\n\n\ndef main(argv):\n    print(argv)\n    return 0\n"
    (folder / "sample.py").write_text(program, encoding="utf-8")
    monkeypatch.setattr("madeleine.cli.commands.bench.benchmark_folders", lambda: [folder])

    assert cli("bench").out == "sample\n"
    assert cli("bench", "sample", "--", "--size", "3").out == "['--size', '3']\n"
    assert cli("bench", "nothing").code == 2


def test_bench_outside_of_a_checkout_says_where_they_are(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("madeleine.cli.commands.bench.benchmark_folders", list)

    ran = cli("bench", "store")

    assert ran.code == 3
    assert "checkout" in ran.err


def test_stop_without_a_daemon_is_no_failure(cli: Cli) -> None:
    ran = cli("stop")

    assert ran.code == 0
    assert ran.out.startswith("no daemon runs on ")


# -- many at once --------------------------------------------------------------------------


def _jsonl(*lines: object) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def test_jsonl_remembers_every_line(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "many.jsonl"
    file.write_bytes(_jsonl({"content": "one"}, {"content": "two", "type": "goal"}))

    ran = cli("remember", "--jsonl", str(file), "--space", "atlas")

    assert ran.code == 0
    assert [line.split()[-1] for line in ran.out.splitlines()] == ["one", "two"]
    assert ran.err == "2 remembered, 0 known, 0 refused\n"
    assert {each["space"] for each in cli.ok("list")["memories"]} == {"atlas"}


def test_jsonl_goes_on_after_a_line_that_is_refused(cli: Cli) -> None:
    data = b'{"content": "one"}\nnot json\n\n{"content": "  "}\n[1]\n\xff\n{"content": "two"}'

    ran = cli("remember", "--jsonl", "-", stdin=data)

    assert ran.code == 2
    assert len(ran.out.splitlines()) == 2
    assert "standard input:2: not JSON" in ran.err
    assert "standard input:4: the memory has no text" in ran.err
    assert "standard input:5: not a JSON object" in ran.err
    assert "standard input:6: the line is not valid UTF-8" in ran.err
    assert ran.err.endswith("2 remembered, 0 known, 4 refused\n")


def test_jsonl_answers_with_one_document_of_one_result_a_line(cli: Cli) -> None:
    data = _jsonl({"content": "one"}, {"content": "one"}, {"type": "fact"})

    ran = cli("--json", "remember", "--jsonl", "-", stdin=data)

    results = ran.answer["results"]
    assert [each["line"] for each in results] == [1, 2, 3]
    assert [each.get("existing") for each in results] == [False, True, None]
    assert results[2]["error"]["code"] == "rejected"
    assert len(ran.out.splitlines()) == 4


def test_jsonl_of_an_empty_file_is_an_empty_document(cli: Cli) -> None:
    assert cli.ok("remember", "--jsonl", "-", stdin=b"") == {"results": []}


@pytest.mark.soak
def test_jsonl_takes_more_lines_than_one_batch(cli: Cli) -> None:
    data = _jsonl(*({"content": f"memory number {number}"} for number in range(600)))

    ran = cli("remember", "--jsonl", "-", stdin=data)

    assert ran.err == "600 remembered, 0 known, 0 refused\n"
    assert len(ran.out.splitlines()) == 600


def test_recall_marks_what_is_no_longer_true(cli: Cli) -> None:
    old = cli.remember("The office is in Berlin")
    new = cli.remember("The office is in Rome")
    cli.ok("retire", old, "--superseded-by", new)

    out = cli("recall", "where is the office", "--outdated").out

    assert f"replaced by {new[:8]}" in out
    assert out.count("true until ") == 1


def test_a_time_is_said_as_people_say_it(cli: Cli) -> None:
    cli.remember("The boiler was serviced", "--created", "2020-01-05")
    cli.remember("The boiler leaks")

    asked = cli.ok("recall", "the boiler", "--after", "yesterday")
    listed = cli.ok("list", "--before", "last week")
    refused = cli("list", "--after", "whenever")

    assert [hit["memory"]["content"] for hit in asked["results"]] == ["The boiler leaks"]
    assert [each["content"] for each in listed["memories"]] == ["The boiler was serviced"]
    assert refused.code == 2
    assert "yesterday" in refused.err


def test_a_prompt_shows_what_would_be_whispered_and_leaves_no_trace(cli: Cli) -> None:
    ferry = cli.remember("The ferry to Bergen leaves at half past nine")
    prompt = "when does the ferry to Bergen leave?"

    first, again = cli.ok("whisper", prompt, "--session", "one"), cli.ok("whisper", prompt)
    shown = cli("whisper", prompt, "--explain").out
    silent = cli("whisper", "refactor this parser into three modules").out
    why = cli("whisper", "why").out

    assert [each["node_id"] for each in first["injected"]] == [ferry]
    assert first["text"] == again["text"]
    assert first["whisper_id"] == ""
    assert f"{ferry[:8]}  " in shown
    assert "told" in shown
    assert silent.startswith("silence: ")
    assert why.startswith("Nothing has been whispered")


def test_an_action_shows_what_the_hook_would_say_before_it_and_leaves_no_trace(cli: Cli) -> None:
    ask = cli.remember("legacy/ is not touched without asking Tom", "--type", "decision")

    edit = ("whisper", "--action", "Edit legacy/pay.py", "--session", "one")
    first, again = cli.ok(*edit), cli.ok(*edit)
    shown = cli(*edit, "--explain").out
    by_command = cli.ok("whisper", "--action", "rm -rf legacy/pay.py")
    both = cli("whisper", "edit it", "--action", "Edit x")
    neither = cli("whisper")

    assert [each["node_id"] for each in first["injected"]] == [ask]
    assert [each["node_id"] for each in by_command["injected"]] == [ask]
    assert (first["text"], first["stage"], first["whisper_id"]) == (again["text"], "deed", "")
    assert "told  legacy/ is not touched without asking Tom  legacy" in shown
    assert (both.code, neither.code) == (2, 2)


def test_a_paused_session_is_answered_on_one_line(cli: Cli) -> None:
    assert cli("pause", "--session", "one").out == "paused\n"
    assert cli("pause", "--session", "one", "--resume").out == "goes on\n"
