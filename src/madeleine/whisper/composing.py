"""From the memories that passed every stage to the text: what is told, and what beside it.

What only says again what a better one says is left out; two that do not agree are both told, and
that they do not. After the memories may come one to learn from, a question that waits about one of
them or about one that was held back before, and a maintenance that is due.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import combinations

import numpy as np

from madeleine.errors import InvalidValue
from madeleine.index.log import WhisperEntry
from madeleine.language.restatements import differs_in_numbers
from madeleine.model.memory import Memory
from madeleine.model.proposal import Proposal, ProposalStatus, ProposalType
from madeleine.model.times import parse_time
from madeleine.model.vector import Vector
from madeleine.model.words import ABOUT_SELF
from madeleine.whisper.contradictions import Pair, find_contradictions
from madeleine.whisper.rendering import (
    MAINTENANCE,
    question_block,
    render_whisper,
    review_block,
)
from madeleine.whisper.stages import WhisperCandidate, WhisperContext, WhisperState, prompt_filter
from madeleine.whisper.values import STANDING, InjectedMemory
from madeleine.write.config import AGENTS

RESTATED = 0.92  # a cosine from which two memories say the same
SERIES = 4  # so many that differ in a number only are a list of things, and no quarrel
REVIEWED_FROM = 0.30  # a worth from which a memory that was held back is worth asking about
REVIEWED_AFTER = timedelta(hours=12)
REVIEWED_AGAIN = timedelta(days=14)  # after which the same memory may be asked about again
TALKED_ABOUT = (ProposalType.CONFLICT, ProposalType.MERGE)
REVIEWED_OF = 200  # logged prompts of that age that are looked through for one
REVIEWED_AT_ONCE = 8  # of them that are read at a time
EXPLORED_FROM = 0.30  # a worth below which there is nothing to learn from saying it

Conflicts = Mapping[Pair, tuple[Memory, Memory]]


def compose_whisper(
    context: WhisperContext,
    state: WhisperState,
    explorer: WhisperCandidate | None,
    extras: Sequence[str],
) -> tuple[str, tuple[InjectedMemory, ...]]:
    """Return the text about the candidates, and which memories it holds."""
    chosen = state.candidates
    conflicts = _find_conflicts(context, [each.memory for each in chosen])
    distinct = _without_restatements(context, state, conflicts)
    injected = [
        InjectedMemory(
            each.memory,
            round(each.score, 4),
            place < context.config.full_nodes or each.head == STANDING,
            instead_of=each.instead_of,
        )
        for place, each in enumerate(distinct)
    ]
    if explorer is not None:
        injected.append(InjectedMemory(explorer.memory, round(explorer.score, 4), False, True))
    shown = [both for pair, both in conflicts.items() if pair.isdisjoint(state.restated)]
    return render_whisper(injected, shown, context.config, extras)


def choose_explorer(state: WhisperState) -> WhisperCandidate | None:
    """Return the best of what was held back and not told before, if it is not hopeless. What is
    about the person is no matter for trying."""
    new = [
        each
        for each in state.refused
        if each.memory.id not in state.recent.told and not each.identity
    ]
    best = max(new, key=lambda each: each.worth, default=None)
    return None if best is None or best.worth < EXPLORED_FROM else best


# --- restatements and conflicts -------------------------------------------------------------


def _without_restatements(
    context: WhisperContext, state: WhisperState, conflicts: Conflicts
) -> list[WhisperCandidate]:
    """Leave out what only says again what a better one says, and note which one that is. What
    does not agree with it may be as close in meaning, and is told."""
    ids = [each.memory.id for each in state.candidates]
    vectors: dict[str, Vector] = {}
    for stores in context.everywhere:
        vectors |= stores.search.vectors(ids)
    kept: list[WhisperCandidate] = []
    for each in state.candidates:
        said_by = next(_find_restated(each, kept, vectors, conflicts), None)
        if said_by is None:
            kept.append(each)
        else:
            state.restated[each.memory.id] = said_by
    return kept


def _find_restated(
    each: WhisperCandidate,
    kept: Sequence[WhisperCandidate],
    vectors: Mapping[str, Vector],
    conflicts: Conflicts,
) -> Iterator[str]:
    """Give those of the kept memories that say what this one says."""
    mine = vectors.get(each.memory.id)
    for other in kept:
        theirs = vectors.get(other.memory.id)
        if (
            mine is None
            or theirs is None
            or frozenset((each.memory.id, other.memory.id)) in conflicts
        ):
            continue
        if float(np.dot(mine, theirs)) >= RESTATED:
            yield other.memory.id


def _find_conflicts(context: WhisperContext, memories: Sequence[Memory]) -> Conflicts:
    """Return the pairs that do not agree, each once: known to contradict each other, or the
    same but for a number."""
    known = find_contradictions(context.everywhere, memories)
    return {**_find_number_conflicts(memories), **known}


def _find_number_conflicts(memories: Sequence[Memory]) -> Conflicts:
    """Return the pairs that differ only in a number. Many that do are a list of things."""
    pairs = [
        both
        for both in combinations(memories, 2)
        if differs_in_numbers(both[0].content, both[1].content)
    ]
    of_each = {each.id: sum(each in both for both in pairs) for each in memories}
    return {
        frozenset((one.id, other.id)): (one, other)
        for one, other in pairs
        if max(of_each[one.id], of_each[other.id]) < SERIES - 1
    }


# --- what comes after the memories ----------------------------------------------------------


def build_extras(context: WhisperContext, state: WhisperState) -> list[str]:
    """Return what comes after the memories: a question for review, and a due maintenance."""
    parts = []
    asks = context.config.review and state.prompt.session_id is not None
    question = _find_question(context, state) if asks else None
    if question is not None:
        state.questioned = question.id
        parts.append(question_block(question))
    elif asks and state.recent.first:
        memory = _find_memory_to_review(context, state)
        state.reviewed = None if memory is None else memory.id
        parts += [] if memory is None else [review_block(memory)]
    if context.config.maintenance and _maintenance_is_due(context, state):
        parts.append(MAINTENANCE)
    return parts


def _find_question(context: WhisperContext, state: WhisperState) -> Proposal | None:
    """Return a waiting question about a memory that is told anyway, and that no agent was asked
    before. Only such as words of a conversation can settle: what replaced what, and what is twice
    there. Else one about what an agent wanted to remember."""
    told = {each.memory.id for each in state.candidates}
    log = context.stores.log
    fitting = (each for each in log.questions_about(sorted(told)) if each.type in TALKED_ABOUT)
    asked = next((each for each in fitting if _is_unasked(context, each)), None)
    return asked or _find_unapproved(context, state)


def _find_unapproved(context: WhisperContext, state: WhisperState) -> Proposal | None:
    """Return what an agent wanted to remember, waits for a person's yes, and was not asked about
    before: once in a session, with its first whisper."""
    if context.stores.config.write.approval != AGENTS or not state.recent.first:
        return None
    waiting = context.stores.log.proposals(ProposalStatus.PENDING)
    unapproved = (each for each in waiting if each.type is ProposalType.REMEMBER)
    return next((each for each in unapproved if _is_unasked(context, each)), None)


def _is_unasked(context: WhisperContext, proposal: Proposal) -> bool:
    """Whether no agent was asked about a proposal before."""
    return context.stores.log.state(question_state_key(proposal.id)) is None


def question_state_key(proposal_id: str) -> str:
    """Return under which name it is kept when an agent was asked about a proposal."""
    return f"question:{proposal_id}"


def _find_memory_to_review(context: WhisperContext, state: WhisperState) -> Memory | None:
    """Return a memory that another session held back, and that nobody was asked about lately.
    What is about the person comes only when they ask for it."""
    told = {each.memory.id for each in state.candidates}
    search = context.stores.search
    for entries in _read_log_pages(context, state.now - REVIEWED_AFTER):
        others = [each for each in entries if each.session != state.prompt.session_id]
        held = dict.fromkeys(memory_id for each in others for memory_id in _held_back_ids(each))
        ids = [each for each in held if each not in told]
        passing = (
            search.select_allowed(ids, prompt_filter(state.prompt), state.now)
            if ids
            else set[str]()
        )
        for each in ids:
            if each in passing and not _was_asked(context, each, state.now):
                memory = search.memories([each]).get(each)
                if memory is not None and ABOUT_SELF not in memory.tags:
                    return memory
        told.update(ids)  # looked at already
    return None


def _read_log_pages(context: WhisperContext, until: datetime) -> Iterator[list[WhisperEntry]]:
    """Yield what was logged until a moment, newest first, some entries at a time: each is some
    kilobytes of JSON, and mostly one of the first holds what is looked for."""
    after = WhisperEntry("", until, None, None, {})
    for _ in range(REVIEWED_OF // REVIEWED_AT_ONCE):
        entries = context.stores.log.whispers(REVIEWED_AT_ONCE, None, after)
        if not entries:
            return
        yield entries
        after = entries[-1]


def _held_back_ids(entry: WhisperEntry) -> list[str]:
    refused = entry.body.get("refused")
    rows = refused if isinstance(refused, list) else []
    return [str(row["memory"]) for row in rows if row.get("worth", row["score"]) >= REVIEWED_FROM]


def review_key(memory_id: str) -> str:
    """Return under which name it is kept when a memory was last asked about."""
    return f"review:{memory_id}"


def _was_asked(context: WhisperContext, memory_id: str, now: datetime) -> bool:
    """Whether somebody was asked about a memory not long ago."""
    value = context.stores.log.state(review_key(memory_id))
    if value is None:
        return False
    try:
        return now - parse_time("review", value) < REVIEWED_AGAIN
    except InvalidValue:
        return False


def _maintenance_is_due(context: WhisperContext, state: WhisperState) -> bool:
    value = context.stores.log.state("maintenance")
    if not isinstance(value, str):
        return True
    return value < (state.now - timedelta(hours=context.config.maintenance_hours)).isoformat()
