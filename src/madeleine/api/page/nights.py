"""Sleep: how the jobs stand, and what their runs did to which file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from madeleine.api import sleep_answers, sleeping
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
from madeleine.api.contract.responses import NamedMemory
from madeleine.errors import NoSuchChange, NoSuchRun
from madeleine.index.log import EventLog
from madeleine.model.event import Event, EventKind
from madeleine.model.memory import Memory
from madeleine.model.proposal import ProposalStatus
from madeleine.model.reading import RequestReader
from madeleine.model.times import format_time
from madeleine.write.past import FileTransition, read_file_transitions

if TYPE_CHECKING:
    from madeleine.api.call import Call
    from madeleine.bootstrap import HomeContext

RUNS = 20
RUNS_AT_MOST = 200
RUNS_READ = 1_000  # newest runs among which those that did something are looked for
CHANGES = 20
CHANGES_AT_MOST = 100
TEXT_CHARS = 20_000  # of one text; a longer one is cut
NUMBERS = (
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


def sleep(context: HomeContext, call: Call) -> SleepPage:
    """Return how every job and every task of consolidation stands, without what it changed."""
    RequestReader(call.query).done()
    sleeper, settings = context.sleeper, context.settings
    running = sleeper.running()
    return SleepPage(
        enabled=settings.sleep.enabled,
        consolidation_enabled=settings.sleep.enabled and settings.consolidation.enabled,
        judge=settings.judge.kind,
        running=running.job if running else None,
        proposals=len(context.stores.log.proposals(ProposalStatus.PENDING)),
        jobs=[_state(each) for each in sleeping.job_states(context)],
        tasks=[_task(context, each) for each in sleeping.job_states(context, sleeper.tasks)],
    )


def _task(context: HomeContext, state: sleep_answers.JobState) -> PageJob:
    when = sleeping.next_task_run(context, state.job)
    return replace(_state(state), next_run=format_time(when) if when else None)


def _state(state: sleep_answers.JobState) -> PageJob:
    status = sleep_answers.job_status(state)
    last: Mapping[str, Any] | None = status.last_run
    return PageJob(
        id=status.id,
        interval_minutes=status.interval_minutes,
        paused=status.paused,
        waiting=status.waiting,
        running=status.running,
        progress=status.progress,
        last_run=None if last is None else LastRunNumbers(at=last["at"], **_report(last)),
        failures=status.failures,
        next_run=status.next_run,
    )


def _report(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a run went, in numbers."""
    counts, problems = report.get("counts"), report.get("problems")
    return {
        "run": report.get("run"),
        **{name: report.get(name) for name in NUMBERS},
        "counts": counts if isinstance(counts, Mapping) else {},
        "problems": problems if isinstance(problems, Mapping) else {},
    }


# -- runs ----------------------------------------------------------------------------------


def runs(context: HomeContext, call: Call) -> RunPage:
    """Return runs, newest first: those that did something, or all of them."""
    reader = RequestReader(call.query)
    limit = reader.whole("limit", RUNS, 1, RUNS_AT_MOST)
    job, everything = reader.text("job"), reader.flag("all")
    reader.done()
    if job is not None:
        context.sleeper.check(job)
    log = context.stores.log
    events = log.recent_events([EventKind.RUN.value], RUNS_READ, [job] if job else [])
    found = [each for each in events if everything or _did_something(each)]
    shown = found[:limit]
    held = log.in_force([str(each.body.get("run")) for each in shown])
    return RunPage(runs=[_run(each, held) for each in shown], more=len(found) > limit)


def _report_of(event: Event) -> Mapping[str, Any]:
    report = event.body.get("report")
    return report if isinstance(report, Mapping) else {}


def _did_something(event: Event) -> bool:
    report = _report_of(event)
    return any(report.get(name) for name in ("applied", "proposed", "stopped", "error"))


def _run(event: Event, held: Mapping[str, tuple[int, int]]) -> PageRun:
    body: Mapping[str, Any] = event.body
    report, run = _report_of(event), str(body.get("run"))
    made, left = held.get(run, (0, 0))
    return PageRun(
        job=body.get("job"),
        at=report.get("began") or format_time(event.at),
        **{**_report(report), "run": run},
        changes=made,
        in_force=left,
    )


def run(context: HomeContext, call: Call) -> RunDetail:
    """Return the changes that a run made, newest first, a page of them, and how it went."""
    reader = RequestReader(call.query)
    limit = reader.whole("limit", CHANGES, 1, CHANGES_AT_MOST)
    offset = reader.whole("offset", 0, 0, 1_000_000)
    reader.done()
    stores = context.stores
    events = [each for each in stores.log.changes(call.named) if each.body.get("run") == call.named]
    page = events[offset : offset + limit]
    known = stores.search.memories({each for event in page for each in _memories(event)})
    told = _told(stores.log, call.named, str(events[0].body["by"]) if events else None)
    if told is None and not events:
        raise NoSuchRun(call.named)
    return RunDetail(
        changes=[
            _change(each, stores.log.outcome(str(each.body["change"])), known) for each in page
        ],
        total=len(events),
        job=told.job if told else str(events[0].body["by"]),
        applied=told.applied if told else None,
        in_force=stores.log.in_force([call.named]).get(call.named, (0, 0))[1],
        report=told,
    )


def _told(log: EventLog, run_id: str, job: str | None) -> PageRun | None:
    """Return how a run says that it went, if it is not too long ago."""
    runs = log.recent_events([EventKind.RUN.value], RUNS_READ, [job] if job else [])
    found = next((each for each in runs if each.body.get("run") == run_id), None)
    return None if found is None else _run(found, log.in_force([run_id]))


def _memories(event: Event) -> list[str]:
    edits = event.body.get("edits")
    listed = edits if isinstance(edits, list) else []
    return [
        str(each["memory"]) for each in listed if isinstance(each, Mapping) and "memory" in each
    ]


def _change(event: Event, outcome: str | None, known: Mapping[str, Memory]) -> RunChange:
    body: Mapping[str, Any] = event.body
    ids = list(dict.fromkeys(_memories(event)))
    return RunChange(
        id=str(body["change"]),
        at=format_time(event.at),
        verb="score" if event.kind is EventKind.SCORED else body.get("verb"),
        reason=body.get("reason"),
        outcome=outcome,
        words=_words(body.get("details")),
        memories=[
            NamedMemory(id=each, title=known[each].headline if each in known else None)
            for each in ids
        ],
    )


def _words(details: object) -> list[str]:
    """Return what the job did, in its own sentences."""
    deeds = details.get("deeds") if isinstance(details, Mapping) else None
    listed = deeds if isinstance(deeds, list) else []
    return [
        str(each["wording"]) for each in listed if isinstance(each, Mapping) and "wording" in each
    ]


def change(context: HomeContext, call: Call) -> ChangeDetail:
    """Return what a change made of each file: the whole texts before and after."""
    RequestReader(call.query).done()
    stores = context.stores
    found = [each for each in stores.log.changes(call.named) if each.kind is EventKind.CHANGED]
    event = next((each for each in found if each.body.get("change") == call.named), None)
    if event is None:
        raise NoSuchChange(call.named)
    turns = read_file_transitions(stores, event)
    return ChangeDetail(files=[_file(each) for each in turns[:CHANGES]], files_total=len(turns))


def _file(turn: FileTransition) -> FileChange:
    return FileChange(
        memory=turn.memory_id,
        path_before=turn.path_before,
        path_after=turn.path_after,
        before=_text(turn.before),
        after=_text(turn.after),
        known=turn.known,
    )


def _text(data: bytes | None) -> str | None:
    if data is None:
        return None
    text = data.decode("utf-8", "replace")
    return text if len(text) <= TEXT_CHARS else f"{text[:TEXT_CHARS]}\n…"
