"""What the jobs did, wait for and would do, as answers and in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from madeleine.api import answer_texts
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
from madeleine.write.proposals import DecidedAtOnce, ProposalPreview

if TYPE_CHECKING:
    from madeleine.sleep.maintenance import HandInResult

ALL_JOBS = "run-all"  # in the place of a job's name, where all of them are meant
MAX_PATCHES_SHOWN = 20  # in the text; `reports` has them all


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


def build_job_list(states: Sequence[JobState], enabled: bool, running: JobRun | None) -> JobList:
    lines = [f"  {render_job(each)}" for each in states]
    first = "Jobs, in the order of the sleep cycle:" if enabled else "Jobs (no timetable):"
    return JobList(
        text="\n".join([first, *lines]),
        enabled=enabled,
        running=None if running is None else RunningJob(id=running.job, **progress_fields(running)),
        tasks=[build_job_status(each) for each in states],
    )


def build_job_status(state: JobState) -> JobStatus:
    running, last = state.running, state.last
    return JobStatus(
        id=state.job,
        interval_minutes=round(state.every.total_seconds() / 60, 3),
        paused=state.paused,
        waiting=state.waiting,
        running=running is not None,
        progress=None if running is None else JobProgress(**progress_fields(running)),
        last_run=None if last is None else {"at": format_time(last.at), **last.report},
        failures=last.failures if last else 0,
        next_run=format_time(state.next_run) if state.next_run else None,
    )


def build_short_job_status(state: JobState) -> JobStatus:
    """Return how a job stands without its patches, which /admin/tasks has."""
    status = build_job_status(state)
    last = status.last_run or {}
    kept = {key: last[key] for key in last if key != "patches"}
    return replace(status, last_run=kept or None)


def progress_fields(running: JobRun) -> dict[str, Any]:
    """Return how far a run is, as the fields of a `JobProgress`."""
    return {
        "began": format_time(running.began),
        "dry_run": running.dry_run,
        "done": running.done,
        "total": running.total,
    }


def render_job(state: JobState) -> str:
    """Return in one line how a job stands: `auto_linker: ran 2026-11-15, 3 changes made`."""
    parts = [f"{state.job}: {_render_last_run(state.last)}"]
    if state.running is not None:
        parts.append(f"running, {state.running.done:,} of {state.running.total:,}")
    elif state.paused:
        parts.append("paused")
    elif state.next_run is not None:
        parts.append(f"next {format_time(state.next_run)}")
    return "; ".join(parts)


def _render_last_run(last: LastRun | None) -> str:
    if last is None:
        return "has not run yet"
    failed = last.report.get("error")
    if failed:
        times = "" if last.failures < 2 else f" {last.failures} times in a row"
        return (
            f"failed{times}, last {format_time(last.at)}: {answer_texts.flatten_text(str(failed))}"
        )
    return f"ran {format_time(last.at)}, {render_outcome(last.report)}"


def render_outcome(report: Mapping[str, object]) -> str:
    """Return what a run did: `3 changes made, 1 proposed`."""
    applied, proposed = _read_count(report, "applied"), _read_count(report, "proposed")
    said = "changes it would make" if report.get("dry_run") else "changes made"
    if applied == 1:
        said = said.replace("changes", "change")
    parts = [f"{applied:,} {said}" if applied else "nothing to change"]
    if proposed:
        parts.append(f"{answer_texts.render_count(proposed, 'proposal')}")
    if _read_count(report, "skipped"):
        parts.append(f"{_read_count(report, 'skipped'):,} left for the next run")
    if report.get("stopped"):
        parts.append(f"stopped: {answer_texts.flatten_text(str(report['stopped']))}")
    return ", ".join(parts)


def _read_count(report: Mapping[str, object], name: str) -> int:
    value = report.get(name)
    return value if isinstance(value, int) else 0


# -- runs ----------------------------------------------------------------------------------


def build_sleep_run(request: JobRequest, reports: Sequence[RunReport]) -> SleepRun:
    """Return what came of a request by now."""
    status = _run_status(request, len(reports))
    told = [report_to_json(each) for each in reports]
    return SleepRun(
        text=_render_run(request, status, told),
        status=status,
        request=request.id,
        jobs=list(request.jobs),
        reports=[build_job_report(each) for each in reports],
    )


def build_job_report(report: RunReport) -> JobReport:
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


def _run_status(
    request: JobRequest, done: int
) -> Literal["started", "finished", "stopped", "failed"]:
    if not request.over.is_set():
        return "started"
    if request.failed:
        return "failed"
    halted = done < len(request.jobs) or any(each.was_halted for each in request.reports)
    return "stopped" if halted else "finished"


def _render_run(request: JobRequest, status: str, reports: Sequence[Json]) -> str:
    if status == "started":
        return f"Started: {', '.join(request.jobs) or 'nothing, every job is paused'}"
    lines = [line for report in reports for line in render_report(report)]
    if status == "failed":
        lines.append("It met a bug; logs/daemon.log says where.")
    return "\n".join(lines) or "Nothing was run."


def render_report(report: Mapping[str, object]) -> Iterable[str]:
    """Yield a report in plain words: what was done, why, and how to take it back."""
    if report.get("error"):
        yield f"{report['job']}: failed: {answer_texts.flatten_text(str(report['error']))}"
        return
    yield f"{report['job']}: {render_outcome(report)} ({report['seconds']:.1f} s)"
    patches = report.get("patches")
    for patch in (patches if isinstance(patches, list) else [])[:MAX_PATCHES_SHOWN]:
        yield f"  {render_patch(patch)}"
    problems = report.get("problems")
    if isinstance(problems, Mapping):
        yield from (
            f"  {answer_texts.flatten_text(str(what))}: {times}" for what, times in problems.items()
        )
    if report.get("applied") and not report.get("dry_run"):
        yield f"  undo {answer_texts.shorten_id(str(report['run']))} takes it back"


def render_patch(patch: Mapping[str, object]) -> str:
    """Return one patch: what it does and why."""
    why = f": {patch['why']}" if patch.get("why") else ""
    ask = "proposes to " if patch.get("would") in ("propose", "wait") else ""
    return answer_texts.flatten_text(f"{ask}{patch.get('what')}{why}")


def build_handed_in_verdicts(done: HandInResult) -> HandedInVerdicts:
    lines = [line for each in done.reports for line in render_report(report_to_json(each))]
    return HandedInVerdicts(
        text="\n".join(["Thank you.", *lines]),
        status="done",
        job_id=done.job_id,
        reports=[build_job_report(each) for each in done.reports],
    )


def build_answered_proposals(done: Sequence[DecidedAtOnce]) -> HandedInVerdicts:
    """Return what became of proposals that were answered, with what takes it back."""
    lines = ["Thank you."]
    for each in done:
        lines += [answer_texts.render_proposal(one.proposal) for one in each.decided]
        lines += [f"left {one.id[:8]}: {error.message}" for one, error in each.refused]
        if each.decided:
            lines.append(f"undo: {each.run}")
    return HandedInVerdicts(
        text="\n".join(map(answer_texts.flatten_text, lines)),
        status="done",
        job_id=done[0].run,
        reports=(),
    )


def build_maintenance_batch(given: Mapping[str, Any]) -> MaintenanceAnswer:
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


def build_stopped_job(job: str, was: bool) -> StoppedJob:
    what = "everything" if job == ALL_JOBS else job
    idle = "nothing is under way" if job == ALL_JOBS else f"{job} is not under way"
    text = f"Stopping {what}" if was else idle
    return StoppedJob(text=text, stopped=was)


def build_paused_job(job: str, is_paused: bool, changed: bool) -> PausedJob:
    state = "paused" if is_paused else "runs by itself"
    text = f"{job} {'is paused' if is_paused else state}{'' if changed else ' already'}"
    return PausedJob(text=text, id=job, paused=is_paused)


# -- proposals -----------------------------------------------------------------------------


def build_shown_proposal(seen: ProposalPreview) -> ShownProposal:
    """Return a proposal with what approving it would change, line by line."""
    parts = [answer_texts.render_proposal(seen.proposal)]
    if seen.problem:
        parts.append(f"It cannot be carried out: {answer_texts.flatten_text(seen.problem)}")
    if seen.difference:
        parts.append(
            answer_texts.render_block(
                seen.difference, answer_texts.MAX_WHOLE_CHARS, "in `difference`"
            )
        )
    return ShownProposal(
        text="\n".join(parts),
        proposal=seen.proposal,
        difference=seen.difference,
        problem=seen.problem,
    )


# -- insights ------------------------------------------------------------------------------


def build_insights(rows: Sequence[EdgeRow], ends: Mapping[str, Memory]) -> Insights:
    """Return arrows as what they say: one replaced the other, or both cannot hold."""
    evolutions = tuple(
        Evolution(from_=ends[row.connection.target], to=ends[row.source], **_edge_fields(row))
        for row in rows
        if row.connection.edge is Edge.EVOLVED_FROM
    )
    tensions = tuple(
        Tension(one=ends[row.source], other=ends[row.connection.target], **_edge_fields(row))
        for row in rows
        if row.connection.edge is Edge.CONTRADICTS
    )
    lines = [_render_insight(row, ends) for row in rows]
    counted = (("evolution", evolutions), ("tension", tensions))
    found = ", ".join(answer_texts.render_count(len(each), word) for word, each in counted)
    return Insights(
        text="\n".join([found, *lines[: answer_texts.MAX_LINES]]),
        evolutions=evolutions,
        tensions=tensions,
    )


def _edge_fields(row: EdgeRow) -> dict[str, Any]:
    at = row.connection.at
    return {
        "reason": row.connection.reason,
        "by": row.connection.by,
        "at": format_time(at) if at else None,
    }


def _render_insight(row: EdgeRow, ends: Mapping[str, Memory]) -> str:
    source = answer_texts.render_memory_line(ends[row.source])
    target = answer_texts.render_memory_line(ends[row.connection.target])
    said = "replaced" if row.connection.edge is Edge.EVOLVED_FROM else "contradicts"
    return f"  {source}\n    {said} {target}"
