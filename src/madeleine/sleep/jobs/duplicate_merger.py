"""Makes one memory of two that say the same.

The documented semantics: one of the two is kept, and what only the other says is added to its
text; what pointed to the other points to the keeper; the other goes to the trash and comes
back by undo. Without asking this is done only when the judge is very sure; else it is proposed.

Never merged are the self, memories of different projects, what is current with what is not,
what holds until different days or states different claims, what two people say of themselves,
and a memory with one that was made of it. Whoever judges, texts that a number, a name, a sign or
a small word tells apart (`language/distinctions.py`) are not merged unasked; a proposal for them
has the text of both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from madeleine.language.distinctions import are_told_apart
from madeleine.language.marks import have_same_marks
from madeleine.language.overlap import title_similarity, word_overlap
from madeleine.language.text_merging import denies_alike, join_title_and_text, says_all, unite_texts
from madeleine.model.memory import Memory
from madeleine.model.query import Filter
from madeleine.model.verdict import MemoryPair, Relation, Verdict
from madeleine.model.words import ABOUT_SELF, Edge, MemoryType
from madeleine.rules.duplicates import duplicate_score, keeper_order
from madeleine.sleep.pairs import (
    Arrows,
    PairAnswers,
    PairJob,
    PairQuery,
    has_one_scope,
    has_one_voice,
    is_about_different_things,
    is_from_conversation,
)
from madeleine.sleep.values import JobContext, Merge, Patch

NAME = "duplicate_merger"
ROUNDS = 6  # of three copies the third is merged once the first two are one
ONE_EVENT = timedelta(hours=36)  # the same words about another day tell of another event

STATEMENTS = (
    MemoryType.FACT,
    MemoryType.DECISION,
    MemoryType.OBSERVATION,
    MemoryType.PREFERENCE,
)
"""Types whose memories may say the same, though they are of different ones: who chose something
uses it."""

APART = frozenset(
    {Edge.EVOLVED_FROM, Edge.CONTRADICTS, Edge.DERIVED_FROM, Edge.SUMMARIZES, Edge.PART_OF}
)
"""Edges that say that the two are not one."""

PairIds = tuple[str, str]


def make_duplicate_merger() -> PairJob:
    return PairJob(NAME, build_pair_query, build_patches, rounds=ROUNDS)


def build_pair_query(context: JobContext) -> PairQuery:
    """Return which pairs may say the same."""
    return PairQuery(
        chosen=Filter(),
        beside=_partner_filter,
        neighbours=context.config.duplicate_neighbours,
        least=context.config.duplicate_similarity,
        worth=lambda pair, arrows: (
            may_merge(pair, arrows)
            and not (context.judge.cheap and is_from_conversation(pair))
            and _are_alike(context, pair)
        ),
    )


def _partner_filter(memory: Memory) -> Filter:
    """What a memory may be merged with, in its own space or in none: its own type, or another that
    states something."""
    types = STATEMENTS if memory.type in STATEMENTS else (memory.type,)
    return Filter(types=types, spaces=(memory.space, None) if memory.space else ())


def _are_alike(context: JobContext, pair: MemoryPair) -> bool:
    """Whether two are near enough to ask the judge: by the documented score, or in meaning alone.
    What says the same in other words has few of them in common."""
    config = context.config
    return (
        _pair_score(pair) >= config.duplicate_score or pair.similarity >= config.reworded_similarity
    )


def _pair_score(pair: MemoryPair) -> float:
    older, newer = pair.older, pair.newer
    return duplicate_score(
        pair.similarity,
        title_similarity(older.headline, newer.headline),
        word_overlap(older.content, newer.content),
    )


def may_merge(pair: MemoryPair, arrows: Arrows) -> bool:
    """Whether the two can be one memory at all, whatever they say."""
    older, newer = pair.older, pair.newer
    return (
        not any(row.connection.edge in APART for row in arrows)
        and has_one_scope(pair)
        and has_one_voice(pair)
        and older.valid_until == newer.valid_until
        and older.claim == newer.claim
        and not (older.superseded_by or newer.superseded_by)
        and (older.type is not MemoryType.EVENT or newer.created - older.created <= ONE_EVENT)
    )


@dataclass(frozen=True, slots=True)
class DuplicatePair:
    """Two memories that say the same, and what to do about it."""

    pair: MemoryPair
    verdict: Verdict
    ask: bool


def build_patches(
    context: JobContext, answers: PairAnswers, keepers: Mapping[PairIds, str] = {}
) -> list[Patch]:
    """Return the merges, each memory in at most one that is carried out.

    A second one would be planned for a text that the first has changed; it waits for the next
    night. `keepers` says which of a pair to keep, where somebody chose.
    """
    taken: set[str] = set()
    made: list[Patch] = []
    for same in _find_duplicates(context, answers):
        ids = set(same.pair.ids)
        if taken & ids:
            context.again |= ids
            continue
        taken |= set() if same.ask else ids
        made.append(_build_patch(context, same, keepers.get(same.pair.ids)))
    return made


def _find_duplicates(context: JobContext, answers: PairAnswers) -> list[DuplicatePair]:
    """Return what is worth a patch: what is carried out first, and of that the surest."""
    found = [
        DuplicatePair(pair, verdict, _needs_person(context, pair, verdict))
        for pair, verdict in answers.with_relation(Relation.DUPLICATE)
        if verdict.sure >= context.config.propose_at
    ]
    return sorted(found, key=lambda each: each.ask)


def _needs_person(context: JobContext, pair: MemoryPair, verdict: Verdict) -> bool:
    """Whether a person has to decide."""
    older, newer = pair.older, pair.newer
    scopes = older.space != newer.space or _is_about_self(older) != _is_about_self(newer)
    unsure = verdict.sure < context.config.merge_at or _differ_in_kind(pair)
    other_signs = context.judge.cheap and _have_other_signs(pair)
    return unsure or other_signs or scopes or _are_different(pair)


def _differ_in_kind(pair: MemoryPair) -> bool:
    """Whether one of the two is a decision, and the other something else: a decision is kept
    longer, and `chose SQLite` says more than `uses SQLite`."""
    types = {pair.older.type, pair.newer.type}
    return len(types) > 1 and not types <= {MemoryType.FACT, MemoryType.OBSERVATION}


def _have_other_signs(pair: MemoryPair) -> bool:
    """Whether a sign that is no word, or a denial, stands in one of the two only. Who judges on
    this machine may miss what it does to a text."""
    older, newer = join_title_and_text(pair.older), join_title_and_text(pair.newer)
    return not have_same_marks(older, newer) or not denies_alike(older, [newer])


def _is_about_self(memory: Memory) -> bool:
    return ABOUT_SELF in memory.tags


def _are_different(pair: MemoryPair) -> bool:
    """Whether the two say something of different things, or different things of one."""
    return is_about_different_things(pair) or are_told_apart(
        join_title_and_text(pair.older), join_title_and_text(pair.newer)
    )


def _build_patch(context: JobContext, same: DuplicatePair, wanted: str | None) -> Patch:
    keep, drop = _keeper_first(same.pair, wanted)
    title, content = _merged_text(keep, drop, same.verdict)
    return Patch(
        Merge(keep, drop, title, content), same.verdict.reason, same.verdict.sure, same.ask
    )


def _keeper_first(pair: MemoryPair, wanted: str | None) -> tuple[Memory, Memory]:
    """Return (keep, drop): as somebody chose, else the higher tier, the longer, the newer."""
    both = sorted((pair.older, pair.newer), key=_keeper_key, reverse=True)
    if wanted is not None:
        both.sort(key=lambda each: each.id != wanted)
    return both[0], both[1]


def _keeper_key(memory: Memory) -> tuple[object, ...]:
    return (*keeper_order(memory.tier.value, len(memory.content), memory.created), memory.id)


def _merged_text(keep: Memory, drop: Memory, verdict: Verdict) -> tuple[str | None, str | None]:
    """Return the title and text that the keeper gets, if it gets others than it has.

    A model's wording is taken only if it has every word of both; else what only the dropped
    one says is added as it stands, so that nothing said is lost.
    """
    if verdict.content and verdict.content.strip():
        written = replace(keep, title=verdict.title or keep.title, content=verdict.content.strip())
        if says_all(
            join_title_and_text(written), [join_title_and_text(keep), join_title_and_text(drop)]
        ):
            return verdict.title, written.content
    return None, unite_texts(keep, drop)
