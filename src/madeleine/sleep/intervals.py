"""How often each job runs, and when its next run is due."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from madeleine.sleep.sleeper import LastRun

DOUBLED_AT_MOST = 16  # a pause that grew so often is longer than any interval


@dataclass(frozen=True, slots=True)
class JobIntervals:
    """How often each job runs, and how long after the start, or after a failure."""

    every: Mapping[str, timedelta] = field(default_factory=dict)
    first: timedelta = timedelta(minutes=1)
    retry: timedelta = timedelta(minutes=15)
    tasks: Mapping[str, timedelta] = field(default_factory=dict)
    """How often each task of the consolidation engine runs; none at all for never."""
    tick: timedelta = timedelta(minutes=1)
    """How often it is looked which of them is due."""


def next_run(last: LastRun | None, every: timedelta, retry: timedelta, now: datetime) -> datetime:
    """Return when a job is to run next. What never ran, or should have run by now, runs now.

    A run that failed is tried again after a pause that doubles, one that somebody stopped
    after a single pause; neither waits longer than for the next ordinary run. A last run in
    the future was made with a wrong clock, and does not put the next one off.
    """
    if last is None:
        return now
    pause = every
    if last.failures:
        pause = min(every, retry * 2 ** min(last.failures - 1, DOUBLED_AT_MOST))
    elif last.unfinished:
        pause = min(every, retry)
    return max(now, min(last.at, now) + pause)


def task_run(
    last: LastRun | None, task: str, intervals: JobIntervals, now: datetime
) -> datetime | None:
    """Return when a task of the consolidation engine is to run next; None for never."""
    every = intervals.tasks.get(task, timedelta(0))
    return next_run(last, every, intervals.retry, now) if every > timedelta(0) else None


def due_tasks(last: Mapping[str, LastRun], intervals: JobIntervals, now: datetime) -> list[str]:
    """Return the tasks whose time has come; one that never ran is due."""
    planned = {task: task_run(last.get(task), task, intervals, now) for task in intervals.tasks}
    return [task for task, when in planned.items() if when is not None and when <= now]
