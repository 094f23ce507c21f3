"""Home and Status: how much there is, what needs attention, how quick the hooks are, and when the
jobs ran and will run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal

from madeleine.api import (
    answer_texts,
    ingest_operations,
    moving_operations,
    sleep_answers,
    sleep_operations,
)
from madeleine.api.contract.page_responses import (
    AttentionItem,
    HomeJob,
    HomePage,
    HomeSize,
    HomeSleep,
    PromptMark,
    PromptTimes,
)
from madeleine.api.operation import operation
from madeleine.api.page.letter import count_everything
from madeleine.api.page.whispers import prompt_outcome, read_took_ms, sorted_latencies
from madeleine.index.log import WhisperEntry
from madeleine.index.search import IndexCounts
from madeleine.model.codec import CREATIVE
from madeleine.model.event import EventKind
from madeleine.model.people import Role
from madeleine.model.query import Filter
from madeleine.model.request_reader import RequestReader
from madeleine.model.times import format_time, parse_time
from madeleine.model.words import Edge
from madeleine.write.snoozing import count_waiting

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.bootstrap import HomeContext

MAX_SPACES = 8
MAX_PROMPTS = 120
MAX_NAMED = 3  # of many alike that are named
MAX_TENSIONS_READ = 100
MAX_RUNS_READ = 500  # newest runs, among which those of a day are looked for
WEEK = timedelta(days=7)
DAY = timedelta(days=1)
LATE_BACKUP_INTERVALS = 3  # intervals without a backup after which the page says so


@operation(
    "page_home",
    "GET",
    "/ui/data/home",
    "how much there is, what came of the last prompts, how the jobs stand, what needs attention",
    role=Role.READER,
    answer=HomePage,
)
def show_home(context: HomeContext, call: OperationCall) -> HomePage:
    """Return how all stands, in numbers; lists in it are short."""
    RequestReader(call.query).done()
    stores = context.stores
    index, now = stores.index, stores.clock.now()
    counts = count_everything(context)
    states = [
        *sleep_operations.read_job_states(context),
        *sleep_operations.read_job_states(context, context.sleeper.tasks),
    ]
    return HomePage(
        now=format_time(now),
        size=_build_size(counts),
        week=index.search.count(Filter(created_after=now - WEEK, outdated=True), now),
        prompts=_build_prompt_times(context, index.log.whispers(MAX_PROMPTS)),
        attention=list(_find_attention_items(context, counts, states, now)),
        sleep=_build_sleep(context, states, now),
        backup=moving_operations.read_backup_status(context).newest,
        daemon=None,
    )


def _build_size(counts: IndexCounts) -> HomeSize:
    spaces = sorted(counts.by_space.items(), key=lambda each: (-each[1], each[0]))
    return HomeSize(
        memories=counts.memories,
        connections=counts.edges,
        tiers=dict(counts.by_tier),
        types=dict(counts.by_type),
        spaces=dict(spaces[:MAX_SPACES]),
        spaces_total=len(spaces),
        unembedded=counts.unembedded,
    )


def _build_prompt_times(context: HomeContext, entries: list[WhisperEntry]) -> PromptTimes:
    """Return what came of the last prompts and how long each took, oldest first."""
    times = sorted_latencies(entries)
    return PromptTimes(
        deadline_ms=context.settings.whisper.deadline_ms,
        median_ms=times[len(times) // 2] if times else None,
        slow_ms=times[int(len(times) * 0.95)] if times else None,
        each=[
            PromptMark(
                id=each.id,
                at=format_time(each.at),
                outcome=prompt_outcome(each),
                took_ms=read_took_ms(each),
            )
            for each in reversed(entries)
        ],
    )


def _build_sleep(
    context: HomeContext, states: list[sleep_answers.JobState], now: datetime
) -> HomeSleep:
    """Return what a day and a night have done, and when each job ran and will run."""
    events = context.stores.log.recent_events([EventKind.RUN.value], MAX_RUNS_READ)
    reports = [each.body.get("report") for each in events if now - each.at < DAY]
    done = [each for each in reports if isinstance(each, dict)]
    return HomeSleep(
        enabled=context.settings.sleep.enabled,
        applied=sum(int(each.get("applied") or 0) for each in done),
        proposed=sum(int(each.get("proposed") or 0) for each in done),
        proposals=count_waiting(context.stores),
        jobs=[_build_job(context, each) for each in states],
    )


def _build_job(context: HomeContext, state: sleep_answers.JobState) -> HomeJob:
    is_task = state.job in context.sleeper.tasks
    when = sleep_operations.find_next_task_run(context, state.job) if is_task else state.next_run
    return HomeJob(
        id=state.job,
        paused=state.paused,
        running=state.running is not None,
        last=format_time(state.last.at) if state.last else None,
        failures=state.last.failures if state.last else 0,
        next=format_time(when) if when else None,
    )


# -- what needs attention ------------------------------------------------------------------


def _find_attention_items(
    context: HomeContext, counts: IndexCounts, states: list[sleep_answers.JobState], now: datetime
) -> Iterator[AttentionItem]:
    """Yield what somebody should look at, what is wrong first."""
    yield from _find_damage(context)
    yield from _find_failing_jobs(states)
    yield from _find_missing_parts(context, counts, now)
    yield from _find_waiting_questions(context, now)


def _build_item(
    kind: Literal["bad", "warn", "ask"],
    text: str,
    *more: str,
    to: str | None = None,
    job: str | None = None,
) -> AttentionItem:
    """`kind` is bad, warn or ask; `to` is where on the page to go; `job` is the job that the
    text is about, which the page calls by a title."""
    flat = [answer_texts.flatten_text(each) for each in more]
    return AttentionItem(kind=kind, text=text, more=flat, to=to, job=job)


def _find_damage(context: HomeContext) -> Iterator[AttentionItem]:
    index = context.stores.index
    unreadable = [f"{each.path}:{each.line}: {each.problem}" for each in index.search.unreadable()]
    if unreadable:
        said = f"cannot be read; what was known of {'it' if len(unreadable) == 1 else 'them'} stays"
        yield _build_item(
            "bad",
            f"{answer_texts.render_count(len(unreadable), 'file')} {said}",
            *unreadable[:MAX_NAMED],
        )
    torn = [f"{each.path}:{each.line}: {each.problem}" for each in index.log.torn_lines()]
    torn += context.journal_problems
    if torn:
        said = f"{answer_texts.render_count(len(torn), 'line')} of the journal cannot be read"
        yield _build_item("bad", said, *torn[:MAX_NAMED])
    for note in context.notes[:MAX_NAMED]:
        yield _build_item("warn", answer_texts.flatten_text(note))


def _find_failing_jobs(states: list[sleep_answers.JobState]) -> Iterator[AttentionItem]:
    for each in states:
        if each.last is None or not each.last.failures:
            continue
        again = f" {each.last.failures} times in a row" if each.last.failures > 1 else ""
        why, to = str(each.last.report.get("error")), f"/sleep?job={each.job}"
        item = _build_item("bad", f"has failed{again}", why, to=to, job=each.job)
        kind = each.last.report.get("error_kind")
        yield replace(item, error_kind=None if kind is None else str(kind))


def _find_missing_parts(
    context: HomeContext, counts: IndexCounts, now: datetime
) -> Iterator[AttentionItem]:
    minds = context.stores.minds
    if minds.embedder is None:
        yield _build_item("warn", "Memories are found by their words only", minds.why_not)
    elif minds.embedder.problem:
        yield _build_item("warn", "Memories are found by their words only", minds.embedder.problem)
    elif counts.unembedded:
        many = answer_texts.render_count(counts.unembedded, "memory")
        yield _build_item(
            "warn", f"{many} can be found by words only until they are read by the model"
        )
    for each in ingest_operations.read_intake_status(context).problems[:MAX_NAMED]:
        yield _build_item("warn", "Conversations are not all taken in", each)
    yield from _find_late_backup(context, counts, now)


def _find_late_backup(
    context: HomeContext, counts: IndexCounts, now: datetime
) -> Iterator[AttentionItem]:
    wanted, newest = context.settings.backup, moving_operations.read_backup_status(context).newest
    if not wanted.enabled or not counts.memories or context.settings.store.truth == "database":
        return  # a database is backed up with its own tools
    if newest is None:
        oldest = context.stores.search.first_known()
        if oldest is not None and now - oldest > DAY:
            yield replace(_build_item("warn", "There is no backup yet"), act="backup")
        return
    age = now - parse_time("newest", newest)
    if age > timedelta(hours=wanted.interval_hours * LATE_BACKUP_INTERVALS):
        said = f"The last backup is {age.days} days old"
        yield replace(_build_item("warn", said), act="backup")


def _find_waiting_questions(context: HomeContext, now: datetime) -> Iterator[AttentionItem]:
    index = context.stores.index
    pending = count_waiting(context.stores)
    if pending:
        waits = "waits" if pending == 1 else "wait"
        said = f"{answer_texts.render_count(pending, 'proposal')} {waits} for you"
        yield _build_item("ask", said, to="/sleep/proposals")
    rows = index.graph.newest_edges([Edge.CONTRADICTS], MAX_TENSIONS_READ, but_by=CREATIVE)
    ends = {end for row in rows for end in (row.source, row.connection.target)}
    hold = index.search.select_allowed(ends, Filter(), now)
    open_ones = [row for row in rows if {row.source, row.connection.target} <= hold]
    if open_ones:
        pairs = answer_texts.render_count(len(open_ones), "pair")
        said = f"Memories contradict each other: {pairs}"
        yield _build_item("ask", said, to="/time?show=tensions")
