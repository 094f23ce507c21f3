"""What a cheap judge had no time for: it waits, what is new goes first, and later runs go on."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from madeleine import Madeleine
from madeleine.model.verdict import MemoryPair, Verdict
from madeleine.sleep.config import SleepConfig
from madeleine.sleep.jobs.conflict_detector import make_conflict_detector
from madeleine.sleep.pairs import BACKLOG_SECONDS
from madeleine.sleep.run import run_job
from madeleine.sleep.values import RunReport, StopKind
from madeleine.sleep.wording import render_stop
from madeleine.write.stores import Stores
from tests.fakes import NOON, keep
from tests.sleep.scripted import NONE, ScriptedJudge

FIELDS = "turnips", "barley", "clover", "lupins", "beets", "oats", "rye", "maize", "kale", "peas"


@dataclass
class BoundedJudge(ScriptedJudge):
    """Reads so many pairs until its run is over, and has no answer for the rest. A pair that it
    read once costs nothing."""

    most: int = 4
    seconds: float = 0.0
    read: set[tuple[str, str]] = field(default_factory=set)
    left: int | None = None

    def judge(self, pairs: Sequence[MemoryPair]) -> list[Verdict | None]:
        return [self._verdict(pair) for pair in pairs]

    def problems(self) -> dict[str, int]:
        self.left = None
        return {}

    def _verdict(self, pair: MemoryPair) -> Verdict | None:
        if pair.ids not in self.read:
            self.left = self.most if self.left is None else self.left
            if self.left == 0:
                return None
            self.left -= 1
            self.read.add(pair.ids)
            self.asked.append((pair.older.content, pair.newer.content))
            until = time.thread_time() + self.seconds
            while time.thread_time() < until:
                pass
        return NONE


def plant(stores: Stores, count: int) -> None:
    for number in range(count):
        keep(
            stores, f"{FIELDS[number]} grow in the far field", created=NOON + timedelta(days=number)
        )


def detect(stores: Stores, judge: BoundedJudge, due: bool = False) -> RunReport:
    report = run_job(stores, SleepConfig(), judge, make_conflict_detector(), due=due)
    assert report.error is None, report.error
    return report


def test_what_there_was_no_time_for_is_said_and_taken_up_by_later_runs(stores: Stores) -> None:
    plant(stores, 5)
    judge = BoundedJudge(most=4)

    first = detect(stores, judge)
    reports = [detect(stores, judge) for _ in range(3)]

    assert first.stopped is not None
    assert first.stopped.kind == StopKind.PAIRS_WAIT
    assert render_stop(first.stopped).endswith("memories are compared in a later run")
    assert len(judge.read) == 10
    assert len(judge.asked) == 10
    assert reports[-1].stopped is None


def test_what_is_new_is_compared_before_what_earlier_runs_left(stores: Stores) -> None:
    plant(stores, 6)
    judge = BoundedJudge(most=3)
    detect(stores, judge)
    judge.asked.clear()
    keep(stores, "hops grow in the far field", created=NOON + timedelta(days=40))

    detect(stores, judge)

    assert all("hops" in newer for _, newer in judge.asked)


def test_a_night_spends_little_time_on_what_earlier_ones_left(stores: Stores) -> None:
    plant(stores, 10)
    slow = BoundedJudge(most=1, seconds=BACKLOG_SECONDS / 10)
    detect(stores, slow)
    slow.most, read = 1_000, len(slow.read)

    began = time.thread_time()
    later = detect(stores, slow)

    assert later.stopped is not None
    assert later.stopped.kind == StopKind.PAIRS_WAIT
    assert time.thread_time() - began < 10 * BACKLOG_SECONDS
    assert read < len(slow.read) < 45


def test_when_nothing_is_left_the_next_change_is_new_again(stores: Stores) -> None:
    plant(stores, 3)
    judge = BoundedJudge(most=2)
    while detect(stores, judge).stopped is not None:
        pass
    judge.asked.clear()
    keep(stores, "hops grow in the far field", created=NOON - timedelta(days=40))
    judge.most = 1_000

    assert detect(stores, judge).stopped is None
    assert len(judge.asked) == 3


def test_a_real_night_that_had_no_time_goes_on_where_it_stopped(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[judge]\nreads_per_run = 3\n", encoding="utf-8")
    with Madeleine.open(tmp_path, in_process=True) as opened:
        for each in FIELDS:
            opened.remember(f"The far field has {each} this year, sown by Hanneke in April.")
        stops = Counter[str]()
        for _ in range(40):
            (report,) = opened.sleep("duplicate_merger")
            stops[report.stopped or ""] += 1
            if report.stopped is None:
                break

    assert stops[""] == 1
    assert sum(count for said, count in stops.items() if "in a later run" in said) >= 2


@pytest.mark.parametrize("due", [False, True])
def test_nothing_is_kept_of_a_run_that_had_time_for_all(stores: Stores, due: bool) -> None:
    plant(stores, 4)

    detect(stores, BoundedJudge(most=100), due)

    assert stores.log.state("sleep.backlog.conflict_detector.scripted") is None
