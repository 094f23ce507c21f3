"""`madeleine log`: what happened, a sentence each, and the command that takes it back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, nullcontext
from typing import Any

import pytest

from madeleine import Madeleine
from madeleine.bootstrap import open_home
from madeleine.model.proposal import ProposalStatus, ProposalType
from madeleine.write.proposals import propose
from madeleine.write.questions import DISPLACED, decision_event
from madeleine.write.record import record_events
from tests.cli.running import Cli
from tests.server.running import running

LONG_AGO = ("--created", "2019-01-01T00:00:00Z")


@pytest.fixture(params=["alone", "daemon"])
def either(request: pytest.FixtureRequest, cli: Cli) -> Iterator[Cli]:
    """The command with a daemon and without one: it says the same."""
    with running(cli.home) if request.param == "daemon" else nullcontext():
        yield cli


def sentences(cli: Cli, *words: str) -> list[str]:
    return [each["what"] for each in cli.ok("log", *words)["entries"]]


def kinds(cli: Cli, *words: str) -> list[str]:
    return [each["what_parts"]["kind"] for each in cli.ok("log", *words)["entries"]]


def contents(cli: Cli) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in cli.files}


def let_fade(cli: Cli) -> str:
    """Let a memory fade in a night of its own, and return its id."""
    memory = cli.remember("The old boiler was made by Hansen", *LONG_AGO)
    cli.ok("sleep", "importance_scorer")
    cli.ok("sleep", "decay_manager", "--now")
    return memory


def test_every_change_is_a_sentence_newest_first_with_the_command_that_takes_it_back(
    either: Cli,
) -> None:
    one = either.remember("The gate is green")
    two = either.remember("Ana keeps bees in Ghent")
    either.ok("revise", one, "--title", "Gate")
    either.ok("link", one, two, "--edge", "supports")
    either.ok("retire", two)
    done = either.ok("forget", one)

    assert sentences(either) == [
        f"moved `{one[:8]}` (Gate) to the trash",
        f"retired `{two[:8]}` (Ana keeps bees in Ghent)",
        f"connected `{one[:8]}` (Gate)",
        f"revised `{one[:8]}` (Gate)",
        f"remembered `{two[:8]}` (Ana keeps bees in Ghent)",
        f"remembered `{one[:8]}` (Gate)",
    ]
    said = either("log", "--limit", "1").out.splitlines()
    assert said[0] == "1 entry"
    assert re.fullmatch(r"  just now +cli moved `\w{8}` \(Gate\) to the trash", said[1])
    assert said[2].strip() == f"undo: madeleine undo {done['change'][:8]}"


def test_each_sentence_takes_back_what_it_tells(either: Cli) -> None:
    memory = either.remember("The gate is green")
    before = contents(either)
    either.ok("revise", memory, "--title", "Gate")

    either.ok("undo", either.ok("log", "--limit", "1")["entries"][0]["undo"])

    assert contents(either) == before
    undone, revised = either.ok("log", "--limit", "2")["entries"]
    assert (undone["what"], revised["undo"], revised["outcome"]) == (
        "took back 1 change",
        None,
        "undone",
    )
    assert "(taken back)" in either("log").out


def test_what_is_merged_and_replaced_is_named_with_both(either: Cli) -> None:
    one, two = either.remember("The gate is green"), either.remember("Our gate is green")
    either.ok("merge", one, two)
    new = either.remember("The gate is red now", "--replaces", one)

    assert sentences(either, "--limit", "2") == [
        f"remembered `{new[:8]}` (The gate is red now) in place of `{one[:8]}` (The gate is green)",
        f"merged `{two[:8]}` (Our gate is green) into `{one[:8]}` (The gate is green)",
    ]


def test_a_retired_memory_is_told_with_what_replaced_it(either: Cli) -> None:
    old, new = either.remember("The gate is green"), either.remember("Ana keeps bees")
    either.ok("retire", old, "--superseded-by", new, "--reason", "it was wrong")

    entry = either.ok("log", "--limit", "1")["entries"][0]
    assert entry["what"] == (
        f"retired `{old[:8]}` (The gate is green), replaced by `{new[:8]}` (Ana keeps bees)"
    )
    assert entry["what_parts"]["reason"] == "it was wrong"


def test_it_can_be_asked_by_whom(either: Cli) -> None:
    memory = let_fade(either)

    assert kinds(either, "--by", "sleep") == ["archived"]
    assert kinds(either, "--by", "me") == ["remembered"]
    assert kinds(either, "--by", "agent") == []
    by_sleep = either.ok("log", "--by", "sleep")["entries"][0]
    assert (by_sleep["by"], by_sleep["memories"]) == ("decay_manager", [memory])


def test_who_did_it_is_one_of_four_words(either: Cli) -> None:
    said = either("log", "--by", "nobody")

    assert said.code == 2
    assert "sleep" in said.err


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (("--since", "yesterday"), 1),
        (("--since", "today"), 1),
        (("--since", "monday"), 1),
        (("--since", "3 days ago"), 1),
        (("--since", "an hour ago"), 1),
        (("--until", "today"), 1),
        (("--until", "yesterday"), 0),
        (("--until", "2026-01-01"), 0),
        (("--since", "2020-01-01", "--until", "today"), 1),
        (("--since", "2999-01-01"), 0),
        (("--since", "2020-01-01T10:00:00Z"), 1),
    ],
)
def test_a_time_is_said_as_people_say_it(cli: Cli, words: tuple[str, ...], count: int) -> None:
    cli.remember("The gate is green")

    assert len(sentences(cli, *words)) == count


@pytest.mark.parametrize("words", ["soon", "the gate", "yesterday at the gate", "31 February", ""])
def test_what_is_no_time_is_refused_with_examples(cli: Cli, words: str) -> None:
    said = cli("log", "--since", words)

    assert said.code == 2
    assert "3 days ago" in said.err


def test_it_can_be_asked_for_one_space(either: Cli) -> None:
    here = either.remember("The gate is green", "--space", "north")
    everywhere = either.remember("Ana keeps bees in Ghent")
    either.ok("forget", here)

    assert kinds(either, "--space", "north") == ["forgotten", "remembered"]
    assert sentences(either, "--space", "global") == [
        f"remembered `{everywhere[:8]}` (Ana keeps bees in Ghent)"
    ]
    assert kinds(either, "--space", "nowhere") == []


def test_what_an_import_brought_is_one_entry(either: Cli) -> None:
    exported = either.home.parent / "all.jsonl"
    for each in ("The gate is green", "Ana keeps bees", "The boiler is old"):
        either.remember(each)
    either.ok("export", "--to", str(exported))
    other = Cli(either.home.parent / "other")
    other.ok("import", "madeleine", str(exported))

    (entry,) = other.ok("log")["entries"]
    assert (entry["what"], entry["author"]) == ("brought in 3 memories", "import")
    other.ok("undo", entry["undo"])
    assert other.files == []
    assert other.ok("log", "--by", "import")["entries"][0]["outcome"] == "undone"


def test_the_last_night_is_told_alone_and_taken_back_by_one_id(either: Cli) -> None:
    either.remember("Ana keeps bees in Ghent")
    let_fade(either)
    before = {
        name: data.replace(b"archival", b"working") for name, data in contents(either).items()
    }
    either.remember("The gate is green")

    answer = either.ok("log", "--last-night")

    assert [each["what_parts"]["kind"] for each in answer["entries"]] == ["archived"]
    said = either("log", "--last-night").out.splitlines()[-1]
    assert said == f"all of that night, just now: madeleine undo {answer['night']['id'][:8]}"
    either.ok("undo", answer["night"]["id"][:8])
    assert before.items() <= contents(either).items()


def test_a_night_that_only_asked_is_taken_back_while_it_waits_for_an_answer(cli: Cli) -> None:
    cli.remember("Ana lives in Ghent", "--created", "2026-01-01")
    cli.remember("Ana moved to Turin")
    cli.ok("sleep", "conflict_detector")

    answer = cli.ok("log", "--last-night")

    assert [each["what_parts"]["kind"] for each in answer["entries"]] == ["asked"]
    assert answer["entries"][0]["outcome"] == "pending"
    night = answer["night"]["id"][:8]
    assert cli("log", "--last-night").out.endswith(f"just now: madeleine undo {night}\n")
    cli.ok("undo", night)
    assert cli.ok("log", "--last-night")["entries"][0]["outcome"] == "expired"
    assert "undo" not in cli("log", "--last-night").out


def test_without_a_night_that_did_anything_there_is_nothing_to_tell(either: Cli) -> None:
    either.remember("The gate is green")
    either.ok("sleep")

    assert either.ok("log", "--last-night") == {"text": "0 entries", "entries": [], "night": None}
    assert either("log", "--last-night").out == "nothing happened\n"


def ask_something(cli: Cli) -> tuple[str, str]:
    """Let somebody be asked whether a memory is to go to the trash; return both ids."""
    memory = cli.remember("The gate is green")
    with closing(open_home(cli.home)) as context:
        action = {"verb": "forget", "memory": memory, "by": "decay_manager"}
        made = propose(context.stores, ProposalType.DECAY, (memory,), "forget the gate", action)
    return memory, made.id


def test_a_question_and_its_answer_are_told_and_the_answer_can_be_taken_back(cli: Cli) -> None:
    memory, proposal = ask_something(cli)

    (asked, _) = cli.ok("log")["entries"]
    assert (asked["what"], asked["author"], asked["undo"]) == (
        "asked: forget the gate",
        "sleep",
        None,
    )
    assert f"look: madeleine proposals show {proposal[:8]}" in cli("log").out

    cli.ok("proposals", "approve", proposal)
    entries: list[Any] = cli.ok("log")["entries"]
    assert [each["what_parts"]["kind"] for each in entries] == ["approved", "asked", "remembered"]
    cli.ok("undo", entries[0]["undo"])
    assert cli.ok("show", memory)["memory"]["superseded_by"] is None


def test_a_rejected_question_is_told_without_a_change(cli: Cli) -> None:
    _, proposal = ask_something(cli)
    cli.ok("proposals", "reject", proposal)

    assert sentences(cli, "--limit", "1") == ["rejected: forget the gate"]


def test_what_stands_in_the_journal_only_for_a_no_is_not_told(cli: Cli) -> None:
    """Who takes back what a job did has said no to it; nobody was asked."""
    let_fade(cli)
    cli.ok("undo", cli.ok("log", "--last-night")["night"]["id"])

    assert kinds(cli) == ["undone", "archived", "remembered"]


def test_a_question_that_made_room_for_a_better_one_is_not_told(cli: Cli) -> None:
    ask_something(cli)
    with closing(open_home(cli.home)) as context:
        (asked,) = context.stores.log.proposals()
        over = decision_event(
            context.stores, asked, ProposalStatus.EXPIRED, "sleep", None, cause=DISPLACED
        )
        record_events(context.stores, [over], durable=True)

    assert kinds(cli) == ["remembered"]


def test_more_happened_than_is_asked_for(cli: Cli) -> None:
    lines = "".join(f'{{"content": "Plank {each} is oak"}}\n' for each in range(300))
    cli.ok("remember", "--jsonl", "-", stdin=lines.encode())

    assert len(sentences(cli)) == 50
    assert len(sentences(cli, "--limit", "290", "--by", "me")) == 290
    assert cli("log", "--limit", "0").code == 2


def test_python_is_told_the_same(cli: Cli) -> None:
    with Madeleine.open(cli.home) as m:
        memory = m.remember("The gate is green")
        (entry,) = m.log(since="yesterday", by="me")

        assert (entry.what, entry.undo) == (
            f"remembered `{memory.short_id}` (The gate is green)",
            memory.change,
        )
        assert m.log(by="agent") == m.log(last_night=True) == []
