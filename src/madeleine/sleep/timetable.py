"""When the daemon runs each job by itself.

The next run is reckoned from the last one, as the journal has it, and not from the start of the
daemon. So a machine that is switched off every evening has its nights all the same, a night that
was missed is caught up once, and a run that failed is tried again before its whole interval has
gone by. The scheduler only says that a job is due; the `Sleeper` runs it when its turn comes.

This is the one module that imports APScheduler, which takes as long as a small command; only a
daemon that is up and answers loads it.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from apscheduler.events import EVENT_JOB_MISSED
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.jobstores.base import JobLookupError
from apscheduler.schedulers.background import BackgroundScheduler

from madeleine.sleep.intervals import JobIntervals, due_tasks, next_run, task_run
from madeleine.sleep.sleeper import Sleeper
from madeleine.write.stores import Clock

MISFIRE_SECONDS = 120  # a run so late was slept through, and is caught up
TICK = "consolidation"


class Timetable:
    """The running timetable of one daemon."""

    def __init__(self, sleeper: Sleeper, intervals: JobIntervals, clock: Clock) -> None:
        self._sleeper = sleeper
        self._intervals = intervals
        self._clock = clock
        self._earliest = clock.now() + intervals.first
        self._scheduler = _build_scheduler()

    def start(self) -> None:
        """Plan every job, and be told about each run from now on."""
        for job, every in self._intervals.every.items():
            self._scheduler.add_job(
                self._sleeper.due,
                "interval",
                seconds=every.total_seconds(),
                args=[job],
                id=job,
                next_run_time=self._next_run_at(job),
            )
        if self._intervals.tasks:
            self._scheduler.add_job(
                self.tick,
                "interval",
                seconds=self._intervals.tick.total_seconds(),
                id=TICK,
                next_run_time=self._earliest,
            )
        self._scheduler.add_listener(self._run_missed, EVENT_JOB_MISSED)
        self._sleeper.planned = self._plan
        self._sleeper.next_run = self.next_run
        self._scheduler.start()

    def end(self) -> None:
        """Plan nothing any more."""
        self._scheduler.shutdown(wait=False)

    def tick(self) -> None:
        """Say which tasks of the consolidation engine are due. One that runs already is not."""
        running, last = self._sleeper.running(), self._sleeper.last_runs()
        for task in due_tasks(last, self._intervals, self._clock.now()):
            if running is None or running.job != task:
                self._sleeper.due(task)

    def next_run(self, job: str) -> datetime | None:
        """Return when a job or task will run by itself."""
        if job in self._intervals.tasks:
            last = self._sleeper.last_runs().get(job)
            when = task_run(last, job, self._intervals, self._clock.now())
            return when and max(self._earliest, when)
        planned = self._scheduler.get_job(job)
        return None if planned is None else planned.next_run_time

    def _plan(self, job: str) -> None:
        """Plan the next run of a job that has just run, unless the timetable has ended."""
        if job in self._intervals.every:
            with suppress(JobLookupError):
                self._scheduler.modify_job(job, next_run_time=self._next_run_at(job))

    def _next_run_at(self, job: str) -> datetime:
        """Return when a job runs next, but not while the daemon has only just started."""
        last, every = self._sleeper.last_runs().get(job), self._intervals.every[job]
        planned = next_run(last, every, self._intervals.retry, self._clock.now())
        return max(self._earliest, planned)

    def _run_missed(self, event: Any) -> None:
        """The machine slept when a job was due: it runs now, once."""
        if event.job_id != TICK:
            self._sleeper.due(event.job_id)


def _build_scheduler() -> BackgroundScheduler:
    logging.getLogger("apscheduler").setLevel(logging.ERROR)  # it tells of every single tick
    return BackgroundScheduler(
        timezone=UTC,
        executors={"default": ThreadPoolExecutor(1)},
        job_defaults={
            "misfire_grace_time": MISFIRE_SECONDS,
            "coalesce": True,
            "max_instances": 1,
        },
    )
