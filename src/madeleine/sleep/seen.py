"""What need not be looked at again: memories that a job has seen, and verdicts that cost.

Both stand in the journal, so that an index made anew knows them too (I2). A memory counts as
seen for as long as its text is the one that was looked at (`rules.digest`).

So does one about which there is a question and no room to ask it: while people decide nothing,
judging it again every night would come to the same question. A list of such memories is kept
aside, and they are looked at again when there is room.

What a cheap judge had no time for is the *backlog*: whatever is not looked at yet and no newer than
a moment that is kept aside. New memories go before it, and each run takes some of it.
"""

from __future__ import annotations

import time
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import islice

from madeleine.model.digest import text_digest
from madeleine.model.event import Event, EventKind
from madeleine.model.memory import Memory
from madeleine.model.query import Filter
from madeleine.model.times import format_time, parse_time
from madeleine.model.verdict import MemoryPair, Verdict, verdict_to_json
from madeleine.sleep.proposing import WAITING_AT_MOST, proposal_slots, waiting_key
from madeleine.sleep.values import STOPPED, JobContext
from madeleine.write.record import new_event, record_events

SEEN_AT_ONCE = 1_000  # memories named in one line of the journal
ASKED_AT_ONCE = 8  # pairs after which a costly judge's answers are safe, and a stop is heard
WEIGHED_AT_ONCE = 4  # the same of a cheap one: it may read each for 10 ms, and somebody may wait
EVERYTHING = 10_000_000  # more memories than any home holds
WOKEN = 4  # memories looked at again for each question that may be asked
BACKLOG = "sleep.backlog"  # how the names begin under which the journal keeps what is left over
LEAST_TIME = timedelta(microseconds=1)  # that two instants can be apart


def find_unseen(context: JobContext, chosen: Filter, limit: int) -> list[Memory]:
    """Return memories that this job has not looked at since they changed, oldest first."""
    search, report = context.stores.search, context.report
    ids = search.unseen(report.job, context.judge.name, chosen, context.now, limit)
    return list(search.memories(ids).values())


@dataclass(frozen=True, slots=True)
class IdsToLookAt:
    """What a job has not looked at since it changed: what is new, and then the backlog, each the
    newest first."""

    ids: list[str]
    new: int
    """How many of the ids, from the first, are no backlog."""


def find_ids_to_look_at(context: JobContext, chosen: Filter) -> IdsToLookAt:
    """Return the ids of what changed since this job last looked; and of what waits for a question,
    as far as there is room for questions."""
    job, judge = context.report.job, context.judge.name
    woken = _read_waiting(context)
    woken = woken[: WOKEN * proposal_slots(context)] if woken else woken
    found = context.stores.search.unseen(job, judge, chosen, context.now, EVERYTHING, woken)
    context.let_go |= set(woken).difference(found)
    newest_first = found[::-1]
    kept = context.stores.log.state(_backlog_key(context))
    if not isinstance(kept, str):
        return IdsToLookAt(newest_first, len(newest_first))
    later = replace(chosen, created_after=parse_time("until", kept) + LEAST_TIME)
    new = context.stores.search.select_allowed(newest_first, later, context.now) | set(woken)
    backlog = [each for each in newest_first if each not in new]
    new_ids = [each for each in newest_first if each in new]
    return IdsToLookAt([*new_ids, *backlog], len(new_ids))


def note_backlog(context: JobContext) -> None:
    """Note up to which moment memories wait because a cheap judge had no time for their pairs."""
    left = [each.created for each in context.unanswered.values()]
    until = format_time(max(left)) if left else None
    if until != context.stores.log.state(_backlog_key(context)):
        body = {"key": _backlog_key(context), "value": until}
        record_events(
            context.stores, [new_event(context.stores, EventKind.STATE, body)], durable=False
        )


def _backlog_key(context: JobContext) -> str:
    return f"{BACKLOG}.{context.report.job}.{context.judge.name}"


def note_seen(context: JobContext, memories: Iterable[Memory]) -> None:
    """Note that this job has looked at these, as they are here; for its `done`.

    What has to be looked at again (`JobContext.again`) is left out.
    """
    seen = [each for each in memories if each.id not in context.again]
    events = [*_seen_events(context, seen), *_waiting_event(context, {each.id for each in seen})]
    if events:
        record_events(context.stores, events, durable=False)


def _seen_events(context: JobContext, memories: Iterable[Memory]) -> list[Event]:
    left, events = iter(memories), []
    while some := list(islice(left, SEEN_AT_ONCE)):
        seen = {each.id: text_digest(each) for each in some}
        body = {"job": context.report.job, "judge": context.judge.name, "seen": seen}
        events.append(new_event(context.stores, EventKind.JUDGED, body))
    return events


def _read_waiting(context: JobContext) -> list[str]:
    """Return the memories whose questions found no room, those first that have waited longest."""
    kept = context.stores.log.state(_waiting_key(context))
    return [str(each) for each in kept] if isinstance(kept, list) else []


def _waiting_key(context: JobContext) -> str:
    return waiting_key(context.report.job, context.judge.name)


def _waiting_event(context: JobContext, seen: Container[str]) -> list[Event]:
    """Note what waits now, if it is not what waited before."""
    before = _read_waiting(context)
    after = [each for each in before if each not in seen and each not in context.let_go]
    after += [each for each in context.waiting if each in seen]
    if after == before:
        return []
    body = {"key": _waiting_key(context), "value": after[:WAITING_AT_MOST]}
    return [new_event(context.stores, EventKind.STATE, body)]


def judge_pairs(context: JobContext, pairs: Sequence[MemoryPair]) -> list[Verdict | None]:
    """Return the judge's verdict about each pair, in order; nothing where there is none.

    A costly judge is asked once about a pair until one side changes. Asked in portions, so
    that a request to stop is heard and a kill loses little; after such a request the rest has
    no verdict and is to be looked at again.
    """
    if context.judge.cheap:
        return _ask_judge(context, pairs)
    known = context.stores.log.verdicts([pair.ids for pair in pairs], context.judge.name)
    unknown = iter(_ask_judge(context, [pair for pair in pairs if pair.ids not in known]))
    return [known[pair.ids] if pair.ids in known else next(unknown) for pair in pairs]


def _ask_judge(context: JobContext, pairs: Sequence[MemoryPair]) -> list[Verdict | None]:
    answers: list[Verdict | None] = []
    for some in _split_pairs(pairs, WEIGHED_AT_ONCE if context.judge.cheap else ASKED_AT_ONCE):
        if context.stop():
            context.report.stopped = STOPPED
            context.again.update(each for pair in pairs[len(answers) :] for each in pair.ids)
            return answers + [None] * (len(pairs) - len(answers))
        if _is_out_of_time(context):
            _note_unanswered(context, pairs[len(answers) :])
            return answers + [None] * (len(pairs) - len(answers))
        found = context.judge.judge(some)
        context.report.judged += sum(each is not None for each in found)
        _record_verdicts(context, some, found)
        answers.extend(found)
        context.progress(len(answers), len(pairs))
    return answers


def _is_out_of_time(context: JobContext) -> bool:
    """Whether the time is over that a run has for what earlier ones left."""
    until = context.out_of_time_at
    return context.judge.cheap and until is not None and time.thread_time() >= until


def _note_unanswered(context: JobContext, pairs: Iterable[MemoryPair]) -> None:
    """Leave pairs for which a judge had no answer to a later run."""
    for pair in pairs:
        context.again.update(pair.ids)
        if context.judge.cheap:
            context.unanswered |= {each.id: each for each in (pair.older, pair.newer)}


def _split_pairs(pairs: Sequence[MemoryPair], size: int) -> Iterator[Sequence[MemoryPair]]:
    for start in range(0, len(pairs), size):
        yield pairs[start : start + size]


def _record_verdicts(
    context: JobContext, pairs: Sequence[MemoryPair], found: Sequence[Verdict | None]
) -> None:
    """Write down what a costly judge said; a pair it had no answer for is asked about again."""
    answered = list(zip(pairs, found, strict=True))
    _note_unanswered(context, (pair for pair, said in answered if said is None))
    if context.judge.cheap or context.report.dry_run:
        return
    events = [_verdict_event(context, pair, said) for pair, said in answered if said is not None]
    if events:
        record_events(context.stores, events, durable=False)


def _verdict_event(context: JobContext, pair: MemoryPair, verdict: Verdict) -> Event:
    body = {
        "job": context.report.job,
        "judge": context.judge.name,
        "pair": list(pair.ids),
        "digests": [text_digest(pair.older), text_digest(pair.newer)],
        "verdict": verdict_to_json(verdict),
    }
    return new_event(context.stores, EventKind.JUDGED, body)
