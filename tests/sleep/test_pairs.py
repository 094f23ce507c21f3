"""Choosing pairs: what changed is paired with its neighbours, once, and the newest first."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from madeleine.model.cause import Cause
from madeleine.model.memory import Memory, Origin
from madeleine.model.proposal import ProposalStatus
from madeleine.model.revision import Revision
from madeleine.model.verdict import Relation
from madeleine.model.words import MemoryType
from madeleine.sleep.jobs.auto_linker import make_auto_linker
from madeleine.sleep.jobs.conflict_detector import make_conflict_detector
from madeleine.sleep.jobs.duplicate_merger import make_duplicate_merger
from madeleine.sleep.values import StopKind
from madeleine.write.identity import ensure_self
from madeleine.write.proposals import decide_proposal
from madeleine.write.revise import retire, revise
from madeleine.write.stores import Stores
from tests.fakes import NOON, close, keep, make_stores, reopened, vault_bytes
from tests.sleep.scripted import ScriptedJudge, always, context, says

RED = "red apples grow in the garden behind the house"
GREEN = "green pears grow in the garden behind the house"
BLUE = "blue plums grow in the garden behind the house"


def journal_bytes(stores: Stores) -> bytes:
    stores.journal.flush()
    return b"".join(
        each.read_bytes() for each in sorted(stores.vault.root.parent.glob("journal/*.jsonl"))
    )


def keep_at(stores: Stores, content: str, days: float, **fields: object) -> Memory:
    return keep(stores, content, created=NOON + timedelta(days=days), **fields)


@pytest.mark.parametrize("cheap", [True, False])
def test_a_judged_pair_is_not_asked_again_until_one_changes(stores: Stores, cheap: bool) -> None:
    keep(stores, RED)
    second = keep(stores, GREEN)
    judge = ScriptedJudge(cheap=cheap)

    context(stores, make_conflict_detector(), judge)
    assert judge.asked == [(RED, GREEN)]
    context(stores, make_conflict_detector(), judge)
    assert judge.asked == [(RED, GREEN)]

    revise(stores, second.id, Revision({"content": BLUE}))
    context(stores, make_conflict_detector(), judge)
    assert judge.asked == [(RED, GREEN), (RED, BLUE)]


def test_what_was_judged_is_known_after_the_index_is_lost(tmp_path: Path) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    keep(stores, RED)
    keep(stores, GREEN)
    judge = ScriptedJudge(cheap=False)
    context(stores, make_conflict_detector(), judge)

    stores = reopened(stores, home, without_index=True)
    context(stores, make_conflict_detector(), judge)

    assert len(judge.asked) == 1
    close(stores)


def test_a_verdict_that_cost_serves_every_job(stores: Stores) -> None:
    keep(stores, RED)
    keep(stores, GREEN)
    judge = ScriptedJudge(cheap=False)

    context(stores, make_conflict_detector(), judge)
    context(stores, make_auto_linker(), judge)

    assert len(judge.asked) == 1


def test_only_what_changed_is_looked_at_the_next_night(stores: Stores) -> None:
    for text in (RED, GREEN, BLUE):
        keep(stores, text)
    judge = ScriptedJudge()
    assert context(stores, make_conflict_detector(), judge).looked == 3

    keep(stores, "a cat sleeps on the sofa")

    assert context(stores, make_conflict_detector(), judge).looked == 1
    assert len(judge.asked) == 3


def test_a_pair_without_an_answer_is_asked_again(stores: Stores) -> None:
    keep(stores, RED)
    keep(stores, GREEN)
    judge = ScriptedJudge(always(None), cheap=False)

    context(stores, make_conflict_detector(), judge)
    context(stores, make_conflict_detector(), judge)

    assert judge.asked == [(RED, GREEN)] * 2


@pytest.mark.parametrize("rebuilt", [False, True])
def test_what_nobody_can_be_asked_yet_is_judged_again_when_somebody_can(
    tmp_path: Path, rebuilt: bool
) -> None:
    """While people decide nothing, judging the same again comes to the same question."""
    home = tmp_path / "home"
    stores = make_stores(home)
    for number, text in enumerate((RED, GREEN, BLUE)):
        keep_at(stores, text, number)
    judge = ScriptedJudge(always(says(Relation.TENSION, 0.7)))

    first = context(stores, make_conflict_detector(), judge, proposals_per_run=1)
    assert first.proposed == 1
    assert first.stopped == Cause(StopKind.NO_ROOM_FOR_PROPOSALS, {"without_room": 2})
    stores = reopened(stores, home, without_index=rebuilt)
    assert context(stores, make_conflict_detector(), judge, proposals_per_run=1).judged == 0

    asked = 1
    while pending := stores.log.proposals(ProposalStatus.PENDING):
        decide_proposal(stores, pending[0].id, ProposalStatus.REJECTED)
        asked += context(stores, make_conflict_detector(), judge, proposals_per_run=1).proposed
    assert asked == 3
    assert context(stores, make_conflict_detector(), judge).judged == 0
    close(stores)


def test_what_was_retired_while_it_waited_holds_nobody_up(stores: Stores) -> None:
    old = [keep_at(stores, f"{RED} {number}", number) for number in range(8)]
    judge = ScriptedJudge(always(says(Relation.TENSION, 0.7)))
    context(stores, make_conflict_detector(), judge, proposals_per_run=1)
    for each in old:
        retire(stores, each.id)
    new = {keep_at(stores, text, 20).id for text in (GREEN, BLUE)}
    context(stores, make_conflict_detector(), judge, proposals_per_run=1)

    for _ in range(3):
        for waiting in stores.log.proposals(ProposalStatus.PENDING):
            decide_proposal(stores, waiting.id, ProposalStatus.REJECTED)
        context(stores, make_conflict_detector(), judge, proposals_per_run=1)

    assert any(set(asked.source_nodes) == new for asked in stores.log.proposals())
    assert context(stores, make_conflict_detector(), judge).judged == 0


def test_a_bound_on_what_a_run_costs_delays_the_oldest(stores: Stores) -> None:
    """Nothing is asked twice, and nothing is forgotten."""
    for text in (RED, GREEN, BLUE):
        keep(stores, text)
    judge = ScriptedJudge(cheap=False)

    first = context(stores, make_conflict_detector(), judge, costly_pairs_per_run=1)
    assert BLUE in judge.asked[0]
    assert first.counts["left"]
    for _ in range(5):
        context(stores, make_conflict_detector(), judge, costly_pairs_per_run=1)

    assert len(judge.asked) == len({frozenset(each) for each in judge.asked}) == 3


def test_a_request_to_stop_loses_no_answer_that_was_paid_for(stores: Stores) -> None:
    for number in range(40):
        keep(stores, f"{RED} number {number}")
    judge = ScriptedJudge(cheap=False)

    context(stores, make_conflict_detector(), judge, stop=lambda: bool(judge.asked))
    halfway = len(judge.asked)
    context(stores, make_conflict_detector(), judge, costly_pairs_per_run=10_000)

    assert 0 < halfway < len(judge.asked)
    assert len(judge.asked) == len({frozenset(each) for each in judge.asked})


def test_a_memory_without_a_vector_takes_part_in_no_pairing(tmp_path: Path) -> None:
    stores = make_stores(tmp_path / "home", with_model=False)
    keep(stores, RED)
    keep(stores, GREEN)
    judge = ScriptedJudge()

    context(stores, make_conflict_detector(), judge)
    context(stores, make_duplicate_merger(), judge)

    assert judge.asked == []
    close(stores)


def test_a_memory_is_paired_after_its_vector_arrives(tmp_path: Path) -> None:
    home = tmp_path / "home"
    stores = make_stores(home, with_model=False)
    keep(stores, RED)
    keep(stores, GREEN)
    judge = ScriptedJudge()
    context(stores, make_conflict_detector(), judge)

    stores = reopened(stores, home, without_index=True)
    context(stores, make_conflict_detector(), judge)

    assert judge.asked == [(RED, GREEN)]
    close(stores)


def test_a_dry_run_changes_no_byte(stores: Stores) -> None:
    keep(stores, RED)
    keep(stores, GREEN)
    judge = ScriptedJudge(always(says(Relation.EVOLUTION)), cheap=False)
    before = vault_bytes(stores), journal_bytes(stores)

    report = context(stores, make_conflict_detector(), judge, dry_run=True)

    assert len(report.patches) == 1
    assert (vault_bytes(stores), journal_bytes(stores)) == before


def test_the_self_is_in_no_pair(stores: Stores) -> None:
    ensure_self(stores)
    keep(stores, "The person whose memory this is lives here.", type=MemoryType.PERSON)
    judge = ScriptedJudge()

    for job in (make_duplicate_merger(), make_conflict_detector(), make_auto_linker()):
        context(stores, job, judge, duplicate_score=0.0, link_threshold=0.1)

    assert judge.asked == []


def test_what_is_retired_is_in_no_pair(stores: Stores) -> None:
    old = keep(stores, RED)
    keep(stores, GREEN)
    retire(stores, old.id)
    judge = ScriptedJudge()

    context(stores, make_conflict_detector(), judge)

    assert judge.asked == []


def test_contradictions_are_looked_for_by_the_name_they_share(stores: Stores) -> None:
    """They need not be alike: contradicting pairs are often far from each other."""
    slow = "The Zanzibar service answers slowly on Mondays"
    fast = "Restarted everything; zanzibar is quick again"
    keep(stores, slow)
    keep(stores, fast)
    keep(stores, RED)
    judge = ScriptedJudge()

    context(stores, make_conflict_detector(), judge)

    assert judge.asked == [(slow, fast)]


def test_what_two_people_say_of_themselves_is_not_compared(stores: Stores) -> None:
    mine = "I live in a small house by the sea"
    keep(stores, f"{mine} in Cork", origin=Origin("s1", 1, "Ana"))
    keep(stores, f"{mine} in Bray", origin=Origin("s1", 2, "Bob"))
    judge = ScriptedJudge()

    context(stores, make_conflict_detector(), judge)
    context(stores, make_duplicate_merger(), judge)

    assert judge.asked == []


def test_projects_are_not_compared_with_each_other(stores: Stores) -> None:
    keep(stores, RED, space="atlas")
    keep(stores, GREEN, space="borealis")
    keep(stores, BLUE)
    judge = ScriptedJudge()

    context(stores, make_conflict_detector(), judge)

    assert sorted(judge.asked) == [(GREEN, BLUE), (RED, BLUE)]


def test_the_older_of_a_pair_is_the_one_that_was_so_earlier(stores: Stores) -> None:
    """When a file was last written says nothing about when it was so."""
    late = keep_at(stores, RED, days=-1)
    keep_at(stores, GREEN, days=-9)
    revise(stores, late.id, Revision({"title": "Apples"}))
    judge = ScriptedJudge()

    context(stores, make_conflict_detector(), judge)

    assert judge.asked == [(GREEN, RED)]
