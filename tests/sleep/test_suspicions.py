"""What a night suspects and does not ask: recall knows it, by pair, until somebody is asked."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from madeleine.model.memory import Memory
from madeleine.model.proposal import ProposalStatus
from madeleine.model.revision import Revision
from madeleine.model.verdict import Relation
from madeleine.recall.successors import WaitingReplacement, find_suspected_replacements
from madeleine.sleep.jobs.conflict_detector import make_conflict_detector
from madeleine.write.proposals import decide_proposal
from madeleine.write.revise import revise
from madeleine.write.stores import Stores
from tests.fakes import NOON, close, keep, make_stores, reopened
from tests.sleep.scripted import ScriptedJudge, always, context, says

WOOD = "The boat on the Aldermere is heated with wood"
DIESEL = "The boat on the Aldermere is heated with diesel"


def keep_both(stores: Stores) -> tuple[Memory, Memory]:
    return (
        keep(stores, WOOD, created=NOON),
        keep(stores, DIESEL, created=NOON + timedelta(days=9)),
    )


def judge(sure: float) -> ScriptedJudge:
    return ScriptedJudge(always(says(Relation.EVOLUTION, sure)))


def suspected(stores: Stores, older: Memory, newer: Memory) -> bool:
    found = find_suspected_replacements(stores.log, [older.id, newer.id])
    return found == [WaitingReplacement(older.id, newer.id, None)]


@pytest.mark.parametrize(("sure", "known"), [(0.2, False), (0.35, True), (0.59, True)])
def test_what_is_not_sure_enough_to_ask_is_suspected(
    stores: Stores, sure: float, known: bool
) -> None:
    older, newer = keep_both(stores)

    context(stores, make_conflict_detector(), judge(sure))

    assert suspected(stores, older, newer) is known
    assert stores.log.proposals() == []


def test_a_suspicion_outlives_the_index(tmp_path: Path) -> None:
    stores = make_stores(tmp_path)
    older, newer = keep_both(stores)
    context(stores, make_conflict_detector(), judge(0.5))

    stores = reopened(stores, tmp_path, without_index=True)

    assert suspected(stores, older, newer)
    close(stores)


def test_a_question_that_found_no_room_is_suspected_until_it_is_asked(stores: Stores) -> None:
    older, newer = keep_both(stores)
    context(stores, make_conflict_detector(), judge(0.8), questions_most=0)
    assert suspected(stores, older, newer)

    context(stores, make_conflict_detector(), judge(0.8))

    (asked,) = stores.log.proposals(ProposalStatus.PENDING)
    assert not suspected(stores, older, newer)
    decide_proposal(stores, asked.id, ProposalStatus.REJECTED, by="me")
    context(stores, make_conflict_detector(), judge(0.8))
    assert not suspected(stores, older, newer)


def test_a_suspicion_ends_when_one_of_the_two_says_something_else(stores: Stores) -> None:
    older, newer = keep_both(stores)
    context(stores, make_conflict_detector(), judge(0.5))

    revise(stores, newer.id, Revision({"content": "The boat is for sale"}))

    assert not suspected(stores, older, newer)


def test_a_dry_run_suspects_nothing(stores: Stores) -> None:
    older, newer = keep_both(stores)

    context(stores, make_conflict_detector(), judge(0.5), dry_run=True)

    assert not suspected(stores, older, newer)
