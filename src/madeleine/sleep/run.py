"""Running jobs: plan, look at the breaker, apply or propose, note, report.

A job never overlaps itself. One that fails leaves a report that says so, and the next one runs
all the same (I8). A dry run goes the same way up to the point where something would be
written, and changes no byte.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

from madeleine.errors import MadeleineError, UnderWay
from madeleine.minds.port import Judge
from madeleine.model.cause import Cause
from madeleine.model.event import EventKind
from madeleine.sleep.actions import patch_to_json, touched_memories
from madeleine.sleep.apply import SKIPPED, PatchApplier, apply_patches
from madeleine.sleep.breaker import breaker_reason
from madeleine.sleep.config import SleepConfig
from madeleine.sleep.interrupted import note_begun
from madeleine.sleep.pairs import PairJob
from madeleine.sleep.proposing import (
    expire_old,
    may_be_asked,
    proposal_slots,
    propose_patches,
    select_new_questions,
)
from madeleine.sleep.refused import drop_refused
from madeleine.sleep.reports import bounded_report
from madeleine.sleep.values import (
    JUDGE_SILENT,
    QUIET,
    STOPPED,
    AddConnections,
    AskedInstead,
    Job,
    JobContext,
    MoveToTrash,
    Patch,
    RemoveConnection,
    RunReport,
    Score,
    StopKind,
    Summarise,
    report_refusal,
)
from madeleine.write.diffs import render_diff
from madeleine.write.record import new_event, record_events
from madeleine.write.stores import Stores

LIGHT = (AddConnections, Score, RemoveConnection, Summarise)
"""What the breaker does not count, and nobody is asked about because of it: it takes away nothing
that anybody wrote."""
TOLD_EVERY = timedelta(hours=1)
RUNS_READ = 32  # newest runs in the journal among which the last of a quiet job is looked for

Stop = Callable[[], bool]
Progress = Callable[[int, int], None]


def run_all(
    stores: Stores,
    config: SleepConfig,
    judge: Judge,
    jobs: Sequence[Job],
    *,
    dry_run: bool = False,
    stop: Stop = lambda: False,
    progress: Progress = lambda done, total: None,
) -> list[RunReport]:
    """Run the jobs one after the other, in the order given; return a report of each.

    One that is under way already is waited for by nobody: its report says so.
    """
    reports = []
    for done, job in enumerate(jobs):
        if stop():
            break
        try:
            reports.append(run_job(stores, config, judge, job, dry_run=dry_run, stop=stop))
        except UnderWay as error:
            reports.append(report_refusal(job.name, stores.clock.now(), dry_run, error))
        progress(done + 1, len(jobs))
    return reports


def run_job(
    stores: Stores,
    config: SleepConfig,
    judge: Judge,
    job: Job,
    *,
    dry_run: bool = False,
    stop: Stop = lambda: False,
    progress: Progress = lambda done, total: None,
    due: bool = False,
    at_once: bool = False,
    request: str | None = None,
) -> RunReport:
    """Run one job and return its report; `UnderWay` if it runs already. One that is `due` was
    asked for by nobody; one that is to work `at_once` gives memories no time before they fade.
    `request` is the id of the night that it belongs to."""
    with _hold_job(stores, job.name):
        now = stores.clock.now()
        report = RunReport(job.name, stores.new_id(), now, dry_run, request=request)
        context = JobContext(
            stores, config, judge, report, now, stop, progress, due=due, waits=not at_once
        )
        began = time.monotonic()
        if not dry_run and job.name not in QUIET:
            note_begun(stores, report)
        try:
            _run_rounds(context, job)
        except MadeleineError as error:
            report.error, report.error_kind = error.message, error.kind
        except Exception as error:  # noqa: BLE001  # a bug in one job must not stop the others
            report.error = f"{type(error).__name__}: {error}"
            report.error_kind = MadeleineError.kind
        report.seconds = round(time.monotonic() - began, 3)
        troubles = judge.problems()
        _add(report.problems, troubles)
        if troubles and not report.judged and report.error is None:
            report.error = f"the judge gave no answer: {next(iter(troubles))}"
            report.error_kind = JUDGE_SILENT
        if not dry_run and not _is_recorded_lately(stores, report):
            body = {"run": report.run, "job": job.name, "report": bounded_report(report)}
            record_events(stores, [new_event(stores, EventKind.RUN, body)], durable=False)
    return report


def _is_recorded_lately(stores: Stores, report: RunReport) -> bool:
    """Whether the journal says enough without this run: it says that a quiet job ran lately."""
    if report.job not in QUIET or not report.idle:
        return False
    return any(
        each.body.get("job") == report.job and timedelta(0) <= report.began - each.at < TOLD_EVERY
        for each in stores.log.recent_events([EventKind.RUN.value], RUNS_READ)
    )


def _run_rounds(context: JobContext, job: Job) -> None:
    """Plan and act until nothing is left that only had to wait for another patch: of three
    copies the third is merged once the first two are one."""
    if not context.report.dry_run:
        expire_old(context)
    for _ in range(job.rounds if isinstance(job, PairJob) else 1):
        before = context.report.applied
        _run_round(context, job)
        at_rest = context.report.applied == before or not context.again
        if at_rest or context.report.dry_run or context.report.stopped is not None:
            return
        context.again.clear()


def _run_round(context: JobContext, job: Job) -> None:
    patches = drop_refused(context.stores, job.plan(context))
    if context.report.stopped == STOPPED:
        return  # what was judged by then is kept; nothing is done of half a plan
    acting, asking = _split_by_breaker(context, patches)
    asking = select_new_questions(context, asking)
    try:
        _apply_or_show(context, acting, asking)
    finally:
        context.tell()
    left = propose_patches(context, asking)
    if left:
        stop = context.report.stopped or Cause(StopKind.NO_ROOM_FOR_PROPOSALS)
        context.report.stopped = stop.extended(without_room=left)
    if not context.report.dry_run:
        job.done(context)


def _apply_or_show(context: JobContext, acting: Sequence[Patch], asking: Sequence[Patch]) -> None:
    if context.report.dry_run:
        _show(context, acting, asking)
        return
    left = context.config.patches_shown - len(context.report.patches)
    context.report.patches += [patch_to_json(each) for each in [*acting, *asking][: max(left, 0)]]
    apply_patches(context, acting)


# -- the breaker ---------------------------------------------------------------------------


def _split_by_breaker(
    context: JobContext, patches: Sequence[Patch]
) -> tuple[list[Patch], list[Patch]]:
    """Return what is carried out and what is asked.

    A run that would change too much of the store, all its rounds together, asks instead. New
    connections do not count: they take nothing away, and a job bounds how many it draws.
    Scores do not either.
    """
    asking = [each for each in patches if each.ask and may_be_asked(each)]
    acting = [each for each in patches if not (each.ask and may_be_asked(each))]
    heavy = [each for each in acting if not _is_light(each)]
    changed = context.changed | {
        each.id for patch in heavy for each in touched_memories(patch.action)
    }
    forgetting = [each.action for each in heavy if isinstance(each.action, MoveToTrash)]
    trashed = {each.id for action in forgetting for each in touched_memories(action)}
    why = breaker_reason(context, context.heavy + len(heavy), len(changed), len(trashed))
    if why is None:
        context.heavy, context.changed = context.heavy + len(heavy), changed
        return acting, asking
    context.report.stopped = why.extended(instead=AskedInstead.ALL)
    return [each for each in acting if _is_light(each)], [*asking, *heavy]


def _is_light(patch: Patch) -> bool:
    """Whether a patch takes no memory away: what was said in sessions is none."""
    action = patch.action
    return isinstance(action, LIGHT) or (
        isinstance(action, MoveToTrash) and action.memory.is_exchange
    )


# -- dry runs ------------------------------------------------------------------------------


def _show(context: JobContext, acting: Sequence[Patch], asking: Sequence[Patch]) -> None:
    """Put all patches into the report, with the difference that each would make to files."""
    work = PatchApplier(context)
    free = proposal_slots(context)
    said = ((acting, "apply"), (asking[:free], "propose"), (asking[free:], "wait"))
    for patches, would in said:
        for patch in patches:
            values = patch_to_json(patch)
            context.report.patches.append(
                {**values, "would": would, "diff": _render_difference(work, patch)}
            )
    context.report.applied = len(acting)
    context.carried_out += acting


def _render_difference(work: PatchApplier, patch: Patch) -> str:
    if isinstance(patch.action, Score):
        return ""
    try:
        return render_diff(work.plan(patch))
    except SKIPPED as error:
        return f"{error.message}\n"


# -- one at a time -------------------------------------------------------------------------


@contextmanager
def _hold_job(stores: Stores, job: str) -> Iterator[None]:
    with stores.writing:
        if job in stores.jobs:
            raise UnderWay(f"`{job}`")
        stores.jobs.add(job)
    try:
        yield
    finally:
        stores.jobs.discard(job)


def _add(counts: dict[str, int], more: dict[str, int]) -> None:
    for problem, count in more.items():
        counts[problem] = counts.get(problem, 0) + count
