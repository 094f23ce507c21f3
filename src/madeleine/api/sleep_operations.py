"""The operations about the jobs: what they found, judging for them, running and watching them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, cast

from madeleine.api import consolidation_answers as consolidation
from madeleine.api import sleep_answers as answers
from madeleine.api.contract.memories import from_json
from madeleine.api.contract.requests import (
    ConsolidateBody,
    ConsolidateQuery,
    HandInBody,
    InsightsQuery,
    RunAllBody,
    RunAllQuery,
)
from madeleine.api.contract.responses import (
    ConsolidationRun,
    ConsolidationStatus,
    HandedInVerdicts,
    Insights,
    JobList,
    MaintenanceAnswer,
    MaintenanceStatus,
    PausedJob,
    SleepRun,
    SleepStatus,
    StoppedJob,
)
from madeleine.api.operation import operation
from madeleine.api.shared_behaviour import joined
from madeleine.errors import InvalidValue, UnknownWord
from madeleine.language.plain_answers import read_plain_answer
from madeleine.model.codec import CREATIVE
from madeleine.model.event import EventKind
from madeleine.model.people import Role
from madeleine.model.proposal import Proposal, ProposalStatus
from madeleine.model.request_reader import RequestReader
from madeleine.model.words import Edge
from madeleine.sleep.intervals import task_run
from madeleine.sleep.sleeper import JobRequest
from madeleine.write.proposals import decide_proposals, find_proposal

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.bootstrap import HomeContext

DEFAULT_INSIGHTS = 50
MAX_INSIGHTS = 1_000
FULL_MODE = "full"  # all four tasks of the consolidation engine

HandInAnswer = MaintenanceAnswer | HandedInVerdicts
# One of several shapes is no `type` to mypy, whence the casts below.


@operation(
    "insights",
    "GET",
    "/agent/insights",
    "what changed its mind and what contradicts what, newest first",
    role=Role.READER,
    query=InsightsQuery,
    answer=Insights,
    shared=joined("evolutions", "tensions"),
)
def list_insights(context: HomeContext, call: OperationCall) -> Insights:
    reader = RequestReader(call.query)
    limit = reader.whole("limit", DEFAULT_INSIGHTS, 1, MAX_INSIGHTS)
    reader.done()
    index = context.stores.index
    rows = index.graph.newest_edges([Edge.EVOLVED_FROM, Edge.CONTRADICTS], limit, but_by=CREATIVE)
    ends = index.search.memories(
        {end for row in rows for end in (row.source, row.connection.target)}
    )
    both = [row for row in rows if row.source in ends and row.connection.target in ends]
    return answers.build_insights(both, ends)


# -- the agent as judge ----------------------------------------------------------------------


@operation(
    "maintenance",
    "GET",
    "/agent/maintenance",
    "take a batch of questions about memories, for an agent that judges",
    role=Role.WRITER,
    answer=cast("type[MaintenanceAnswer]", MaintenanceAnswer),
)
def give_maintenance_batch(context: HomeContext, call: OperationCall) -> MaintenanceAnswer:
    """Give an agent questions. If there are none, that is noted: no other agent is asked."""
    batch = context.shift.take()
    if batch["status"] == "idle":
        context.note_maintenance()
    return answers.build_maintenance_batch(batch)


@operation(
    "maintenance_status",
    "GET",
    "/admin/maintenance-status",
    "whether an agent has a batch of questions now; takes none",
    role=Role.WRITER,
    answer=MaintenanceStatus,
)
def report_maintenance(context: HomeContext, call: OperationCall) -> MaintenanceStatus:
    found: MaintenanceStatus = from_json(MaintenanceStatus, context.shift.describe())
    return found


@operation(
    "hand_in",
    "POST",
    "/agent/maintenance",
    "hand in the verdicts about a batch of questions; without any, take a batch, or with its "
    "`job_id` see it once more",
    role=Role.WRITER,
    body=HandInBody,
    answer=cast("type[HandInAnswer]", HandInAnswer),
    unbounded=True,
)
def hand_in_verdicts(context: HomeContext, call: OperationCall) -> HandInAnswer:
    """Take an agent's answers; without any it is given questions, as by a GET, or those that
    it has once more."""
    reader = RequestReader(call.body)
    job_id, results = reader.text("job_id"), reader.raw("results")
    reader.done()
    if job_id is None and results is None:
        return give_maintenance_batch.perform(context, call)
    if job_id is None and isinstance(results, Mapping) and "proposals" in results:
        return _answer_proposals(context, results, call.by)
    if job_id is not None and results is None:
        batch = context.shift.see_again(job_id)
        return answers.build_maintenance_batch(batch)
    with context.sleeper.in_turn():
        done = context.shift.hand_in(job_id, results)
    context.note_maintenance()
    return answers.build_handed_in_verdicts(done)


ANSWERS = ["yes", "approved", "no", "rejected"]
"""What is surely understood; a person's own words are too, where they are plain."""


def _answer_proposals(
    context: HomeContext, results: Mapping[str, object], by: str
) -> HandedInVerdicts:
    """Decide proposals as a person said in a conversation: yes or no to each. Nothing is decided
    if one of the answers is neither."""
    reader = RequestReader(results, "`results`")
    given = reader.raw("proposals")
    reader.done()
    if not isinstance(given, Mapping) or not given:
        raise InvalidValue("proposals", "names none", hint='such as {"3f81c2aa": "yes"}')
    chosen: dict[ProposalStatus, list[Proposal]] = {}
    for wanted, said in given.items():
        yes = read_plain_answer(said) if isinstance(said, str) else None
        if yes is None:
            raise UnknownWord("answer", str(said), ANSWERS)
        status = ProposalStatus.APPROVED if yes else ProposalStatus.REJECTED
        chosen.setdefault(status, []).append(find_proposal(context.stores, str(wanted)))
    done = [decide_proposals(context.stores, some, status, by) for status, some in chosen.items()]
    return answers.build_answered_proposals(done)


# -- the jobs --------------------------------------------------------------------------------


@operation(
    "tasks",
    "GET",
    "/admin/tasks",
    "the jobs that tend the memory: when they run, how the last run went",
    role=Role.READER,
    answer=JobList,
)
def list_jobs(context: HomeContext, call: OperationCall) -> JobList:
    return answers.build_job_list(
        read_job_states(context), context.settings.sleep.enabled, context.sleeper.running()
    )


def read_job_states(context: HomeContext, jobs: Sequence[str] = ()) -> list[answers.JobState]:
    """Return how each job stands, in the documented order, or those that are named."""
    sleeper = context.sleeper
    running, waiting, last = sleeper.running(), sleeper.waiting(), sleeper.last_runs()
    paused, every = sleeper.paused(), context.intervals.every
    return [
        answers.JobState(
            job,
            every.get(job, timedelta(0)),
            job in paused,
            job in waiting,
            running if running is not None and running.job == job else None,
            last.get(job),
            None if job in paused else sleeper.next_run(job),
        )
        for job in jobs or sleeper.order
    ]


def read_sleep_status(context: HomeContext) -> SleepStatus:
    """Return what status says: how each job's last run went, and what waits for a person."""
    pending = context.stores.log.proposals(ProposalStatus.PENDING)
    return SleepStatus(
        enabled=context.settings.sleep.enabled,
        judge=context.settings.judge.kind,
        proposals=len(pending),
        jobs=[
            answers.build_short_job_status(each)
            for each in (*read_job_states(context), *_find_failing_tasks(context))
        ],
    )


def _find_failing_tasks(context: HomeContext) -> list[answers.JobState]:
    """Return what is no part of the cycle and whose last run failed."""
    sleeper = context.sleeper
    last, others = sleeper.last_runs(), (*sleeper.tasks, *sleeper.by_day)
    failing = [each for each in others if each in last and last[each].failures]
    return read_job_states(context, failing) if failing else []


@operation(
    "run_all",
    "POST",
    "/admin/tasks/run-all",
    "run the whole sleep cycle, in its documented order",
    role=Role.OWNER,
    body=RunAllBody,
    query=RunAllQuery,
    answer=SleepRun,
    admin=True,
    unbounded=True,
)
def run_all(context: HomeContext, call: OperationCall) -> SleepRun:
    dry_run, at_once, wait = _read_run_options(call)
    return _answer_run(context, context.sleeper.ask(None, dry_run, at_once), wait)


@operation(
    "run_task",
    "POST",
    "/admin/tasks/{id}/run",
    "run one job now; `{id}` is its name",
    role=Role.OWNER,
    body=RunAllBody,
    query=RunAllQuery,
    answer=SleepRun,
    admin=True,
    unbounded=True,
)
def run_task(context: HomeContext, call: OperationCall) -> SleepRun:
    dry_run, at_once, wait = _read_run_options(call)
    return _answer_run(context, context.sleeper.ask([call.path_id], dry_run, at_once), wait)


def _read_run_options(call: OperationCall) -> tuple[bool, bool, bool]:
    """Return whether it is a dry run, whether memories get no time before they fade, and whether
    the caller waits for the end."""
    body, query = RequestReader(call.body), RequestReader(call.query)
    dry_run, at_once, wait = body.flag("dry_run"), body.flag("now"), query.flag("wait")
    body.done()
    query.done()
    return dry_run, at_once, wait


def _answer_run(context: HomeContext, asked: JobRequest, wait: bool) -> SleepRun:
    """Answer at once, unless who asks wants to wait or nobody else would do the work."""
    if wait or not context.sleeper.attended:
        context.sleeper.wait(asked)
    return answers.build_sleep_run(asked, list(asked.reports))


@operation(
    "stop_task",
    "POST",
    "/admin/tasks/{id}/stop",
    "stop a run that waits or is under way: a job's, or `run-all` for all; what it has done by "
    "then stays",
    role=Role.OWNER,
    answer=StoppedJob,
    admin=True,
)
def stop_task(context: HomeContext, call: OperationCall) -> StoppedJob:
    job = call.path_id
    return answers.build_stopped_job(
        job, context.sleeper.stop(None if job == answers.ALL_JOBS else job)
    )


@operation(
    "pause_task",
    "POST",
    "/admin/tasks/{id}/pause",
    "let a job no longer run by itself, nor with the whole cycle",
    role=Role.OWNER,
    answer=PausedJob,
    admin=True,
)
def pause_task(context: HomeContext, call: OperationCall) -> PausedJob:
    return answers.build_paused_job(call.path_id, True, context.sleeper.pause(call.path_id))


@operation(
    "resume_task",
    "POST",
    "/admin/tasks/{id}/resume",
    "let a paused job run by itself again",
    role=Role.OWNER,
    answer=PausedJob,
    admin=True,
)
def resume_task(context: HomeContext, call: OperationCall) -> PausedJob:
    return answers.build_paused_job(call.path_id, False, context.sleeper.resume(call.path_id))


# -- the consolidation engine ----------------------------------------------------------------


@operation(
    "consolidate",
    "POST",
    "/consolidate",
    "run the consolidation engine: decay, creative, cluster and forget, or one of them",
    role=Role.OWNER,
    body=ConsolidateBody,
    query=ConsolidateQuery,
    answer=ConsolidationRun,
    admin=True,
)
def consolidate(context: HomeContext, call: OperationCall) -> ConsolidationRun:
    """Run the tasks that are asked for, and wait for them unless told not to."""
    tasks, dry_run = _read_tasks(context, call)
    query = RequestReader(call.query)
    wait = query.flag("wait", default=True)
    query.done()
    began = context.stores.clock.now()
    asked = context.sleeper.ask(tasks, dry_run)
    if wait or not context.sleeper.attended:
        context.sleeper.wait(asked)
    paused = [each for each in context.sleeper.tasks if len(tasks) != 1 and each not in tasks]
    return consolidation.build_consolidation_run(asked, began, context.stores.clock.now(), paused)


def _read_tasks(context: HomeContext, call: OperationCall) -> tuple[tuple[str, ...], bool]:
    """Return the tasks that a request names, under either name for them."""
    body = RequestReader(call.body)
    task, mode, dry_run = body.text("task"), body.text("mode"), body.flag("dry_run")
    body.done()
    if task is not None and mode is not None and task != mode:
        raise InvalidValue("mode", f"is {mode!r}, but `task` is {task!r}", hint="give one of them")
    known, named = context.sleeper.tasks, task if task is not None else mode
    if named is None or (task is None and named == FULL_MODE):
        return tuple(each for each in known if each not in context.sleeper.paused()), dry_run
    if named not in known:
        raise UnknownWord("mode" if task is None else "task", named, list(known))
    return (named,), dry_run


@operation(
    "consolidate_status",
    "GET",
    "/consolidate/status",
    "when each task of the consolidation engine ran, and when it will run again",
    role=Role.OWNER,
    answer=ConsolidationStatus,
    admin=True,
)
def read_consolidation_status(context: HomeContext, call: OperationCall) -> ConsolidationStatus:
    limit = context.settings.consolidation.history_limit
    sleeper, log = context.sleeper, context.stores.log
    return consolidation.build_consolidation_status(
        consolidation.ConsolidationState(
            tasks=sleeper.tasks,
            last=sleeper.last_runs(),
            next_run={each: find_next_task_run(context, each) for each in sleeper.tasks},
            running=sleeper.running(),
            history=log.recent_events([EventKind.RUN.value], limit, sleeper.tasks),
            enabled=context.settings.consolidation.enabled,
            tick_seconds=context.settings.consolidation.tick_seconds,
            paused=sleeper.paused(),
            now=context.stores.clock.now(),
        )
    )


def find_next_task_run(context: HomeContext, task: str) -> datetime | None:
    """Return when a task will run by itself: by the timetable, or, where none runs, by the
    settings."""
    sleeper = context.sleeper
    if task in sleeper.paused():
        return None
    planned = sleeper.next_run(task)
    last, now = sleeper.last_runs().get(task), context.stores.clock.now()
    return planned or task_run(last, task, context.intervals, now)
