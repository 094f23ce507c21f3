"""Between the nights: what new memories replace is suspected, and nothing else is done."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from madeleine import Madeleine
from madeleine.cli.sleep_words import render_outcome
from madeleine.model.memory import Memory
from madeleine.model.proposal import ProposalStatus
from madeleine.model.verdict import MemoryPair, Relation, Verdict
from madeleine.recall.successors import find_suspected_replacements
from madeleine.sleep.jobs.conflict_detector import make_conflict_detector
from madeleine.sleep.jobs.update_spotter import SECONDS, make_update_spotter
from madeleine.sleep.sleeper import ORDER
from madeleine.sleep.values import StopKind
from madeleine.write.stores import Stores
from tests.fakes import NOON, keep, vault_bytes
from tests.sleep.scripted import NONE, ScriptedJudge, always, between, context, says

WOOD = "The boat on the Aldermere is heated with wood"
DIESEL = "The boat on the Aldermere is heated with diesel"


def keep_both(stores: Stores, days: float = 0) -> tuple[Memory, Memory]:
    return (
        keep(stores, WOOD, created=NOON - timedelta(days=90)),
        keep(stores, DIESEL, created=NOON - timedelta(days=days)),
    )


def judge(sure: float = 0.8) -> ScriptedJudge:
    return ScriptedJudge(always(says(Relation.EVOLUTION, sure)))


def suspected(stores: Stores, *memories: Memory) -> list[tuple[str, str]]:
    found = find_suspected_replacements(stores.log, [each.id for each in memories])
    return [(each.older, each.newer) for each in found]


def test_what_a_new_memory_replaces_is_suspected_and_nothing_is_done(stores: Stores) -> None:
    older, newer = keep_both(stores)
    before = vault_bytes(stores)

    report = context(stores, make_update_spotter(), judge())

    assert suspected(stores, older, newer) == [(older.id, newer.id)]
    assert (report.applied, report.proposed) == (0, 0)
    assert report.counts == {"suspected": 1}
    assert stores.log.proposals() == []
    assert vault_bytes(stores) == before


def test_the_night_still_asks(stores: Stores) -> None:
    older, newer = keep_both(stores)
    context(stores, make_update_spotter(), judge())

    context(stores, make_conflict_detector(), judge())

    assert len(stores.log.proposals(ProposalStatus.PENDING)) == 1
    assert suspected(stores, older, newer) == []


def test_nothing_is_looked_at_twice(stores: Stores) -> None:
    keep_both(stores)
    first = judge()
    context(stores, make_update_spotter(), first)
    again = judge()

    report = context(stores, make_update_spotter(), again)

    assert len(first.asked) == 1
    assert (again.asked, report.idle) == ([], True)


def test_what_is_from_long_ago_is_left_to_the_night(stores: Stores) -> None:
    older, newer = keep_both(stores, days=9)
    asked = judge()

    context(stores, make_update_spotter(), asked)

    assert asked.asked == []
    assert suspected(stores, older, newer) == []


def test_a_judge_that_costs_is_not_asked(stores: Stores) -> None:
    keep_both(stores)
    costly = ScriptedJudge(always(says(Relation.EVOLUTION)), cheap=False)

    report = context(stores, make_update_spotter(), costly)

    assert (costly.asked, report.idle) == ([], True)


@dataclass
class SlowJudge(ScriptedJudge):
    """Takes more than half of the time of a run for each portion of pairs."""

    def judge(self, pairs: Sequence[MemoryPair]) -> list[Verdict | None]:
        until = time.thread_time() + 0.6 * SECONDS
        while time.thread_time() < until:
            pass
        return super().judge(pairs)


def test_a_run_ends_when_its_time_is_over_and_the_next_goes_on(stores: Stores) -> None:
    for number in range(12):
        keep(stores, f"The boat number {number} on the Aldermere is heated with wood")
    slow = SlowJudge(between("none", "none", NONE))

    first = context(stores, make_update_spotter(), slow)
    asked = len(slow.asked)
    context(stores, make_update_spotter(), slow)

    assert first.stopped is not None
    assert first.stopped.kind is StopKind.PAIRS_WAIT
    assert 0 < asked < len(slow.asked)


def test_it_is_run_by_name_and_not_with_the_cycle(tmp_path: Path) -> None:
    with Madeleine.open(tmp_path / "home", in_process=True) as opened:
        old = opened.remember("We use Celery for background jobs", space="atlas")
        new = opened.remember("Switched background jobs from Celery to Arq", space="atlas")

        assert [each.job for each in opened.sleep(dry_run=True)] == list(ORDER)
        (report,) = opened.sleep("update_spotter")

        assert report.error is None
        first, second = opened.recall("what do we use for background jobs?", space="atlas")
        assert (first.memory.id, second.memory.id) == (new.id, old.id)
        assert second.replaced_by is not None
        assert not second.replaced_by.known
        whispered = opened.whisper("what do we use for background jobs, Celery?", space="atlas")
        assert [each.memory.id for each in whispered.injected] == [new.id]
        assert old.id[:8] in whispered.text


def test_the_command_line_says_what_is_suspected() -> None:
    assert render_outcome({"counts": {"suspected": 2}}) == "2 memories suspected to be replaced"
