"""Jobs of one memory that several servers have open: one runs at a time, and all know of it."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from madeleine.errors import UnderWay
from madeleine.sleep.intervals import JobIntervals
from madeleine.sleep.shared_timetable import SharedTimetable
from madeleine.sleep.sleeper import JobRun, Progress, Sleeper, StopCheck
from madeleine.sleep.values import STOPPED, RunReport
from madeleine.write.stores import Stores
from tests.fakes import close, make_stores
from tests.server.running import eventually

JOB, OTHER = "auto_linker", "decay_manager"
LEASE_SECONDS = 0.4


@dataclass(slots=True)
class Server:
    """What one server knows of the jobs. Each run waits until it is stopped or let go."""

    stores: Stores
    began: list[str] = field(default_factory=list)
    let_go: threading.Event = field(default_factory=threading.Event)
    sleeper: Sleeper = field(init=False)

    def __post_init__(self) -> None:
        leases: Any = importlib.import_module("madeleine.database.leases")
        rows = self.stores.vault._rows  # type: ignore[attr-defined]  # what all of them share
        made = leases.DatabaseLeases(rows, str(id(self)), LEASE_SECONDS)
        self.stores = replace(self.stores, leases=made)
        self.sleeper = Sleeper(self.stores, (JOB, OTHER), self.run)

    def run(self, running: JobRun, stop: StopCheck, progress: Progress) -> RunReport:
        job = running.job
        self.began.append(job)
        while not stop() and not self.let_go.wait(0.02):
            continue
        stopped = None if self.let_go.is_set() else STOPPED
        return RunReport(job, self.stores.new_id(), self.stores.clock.now(), stopped=stopped)

    def begin(self, job: str) -> threading.Thread:
        asked = self.sleeper.ask([job])
        thread = threading.Thread(target=self.sleeper.wait, args=(asked,))
        thread.start()
        return thread


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[tuple[Server, Server]]:
    stores = make_stores(tmp_path / "home", truth="database")
    one, other = Server(stores), Server(stores)
    yield one, other
    one.let_go.set()
    other.let_go.set()
    close(stores)


def test_a_job_on_one_server_is_seen_and_stopped_from_another(
    servers: tuple[Server, Server],
) -> None:
    one, other = servers
    working = one.begin(JOB)
    eventually(lambda: one.began)

    seen = other.sleeper.running()
    wrong, stopped = other.sleeper.stop(OTHER), other.sleeper.stop(JOB)
    working.join(10)

    assert seen is not None
    assert (seen.job, seen.due, wrong, stopped) == (JOB, False, False, True)
    assert one.sleeper.last_runs()[JOB].unfinished
    assert other.sleeper.running() is None


def test_a_run_that_is_asked_for_waits_for_another_servers(servers: tuple[Server, Server]) -> None:
    one, other = servers
    first = one.begin(JOB)
    eventually(lambda: one.began)

    second = other.begin(OTHER)
    second.join(0.3)
    assert other.began == []
    one.let_go.set()
    other.let_go.set()
    first.join(10)
    second.join(10)

    assert other.began == [OTHER]


def test_what_is_due_is_left_to_the_server_that_runs_it(servers: tuple[Server, Server]) -> None:
    one, other = servers
    working = one.begin(JOB)
    eventually(lambda: one.began)

    with pytest.raises(UnderWay):
        other.sleeper.run_due(JOB, lambda: True)

    one.let_go.set()
    working.join(10)
    assert other.sleeper.run_due(JOB, lambda: False) is False
    assert other.began == []


def test_a_paused_job_is_put_off_and_a_run_plans_the_next(servers: tuple[Server, Server]) -> None:
    one, other = servers
    intervals = JobIntervals(every={JOB: timedelta(hours=1), OTHER: timedelta(hours=2)})
    plan: Any = one.stores.leases
    rounds = SharedTimetable(one.sleeper, intervals, one.stores.clock, plan)
    rounds.start()
    one.let_go.set()
    other.sleeper.pause(OTHER)

    ran = [rounds.run(job, lambda: True) for job in (JOB, OTHER)]

    assert (ran, one.began) == ([True, False], [JOB])
    both = [one.sleeper.next_run(job) for job in (JOB, OTHER)]
    assert both[0] is not None
    assert both[1] is not None
    assert timedelta(minutes=50) < both[1] - both[0] < timedelta(minutes=70)
