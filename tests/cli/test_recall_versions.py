"""`madeleine recall --json`: what replaced a hit, or may have; how sure it is; where it was cut."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest

from tests.cli.running import Cli
from tests.server.running import running

OLD, NEW = "Ana lives in Ghent", "Ana moved to Turin"
ASK = ("recall", "where does Ana live?", "--all")


@pytest.fixture(params=["alone", "daemon"])
def asked(request: pytest.FixtureRequest, cli: Cli) -> Iterator[Cli]:
    """A home in which a night asks whether one memory replaces another."""
    cli.remember(OLD, "--created", "2026-01-01")
    cli.remember(NEW)
    cli.ok("sleep", "conflict_detector")
    with running(cli.home) if request.param == "daemon" else nullcontext():
        yield cli


def hits(cli: Cli) -> dict[str, dict[str, Any]]:
    return {each["memory"]["content"]: each for each in cli.ok(*ASK)["results"]}


def test_a_hit_says_what_may_have_replaced_it_and_which_question_waits(asked: Cli) -> None:
    (waiting,) = asked.ok("proposals")["proposals"]
    found = hits(asked)

    newer, older = found[NEW]["memory"]["id"], found[OLD]["memory"]["id"]
    parts = {"known": False, "proposal": waiting["id"]}
    assert found[OLD]["replaced_by"] == {"id": newer, "title": NEW, **parts}
    assert found[NEW]["replaces"] == [{"id": older, "title": OLD, **parts}]
    assert found[OLD]["replaces"] == []


def test_the_older_one_says_so_in_words(asked: Cli) -> None:
    (waiting,) = asked.ok("proposals")["proposals"]

    said = asked(*ASK).out

    assert f"({NEW})? `madeleine proposals show {waiting['id'][:8]}`" in said


def test_once_it_is_settled_it_is_known(asked: Cli) -> None:
    asked.ok("proposals", "approve", "--all")

    found = hits(asked)[NEW]

    (version,) = found["replaces"]
    assert (version["title"], version["known"], version["proposal"]) == (OLD, True, None)


def test_once_somebody_said_no_nothing_is_suspected(asked: Cli) -> None:
    asked.ok("proposals", "reject", "--all")

    found = hits(asked).values()
    assert not any(each.get("replaced_by") or each["replaces"] for each in found)


def test_an_answer_says_where_it_was_cut_and_how_sure_each_hit_is(asked: Cli) -> None:
    answer = asked.ok("recall", "where does Ana live?")

    assert answer["more"] == answer["folded"]
    assert 0 < answer["floor"] <= min(each["score"] for each in answer["results"])
    assert {each["sure"] for each in answer["results"]} <= {"sure", "likely", "maybe"}
    assert asked.ok(*ASK)["floor"] is None
