"""Sleep: how the jobs stand, and what their runs did to which file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from madeleine.api import reach, sleep_answers, sleep_operations
from madeleine.api.contract.page_responses import (
    ChangeDetail,
    FileChange,
    LastRunNumbers,
    PageJob,
    PageRun,
    RunChange,
    RunDetail,
    RunPage,
    SleepPage,
)
from madeleine.api.contract.requests import PageRunQuery, PageRunsQuery
from madeleine.api.contract.responses import NamedMemory
from madeleine.api.operation import operation
from madeleine.api.shared_behaviour import at_holder
from madeleine.errors import NoSuchChange, NoSuchRun
from madeleine.index.log import EventLog
from madeleine.model.event import Event, EventKind
from madeleine.model.memory import Memory
from madeleine.model.people import Role
from madeleine.model.request_reader import RequestReader
from madeleine.model.times import format_time
from madeleine.write.snoozing import count_waiting
from madeleine.write.transitions import FileTransition, read_file_transitions

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.bootstrap import HomeContext

DEFAULT_RUNS = 20
MAX_RUNS = 200
MAX_RUNS_READ = 1_000  # newest runs among which those that did something are looked for
DEFAULT_CHANGES = 20
MAX_CHANGES = 100
MAX_TEXT_CHARS = 20_000  # of one text; a longer one is cut
REPORT_FIELDS = (
    "seconds",
    "looked",
    "judged",
    "applied",
    "proposed",
    "skipped",
    "stopped",
    "stopped_parts",
    "error",
    "error_kind",
)


@operation(
    "page_sleep",
    "GET",
    "/ui/data/sleep",
    "how every job and every task of consolidation stands",
    role=Role.READER,
    answer=SleepPage,
)
def show_sleep(context: HomeContext, call: OperationCall) -> SleepPage:
    """Return how every job and every task of consolidation stands, without what it changed."""
    RequestReader(call.query).done()
    sleeper, settings = context.sleeper, context.settings
    running = sleeper.running()
    return SleepPage(
        enabled=settings.sleep.enabled,
        consolidation_enabled=settings.sleep.enabled and settings.consolidation.enabled,
        judge=settings.judge.kind,
        running=running.job if running else None,
        proposals=count_waiting(context.stores),
        jobs=[_build_job(each) for each in sleep_operations.read_job_states(context)],
        tasks=[
            _build_task(context, each)
            for each in sleep_operations.read_job_states(context, sleeper.tasks)
        ],
    )


def _build_task(context: HomeContext, state: sleep_answers.JobState) -> PageJob:
    when = sleep_operations.find_next_task_run(context, state.job)
    return replace(_build_job(state), next_run=format_time(when) if when else None)


def _build_job(state: sleep_answers.JobState) -> PageJob:
    status = sleep_answers.build_job_status(state)
    last: Mapping[str, Any] | None = status.last_run
    return PageJob(
        id=status.id,
        interval_minutes=status.interval_minutes,
        paused=status.paused,
        waiting=status.waiting,
        running=status.running,
        progress=status.progress,
        last_run=None if last is None else LastRunNumbers(at=last["at"], **_run_numbers(last)),
        failures=status.failures,
        next_run=status.next_run,
    )


def _run_numbers(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a run went, in numbers."""
    counts, problems = report.get("counts"), report.get("problems")
    return {
        "run": report.get("run"),
        **{name: report.get(name) for name in REPORT_FIELDS},
        "counts": counts if isinstance(counts, Mapping) else {},
        "problems": problems if isinstance(problems, Mapping) else {},
    }


# -- runs ----------------------------------------------------------------------------------


@operation(
    "page_runs",
    "GET",
    "/ui/data/sleep/runs",
    "what the jobs did, newest first",
    role=Role.READER,
    query=PageRunsQuery,
    answer=RunPage,
)
def list_runs(context: HomeContext, call: OperationCall) -> RunPage:
    """Return runs, newest first: those that did something, or all of them."""
    reader = RequestReader(call.query)
    limit = reader.whole("limit", DEFAULT_RUNS, 1, MAX_RUNS)
    job, everything = reader.text("job"), reader.flag("all")
    reader.done()
    if job is not None:
        context.sleeper.check(job)
    log = context.stores.log
    events = log.recent_events([EventKind.RUN.value], MAX_RUNS_READ, [job] if job else [])
    found = [each for each in events if everything or _did_something(each)]
    shown = found[:limit]
    held = log.in_force([str(each.body.get("run")) for each in shown])
    return RunPage(runs=[_build_run(each, held) for each in shown], more=len(found) > limit)


def _read_report(event: Event) -> Mapping[str, Any]:
    report = event.body.get("report")
    return report if isinstance(report, Mapping) else {}


def _did_something(event: Event) -> bool:
    report = _read_report(event)
    return any(report.get(name) for name in ("applied", "proposed", "stopped", "error"))


def _build_run(event: Event, held: Mapping[str, tuple[int, int]]) -> PageRun:
    body: Mapping[str, Any] = event.body
    report, run = _read_report(event), str(body.get("run"))
    made, left = held.get(run, (0, 0))
    return PageRun(
        job=body.get("job"),
        at=report.get("began") or format_time(event.at),
        **{**_run_numbers(report), "run": run},
        changes=made,
        in_force=left,
    )


@operation(
    "page_run",
    "GET",
    "/ui/data/sleep/runs/{id}",
    "the changes that a run made, newest first, and how it went",
    role=Role.READER,
    query=PageRunQuery,
    answer=RunDetail,
)
def show_run(context: HomeContext, call: OperationCall) -> RunDetail:
    """Return the changes that a run made, newest first, a page of them, and how it went."""
    reader = RequestReader(call.query)
    limit = reader.whole("limit", DEFAULT_CHANGES, 1, MAX_CHANGES)
    offset = reader.whole("offset", 0, 0, 1_000_000_000)
    reader.done()
    stores = context.stores
    events = [
        each for each in stores.log.changes(call.path_id) if each.body.get("run") == call.path_id
    ]
    page = events[offset : offset + limit]
    known = stores.search.memories({each for event in page for each in _edited_memories(event)})
    told = _find_run(stores.log, call.path_id, str(events[0].body["by"]) if events else None)
    if told is None and not events:
        raise NoSuchRun(call.path_id)
    return RunDetail(
        changes=[
            _build_change(each, stores.log.outcome(str(each.body["change"])), known)
            for each in page
        ],
        total=len(events),
        job=told.job if told else str(events[0].body["by"]),
        applied=told.applied if told else None,
        in_force=stores.log.in_force([call.path_id]).get(call.path_id, (0, 0))[1],
        report=told,
    )


def _find_run(log: EventLog, run_id: str, job: str | None) -> PageRun | None:
    """Return how a run says that it went, if it is not too long ago."""
    runs = log.recent_events([EventKind.RUN.value], MAX_RUNS_READ, [job] if job else [])
    found = next((each for each in runs if each.body.get("run") == run_id), None)
    return None if found is None else _build_run(found, log.in_force([run_id]))


def _edited_memories(event: Event) -> list[str]:
    edits = event.body.get("edits")
    listed = edits if isinstance(edits, list) else []
    return [
        str(each["memory"]) for each in listed if isinstance(each, Mapping) and "memory" in each
    ]


def _build_change(event: Event, outcome: str | None, known: Mapping[str, Memory]) -> RunChange:
    body: Mapping[str, Any] = event.body
    ids = list(dict.fromkeys(_edited_memories(event)))
    return RunChange(
        id=str(body["change"]),
        at=format_time(event.at),
        verb="score" if event.kind is EventKind.SCORED else body.get("verb"),
        reason=body.get("reason"),
        outcome=outcome,
        words=_read_wordings(body.get("details")),
        memories=[
            NamedMemory(id=each, title=known[each].headline if each in known else None)
            for each in ids
        ],
    )


def _read_wordings(details: object) -> list[str]:
    """Return what the job did, in its own sentences."""
    deeds = details.get("deeds") if isinstance(details, Mapping) else None
    listed = deeds if isinstance(deeds, list) else []
    return [
        str(each["wording"]) for each in listed if isinstance(each, Mapping) and "wording" in each
    ]


@operation(
    "page_change",
    "GET",
    "/ui/data/changes/{id}",
    "what a change made of each file: the texts before and after",
    role=Role.READER,
    answer=ChangeDetail,
    shared=at_holder(reach.find_changes),
)
def show_change(context: HomeContext, call: OperationCall) -> ChangeDetail:
    """Return what a change made of each file: the whole texts before and after."""
    RequestReader(call.query).done()
    stores = context.stores
    found = [each for each in stores.log.changes(call.path_id) if each.kind is EventKind.CHANGED]
    event = next((each for each in found if each.body.get("change") == call.path_id), None)
    if event is None:
        raise NoSuchChange(call.path_id)
    turns = read_file_transitions(stores, event)
    return ChangeDetail(
        files=[_build_file_change(each) for each in turns[:DEFAULT_CHANGES]], files_total=len(turns)
    )


def _build_file_change(turn: FileTransition) -> FileChange:
    return FileChange(
        memory=turn.memory_id,
        path_before=turn.path_before,
        path_after=turn.path_after,
        before=_decode_text(turn.before),
        after=_decode_text(turn.after),
        known=turn.known,
    )


def _decode_text(data: bytes | None) -> str | None:
    if data is None:
        return None
    text = data.decode("utf-8", "replace")
    return text if len(text) <= MAX_TEXT_CHARS else f"{text[:MAX_TEXT_CHARS]}\n…"
