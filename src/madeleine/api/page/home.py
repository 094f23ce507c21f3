"""Home: how much there is, how it grows, how quick the hooks are, and what needs attention."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal

from madeleine.api import ingesting, moving, sleep_answers, sleeping, texts
from madeleine.api.contract.page_responses import (
    AttentionItem,
    HomeJob,
    HomePage,
    HomeSize,
    HomeSleep,
    PromptMark,
    PromptTimes,
)
from madeleine.api.page import timeline
from madeleine.api.page.whispers import latencies, outcome_of, took_ms
from madeleine.index.log import WhisperEntry
from madeleine.index.search import IndexCounts
from madeleine.model.codec import CREATIVE
from madeleine.model.event import EventKind
from madeleine.model.proposal import ProposalStatus
from madeleine.model.query import Filter
from madeleine.model.reading import RequestReader
from madeleine.model.times import format_time, parse_time
from madeleine.model.words import Edge

if TYPE_CHECKING:
    from madeleine.api.call import Call
    from madeleine.bootstrap import HomeContext

SPACES = 8
PROMPTS = 120
NAMED = 3  # of many alike that are named
TENSIONS_READ = 100
RUNS_READ = 500  # newest runs, among which those of a day are looked for
WEEK = timedelta(days=7)
DAY = timedelta(days=1)
LATE_BACKUPS = 3  # so many intervals without one are worth a word


def home(context: HomeContext, call: Call) -> HomePage:
    """Return all that the first view shows, in numbers; lists in it are short."""
    reader = RequestReader(call.query)
    zone = timeline.zone_of(reader.text("zone"))
    reader.done()
    stores = context.stores
    index, now = stores.index, stores.clock.now()
    counts = index.search.counts()
    states = [*sleeping.job_states(context), *sleeping.job_states(context, context.sleeper.tasks)]
    return HomePage(
        now=format_time(now),
        size=_size(counts),
        week=index.search.count(Filter(created_after=now - WEEK, outdated=True), now),
        growth=timeline.growth(context, zone),
        prompts=_prompts(context, index.log.whispers(PROMPTS)),
        attention=list(_attention(context, counts, states, now)),
        sleep=_sleep(context, states, now),
        backup=moving.standing(context).newest,
        daemon=None,
    )


def _size(counts: IndexCounts) -> HomeSize:
    spaces = sorted(counts.by_space.items(), key=lambda each: (-each[1], each[0]))
    return HomeSize(
        memories=counts.memories,
        connections=counts.edges,
        tiers=dict(counts.by_tier),
        types=dict(counts.by_type),
        spaces=dict(spaces[:SPACES]),
        spaces_total=len(spaces),
        unembedded=counts.unembedded,
    )


def _prompts(context: HomeContext, entries: list[WhisperEntry]) -> PromptTimes:
    """Return what came of the last prompts and how long each took, oldest first."""
    times = latencies(entries)
    return PromptTimes(
        deadline_ms=context.settings.whisper.deadline_ms,
        median_ms=times[len(times) // 2] if times else None,
        slow_ms=times[int(len(times) * 0.95)] if times else None,
        each=[
            PromptMark(
                id=each.id,
                at=format_time(each.at),
                outcome=outcome_of(each),
                took_ms=took_ms(each),
            )
            for each in reversed(entries)
        ],
    )


def _sleep(context: HomeContext, states: list[sleep_answers.JobState], now: datetime) -> HomeSleep:
    """Return what a day and a night have done, and when each job ran and will run."""
    events = context.stores.log.recent_events([EventKind.RUN.value], RUNS_READ)
    reports = [each.body.get("report") for each in events if now - each.at < DAY]
    done = [each for each in reports if isinstance(each, dict)]
    return HomeSleep(
        enabled=context.settings.sleep.enabled,
        applied=sum(int(each.get("applied") or 0) for each in done),
        proposed=sum(int(each.get("proposed") or 0) for each in done),
        proposals=len(context.stores.log.proposals(ProposalStatus.PENDING)),
        jobs=[_job(context, each) for each in states],
    )


def _job(context: HomeContext, state: sleep_answers.JobState) -> HomeJob:
    is_task = state.job in context.sleeper.tasks
    when = sleeping.next_task_run(context, state.job) if is_task else state.next_run
    return HomeJob(
        id=state.job,
        paused=state.paused,
        running=state.running is not None,
        last=format_time(state.last.at) if state.last else None,
        failures=state.last.failures if state.last else 0,
        next=format_time(when) if when else None,
    )


# -- what needs attention ------------------------------------------------------------------


def _attention(
    context: HomeContext, counts: IndexCounts, states: list[sleep_answers.JobState], now: datetime
) -> Iterator[AttentionItem]:
    """Yield what somebody should look at, what is wrong first."""
    yield from _damage(context)
    yield from _failing(states)
    yield from _missing(context, counts, now)
    yield from _waiting(context, now)


def _item(
    kind: Literal["bad", "warn", "ask"],
    text: str,
    *more: str,
    to: str | None = None,
    job: str | None = None,
) -> AttentionItem:
    """`kind` is bad, warn or ask; `to` is where on the page to go; `job` is whom the text is
    about, for the page has a name for each."""
    flat = [texts.flat(each) for each in more]
    return AttentionItem(kind=kind, text=text, more=flat, to=to, job=job)


def _damage(context: HomeContext) -> Iterator[AttentionItem]:
    index = context.stores.index
    unreadable = [f"{each.path}:{each.line}: {each.problem}" for each in index.search.unreadable()]
    if unreadable:
        said = f"cannot be read; what was known of {'it' if len(unreadable) == 1 else 'them'} stays"
        yield _item("bad", f"{texts.count(len(unreadable), 'file')} {said}", *unreadable[:NAMED])
    torn = [f"{each.path}:{each.line}: {each.problem}" for each in index.log.torn()]
    torn += context.journal_problems
    if torn:
        said = f"{texts.count(len(torn), 'line')} of the journal cannot be read"
        yield _item("bad", said, *torn[:NAMED])
    for note in context.notes[:NAMED]:
        yield _item("warn", texts.flat(note))


def _failing(states: list[sleep_answers.JobState]) -> Iterator[AttentionItem]:
    for each in states:
        if each.last is None or not each.last.failures:
            continue
        again = f" {each.last.failures} times in a row" if each.last.failures > 1 else ""
        why, to = str(each.last.report.get("error")), f"/sleep?job={each.job}"
        item = _item("bad", f"has failed{again}", why, to=to, job=each.job)
        kind = each.last.report.get("error_kind")
        yield replace(item, error_kind=None if kind is None else str(kind))


def _missing(context: HomeContext, counts: IndexCounts, now: datetime) -> Iterator[AttentionItem]:
    minds = context.stores.minds
    if minds.embedder is None:
        yield _item("warn", "Memories are found by their words only", minds.why_not)
    elif counts.unembedded:
        many = texts.count(counts.unembedded, "memory")
        yield _item("warn", f"{many} can be found by words only until they are read by the model")
    for each in ingesting.standing(context).problems[:NAMED]:
        yield _item("warn", "Conversations are not all taken in", each)
    yield from _backup(context, counts, now)


def _backup(context: HomeContext, counts: IndexCounts, now: datetime) -> Iterator[AttentionItem]:
    wanted, newest = context.settings.backup, moving.standing(context).newest
    if not wanted.enabled or not counts.memories or context.settings.store.truth == "database":
        return  # a database is backed up with its own tools
    if newest is None:
        oldest = context.stores.search.first_known()
        if oldest is not None and now - oldest > DAY:
            yield _item("warn", "There is no backup yet", "`madeleine backup` makes one")
        return
    age = now - parse_time("newest", newest)
    if age > timedelta(hours=wanted.interval_hours * LATE_BACKUPS):
        yield _item("warn", f"The last backup is {age.days} days old")


def _waiting(context: HomeContext, now: datetime) -> Iterator[AttentionItem]:
    index = context.stores.index
    pending = index.log.proposals(ProposalStatus.PENDING)
    if pending:
        waits = "waits" if len(pending) == 1 else "wait"
        said = f"{texts.count(len(pending), 'proposal')} {waits} for you"
        yield _item("ask", said, to="/sleep/proposals")
    rows = index.graph.newest_edges([Edge.CONTRADICTS], TENSIONS_READ, but_by=CREATIVE)
    ends = {end for row in rows for end in (row.source, row.connection.target)}
    hold = index.search.allowed(ends, Filter(), now)
    open_ones = [row for row in rows if {row.source, row.connection.target} <= hold]
    if open_ones:
        pairs = texts.count(len(open_ones), "pair")
        said = f"Memories contradict each other: {pairs}"
        yield _item("ask", said, to="/time?show=tensions")
