"""`proposals approve --all --kind …`: many questions decided at once, and taken back by one id."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, nullcontext

import pytest

from madeleine import Madeleine
from madeleine.bootstrap import open_home
from madeleine.model.proposal import ProposalType
from madeleine.write.proposals import propose
from tests.cli.running import Cli
from tests.server.running import running

QUESTIONS = (
    ("The gate is green", ProposalType.DECAY, "forget", "bbbbbbbb-run"),
    ("Ana keeps bees", ProposalType.DECAY, "forget", "bbbbbbbb-run"),
    ("It is late", ProposalType.SPACE, "space", "aaaaaaaa-run"),
)


@pytest.fixture(params=["alone", "daemon"])
def asked(request: pytest.FixtureRequest, cli: Cli) -> Iterator[Cli]:
    """A home with three questions of two kinds and two runs, with a daemon and without one."""
    ids = [cli.remember(each[0]) for each in QUESTIONS]
    with closing(open_home(cli.home)) as context:
        for memory, (_, kind, verb, run) in zip(ids, QUESTIONS, strict=True):
            action = {"verb": verb, "memory": memory, "run": run, "night": "cccccccc-night"}
            more = {"space": "kitchen"} if verb == "space" else {}
            propose(context.stores, kind, (memory,), f"{verb} {memory[:8]}", {**action, **more})
    with running(cli.home) if request.param == "daemon" else nullcontext():
        yield cli


def contents(cli: Cli) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in cli.files}


def waiting(cli: Cli, *words: str) -> list[str]:
    return sorted(each["type"] for each in cli.ok("proposals", *words)["proposals"])


def test_questions_are_listed_by_kind(asked: Cli) -> None:
    groups = asked.ok("proposals")["groups"]

    assert [(each["kind"], each["count"]) for each in groups] == [("decay", 2), ("space", 1)]
    said = asked("proposals").out.splitlines()
    assert [line.split()[1] for line in said[1:]] == ["decay", "decay", "space"]


def test_those_of_a_kind_or_run_or_night_can_be_listed(asked: Cli) -> None:
    assert waiting(asked, "--kind", "space") == ["space"]
    assert waiting(asked, "--type", "decay") == ["decay", "decay"]
    assert waiting(asked, "--run", "aaaaaaaa") == ["space"]
    assert waiting(asked, "--run", "cccccccc") == ["decay", "decay", "space"]
    assert waiting(asked, "--run", "dddddddd") == []
    assert asked("proposals", "--kind", "odd").code == 2


def test_all_of_a_kind_are_approved_and_taken_back_by_one_id(asked: Cli) -> None:
    before = contents(asked)

    done = asked.ok("proposals", "approve", "--all", "--kind", "decay")

    assert (len(done["decided"]), done["refused"], len(asked.files)) == (2, [], 1)
    assert waiting(asked) == ["space"]
    asked.ok("undo", done["undo"])
    assert contents(asked) == before


def test_the_command_ends_with_the_one_undo(asked: Cli) -> None:
    said = asked("proposals", "approve", "--all").out.splitlines()

    assert said[0] == "approved 3 proposals"
    assert said[-1].startswith("  undo: madeleine undo ")
    assert asked("undo", said[-1].split()[-1]).code == 0


def test_all_of_a_run_are_rejected_and_wait_again_after_undo(asked: Cli) -> None:
    before = contents(asked)
    done = asked.ok("proposals", "reject", "--all", "--run", "bbbbbbbb")
    assert waiting(asked) == ["space"]

    undone = asked.ok("undo", done["undo"][:8])

    assert waiting(asked) == ["decay", "decay", "space"]
    assert len(undone["memories"]) == 2
    assert contents(asked) == before


def test_a_rejection_is_taken_back_once(asked: Cli) -> None:
    done = asked.ok("proposals", "reject", "--all")
    asked.ok("undo", done["undo"])

    assert asked("undo", done["undo"]).code == 4


def test_what_was_decided_again_since_is_left_as_it_is(asked: Cli) -> None:
    done = asked.ok("proposals", "reject", "--all", "--kind", "decay")
    first, second = (each["id"] for each in done["decided"])
    with Madeleine.open(asked.home) as m:
        m.decide(first, "pending")
        m.decide(first, "approved")

    asked.ok("undo", done["undo"])

    listed = asked.ok("proposals", "--status", "all")["proposals"]
    states = {each["id"]: each["status"] for each in listed}
    assert (states[first], states[second]) == ("approved", "pending")


def test_one_that_cannot_be_decided_keeps_none_of_the_others(asked: Cli) -> None:
    gone = asked.ok("proposals", "--kind", "space")["proposals"][0]["source_nodes"][0]
    asked.ok("forget", gone)

    said = asked("--json", "proposals", "approve", "--all")

    assert said.code in (3, 4)
    assert (len(said.answer["decided"]), len(said.answer["refused"])) == (2, 1)


def test_nothing_that_waits_is_nothing_to_take_back(asked: Cli) -> None:
    done = asked.ok("proposals", "approve", "--all", "--kind", "merge")

    assert (done["decided"], done["undo"]) == ([], None)


def test_names_and_all_are_not_given_together(asked: Cli) -> None:
    named = asked.ok("proposals")["proposals"][0]["id"]

    assert asked("proposals", "approve", named, "--all").code == 2
    assert asked("proposals", "approve", named, "--kind", "decay").code == 2


def test_the_log_says_who_decided(asked: Cli) -> None:
    asked.ok("proposals", "approve", "--all", "--kind", "decay")

    told = asked.ok("log", "--by", "me", "--limit", "2")["entries"]
    assert [each["what_parts"]["kind"] for each in told] == ["approved", "approved"]


def test_python_decides_all_of_a_kind(asked: Cli) -> None:
    with Madeleine.open(asked.home) as m:
        done = m.decide_all("rejected", kind="decay")

        assert [each.type for each in m.proposals()] == [ProposalType.SPACE]
        assert done.undo is not None
        m.undo(done.undo)
        assert len(m.proposals(kind="decay")) == 2
