"""What the jobs did, wait for and would do, as answers and in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from madeleine.api import texts
from madeleine.api.contract.responses import (
    BusyMaintenance,
    Evolution,
    HandedInVerdicts,
    IdleMaintenance,
    Insights,
    JobList,
    JobProgress,
    JobReport,
    JobStatus,
    MaintenanceAnswer,
    MaintenanceBatch,
    PausedJob,
    RunningJob,
    ShownProposal,
    SleepRun,
    StoppedJob,
    Tension,
)
from madeleine.index.graph import EdgeRow
from madeleine.model.codec import Json
from madeleine.model.memory import Memory
from madeleine.model.times import format_time
from madeleine.model.words import Edge
from madeleine.sleep.reports import report_to_json
from madeleine.sleep.sleeper import JobRequest, JobRun, LastRun
from madeleine.sleep.values import RunReport
from madeleine.sleep.wording import render_stop
from madeleine.write.proposals import ProposalPreview

if TYPE_CHECKING:
    from madeleine.sleep.maintenance import HandInResult

EVERYTHING = "run-all"  # in the place of a job's name, where all of them are meant
PATCHES_SHOWN = 20  # in the text; `reports` has them all


@dataclass(frozen=True, slots=True)
class JobState:
    """How one job stands."""

    job: str
    every: timedelta
    paused: bool
    waiting: bool
    running: JobRun | None
    last: LastRun | None
    next_run: datetime | None


def tasks(states: Sequence[JobState], enabled: bool, running: JobRun | None) -> JobList:
    lines = [f"  {task_line(each)}" for each in states]
    first = "Jobs, in the order of the sleep cycle:" if enabled else "Jobs (no timetable):"
    return JobList(
        text="\n".join([first, *lines]),
        enabled=enabled,
        running=None if running is None else RunningJob(id=running.job, **progress_of(running)),
        tasks=[job_status(each) for each in states],
    )


def job_status(state: JobState) -> JobStatus:
    running, last = state.running, state.last
    return JobStatus(
        id=state.job,
        interval_minutes=round(state.every.total_seconds() / 60, 3),
        paused=state.paused,
        waiting=state.waiting,
        running=running is not None,
        progress=None if running is None else JobProgress(**progress_of(running)),
        last_run=None if last is None else {"at": format_time(last.at), **last.report},
        failures=last.failures if last else 0,
        next_run=format_time(state.next_run) if state.next_run else None,
    )


def job_in_status(state: JobState) -> JobStatus:
    """Return how a job stands without its patches, which /admin/tasks has."""
    status = job_status(state)
    last = status.last_run or {}
    kept = {key: last[key] for key in last if key != "patches"}
    return replace(status, last_run=kept or None)


def progress_of(running: JobRun) -> dict[str, Any]:
    """Return how far a run is, as the fields of a `JobProgress`."""
    return {
        "began": format_time(running.began),
        "dry_run": running.dry_run,
        "done": running.done,
        "total": running.total,
    }


def task_line(state: JobState) -> str:
    """Return in one line how a job stands: `auto_linker: ran 2026-11-15, 3 changes made`."""
    parts = [f"{state.job}: {_last(state.last)}"]
    if state.running is not None:
        parts.append(f"running, {state.running.done:,} of {state.running.total:,}")
    elif state.paused:
        parts.append("paused")
    elif state.next_run is not None:
        parts.append(f"next {format_time(state.next_run)}")
    return "; ".join(parts)


def _last(last: LastRun | None) -> str:
    if last is None:
        return "has not run yet"
    failed = last.report.get("error")
    if failed:
        times = "" if last.failures < 2 else f" {last.failures} times in a row"
        return f"failed{times}, last {format_time(last.at)}: {texts.flat(str(failed))}"
    return f"ran {format_time(last.at)}, {done_words(last.report)}"


def done_words(report: Mapping[str, object]) -> str:
    """Return what a run did: `3 changes made, 1 proposed`."""
    applied, proposed = _number(report, "applied"), _number(report, "proposed")
    said = "changes it would make" if report.get("dry_run") else "changes made"
    if applied == 1:
        said = said.replace("changes", "change")
    parts = [f"{applied:,} {said}" if applied else "nothing to change"]
    if proposed:
        parts.append(f"{texts.count(proposed, 'proposal')}")
    if _number(report, "skipped"):
        parts.append(f"{_number(report, 'skipped'):,} left for the next run")
    if report.get("stopped"):
        parts.append(f"stopped: {texts.flat(str(report['stopped']))}")
    return ", ".join(parts)


def _number(report: Mapping[str, object], name: str) -> int:
    value = report.get(name)
    return value if isinstance(value, int) else 0


# -- runs ----------------------------------------------------------------------------------


def asked(request: JobRequest, reports: Sequence[RunReport]) -> SleepRun:
    """Return what came of a request by now."""
    status = _status(request, len(reports))
    told = [report_to_json(each) for each in reports]
    return SleepRun(
        text=_asked_text(request, status, told),
        status=status,
        request=request.id,
        jobs=list(request.jobs),
        reports=[job_report(each) for each in reports],
    )


def job_report(report: RunReport) -> JobReport:
    """Return what a run did as an answer holds it."""
    values = {each.name: getattr(report, each.name) for each in fields(report)}
    stop = report.stopped
    return JobReport(
        **{
            **values,
            "patches": tuple(report.patches),
            "stopped": None if stop is None else render_stop(stop),
            "stopped_parts": None if stop is None else stop.to_json(),
        }
    )


def _status(request: JobRequest, done: int) -> Literal["started", "finished", "stopped", "failed"]:
    if not request.over.is_set():
        return "started"
    if request.failed:
        return "failed"
    halted = done < len(request.jobs) or any(each.was_halted for each in request.reports)
    return "stopped" if halted else "finished"


def _asked_text(request: JobRequest, status: str, reports: Sequence[Json]) -> str:
    if status == "started":
        return f"Started: {', '.join(request.jobs) or 'nothing, every job is paused'}"
    lines = [line for report in reports for line in report_lines(report)]
    if status == "failed":
        lines.append("It met a bug; logs/daemon.log says where.")
    return "\n".join(lines) or "Nothing was run."


def report_lines(report: Mapping[str, object]) -> Iterable[str]:
    """Yield a report in plain words: what was done, why, and how to take it back."""
    if report.get("error"):
        yield f"{report['job']}: failed: {texts.flat(str(report['error']))}"
        return
    yield f"{report['job']}: {done_words(report)} ({report['seconds']:.1f} s)"
    patches = report.get("patches")
    for patch in (patches if isinstance(patches, list) else [])[:PATCHES_SHOWN]:
        yield f"  {patch_line(patch)}"
    problems = report.get("problems")
    if isinstance(problems, Mapping):
        yield from (f"  {texts.flat(str(what))}: {times}" for what, times in problems.items())
    if report.get("applied") and not report.get("dry_run"):
        yield f"  undo {texts.short(str(report['run']))} takes it back"


def patch_line(patch: Mapping[str, object]) -> str:
    """Return one patch: what it does and why."""
    why = f": {patch['why']}" if patch.get("why") else ""
    ask = "proposes to " if patch.get("would") in ("propose", "wait") else ""
    return texts.flat(f"{ask}{patch.get('what')}{why}")


def handed_in(done: HandInResult) -> HandedInVerdicts:
    lines = [line for each in done.reports for line in report_lines(report_to_json(each))]
    return HandedInVerdicts(
        text="\n".join(["Thank you.", *lines]),
        status="done",
        job_id=done.job_id,
        reports=[job_report(each) for each in done.reports],
    )


def batch(given: Mapping[str, Any]) -> MaintenanceAnswer:
    """Return a batch of questions, or why there is none, with a line that says what it is."""
    if given["status"] == "busy":
        message, until = given["message"], given["expires_at"]
        return BusyMaintenance(text=message, status="busy", message=message, expires_at=until)
    if given["status"] == "idle":
        return IdleMaintenance(text=given["message"], status="idle", message=given["message"])
    return MaintenanceBatch(
        text=f"Questions about memories, job {given['job_id']}, until {given['expires_at']}.",
        status="ready",
        job_id=given["job_id"],
        expires_at=given["expires_at"],
        instructions=given["instructions"],
        memories=given["memories"],
        merge_candidates=given["merge_candidates"],
        conflict_candidates=given["conflict_candidates"],
        link_candidates=given["link_candidates"],
        consolidation_clusters=given["consolidation_clusters"],
    )


def stopped(job: str, was: bool) -> StoppedJob:
    what = "everything" if job == EVERYTHING else job
    idle = "nothing is under way" if job == EVERYTHING else f"{job} is not under way"
    text = f"Stopping {what}" if was else idle
    return StoppedJob(text=text, stopped=was)


def paused(job: str, is_paused: bool, changed: bool) -> PausedJob:
    state = "paused" if is_paused else "runs by itself"
    text = f"{job} {'is paused' if is_paused else state}{'' if changed else ' already'}"
    return PausedJob(text=text, id=job, paused=is_paused)


# -- proposals -----------------------------------------------------------------------------


def proposal(seen: ProposalPreview) -> ShownProposal:
    """Return a proposal with what approving it would change, line by line."""
    parts = [texts.proposal(seen.proposal)]
    if seen.problem:
        parts.append(f"It cannot be carried out: {texts.flat(seen.problem)}")
    if seen.difference:
        parts.append(texts.block(seen.difference, texts.WHOLE_CHARS, "in `difference`"))
    return ShownProposal(
        text="\n".join(parts),
        proposal=seen.proposal,
        difference=seen.difference,
        problem=seen.problem,
    )


# -- insights ------------------------------------------------------------------------------


def insights(rows: Sequence[EdgeRow], ends: Mapping[str, Memory]) -> Insights:
    """Return arrows as what they say: one replaced the other, or both cannot hold."""
    evolutions = tuple(
        Evolution(from_=ends[row.connection.target], to=ends[row.source], **_why(row))
        for row in rows
        if row.connection.edge is Edge.EVOLVED_FROM
    )
    tensions = tuple(
        Tension(one=ends[row.source], other=ends[row.connection.target], **_why(row))
        for row in rows
        if row.connection.edge is Edge.CONTRADICTS
    )
    lines = [_line(row, ends) for row in rows]
    found = f"{texts.count(len(evolutions), 'evolution')}, {texts.count(len(tensions), 'tension')}"
    return Insights(
        text="\n".join([found, *lines[: texts.LINES_AT_MOST]]),
        evolutions=evolutions,
        tensions=tensions,
    )


def _why(row: EdgeRow) -> dict[str, Any]:
    at = row.connection.at
    return {
        "reason": row.connection.reason,
        "by": row.connection.by,
        "at": format_time(at) if at else None,
    }


def _line(row: EdgeRow, ends: Mapping[str, Memory]) -> str:
    source, target = ends[row.source], ends[row.connection.target]
    said = "replaced" if row.connection.edge is Edge.EVOLVED_FROM else "contradicts"
    return f"  {texts.line(source)}\n    {said} {texts.line(target)}"
