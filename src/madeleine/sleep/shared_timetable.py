"""When jobs run where several servers share a memory.

The timetable of one daemon stands in that daemon. Here it stands in the database, one entry for
each job of each tenant, and whichever server is free claims what is due (`claim`). A run holds
the tenant's lease, so that no two servers' jobs ever write to one memory at the same time. After
it, the next one is planned as a single daemon would: from the last run, as the journal has it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Protocol

from madeleine.errors import UnderWay
from madeleine.sleep.intervals import JobIntervals, next_run, task_run
from madeleine.sleep.sleeper import Sleeper
from madeleine.write.stores import Clock

LEAST_EVERY = dict.fromkeys(("index_updater", "update_spotter"), timedelta(minutes=15))
"""Where the index follows in the same transaction, what is left to do is what a model was away
for; and a server may have a thousand memories to look at."""


class SharedSchedule(Protocol):
    """Where it stands when a job is due."""

    def plan(self, job: str, wait: timedelta | None, sooner: bool = False) -> None:
        """Say when a job is due: after so long, or never; with `sooner`, unless it is before."""
        ...

    def due_at(self, job: str) -> datetime | None: ...


class SharedTimetable:
    """The timetable of one memory, kept with it."""

    def __init__(
        self, sleeper: Sleeper, intervals: JobIntervals, clock: Clock, plan: SharedSchedule
    ) -> None:
        self._sleeper = sleeper
        self._intervals = intervals
        self._clock = clock
        self._plan = plan

    def start(self) -> None:
        """Plan every job that is not planned for earlier, and be told about each run here."""
        for job in self._sleeper.every_job:
            wait = self._time_until_next(job)
            first = None if wait is None else max(wait, self._intervals.first)
            self._plan.plan(job, first, sooner=True)
        self._sleeper.planned = self._plan_next
        self._sleeper.next_run = self._plan.due_at

    def run(self, job: str, still_due: Callable[[], bool]) -> bool:
        """Run a job that this server claimed, unless somebody did so meanwhile or it is paused;
        whether it ran."""
        if job in self._sleeper.paused():
            self._plan.plan(job, self._interval_of(job))
            return False
        try:
            return self._sleeper.run_due(job, still_due)
        except UnderWay:
            return False  # another job of this memory runs; it is due again in a while

    def _plan_next(self, job: str) -> None:
        self._plan.plan(job, self._time_until_next(job))

    def _interval_of(self, job: str) -> timedelta | None:
        every = self._intervals.every.get(job)
        if every is None:
            return self._intervals.tasks.get(job)
        return max(every, LEAST_EVERY.get(job, every))

    def _time_until_next(self, job: str) -> timedelta | None:
        """Return how long it is until a job's next run; nothing for never."""
        last, now = self._sleeper.last_runs().get(job), self._clock.now()
        every = self._interval_of(job)
        if every is None or job in self._intervals.tasks:
            when = task_run(last, job, self._intervals, now)
            return None if when is None else when - now
        return next_run(last, every, self._intervals.retry, now) - now
