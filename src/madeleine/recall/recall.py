"""Recall: a plain hybrid of text and vectors, with filters inside both (I11)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from madeleine.errors import MindDown
from madeleine.index.port import Hit
from madeleine.model.memory import Memory
from madeleine.model.query import Query
from madeleine.recall.words import search_words
from madeleine.rules.fusion import boosted, fused, text_share
from madeleine.write.stores import Stores
from madeleine.write.use import used

_ID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){0,3}(?:-[0-9a-f]{12})?\b")


@dataclass(frozen=True, slots=True)
class Found:
    """A memory that answers, how well from 0 to 1, and why."""

    memory: Memory
    score: float
    reasons: tuple[str, ...]
    match: dict[str, float]


@dataclass(frozen=True, slots=True)
class Recalled:
    """The answers, best first; none comes with a reason. `notes` say what is degraded."""

    hits: tuple[Found, ...]
    silence: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Scores:
    """What each source found, by id. None: the source was not there at all."""

    text: dict[str, float]
    cosine: dict[str, float] | None
    named: frozenset[str]


def recall(stores: Stores, query: Query, touch: bool = True) -> Recalled:
    """Return the memories that answer `query`; `touch` counts them as used."""
    scores, notes = _search(stores, query)
    ids = dict.fromkeys([*scores.named, *scores.text, *(scores.cosine or {})])
    memories = stores.index.memories(ids)
    found = [_score(stores, query, memories[each], scores) for each in ids if each in memories]
    # Without a model the words are all there is; what shares some is an answer.
    least = 0.0 if scores.cosine is None else stores.habits.recall_least_score
    near = [each for each in found if each.score >= least or each.match["text"] > 0]
    best = sorted(near, key=_rank)[: query.limit]
    if touch and best:
        shown = [each.memory.id for each in best]
        notes += used(stores, shown, "recalled", query.session_id)
    return Recalled(tuple(best), None if best else _silence(stores, query, len(found)), notes)


def _search(stores: Stores, query: Query) -> tuple[_Scores, tuple[str, ...]]:
    now, pool = stores.clock.now(), max(stores.habits.recall_pool, query.limit)
    words = search_words(query.text)
    text = stores.index.search_text(words, query.filter, now, pool) if words else []
    nearest, notes = _nearest(stores, query, pool)
    named = _named(stores, query)
    return _Scores(_by_id(text), None if nearest is None else _by_id(nearest), named), notes


def _nearest(stores: Stores, query: Query, pool: int) -> tuple[list[Hit] | None, tuple[str, ...]]:
    embedder = stores.minds.embedder
    if embedder is None:
        return None, (f"text search only: {stores.minds.why_not}",)
    try:
        vector = embedder.embed_query(query.text)
    except MindDown as down:
        return None, (f"text search only: {down.message}",)
    return stores.index.search_vector(vector, query.filter, stores.clock.now(), pool), ()


def _named(stores: Stores, query: Query) -> frozenset[str]:
    """Memories whose id stands in the query, as far as the filter lets them through."""
    wanted = _ID.findall(query.text.lower())
    found = {each for prefix in wanted for each in stores.index.ids_with_prefix(prefix, 2)}
    return (
        frozenset(stores.index.allowed(found, query.filter, stores.clock.now()))
        if found
        else frozenset()
    )


def _score(stores: Stores, query: Query, memory: Memory, scores: _Scores) -> Found:
    text = text_share(scores.text.get(memory.id, 0.0))
    cosine = None if scores.cosine is None else scores.cosine.get(memory.id, 0.0)
    habits = stores.habits
    plain = fused(text, cosine, habits.text_weight, habits.vector_weight)
    near = memory.space in (None, query.space) or query.space is None
    score = (
        1.0
        if memory.id in scores.named
        else boosted(plain, memory.tier.value, memory.confidence, near)
    )
    match = {"text": text, "meaning": cosine or 0.0, "fused": plain}
    return Found(memory, round(score, 4), _reasons(memory, scores, text, cosine), match)


def _reasons(memory: Memory, scores: _Scores, text: float, cosine: float | None) -> tuple[str, ...]:
    reasons = []
    if memory.id in scores.named:
        reasons.append("named by its id")
    if text > 0:
        reasons.append(f"shares words ({text:.2f})")
    if cosine:
        reasons.append(f"close in meaning ({cosine:.2f})")
    if memory.tier.value != "working":
        reasons.append(f"{memory.tier.value} tier")
    return tuple(reasons)


def _rank(found: Found) -> tuple[float, float, str]:
    return -found.score, -found.memory.created.timestamp(), found.memory.id


def _silence(stores: Stores, query: Query, seen: int) -> str:
    if seen:
        return f"{seen} memories came near, none near enough"
    if stores.index.count(query.filter, stores.clock.now()) == 0:
        return "no memory passes the filter"
    return "nothing matches"


def _by_id(hits: list[Hit]) -> dict[str, float]:
    return {hit.id: hit.score for hit in hits}
