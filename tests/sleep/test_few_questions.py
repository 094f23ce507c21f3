"""Few and good questions: so many a night, the most valuable first, and none for ever."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from madeleine.model.draft import MemoryLimits
from madeleine.model.event import EventKind
from madeleine.model.memory import Memory
from madeleine.model.proposal import Proposal, ProposalStatus
from madeleine.model.revision import read_revision
from madeleine.model.words import Tier
from madeleine.rules.question_value import question_value
from madeleine.sleep.config import SleepConfig
from madeleine.sleep.run import run_job
from madeleine.sleep.values import Patch, RunReport, SetSpace, SetTier, StopKind
from madeleine.write.proposals import decide_proposal, preview_proposal
from madeleine.write.record import new_event, record_events
from madeleine.write.revise import revise
from madeleine.write.stores import Stores
from tests.fakes import FakeClock, keep, vault_bytes
from tests.sleep.nights import Planned, Told, job_of, run

FEW = SleepConfig(questions_most=2)


def pending(stores: Stores) -> list[Proposal]:
    return stores.log.proposals(ProposalStatus.PENDING)


def archiving(memory: Memory, sure: float = 0.7) -> Patch:
    return Patch(SetTier(memory, Tier.ARCHIVAL), "it faded", sure, ask=True)


def moving(memory: Memory, sure: float = 0.7) -> Patch:
    return Patch(SetSpace(memory, "kitchen"), "its neighbours are there", sure, ask=True)


def planks(stores: Stores, count: int) -> list[Memory]:
    return [keep(stores, f"Plank {each} is oak") for each in range(count)]


def ask(
    stores: Stores,
    patches: Sequence[Patch],
    job: str = "planned",
    night: str | None = None,
    config: SleepConfig = FEW,
    due: bool = False,
) -> RunReport:
    planned = Planned(lambda context: patches, job)
    return run_job(stores, config, Told(), planned, request=night, due=due)


def clock(stores: Stores) -> FakeClock:
    assert isinstance(stores.clock, FakeClock)
    return stores.clock


def test_a_night_asks_five_questions_unless_it_is_told_otherwise(stores: Stores) -> None:
    patches = [archiving(each) for each in planks(stores, 9)]

    report = ask(stores, patches, config=SleepConfig())

    assert (report.proposed, len(pending(stores))) == (5, 5)
    assert report.stopped is not None
    assert report.stopped.kind == StopKind.NO_ROOM_FOR_PROPOSALS
    assert report.stopped.parts["without_room"] == 4


def test_all_jobs_of_a_night_share_its_questions(stores: Stores) -> None:
    one, two, three = planks(stores, 3)

    ask(stores, [archiving(one)], "duplicate_merger", "n1")
    ask(stores, [archiving(two)], "conflict_detector", "n1")
    left = ask(stores, [archiving(three)], "auto_linker", "n1")

    assert left.proposed == 0
    assert len(pending(stores)) == 2


def test_another_night_asks_what_was_not_asked(stores: Stores) -> None:
    patches = [archiving(each) for each in planks(stores, 5)]

    asked = [ask(stores, patches, night=f"n{each}").proposed for each in range(4)]

    assert asked == [2, 2, 1, 0]


def test_the_surest_questions_come_first(stores: Stores) -> None:
    memories = planks(stores, 4)
    sures = (0.61, 0.9, 0.7, 0.8)

    ask(stores, [archiving(*each) for each in zip(memories, sures, strict=True)])

    assert {each.source_nodes[0] for each in pending(stores)} == {memories[1].id, memories[3].id}


def test_of_equally_sure_ones_those_about_what_matters_come_first(stores: Stores) -> None:
    memories = planks(stores, 4)
    scores = {memories[2].id: 0.9, memories[3].id: 0.8, memories[0].id: 0.1, memories[1].id: 0.1}
    body = {"scores": {"importance": scores}}
    record_events(stores, [new_event(stores, EventKind.SCORED, body)], durable=True)
    known = stores.search.memories([each.id for each in memories])

    ask(stores, [archiving(known[each.id]) for each in memories])

    assert {each.source_nodes[0] for each in pending(stores)} == {memories[2].id, memories[3].id}


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ((0.9, 0.5, 0), (0.8, 0.5, 0)),
        ((0.8, 0.6, 0), (0.8, 0.5, 0)),
        ((0.8, 0.1, 30), (0.8, 0.1, 3)),
        ((0.8, 0.9, 0), (0.9, 0.2, 0)),
        ((0.7, 1.0, 0), (1.0, 0.0, 0)),
    ],
)
def test_a_question_is_worth_its_sureness_and_what_it_is_about(
    better: tuple[float, float, int], worse: tuple[float, float, int]
) -> None:
    assert 1 >= question_value(*better) > question_value(*worse) >= 0


def test_a_better_question_of_a_later_job_takes_the_place_of_a_lesser_one(stores: Stores) -> None:
    one, two, three = planks(stores, 3)
    ask(stores, [archiving(one, 0.61), archiving(two, 0.9)], "duplicate_merger", "n1")

    later = ask(stores, [archiving(three, 0.8)], "conflict_detector", "n1")

    assert later.proposed == 1
    assert {each.source_nodes[0] for each in pending(stores)} == {two.id, three.id}


def test_a_lesser_question_of_a_later_job_waits(stores: Stores) -> None:
    one, two, three = planks(stores, 3)
    ask(stores, [archiving(one), archiving(two)], "duplicate_merger", "n1")

    later = ask(stores, [archiving(three, 0.65)], "conflict_detector", "n1")

    assert later.proposed == 0
    assert {each.source_nodes[0] for each in pending(stores)} == {one.id, two.id}


def test_what_made_room_is_asked_another_night(stores: Stores) -> None:
    one, two, three = planks(stores, 3)
    ask(stores, [archiving(one, 0.61), archiving(two, 0.9)], "duplicate_merger", "n1")
    ask(stores, [archiving(three, 0.8)], "conflict_detector", "n1")

    again = ask(stores, [archiving(one, 0.61)], "duplicate_merger", "n2")

    assert again.proposed == 1
    assert one.id in {each.source_nodes[0] for each in pending(stores)}


def test_what_made_room_is_looked_at_again_by_the_job_that_asked_it(stores: Stores) -> None:
    one, two, three = planks(stores, 3)
    ask(stores, [archiving(one, 0.61), archiving(two, 0.9)], "duplicate_merger", "n1")
    ask(stores, [archiving(three, 0.8)], "conflict_detector", "n1")

    waiting = stores.log.state("sleep.waiting.duplicate_merger.told")

    assert waiting == [one.id]


def test_what_somebody_answered_makes_no_room(stores: Stores) -> None:
    one, two, three = planks(stores, 3)
    ask(stores, [archiving(one, 0.61), archiving(two, 0.62)], "duplicate_merger", "n1")
    for each in pending(stores):
        decide_proposal(stores, each.id, ProposalStatus.REJECTED)

    later = ask(stores, [archiving(three, 0.9)], "conflict_detector", "n1")

    assert later.proposed == 0


def test_jobs_that_come_every_hour_ask_no_more_than_a_night_may(stores: Stores) -> None:
    memories = planks(stores, 6)
    asked = 0
    for hour, memory in enumerate(memories):
        asked += ask(stores, [moving(memory)], "auto_cluster", f"h{hour}", due=True).proposed
        clock(stores).pass_by(hours=1)

    assert asked == 2
    clock(stores).pass_by(hours=12)
    assert ask(stores, [moving(memories[-1])], "auto_cluster", "next", due=True).proposed == 1


def test_who_asks_for_a_run_is_asked_whatever_the_timetable_asked(stores: Stores) -> None:
    memories = planks(stores, 4)
    ask(stores, [moving(each) for each in memories[:2]], "auto_cluster", "h1", due=True)

    assert ask(stores, [archiving(each) for each in memories[2:]]).proposed == 2


def test_nobody_is_asked_anything_where_that_is_set(stores: Stores) -> None:
    none = SleepConfig(questions_most=0)

    report = ask(stores, [archiving(each) for each in planks(stores, 2)], config=none)

    assert (report.proposed, pending(stores)) == (0, [])


def test_a_dry_run_shows_which_questions_would_be_asked_and_which_would_wait(
    stores: Stores,
) -> None:
    memories = planks(stores, 3)
    patches = [archiving(each, sure) for each, sure in zip(memories, (0.7, 0.9, 0.8), strict=True)]

    report = run(stores, job_of(*patches), FEW, dry_run=True)

    shown = [(each["memories"], each["would"]) for each in report.patches]
    assert shown == [
        ([memories[1].id], "propose"),
        ([memories[2].id], "propose"),
        ([memories[0].id], "wait"),
    ]


def test_a_question_that_nobody_answers_for_a_month_is_withdrawn_and_nothing_changes(
    stores: Stores,
) -> None:
    (memory,) = planks(stores, 1)
    ask(stores, [archiving(memory)])
    (asked,) = pending(stores)
    before = vault_bytes(stores)
    clock(stores).pass_by(days=29)
    ask(stores, [])
    assert pending(stores) == [asked]

    clock(stores).pass_by(days=2)
    ask(stores, [])

    assert pending(stores) == []
    assert preview_proposal(stores, asked.id).problem == "it is expired: nobody answered it in time"
    assert vault_bytes(stores) == before


def test_a_withdrawn_question_comes_back_only_when_the_memory_says_something_else(
    stores: Stores,
) -> None:
    (memory,) = planks(stores, 1)
    ask(stores, [archiving(memory)])
    clock(stores).pass_by(days=31)
    assert ask(stores, [archiving(memory)]).proposed == 0

    changed = revise(
        stores, memory.id, read_revision({"content": "Plank 0 is elm"}, MemoryLimits())
    ).memory

    assert ask(stores, [archiving(changed)]).proposed == 1


def test_how_long_a_question_waits_can_be_set(stores: Stores) -> None:
    (memory,) = planks(stores, 1)
    week = replace(FEW, proposal_days=7)
    ask(stores, [archiving(memory)], config=week)
    clock(stores).pass_by(days=8)

    ask(stores, [], config=week)

    assert pending(stores) == []


def test_a_question_knows_its_run_and_night(stores: Stores) -> None:
    (memory,) = planks(stores, 1)

    report = ask(stores, [archiving(memory)], night="n1")

    action = dict(pending(stores)[0].action)
    assert (action["run"], action["night"]) == (report.run, "n1")
