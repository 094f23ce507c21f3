"""`madeleine undo NIGHT`: what a night asked goes with what it did, and comes back with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from tests.cli.running import Cli
from tests.server.running import running

LONG_AGO = ("--created", "2019-01-01T00:00:00Z")


@pytest.fixture(params=["alone", "daemon"])
def asked(request: pytest.FixtureRequest, cli: Cli) -> Iterator[Cli]:
    """A home in which a night has something to ask and something to do."""
    cli.remember("Ana lives in Ghent", "--created", "2026-01-01")
    cli.remember("Ana moved to Turin")
    cli.remember("The old boiler was made by Hansen", *LONG_AGO)
    with running(cli.home) if request.param == "daemon" else nullcontext():
        yield cli


def states(cli: Cli) -> list[str]:
    return [
        each["status"]
        for each in cli.ok("proposals", "--status", "all", "--kind", "conflict")["proposals"]
    ]


def contents(cli: Cli) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in cli.files}


def test_a_night_that_is_taken_back_asks_nothing_any_more(asked: Cli) -> None:
    before = contents(asked)
    night = asked.ok("sleep", "--now")["request"]
    assert states(asked) == ["pending"]

    undone = asked.ok("undo", night)

    assert states(asked) == ["expired"]
    assert len(undone["questions"]) == 1
    assert contents(asked) == before


def test_a_night_that_only_asked_can_be_taken_back_and_brought_back(asked: Cli) -> None:
    night = asked.ok("sleep", "conflict_detector")["request"]

    undone = asked.ok("undo", night[:8])
    assert (states(asked), undone["undone"]) == (["expired"], [])

    again = asked.ok("undo", undone["change"])
    assert states(asked) == ["pending"]
    assert again["questions"] == undone["questions"]


def test_who_takes_an_undo_back_is_asked_again(asked: Cli) -> None:
    night = asked.ok("sleep", "--now")["request"]
    after = contents(asked)
    undone = asked.ok("undo", night)

    asked.ok("undo", undone["change"])

    assert states(asked) == ["pending"]
    assert contents(asked) == after


def test_what_was_taken_back_is_not_asked_the_next_night(asked: Cli) -> None:
    night = asked.ok("sleep", "conflict_detector")["request"]
    asked.ok("undo", night)

    asked.ok("sleep", "conflict_detector")

    assert states(asked) == ["expired"]


def test_what_was_answered_meanwhile_stays_answered(asked: Cli) -> None:
    night = asked.ok("sleep", "conflict_detector")["request"]
    asked.ok("proposals", "reject", "--all")

    ran = asked("undo", night)

    assert ran.code == 4
    assert states(asked) == ["rejected"]


def test_a_single_run_is_taken_back_with_what_it_asked(asked: Cli) -> None:
    answer = asked.ok("sleep", "--now")
    (run,) = (each["run"] for each in answer["reports"] if each["job"] == "conflict_detector")

    asked.ok("undo", run)

    assert states(asked) == ["expired"]


def test_the_command_says_what_was_taken_back(asked: Cli) -> None:
    night = asked.ok("sleep", "conflict_detector")["request"]

    said = asked("undo", night).out

    assert said.startswith("took back 0 changes, 0 memories, 1 question\n")
