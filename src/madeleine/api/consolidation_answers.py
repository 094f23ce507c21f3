"""What the consolidation engine did and will do, in the documented shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, cast

from madeleine.api import answer_texts
from madeleine.api.contract.responses import (
    ConsolidationReport,
    ConsolidationRun,
    ConsolidationStatus,
    RunningTask,
    TaskRun,
)
from madeleine.api.sleep_answers import progress_fields, render_outcome, render_report
from madeleine.model.codec import Json
from madeleine.model.event import Event
from madeleine.model.task_run import task_run_fields
from madeleine.model.times import format_time
from madeleine.sleep.reports import report_to_json
from madeleine.sleep.sleeper import JobRequest, JobRun, LastRun
from madeleine.sleep.values import RunReport

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
STEP_FIELDS = (
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
class ConsolidationState:
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


def build_consolidation_run(
    asked: JobRequest, began: datetime, now: datetime, paused: Sequence[str] = ()
) -> ConsolidationRun:
    """Return what came of a request by now; `paused` are tasks that it left out."""
    reports, over = list(asked.reports), asked.over.is_set()
    status = _run_status(asked, reports)
    return ConsolidationRun(
        text=_render_run(asked, reports, over, paused),
        status=status,
        request=asked.id,
        consolidation=ConsolidationReport(
            mode=asked.jobs[0] if len(asked.jobs) == 1 else "full",
            dry_run=asked.dry_run,
            started_at=format_time(began),
            completed_at=format_time(now) if over else None,
            success=status == "success" if over else None,
            paused=list(paused),
            steps={each.job: _build_step(each) for each in reports},
        ),
    )


def _run_status(
    asked: JobRequest, reports: Sequence[RunReport]
) -> Literal["started", "success", "stopped", "error"]:
    if not asked.over.is_set():
        return "started"
    if asked.failed or any(each.error for each in reports):
        return "error"
    halted = any(each.was_halted for each in reports)
    return "stopped" if halted or len(reports) < len(asked.jobs) else "success"


def _build_step(report: RunReport) -> Json:
    """Return one task's result: its own counts, and what any run tells."""
    values = report_to_json(report)
    return {
        **report.counts,
        "memories_processed": report.counts.get("processed", report.looked),
        "duration_seconds": report.seconds,
        **{name: values[name] for name in STEP_FIELDS},
    }


def _render_run(
    asked: JobRequest, reports: Sequence[RunReport], over: bool, paused: Sequence[str]
) -> str:
    if not over:
        return f"Started: {', '.join(asked.jobs) or 'nothing, every task is paused'}"
    lines = [line for each in reports for line in render_report(report_to_json(each))]
    if asked.failed:
        lines.append("It met a bug; logs/daemon.log says where.")
    lines += [f"{each}: paused, left out" for each in paused]
    return "\n".join(lines) or "Nothing was run."


# -- status --------------------------------------------------------------------------------


def build_consolidation_status(standing: ConsolidationState) -> ConsolidationStatus:
    """Return the documented `last_*` and `history`, and when each task runs next."""
    last, planned = standing.last, standing.next_run
    at = {task: format_time(last[task].at) if task in last else None for task in standing.tasks}
    return ConsolidationStatus(
        text="\n".join(["Consolidation:", *(f"  {line}" for line in _render_tasks(standing))]),
        enabled=standing.enabled,
        last_decay=at.get("decay"),
        last_creative=at.get("creative"),
        last_cluster=at.get("cluster"),
        last_forget=at.get("forget"),
        next_runs={task: render_time_until(when, standing.now) for task, when in planned.items()},
        next_run_at={task: format_time(when) if when else None for task, when in planned.items()},
        failing={
            task: str(last[task].report["error"])
            for task in standing.tasks
            if task in last and last[task].report.get("error")
        },
        paused=[task for task in standing.tasks if task in standing.paused],
        running=_build_running_task(standing),
        history=[_build_task_run(each) for each in standing.history],
        tick_seconds=standing.tick_seconds,
    )


def render_time_until(when: datetime | None, now: datetime) -> str:
    """Return when a task runs next: `Disabled`, `Due now`, `In 3 day(s)`, `In 5 hour(s)`."""
    if when is None:
        return "Disabled"
    left = when - now
    if left <= timedelta(0):
        return "Due now"
    if left >= DAY:
        return f"In {left // DAY} day(s)"
    return f"In {max(1, round(left / HOUR))} hour(s)"


def _build_running_task(standing: ConsolidationState) -> RunningTask | None:
    running = standing.running
    if running is None or running.job not in standing.tasks:
        return None
    return RunningTask(task=running.job, **progress_fields(running))


def _build_task_run(event: Event) -> TaskRun:
    """Return one run as the history has it."""
    body = event.body.get("report")
    report: Mapping[str, Any] = body if isinstance(body, Mapping) else {}
    error, given = report.get("error"), cast("Mapping[str, Any]", event.body)
    return TaskRun(
        **task_run_fields(event),
        run=given.get("run"),
        applied=report.get("applied", 0),
        proposed=report.get("proposed", 0),
        error=error,
        result=report.get("counts", {}),
    )


def _render_tasks(standing: ConsolidationState) -> list[str]:
    return [
        f"{task}: {_render_last_run(standing.last.get(task))}; {_render_next_run(standing, task)}"
        for task in standing.tasks
    ]


def _render_next_run(standing: ConsolidationState, task: str) -> str:
    paused = task in standing.paused
    return "paused" if paused else render_time_until(standing.next_run[task], standing.now).lower()


def _render_last_run(last: LastRun | None) -> str:
    if last is None:
        return "has not run yet"
    error = last.report.get("error")
    if error:
        return f"failed {format_time(last.at)}: {answer_texts.flatten_text(str(error))}"
    return f"ran {format_time(last.at)}, {render_outcome(last.report)}"
