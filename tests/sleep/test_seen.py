"""What need not be looked at again: noted in the journal, as long as the texts stay."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from madeleine.model.draft import MemoryLimits
from madeleine.model.memory import Memory
from madeleine.model.query import Filter
from madeleine.model.revision import read_revision
from madeleine.model.verdict import MemoryPair, Relation, Verdict
from madeleine.model.words import Tier
from madeleine.sleep.run import run_job
from madeleine.sleep.seen import find_unseen, judge_pairs, note_seen
from madeleine.sleep.values import STOPPED, JobContext, Patch, RunReport, SetTier
from madeleine.write.revise import revise
from madeleine.write.stores import Stores
from tests.fakes import close, keep, make_stores, reopened
from tests.sleep.nights import CONFIG, Planned, Told, run

SAME = Verdict(Relation.DUPLICATE, 0.9, "both say so")


def a_night(stores: Stores, judge: Told | None = None) -> JobContext:
    now = stores.clock.now()
    return JobContext(stores, CONFIG, judge or Told(), RunReport("j", "r", now), now)


def looked(stores: Stores) -> list[str]:
    """What a job would look at now; it notes that it has."""
    found: list[Memory] = []

    def plan(context: JobContext) -> Sequence[Patch]:
        found.extend(find_unseen(context, Filter(), 100))
        return []

    run(stores, Planned(plan, ends=lambda context: note_seen(context, found)))
    return [each.content for each in found]


def test_only_what_changed_is_looked_at_the_next_night(stores: Stores) -> None:
    keep(stores, "Lunch is at noon")
    dinner = keep(stores, "Dinner is at seven")
    assert looked(stores) == ["Lunch is at noon", "Dinner is at seven"]
    assert looked(stores) == []

    revise(stores, dinner.id, read_revision({"content": "Dinner is off"}, MemoryLimits()))
    keep(stores, "Breakfast is at eight")

    assert looked(stores) == ["Dinner is off", "Breakfast is at eight"]


def test_what_was_seen_is_known_after_the_index_is_lost(tmp_path: Path) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    keep(stores, "Lunch is at noon")
    looked(stores)

    stores = reopened(stores, home, without_index=True)

    assert looked(stores) == []
    close(stores)


def test_a_memory_is_looked_at_after_its_vector_arrives(tmp_path: Path) -> None:
    home = tmp_path / "home"
    without = make_stores(home, with_model=False)
    keep(without, "Lunch is at noon")
    assert looked(without) == []
    close(without)

    stores = reopened(make_stores(home), home, without_index=True)

    assert looked(stores) == ["Lunch is at noon"]
    close(stores)


def test_a_memory_whose_patch_was_skipped_is_looked_at_again(stores: Stores) -> None:
    memory = keep(stores, "Lunch is at noon")

    def plan(context: JobContext) -> Sequence[Patch]:
        stale = Memory(memory.id, "as nobody knew it", memory.created, memory.updated)
        return [Patch(SetTier(stale, Tier.ARCHIVAL), "t")]

    def done(context: JobContext) -> None:
        note_seen(context, [memory])

    assert run(stores, Planned(plan, ends=done)).skipped == 1
    assert looked(stores) == ["Lunch is at noon"]


def a_pair(stores: Stores, number: int = 0) -> MemoryPair:
    return MemoryPair(
        keep(stores, f"Lunch is at {number}"), keep(stores, f"We eat at {number}"), 0.8
    )


@pytest.mark.parametrize("rebuilt", [False, True])
def test_a_costly_judge_is_asked_once_about_a_pair(tmp_path: Path, rebuilt: bool) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    costly = Told(lambda pair: SAME, cheap=False)
    pair = a_pair(stores)
    assert judge_pairs(a_night(stores, costly), [pair]) == [SAME]

    stores = reopened(stores, home, without_index=rebuilt)
    context = a_night(stores, costly)
    assert judge_pairs(context, [pair]) == [SAME]

    assert costly.asked == [pair.ids]
    assert context.report.judged == 0
    revise(stores, pair.older.id, read_revision({"content": "Lunch is off"}, MemoryLimits()))
    judge_pairs(a_night(stores, costly), [pair])
    assert costly.asked == [pair.ids, pair.ids]
    close(stores)


def test_a_cheap_judge_is_simply_asked_again(stores: Stores) -> None:
    cheap, pair = Told(lambda pair: SAME), a_pair(stores)
    before = stores.search.counts().events

    for _ in range(2):
        judge_pairs(a_night(stores, cheap), [pair])

    assert cheap.asked == [pair.ids, pair.ids]
    assert stores.search.counts().events == before


def test_a_missing_answer_changes_nothing_and_is_asked_for_again(stores: Stores) -> None:
    pair = a_pair(stores)
    context = a_night(stores, Told(cheap=False))

    assert judge_pairs(context, [pair]) == [None]

    assert context.again == set(pair.ids)
    note_seen(context, [pair.older, pair.newer])
    assert [each.id for each in find_unseen(context, Filter(), 9)] == list(pair.ids)


def test_known_and_new_verdicts_come_in_the_order_asked(stores: Stores) -> None:
    costly = Told(lambda pair: Verdict(Relation.NONE, 0.5, pair.older.content), cheap=False)
    pairs = [a_pair(stores, number) for number in range(5)]
    judge_pairs(a_night(stores, costly), pairs[1::2])

    found = judge_pairs(a_night(stores, costly), pairs)

    assert [each.reason for each in found if each] == [pair.older.content for pair in pairs]
    assert len(costly.asked) == 5


def test_a_request_to_stop_is_heard_between_questions(stores: Stores) -> None:
    pair = a_pair(stores)
    context = a_night(stores, Told(lambda pair: SAME))
    context.stop = lambda: True

    assert judge_pairs(context, [pair]) == [None]
    assert (context.report.stopped, context.again) == (STOPPED, set(pair.ids))


def test_a_dry_run_asks_and_keeps_no_verdict(stores: Stores) -> None:
    costly, pair = Told(lambda pair: SAME, cheap=False), a_pair(stores)
    before = stores.search.counts().events

    def plan(context: JobContext) -> Sequence[Patch]:
        judge_pairs(context, [pair])
        return []

    report = run_job(stores, CONFIG, costly, Planned(plan), dry_run=True)

    assert report.judged == 1
    assert stores.search.counts().events == before
