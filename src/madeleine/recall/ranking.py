"""From chances to a ranked list of memories: one place per memory, boosts, and lifts.

Boosts say how a memory stands (its tier, its space, its use); lifts are further reasons that
it is meant: its id or its very words are in the question, or it is about the asker.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import starmap
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from madeleine.index.search import RankingRecord
from madeleine.language.word_hints import QUESTION_WORDS, SELF_WORDS, STOP_WORDS
from madeleine.model.cause import Cause, ReasonKind
from madeleine.model.memory import Memory
from madeleine.model.words import Tier
from madeleine.recall.candidates import PreparedQuestion
from madeleine.recall.parsing import ParsedQuestion
from madeleine.recall.scoring import ScoredCandidates
from madeleine.recall.weights import HEADS
from madeleine.rules.fusion import (
    LIFT_ONLY_SELF,
    LIFT_QUOTED,
    LIFT_SELF,
    OTHER_SPACE_FACTOR,
    OUTDATED_FACTOR,
    TIER_BOOST,
    BoostInputs,
    boost_chance,
    boost_factors,
    lift_chance,
)
from madeleine.write.stores import Stores

SECONDS_A_DAY = 86_400.0
TIERS = tuple(each.value for each in Tier)
LIKELY = 0.1  # a chance from which a memory about the asker is lifted in full
LOOKED_AT = 12  # beyond what is wanted: boosts may lift a memory over that many others


@dataclass(slots=True)
class RankedHit:
    """A memory on its way to being an answer."""

    id: str
    created: datetime
    score: float
    spot: int | None = None
    """Where among the candidates its best passage stands; None: the graph brought it."""
    factors: dict[str, float] = field(default_factory=dict)
    lifts: dict[ReasonKind, float] = field(default_factory=dict)
    said: list[Cause] = field(default_factory=list)
    """Reasons that stages after the comparison found."""
    mentioned: list[str] = field(default_factory=list)
    """Ids of the memories that they name."""
    reranked: float | None = None
    inherited: float | None = None
    """What a connected hit passed on, if that is more than its own."""


def rank_candidates(
    stores: Stores,
    prepared: PreparedQuestion,
    scored: ScoredCandidates,
    now: datetime,
    count: int,
) -> list[RankedHit]:
    """Return the best candidates, one per memory, with all that their score is made of: at least
    `count`, if there are so many."""
    understood = prepared.asked.understood
    named = frozenset(prepared.named)
    ids = _candidate_ids(stores, scored) if named or understood.phrases else []
    quoting = _find_quoting(stores, understood, ids)
    weight = stores.config.recall.relevance_weight
    view = _RankingContext(understood, scored, named, quoting, now, weight)
    spots = _best_first(view, ids, count + LOOKED_AT)
    nodes = scored.pool.nodes[scored.places[spots]].tolist()
    records = stores.search.records(nodes)
    found = [
        _rank_candidate(view, records[node], candidate)
        for node, candidate in zip(nodes, _list_candidates(view, spots), strict=True)
        if node in records
    ]
    return sorted(found, key=rank_key)


@dataclass(frozen=True, slots=True)
class _RankingContext:
    """What ranking one memory looks at."""

    understood: ParsedQuestion
    scored: ScoredCandidates
    named: frozenset[str]
    quoting: frozenset[str]
    now: datetime
    relevance_weight: float = 0.0


class _RankedCandidate(NamedTuple):
    """What the columns say of one candidate."""

    spot: int
    chance: float
    tier: int
    same_space: bool
    is_outdated: bool
    lift: float | None
    """How far it is lifted because it is about the asker; None: it is not."""
    date: float | None
    """How well a note fits the date that is asked about, if one is; a conversation's head sees to
    it itself."""


def _list_candidates(view: _RankingContext, spots: NDArray[np.int64]) -> list[_RankedCandidate]:
    scored = view.scored
    pool, places = scored.pool, scored.places[spots]
    count = len(spots)
    lifts, dates = [None] * count, [None] * count
    if (tagged := pool.tagged[places]).any():
        all_lifts = _self_lift(view.understood, scored.chances)[spots].tolist()
        lifts = [each if mine else None for each, mine in zip(all_lifts, tagged, strict=True)]
    if any(span.month and not span.firm for span in view.understood.spans):
        own = scored.head[spots] != HEADS.index("dialogue")
        all_dates = scored.columns["date"][spots].tolist()
        dates = [each if mine else None for each, mine in zip(all_dates, own, strict=True)]
    columns = (
        spots.tolist(),
        scored.chances[spots].tolist(),
        pool.tier[places].tolist(),
        pool.same_space[places].tolist(),
        pool.outdated[places].tolist(),
        lifts,
        dates,
    )
    return list(starmap(_RankedCandidate, zip(*columns, strict=True)))


def _candidate_ids(stores: Stores, scored: ScoredCandidates) -> list[str]:
    """Return the id of each candidate; nothing for one that is gone meanwhile."""
    nodes = scored.pool.nodes[scored.places].tolist()
    ids = stores.search.ids(nodes)
    return [ids.get(node, "") for node in nodes]


def _find_quoting(stores: Stores, understood: ParsedQuestion, ids: Iterable[str]) -> frozenset[str]:
    """Return the memories that hold what the question quotes."""
    if not understood.phrases:
        return frozenset()
    memories = stores.search.memories(ids).values()
    return frozenset(each.id for each in memories if _holds_phrase(each, understood.phrases))


def _holds_phrase(memory: Memory, phrases: Iterable[str]) -> bool:
    whole = unicodedata.normalize("NFKC", f"{memory.title or ''} {memory.content}")
    text = " ".join(whole.lower().split())
    # As whole words: the 'id' of an error message is not that of Friday. Letters of scripts
    # without spaces touch their neighbours anyway.
    edges = (rf"(?<![a-z0-9_]){re.escape(phrase)}(?![a-z0-9_])" for phrase in phrases)
    return any(re.search(edge, text) for edge in edges)


def rank_key(hit: RankedHit) -> tuple[float, float, str]:
    """Best first; of equals the newer, then by id."""
    return -round(hit.score, 6), -hit.created.timestamp(), hit.id


def _best_first(view: _RankingContext, ids: Sequence[str], count: int) -> NDArray[np.int64]:
    """Return the best candidates in their likely order, the best passage of each memory."""
    pool, places = view.scored.pool, view.scored.places
    rough, created = np.round(_estimate_scores(view, ids), 9), pool.created[places]
    ordered = np.lexsort((-created, -rough))
    _, first = np.unique(pool.nodes[places][ordered], return_index=True)
    spots = ordered[np.sort(first)]
    if len(spots) <= count:
        return spots
    # All that tie with the last come along: where a row stands is no reason to leave it out.
    last = spots[count - 1]
    ties = (rough[spots] == rough[last]) & (created[spots] == created[last])
    return spots[: int(np.flatnonzero(ties)[-1]) + 1]


def _estimate_scores(view: _RankingContext, ids: Sequence[str]) -> NDArray[np.float64]:
    """Return about what the score of each candidate will be."""
    scored = view.scored
    pool, places = scored.pool, scored.places
    tier = np.array([1 + TIER_BOOST[each] for each in TIERS])
    rough: NDArray[np.float64] = scored.chances * tier[pool.tier[places]]
    rough = rough * np.where(pool.same_space[places], 1, OTHER_SPACE_FACTOR)
    rough = rough * np.where(pool.outdated[places], OUTDATED_FACTOR, 1)
    lifts = pool.tagged[places] * _self_lift(view.understood, scored.chances)
    rough = 1 - (1 - rough) * (1 - lifts)
    if ids:
        rough = np.maximum(rough, [LIFT_QUOTED * (each in view.quoting) for each in ids])
        rough += [each in view.named for each in ids]
    return rough


def _rank_candidate(
    view: _RankingContext, record: RankingRecord, candidate: _RankedCandidate
) -> RankedHit:
    chance = candidate.chance
    lifts = _find_lifts(view, record, candidate)
    for lift in lifts.values():
        chance = lift_chance(chance, lift)
    is_named = record.id in view.named
    factors = {} if is_named else boost_factors(_build_standing(view, record, candidate))
    score = boost_chance(chance, factors)
    return RankedHit(record.id, record.created, score, candidate.spot, factors, lifts)


def _find_lifts(
    view: _RankingContext, record: RankingRecord, candidate: _RankedCandidate
) -> dict[ReasonKind, float]:
    """Return the further reasons that a memory is meant."""
    lifts: dict[ReasonKind, float] = {}
    if record.id in view.named:
        lifts[ReasonKind.NAMED_BY_ID] = 1.0
    if record.id in view.quoting:
        lifts[ReasonKind.HOLDS_QUOTE] = LIFT_QUOTED
    if candidate.lift is not None:
        lifts[ReasonKind.ABOUT_YOU] = candidate.lift
    return lifts


def _self_lift(understood: ParsedQuestion, chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far each candidate is lifted if it is about the asker: as far as it fits what
    else they speak of, because most questions begin with an `I` and are about something else."""
    if not understood.about_self:
        return np.zeros(len(chances))
    if understood.telling - SELF_WORDS - STOP_WORDS - QUESTION_WORDS:
        return LIFT_SELF * np.minimum(1, chances / LIKELY)
    return np.full(len(chances), LIFT_ONLY_SELF)


def _build_standing(
    view: _RankingContext, record: RankingRecord, candidate: _RankedCandidate
) -> BoostInputs:
    now, date, understood = view.now, candidate.date, view.understood
    return BoostInputs(
        tier=TIERS[candidate.tier],
        confidence=record.confidence,
        same_space=candidate.same_space,
        idle_days=_days_since(record.last_accessed, now),
        uses=record.access_count,
        importance=record.importance,
        outdated=candidate.is_outdated,
        age_days=_days_since(record.created, now) if understood.newest_first else None,
        on_date=None if date is None else date > 0,
        on_day=date is not None and date > 1,
        in_time=any(each.holds(record.created) for each in understood.hints),
        relevance=record.relevance,
        relevance_weight=view.relevance_weight,
    )


def _days_since(since: datetime, now: datetime) -> float:
    return (now - since).total_seconds() / SECONDS_A_DAY
