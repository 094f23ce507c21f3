"""A word before the deed: what is known about what an agent is about to do, or what failed.

A deed is looked up twice: by its triggers (paths, globs, commands, names), which the index keeps
for each memory, and as a question. Both are weighed together (`rules.deed_gate`), and what passes
its gate is told, once in a session. Nothing is ever blocked: only where a person set
`whisper.guard` to `ask`, a decision or preference with the tag `guard` makes the host ask them.

An agent edits one file thirty times. What was looked up for a path or a command in a session is
remembered, and not looked up again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from madeleine.index.log import WhisperEntry
from madeleine.language.deeds import Deed, is_file_tool
from madeleine.language.triggers import Trigger, compare_triggers, deed_keys, memory_triggers
from madeleine.minds.deadlines import ModelDeadline
from madeleine.model.cause import Cause, WhisperSilence
from madeleine.model.memory import Memory
from madeleine.model.query import Filter, RecallQuery
from madeleine.model.spaces import related_spaces
from madeleine.model.times import format_time
from madeleine.model.words import SELF_SOURCE, MemoryType, Tier
from madeleine.recall.recall import recall
from madeleine.recall.successors import find_possible_successors
from madeleine.rules.deed_gate import DEED_GATE, deed_worth
from madeleine.whisper.capacity import LookupEffort
from madeleine.whisper.config import WhisperConfig
from madeleine.whisper.deed_features import FoundForDeed, deed_features
from madeleine.whisper.log import DeliveryState, WhisperMoment, log_entry
from madeleine.whisper.pausing import is_paused, read_pauses
from madeleine.whisper.rendering import count_tokens, render_whisper
from madeleine.whisper.stages import SharedStores
from madeleine.whisper.values import InjectedMemory
from madeleine.whisper.whisper import (
    RECEIPT_SECONDS,
    Whisperer,
    limit_models,
    time_for_models,
)
from madeleine.write.agent_writes import is_kept_out
from madeleine.write.stores import Stores

TRIGGERED_MOST = 24  # memories that triggers bring, the newest
FOUND_MOST = 24
TOLD_MOST = 2
REPLACED_MOST = 8  # of those worth telling, the best, for which a newer one is looked up
ASKED_CHARS = 1_500
DEED_CHARS = (
    300  # of a deed that a model reads: its path or command, and how what is written begins
)
GUARD_TAG = "guard"
GUARDING = (MemoryType.DECISION, MemoryType.PREFERENCE)


@dataclass(frozen=True, slots=True)
class DeedRequest:
    """What an agent is about to do, and where; or what of it failed."""

    deed: Deed
    space: str | None = None
    cwd: str | None = None
    session_id: str | None = None
    error: str | None = None
    """What went wrong, if it is told afterwards."""
    due: float | None = None
    awaits_receipt: bool = False
    dry_run: bool = False
    """Whether somebody only looks: the next one is told as if nobody had."""


@dataclass(frozen=True, slots=True)
class WeighedMemory:
    """A memory that may be told before a deed."""

    memory: Memory
    features: dict[str, float]
    worth: float
    score: float
    instead_of: Memory | None = None
    """The older memory in whose place it is told, because it may have replaced that."""


@dataclass(frozen=True, slots=True)
class DeedWord:
    """What is told before a deed, or why nothing is. `asks` says whether the person is asked."""

    text: str
    whisper_id: str
    told: tuple[WeighedMemory, ...] = ()
    silence: Cause | None = None
    asks: bool = False
    took_ms: float = 0.0
    weighed: tuple[WeighedMemory, ...] = ()
    """What was looked at, best first."""


def speak_before_deed(
    stores: Stores,
    config: WhisperConfig,
    whisperer: Whisperer,
    request: DeedRequest,
    others: tuple[SharedStores, ...] = (),
) -> DeedWord:
    """Return what is worth knowing before a deed, or after it failed. While too much is asked at
    once, words alone decide, or nothing is looked up (`capacity`)."""
    session = request.session_id
    if not request.dry_run and whisperer.deeds.meet(session, _deed_key(request)):
        silence = Cause(WhisperSilence.TOLD_BEFORE)
        return DeedWord("", stores.new_id(), silence=silence)
    if session is not None and is_paused(read_pauses(stores, session)):
        whisperer.deeds.forget(session)
        return DeedWord("", stores.new_id(), silence=Cause(WhisperSilence.PAUSED))
    with whisperer.capacity.take_turn(request.due, config.deadline_ms / 1000) as effort:
        if effort is LookupEffort.NONE:
            if session is not None:
                whisperer.deeds.forget(session)
            return DeedWord("", stores.new_id(), silence=Cause(WhisperSilence.TOO_BUSY))
        model_time = time_for_models(whisperer, request.due, effort)
        return _look_up_deed(stores, config, whisperer, request, others, model_time)


def _look_up_deed(
    stores: Stores,
    config: WhisperConfig,
    whisperer: Whisperer,
    request: DeedRequest,
    others: tuple[SharedStores, ...],
    model_time: ModelDeadline | None,
) -> DeedWord:
    begun = time.perf_counter()
    now, session = stores.clock.now(), request.session_id
    told = whisperer.sessions.recent(session, now, config.session_gap_minutes).told
    weighed: list[WeighedMemory] = []
    passing: list[WeighedMemory] = []
    for space, each in ((None, stores), *others):
        if space is None or space in related_spaces(request.space):
            found = weigh_candidates(limit_models(each, model_time), request, now)
            weighed += found
            passing += _put_successors_first(each, request, now, _select_passing(found))
    weighed.sort(key=lambda each: (-each.worth, each.memory.id))
    passing = _select_passing(passing)
    new = [each for each in passing if each.memory.id not in told][:TOLD_MOST]
    word = _claim_and_word(stores, config, whisperer, request, new, bool(passing))
    took_ms = round((time.perf_counter() - begun) * 1000, 1)
    word = replace(word, took_ms=took_ms, weighed=tuple(weighed))
    if request.awaits_receipt and word.told:
        _note_sent(stores, config, whisperer, request, word, now)
    return word


def _select_passing(weighed: Sequence[WeighedMemory]) -> list[WeighedMemory]:
    """Return what is worth telling, best first."""
    passing = [each for each in weighed if each.worth >= DEED_GATE]
    return sorted(passing, key=lambda each: (-each.worth, each.memory.id))


def _put_successors_first(
    stores: Stores, request: DeedRequest, now: datetime, passing: Sequence[WeighedMemory]
) -> list[WeighedMemory]:
    """Return what may have replaced a memory in its place, as worth telling as the better of the
    two; it names the older one."""
    looked_at = passing[:REPLACED_MOST]
    memories = [each.memory for each in looked_at]
    newer = find_possible_successors(stores, memories, _deed_filter(request), now)
    if not newer:
        return list(passing)
    chosen: dict[str, WeighedMemory] = {}
    for each in passing:
        successor = newer.get(each.memory.id)
        if successor is None:
            chosen.setdefault(each.memory.id, each)
        elif successor.id not in chosen or chosen[successor.id].instead_of is None:
            better = chosen.get(successor.id, each)
            chosen[successor.id] = replace(better, memory=successor, instead_of=each.memory)
    return list(chosen.values())


def _deed_key(request: DeedRequest) -> str:
    """Return what of a deed tells it from another of its session. What is written into a file does
    not: an agent edits the same one again and again."""
    deed = request.deed
    failed = f" {request.error[:200]}" if request.error else ""
    if is_file_tool(deed.tool) and deed.paths:
        return f"{'|'.join(deed.paths)}{failed}"
    return f"{deed.text[:ASKED_CHARS]}{failed}"


def weigh_candidates(stores: Stores, request: DeedRequest, now: datetime) -> list[WeighedMemory]:
    """Return every memory that the deed's triggers or its words bring, with what it is worth."""
    chosen = _deed_filter(request)
    told = (request.deed.text[:DEED_CHARS], request.error)
    text = " ".join(each for each in told if each)[:ASKED_CHARS]
    query = RecallQuery(text, FOUND_MOST, chosen, request.space, explain=True, all=True)
    hits = {each.memory.id: each for each in recall(stores, query, touch=False).hits}
    keys = deed_keys(request.deed)
    triggered = stores.search.triggered_memories(keys, chosen, now, TRIGGERED_MOST) if keys else []
    brought = stores.search.memories(each for each in triggered if each not in hits)
    best = max((each.score for each in hits.values()), default=0.0)
    weighed = []
    for hit in hits.values():
        explained = hit.explained
        chance = hit.score if explained is None or explained.chance is None else explained.chance
        found = FoundForDeed(
            chance, float(hit.match.get("meaning", 0.0)), float(hit.match.get("text", 0.0))
        )
        weighed.append(_weigh(request, hit.memory, found, best, hit.score))
    weighed += [_weigh(request, each, FoundForDeed(), best, 0.0) for each in brought.values()]
    return [each for each in weighed if each.memory.source != SELF_SOURCE]


def _deed_filter(request: DeedRequest) -> Filter:
    """Return what is at hand where the deed is done."""
    here = related_spaces(request.space)
    spaces: tuple[str | None, ...] = (*here, None) if here else ()
    if request.space is None and request.cwd:
        spaces = (None,)
    return Filter(tiers=(Tier.CORE, Tier.WORKING), spaces=spaces)


def _weigh(
    request: DeedRequest, memory: Memory, found: FoundForDeed, best: float, score: float
) -> WeighedMemory:
    features = deed_features(request.deed, memory, found, best, request.space)
    worth = deed_worth(features)
    if memory.triggers is not None:  # somebody said before which deeds it is to be told
        fits = compare_triggers(memory_triggers(memory), request.deed).is_any
        worth = max(worth, CERTAIN) if fits else 0.0
    return WeighedMemory(memory, features, worth, max(score, worth))


def find_fitting_triggers(deed: Deed, memory: Memory) -> list[Trigger]:
    """Return what of a memory a deed is about, so far as triggers say it."""
    return [each for each in memory_triggers(memory) if compare_triggers([each], deed).is_any]


CERTAIN = 0.9  # of a memory whose own triggers fit


def _claim_and_word(
    stores: Stores,
    config: WhisperConfig,
    whisperer: Whisperer,
    request: DeedRequest,
    new: Sequence[WeighedMemory],
    is_known: bool,
) -> DeedWord:
    whisper_id = stores.new_id()
    if not new:
        nothing = Cause(WhisperSilence.NOTHING_FOUND, {"because": None})
        silence = Cause(WhisperSilence.TOLD_BEFORE) if is_known else nothing
        return DeedWord("", whisper_id, silence=silence)
    chosen = [
        InjectedMemory(each.memory, each.score, True, instead_of=each.instead_of) for each in new
    ]
    text, injected = render_whisper(chosen, (), config)
    ids = {each.memory.id for each in injected}
    told = tuple(each for each in new if each.memory.id in ids)
    if not told:
        return DeedWord("", whisper_id, silence=Cause(WhisperSilence.NO_ROOM))
    if request.awaits_receipt:
        whisperer.sessions.keep_told(request.session_id, ids)
    asks = config.guard == "ask" and any(is_guard(each.memory) for each in told)
    return DeedWord(text, whisper_id, told, asks=asks and request.error is None)


def is_guard(memory: Memory) -> bool:
    """Whether a person wants to be asked before what a memory is about, by `whisper.guard`."""
    return memory.type in GUARDING and GUARD_TAG in memory.tags


def _note_sent(
    stores: Stores,
    config: WhisperConfig,
    whisperer: Whisperer,
    request: DeedRequest,
    word: DeedWord,
    now: datetime,
) -> None:
    """Log a word as on its way; it counts as said once its delivery is confirmed."""
    left = 0.0 if request.due is None else max(request.due - time.monotonic(), 0.0)
    body = {
        "moment": WhisperMoment.DEED.value,
        "stage": WhisperMoment.DEED.value,
        "prompt": _logged_deed(stores, request),
        "injected": [each.memory.id for each in word.told],
        "candidates": [*_log_rows(word.told)],
        "took_ms": word.took_ms,
        "tokens": count_tokens(word.text),
        "text": word.text,
        "delivery": DeliveryState.AWAITED.value,
        "awaited_until": format_time(now + timedelta(seconds=left + RECEIPT_SECONDS)),
    }
    entry = WhisperEntry(word.whisper_id, now, request.session_id, request.space, body)
    keep_after = now - timedelta(days=config.log_days)
    stores.executor.submit(lambda: log_entry(stores, entry, keep_after))


def _logged_deed(stores: Stores, request: DeedRequest) -> str:
    """Return as much of a deed as is written down: nothing of what is kept out."""
    text = request.deed.text
    kept_out = is_kept_out(stores.config, request.cwd, request.space, text)
    return "" if kept_out else text[:ASKED_CHARS]


def _log_rows(told: Sequence[WeighedMemory]) -> Iterator[dict[str, object]]:
    for each in told:
        yield {
            "memory": each.memory.id,
            "title": each.memory.headline,
            "score": round(each.score, 4),
            "worth": round(each.worth, 4),
        }
