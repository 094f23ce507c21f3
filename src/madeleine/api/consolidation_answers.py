"""What the consolidation engine did and will do, in the documented shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, cast

from madeleine.api import texts
from madeleine.api.contract.responses import (
    ConsolidationReport,
    ConsolidationRun,
    ConsolidationStatus,
    RunningTask,
    TaskRun,
)
from madeleine.api.sleep_answers import done_words, progress_of, report_lines
from madeleine.model.codec import Json
from madeleine.model.event import Event
from madeleine.model.times import format_time
from madeleine.sleep.reports import report_to_json
from madeleine.sleep.sleeper import JobRequest, JobRun, LastRun
from madeleine.sleep.values import RunReport

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
TOLD = (
    "run",
    "applied",
    "proposed",
    "skipped",
    "stopped",
    "stopped_parts",
    "error",
    "error_kind",
    "problems",
    "patches",
)


@dataclass(frozen=True, slots=True)
class Standing:
    """How the engine stands."""

    tasks: Sequence[str]
    last: Mapping[str, LastRun]
    next_run: Mapping[str, datetime | None]
    running: JobRun | None
    history: Sequence[Event]
    enabled: bool
    tick_seconds: float
    paused: frozenset[str]
    now: datetime


# -- runs ----------------------------------------------------------------------------------


def ran(
    asked: JobRequest, began: datetime, now: datetime, paused: Sequence[str] = ()
) -> ConsolidationRun:
    """Return what came of a request by now; `paused` are tasks that it left out."""
    reports, over = list(asked.reports), asked.over.is_set()
    status = _status(asked, reports)
    return ConsolidationRun(
        text=_text(asked, reports, over, paused),
        status=status,
        request=asked.id,
        consolidation=ConsolidationReport(
            mode=asked.jobs[0] if len(asked.jobs) == 1 else "full",
            dry_run=asked.dry_run,
            started_at=format_time(began),
            completed_at=format_time(now) if over else None,
            success=status == "success" if over else None,
            paused=list(paused),
            steps={each.job: _step(each) for each in reports},
        ),
    )


def _status(
    asked: JobRequest, reports: Sequence[RunReport]
) -> Literal["started", "success", "stopped", "error"]:
    if not asked.over.is_set():
        return "started"
    if asked.failed or any(each.error for each in reports):
        return "error"
    halted = any(each.was_halted for each in reports)
    return "stopped" if halted or len(reports) < len(asked.jobs) else "success"


def _step(report: RunReport) -> Json:
    """Return one task's result: its own counts, and what any run tells."""
    values = report_to_json(report)
    return {
        **report.counts,
        "memories_processed": report.counts.get("processed", report.looked),
        "duration_seconds": report.seconds,
        **{name: values[name] for name in TOLD},
    }


def _text(
    asked: JobRequest, reports: Sequence[RunReport], over: bool, paused: Sequence[str]
) -> str:
    if not over:
        return f"Started: {', '.join(asked.jobs) or 'nothing, every task is paused'}"
    lines = [line for each in reports for line in report_lines(report_to_json(each))]
    if asked.failed:
        lines.append("It met a bug; logs/daemon.log says where.")
    lines += [f"{each}: paused, left out" for each in paused]
    return "\n".join(lines) or "Nothing was run."


# -- status --------------------------------------------------------------------------------


def status(standing: Standing) -> ConsolidationStatus:
    """Return the documented `last_*` and `history`, and when each task runs next."""
    last, planned = standing.last, standing.next_run
    at = {task: format_time(last[task].at) if task in last else None for task in standing.tasks}
    return ConsolidationStatus(
        text="\n".join(["Consolidation:", *(f"  {line}" for line in _lines(standing))]),
        enabled=standing.enabled,
        last_decay=at.get("decay"),
        last_creative=at.get("creative"),
        last_cluster=at.get("cluster"),
        last_forget=at.get("forget"),
        next_runs={task: in_words(when, standing.now) for task, when in planned.items()},
        next_run_at={task: format_time(when) if when else None for task, when in planned.items()},
        failing={
            task: str(last[task].report["error"])
            for task in standing.tasks
            if task in last and last[task].report.get("error")
        },
        paused=[task for task in standing.tasks if task in standing.paused],
        running=_running(standing),
        history=[_entry(each) for each in standing.history],
        tick_seconds=standing.tick_seconds,
    )


def in_words(when: datetime | None, now: datetime) -> str:
    """Return when a task runs next: `Disabled`, `Due now`, `In 3 day(s)`, `In 5 hour(s)`."""
    if when is None:
        return "Disabled"
    left = when - now
    if left <= timedelta(0):
        return "Due now"
    if left >= DAY:
        return f"In {left // DAY} day(s)"
    return f"In {max(1, round(left / HOUR))} hour(s)"


def _running(standing: Standing) -> RunningTask | None:
    running = standing.running
    if running is None or running.job not in standing.tasks:
        return None
    return RunningTask(task=running.job, **progress_of(running))


def _entry(event: Event) -> TaskRun:
    """Return one run as the history has it."""
    body = event.body.get("report")
    report: Mapping[str, Any] = body if isinstance(body, Mapping) else {}
    error, given = report.get("error"), cast("Mapping[str, Any]", event.body)
    return TaskRun(
        task=given.get("job"),
        ran_at=report.get("began") or format_time(event.at),
        memories_processed=_processed(report),
        duration_seconds=report.get("seconds", 0.0),
        success=error is None,
        run=given.get("run"),
        applied=report.get("applied", 0),
        proposed=report.get("proposed", 0),
        error=error,
        result=report.get("counts", {}),
    )


def _processed(report: Mapping[str, Any]) -> int:
    counts = report.get("counts")
    told = counts if isinstance(counts, Mapping) else {}
    return int(told.get("processed", report.get("looked", 0)))


def _lines(standing: Standing) -> list[str]:
    return [
        f"{task}: {_last(standing.last.get(task))}; {_next(standing, task)}"
        for task in standing.tasks
    ]


def _next(standing: Standing, task: str) -> str:
    paused = task in standing.paused
    return "paused" if paused else in_words(standing.next_run[task], standing.now).lower()


def _last(last: LastRun | None) -> str:
    if last is None:
        return "has not run yet"
    error = last.report.get("error")
    if error:
        return f"failed {format_time(last.at)}: {texts.flat(str(error))}"
    return f"ran {format_time(last.at)}, {done_words(last.report)}"
