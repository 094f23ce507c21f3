"""When jobs run: by themselves, one at a time, caught up once, and tried again after a failure."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from madeleine.bootstrap import SystemClock
from madeleine.errors import NoSuchJob
from madeleine.model.event import EventKind
from madeleine.sleep.cycle import JOBS
from madeleine.sleep.interrupted import note_begun, note_cut_off
from madeleine.sleep.intervals import JobIntervals, next_run
from madeleine.sleep.reports import bounded_report
from madeleine.sleep.sleeper import ORDER, JobRun, LastRun, Sleeper
from madeleine.sleep.timetable import Timetable
from madeleine.sleep.values import STOPPED, RunReport
from madeleine.sleep.wording import render_stop
from madeleine.write.record import new_event, record_events
from madeleine.write.stores import Stores
from tests.fakes import NOON, FakeClock, close, make_stores, reopened

DAY = timedelta(days=1)
RETRY = timedelta(minutes=15)
CYCLE = (
    "importance_scorer",
    "index_updater",
    "duplicate_merger",
    "conflict_detector",
    "auto_linker",
    "auto_cluster",
    "consolidator",
    "decay_manager",
)


@dataclass(slots=True)
class Runner:
    """Runs jobs that do nothing but take their time, and writes down when."""

    stores: Stores
    ran: list[str] = field(default_factory=list)
    nights: list[str | None] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    error: str | None = None
    hold: threading.Event | None = None
    """What a run waits for, unless it is told to stop."""

    def __call__(
        self,
        running: JobRun,
        stop: Callable[[], bool],
        progress: Callable[[int, int], None],
    ) -> RunReport:
        job, dry_run = running.job, running.dry_run
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        report = RunReport(job, self.stores.new_id(), self.stores.clock.now(), dry_run)
        report.error = self.error
        progress(1, 2)
        while self.hold is not None and not self.hold.wait(0.005):
            if stop():
                report.stopped = STOPPED
                break
        self.ran.append(job)
        self.nights.append(running.request)
        self.at_once -= 1
        if not dry_run:
            body = {"run": report.run, "job": job, "report": bounded_report(report)}
            record_events(self.stores, [new_event(self.stores, EventKind.RUN, body)], durable=False)
        return report


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    opened = make_stores(tmp_path / "home")
    yield opened
    close(opened)


@contextmanager
def attended(sleeper: Sleeper) -> Iterator[None]:
    """Let a thread work off what is asked for, as in the daemon."""
    ending = threading.Event()
    thread = threading.Thread(target=sleeper.attend, args=(ending.is_set,))
    thread.start()
    eventually(lambda: sleeper.attended)
    try:
        yield
    finally:
        ending.set()
        sleeper.wake()
        thread.join(5)
        assert not thread.is_alive()


def eventually(true: Callable[[], object], seconds: float = 5.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"did not come true within {seconds} s"
        time.sleep(0.005)


# -- when the next run is ------------------------------------------------------------------


def after(at: datetime, **report: object) -> LastRun:
    return LastRun(at, report)


def test_a_job_that_never_ran_is_due_at_once() -> None:
    assert next_run(None, DAY, RETRY, NOON) == NOON


def test_the_next_run_is_reckoned_from_the_last_one() -> None:
    last = after(NOON - timedelta(hours=20))

    assert next_run(last, DAY, RETRY, NOON) == NOON + timedelta(hours=4)


def test_what_should_have_run_days_ago_is_due_once_and_now() -> None:
    last = after(NOON - timedelta(days=9))

    assert next_run(last, DAY, RETRY, NOON) == NOON
    assert next_run(after(NOON), DAY, RETRY, NOON) == NOON + DAY


def test_a_failed_run_is_tried_again_after_pauses_that_grow_up_to_the_interval() -> None:
    pauses = [
        next_run(LastRun(NOON, {"error": "down"}, times), DAY, RETRY, NOON) - NOON
        for times in (1, 2, 3, 50)
    ]

    assert pauses == [RETRY, 2 * RETRY, 4 * RETRY, DAY]


@pytest.mark.parametrize("kind", ["asked_to_stop", "pairs_wait"])
def test_a_run_that_was_not_through_goes_on_after_a_pause(kind: str) -> None:
    last = after(NOON, stopped="wording of any kind", stopped_parts={"kind": kind})

    assert next_run(last, DAY, RETRY, NOON) == NOON + RETRY


def test_a_run_that_was_stopped_tells_what_found_no_room() -> None:
    report = RunReport("auto_linker", "", NOON, stopped=STOPPED.extended(without_room=3))

    assert report.was_halted
    assert render_stop(STOPPED.extended(without_room=3)) == "asked to stop; 3 of them found no room"


def test_a_run_that_the_breaker_stopped_counts_as_run() -> None:
    last = after(NOON, stopped="asked to stop", stopped_parts={"kind": "too_much_changed"})

    assert next_run(last, DAY, RETRY, NOON) == NOON + DAY


def test_a_last_run_in_the_future_does_not_put_the_next_one_off() -> None:
    last = after(NOON + timedelta(days=400))

    assert next_run(last, DAY, RETRY, NOON) == NOON + DAY


# -- one at a time, in order ---------------------------------------------------------------


def test_the_cycle_is_the_documented_one() -> None:
    assert tuple(JOBS) == ORDER == CYCLE


def test_what_only_runs_need_is_let_go_of_once_none_is_left(stores: Stores) -> None:
    sleeper, rests = Sleeper(stores, CYCLE, Runner(stores)), list[int]()
    sleeper.at_rest.append(lambda: rests.append(len(sleeper.last_runs())))
    sleeper.work_off()
    assert rests == []

    asked = sleeper.ask()
    sleeper.due(CYCLE[0])
    sleeper.work_off()

    assert asked.over.is_set()
    assert rests == [len(CYCLE)]


def test_jobs_that_are_due_together_run_in_the_documented_order(stores: Stores) -> None:
    runner = Runner(stores)
    sleeper = Sleeper(stores, CYCLE, runner)
    for job in reversed(CYCLE):
        sleeper.due(job)

    sleeper.work_off()

    assert tuple(runner.ran) == CYCLE


def test_jobs_that_come_due_shortly_after_each_other_are_one_night(stores: Stores) -> None:
    """Each is due a day after its own last run, so they drift apart by what each takes."""
    runner, clock = Runner(stores), stores.clock
    assert isinstance(clock, FakeClock)
    sleeper = Sleeper(stores, CYCLE, runner)
    for job in ("duplicate_merger", "index_updater", "conflict_detector", "auto_linker"):
        sleeper.due(job)
        sleeper.work_off()
        clock.pass_by(minutes=4)

    first, quiet, *others = runner.nights
    assert others == [first, first]
    assert quiet != first


def test_what_comes_due_hours_later_is_another_night(stores: Stores) -> None:
    runner, clock = Runner(stores), stores.clock
    assert isinstance(clock, FakeClock)
    sleeper = Sleeper(stores, CYCLE, runner)
    for _ in range(2):
        sleeper.due("auto_cluster")
        sleeper.work_off()
        for _ in range(20):
            clock.pass_by(minutes=3)
            sleeper.due("index_updater")
            sleeper.work_off()

    nights = [
        night for job, night in zip(runner.ran, runner.nights, strict=True) if job == "auto_cluster"
    ]
    assert len(set(nights)) == 2


def test_a_job_never_runs_twice_at_once(stores: Stores) -> None:
    go = threading.Event()
    runner = Runner(stores, hold=go)
    sleeper = Sleeper(stores, CYCLE, runner)
    with attended(sleeper):
        first = sleeper.ask(["auto_linker"])
        eventually(lambda: sleeper.running())
        again = sleeper.ask(["auto_linker"])
        sleeper.due("auto_linker")
        go.set()
        sleeper.wait(first)
        sleeper.wait(again)

    assert runner.most_at_once == 1
    assert runner.ran.count("auto_linker") == 2  # the second run did what was due, too


def test_whoever_asks_for_what_already_waits_gets_the_same_run(stores: Stores) -> None:
    sleeper = Sleeper(stores, CYCLE, Runner(stores))

    assert sleeper.ask(["auto_linker"]) is sleeper.ask(["auto_linker"])
    assert sleeper.ask(["auto_linker"]) is not sleeper.ask(["auto_linker"], dry_run=True)


def test_one_failing_job_does_not_stop_the_next(stores: Stores) -> None:
    runner = Runner(stores, error="it broke")
    sleeper = Sleeper(stores, CYCLE, runner)

    asked = sleeper.ask()
    sleeper.wait(asked)

    assert [each.job for each in asked.reports] == list(CYCLE)


def test_without_a_daemon_the_asker_does_the_work(stores: Stores) -> None:
    sleeper = Sleeper(stores, CYCLE, Runner(stores))

    asked = sleeper.ask(["decay_manager"])
    sleeper.wait(asked)

    assert [each.job for each in asked.reports] == ["decay_manager"]
    assert asked.over.is_set()


def test_a_job_nobody_knows_is_named_with_those_there_are(stores: Stores) -> None:
    sleeper = Sleeper(stores, CYCLE, Runner(stores))

    with pytest.raises(NoSuchJob, match="no job `dreaming`") as refused:
        sleeper.ask(["dreaming"])
    assert "decay_manager" in refused.value.hint


# -- stopping ------------------------------------------------------------------------------


def test_a_long_run_can_be_looked_at_and_stopped(stores: Stores) -> None:
    runner = Runner(stores, hold=threading.Event())
    sleeper = Sleeper(stores, CYCLE, runner)
    with attended(sleeper):
        asked = sleeper.ask()
        eventually(lambda: (now := sleeper.running()) is not None and now.total == 2)

        assert sleeper.stop()
        sleeper.wait(asked)

    assert runner.ran == ["importance_scorer"]
    assert [each.stopped for each in asked.reports] == [STOPPED]
    assert not sleeper.stop()


def test_an_ending_daemon_ends_a_run_and_lets_go_of_who_waits(stores: Stores) -> None:
    runner = Runner(stores, hold=threading.Event())
    sleeper = Sleeper(stores, CYCLE, runner)
    with attended(sleeper):
        asked = sleeper.ask()
        waiting = threading.Thread(target=sleeper.wait, args=(asked,))
        waiting.start()
        eventually(lambda: sleeper.running())

    waiting.join(2)
    assert not waiting.is_alive()
    assert runner.ran == ["importance_scorer"]


# -- what survives a restart ---------------------------------------------------------------


def test_a_paused_job_stays_paused_after_a_restart(tmp_path: Path) -> None:
    stores = make_stores(tmp_path / "home")
    assert Sleeper(stores, CYCLE, Runner(stores)).pause("consolidator")

    again = reopened(stores, tmp_path / "home", without_index=True)
    sleeper = Sleeper(again, CYCLE, Runner(again))

    assert sleeper.paused() == {"consolidator"}
    assert not sleeper.pause("consolidator")
    assert sleeper.resume("consolidator")
    assert not sleeper.paused()
    close(again)


def test_a_paused_job_runs_only_when_it_is_named(stores: Stores) -> None:
    runner = Runner(stores)
    sleeper = Sleeper(stores, CYCLE, runner)
    sleeper.pause("consolidator")

    sleeper.due("consolidator")
    sleeper.wait(sleeper.ask())
    assert "consolidator" not in runner.ran

    sleeper.wait(sleeper.ask(["consolidator"]))
    assert runner.ran[-1] == "consolidator"


def test_the_last_run_of_each_job_is_known_after_a_restart(tmp_path: Path) -> None:
    stores = make_stores(tmp_path / "home")
    runner = Runner(stores)
    sleeper = Sleeper(stores, CYCLE, runner)
    sleeper.wait(sleeper.ask(["auto_linker"]))
    runner.error = "the model is away"
    for _ in range(3):
        sleeper.wait(sleeper.ask(["decay_manager"]))
    before = sleeper.last_runs()

    again = reopened(stores, tmp_path / "home", without_index=True)
    after_restart = Sleeper(again, CYCLE, Runner(again)).last_runs()

    assert set(after_restart) == {"auto_linker", "decay_manager"}
    assert after_restart["decay_manager"].failures == before["decay_manager"].failures == 3
    assert after_restart["decay_manager"].report["error"] == "the model is away"
    assert after_restart["auto_linker"].at == before["auto_linker"].at
    close(again)


def test_a_run_that_was_cut_off_is_told_and_tried_again(stores: Stores) -> None:
    note_begun(stores, RunReport("auto_linker", "r-1", NOON - timedelta(hours=1)))

    sleeper = Sleeper(stores, CYCLE, Runner(stores))
    with attended(sleeper):
        last = sleeper.last_runs()["auto_linker"]

    assert last.report["run"] == "r-1"
    assert "cut off" in str(last.report["error"])
    assert last.failures == 1
    assert last.at == NOON - timedelta(hours=1)


def test_a_run_that_came_to_its_end_was_not_cut_off(stores: Stores) -> None:
    report = RunReport("auto_linker", "r-1", NOON)
    note_begun(stores, report)
    body = {"run": "r-1", "job": "auto_linker", "report": bounded_report(report)}
    record_events(stores, [new_event(stores, EventKind.RUN, body)], durable=False)

    assert note_cut_off(stores) is None
    assert len(stores.log.recent_events([EventKind.RUN.value], 9)) == 1


def test_a_dry_run_is_no_run(stores: Stores) -> None:
    sleeper = Sleeper(stores, CYCLE, Runner(stores))

    sleeper.wait(sleeper.ask(["auto_linker"], dry_run=True))

    assert not sleeper.last_runs()


# -- the scheduler -------------------------------------------------------------------------


@contextmanager
def timetable(sleeper: Sleeper, **options: timedelta) -> Iterator[Timetable]:
    given = {"first": timedelta(0), "retry": RETRY, **options}
    every = dict.fromkeys(CYCLE, given.get("every", timedelta(hours=24)))
    intervals = JobIntervals(every, given["first"], given["retry"])
    made = Timetable(sleeper, intervals, SystemClock())
    made.start()
    try:
        yield made
    finally:
        made.end()


def ran_at(stores: Stores, job: str, at: datetime, error: str | None = None) -> None:
    """Write down that a job ran."""
    report = RunReport(job, stores.new_id(), at, error=error)
    body = {"run": report.run, "job": job, "report": bounded_report(report)}
    record_events(stores, [new_event(stores, EventKind.RUN, body)], durable=False)


def test_a_night_that_was_missed_is_caught_up_once(stores: Stores) -> None:
    ran_at(stores, "decay_manager", datetime.now(UTC) - timedelta(days=12))
    for job in set(CYCLE) - {"decay_manager"}:
        ran_at(stores, job, datetime.now(UTC) - timedelta(hours=1))
    stores.clock.at = datetime.now(UTC)  # type: ignore[attr-defined]  # the fake one
    runner = Runner(stores)
    sleeper = Sleeper(stores, CYCLE, runner)

    with attended(sleeper), timetable(sleeper) as table:
        eventually(lambda: runner.ran)
        eventually(lambda: _hours_until(table, "decay_manager") > 23)
        others = [_hours_until(table, job) for job in CYCLE if job != "decay_manager"]

    assert runner.ran == ["decay_manager"]
    assert all(22 < hours < 23.1 for hours in others)


def _hours_until(table: Timetable, job: str) -> float:
    planned = table.next_run(job)
    return 0.0 if planned is None else (planned - datetime.now(UTC)) / timedelta(hours=1)


def test_a_machine_that_slept_through_a_run_catches_it_up(stores: Stores) -> None:
    """The scheduler drops what is more than its grace late; the timetable does not."""
    runner = Runner(stores)
    sleeper = Sleeper(stores, CYCLE, runner)
    for job in CYCLE:
        ran_at(stores, job, datetime.now(UTC))
    stores.clock.at = datetime.now(UTC)  # type: ignore[attr-defined]  # the fake one
    with attended(sleeper), timetable(sleeper) as table:
        late = datetime.now(UTC) - timedelta(days=3, hours=5)
        table._scheduler.modify_job("consolidator", next_run_time=late)

        eventually(lambda: runner.ran)
        eventually(lambda: _hours_until(table, "consolidator") > 23)

    assert runner.ran == ["consolidator"]


def test_nothing_runs_while_the_daemon_has_only_just_started(stores: Stores) -> None:
    runner = Runner(stores)
    sleeper = Sleeper(stores, CYCLE, runner)

    with attended(sleeper), timetable(sleeper, first=timedelta(hours=1)) as table:
        soon = [_hours_until(table, job) for job in CYCLE]

    assert runner.ran == []
    assert all(0.9 < hours <= 1 for hours in soon)


def test_after_a_failure_the_job_comes_again_before_its_interval_has_gone_by(
    stores: Stores,
) -> None:
    runner = Runner(stores, error="the model is away")
    stores.clock.at = datetime.now(UTC)  # type: ignore[attr-defined]  # the fake one
    sleeper = Sleeper(stores, ("auto_linker",), runner)
    every = {"auto_linker": timedelta(hours=24)}
    table = Timetable(sleeper, JobIntervals(every, timedelta(0), RETRY), SystemClock())
    table.start()
    with attended(sleeper):
        eventually(lambda: runner.ran)
        eventually(lambda: 0.2 < _hours_until(table, "auto_linker") < 0.3)
    table.end()


def test_a_job_comes_again_and_again(stores: Stores) -> None:
    runner = Runner(stores)
    stores.clock.at = datetime.now(UTC)  # type: ignore[attr-defined]  # the fake one
    sleeper = Sleeper(stores, ("index_updater",), runner)
    every = {"index_updater": timedelta(seconds=0.05)}
    table = Timetable(sleeper, JobIntervals(every, timedelta(0), RETRY), SystemClock())
    table.start()
    with attended(sleeper):
        eventually(lambda: len(runner.ran) >= 3)
    table.end()

    assert runner.most_at_once == 1


def test_a_job_that_is_resumed_is_planned_from_its_last_run(stores: Stores) -> None:
    runner = Runner(stores)
    sleeper = Sleeper(stores, CYCLE, runner)
    for job in CYCLE:
        ran_at(stores, job, datetime.now(UTC) - timedelta(hours=1))
    sleeper.pause("consolidator")

    with timetable(sleeper) as table:
        table._scheduler.modify_job(
            "consolidator", next_run_time=datetime.now(UTC) + timedelta(days=40)
        )
        sleeper.resume("consolidator")

        assert 22 < _hours_until(table, "consolidator") < 23.1


def test_a_timetable_may_end_while_the_next_run_is_being_reckoned(stores: Stores) -> None:
    class EndingClock(SystemClock):
        """A clock that ends the timetable when it is asked for the time of day."""

        table: Timetable | None = None

        def now(self) -> datetime:
            if self.table is not None:
                self.table.end()
            return super().now()

    sleeper, clock = Sleeper(stores, CYCLE, Runner(stores)), EndingClock()
    every = dict.fromkeys(CYCLE, timedelta(hours=24))
    table = Timetable(sleeper, JobIntervals(every, timedelta(hours=1), RETRY), clock)
    table.start()

    clock.table = table
    sleeper.planned("auto_linker")

    assert table.next_run("auto_linker") is None
