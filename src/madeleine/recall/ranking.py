"""From chances to a ranked list of memories: one place per memory, boosts, and lifts.

Boosts say how a memory stands (its tier, its space, its use); lifts are further reasons that
it is meant: its id or its very words are in the question, or it is about the asker.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from madeleine.index.port import Record
from madeleine.model.memory import Memory
from madeleine.model.query import Query
from madeleine.model.words import Tier
from madeleine.recall.candidates import Prepared
from madeleine.recall.scoring import Scored
from madeleine.recall.understanding import Understood
from madeleine.recall.weights import HEADS
from madeleine.rules.fusion import (
    LIFT_ONLY_SELF,
    LIFT_QUOTED,
    LIFT_SELF,
    OTHER_SPACE,
    OUTDATED,
    TIER_BOOST,
    Standing,
    boosts,
    lifted,
)
from madeleine.rules.wording import IDENTITY
from madeleine.write.stores import Stores

SECONDS_A_DAY = 86_400.0
TIERS = tuple(each.value for each in Tier)
LOOKED_AT = 12  # beyond the limit: boosts may lift a memory over that many others


@dataclass(slots=True)
class Ranked:
    """A memory on its way to being an answer."""

    id: str
    created: datetime
    score: float
    spot: int | None = None
    """Where among the candidates its best passage stands; None: the graph brought it."""
    factors: dict[str, float] = field(default_factory=dict)
    lifts: dict[str, float] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    """Reasons that stages after the comparison found."""
    reranked: float | None = None
    inherited: float | None = None
    """What a connected hit passed on, if that is more than its own."""


def ranked(
    stores: Stores, query: Query, prepared: Prepared, scored: Scored, now: datetime
) -> list[Ranked]:
    """Return the best candidates, one per memory, with all that their score is made of."""
    understood = prepared.asked.understood
    named = frozenset(prepared.named)
    spots = _best_first(stores, scored, understood, named)[: query.limit + LOOKED_AT]
    nodes = scored.pool.nodes[scored.places[spots]].tolist()
    records = stores.index.records(nodes)
    quoting = _quoting(stores, understood, records.values())
    view = _View(understood, scored, named, quoting, now)
    found = [
        _rank(view, records[node], spot)
        for node, spot in zip(nodes, spots.tolist(), strict=True)
        if node in records
    ]
    return sorted(found, key=order)


@dataclass(frozen=True, slots=True)
class _View:
    """What ranking one memory looks at."""

    understood: Understood
    scored: Scored
    named: frozenset[str]
    quoting: frozenset[str]
    now: datetime


def _quoting(stores: Stores, understood: Understood, records: Iterable[Record]) -> frozenset[str]:
    """Return the memories that hold what the question quotes."""
    if not understood.phrases:
        return frozenset()
    memories = stores.index.memories(each.id for each in records).values()
    return frozenset(each.id for each in memories if _holds(each, understood.phrases))


def _holds(memory: Memory, phrases: Iterable[str]) -> bool:
    whole = unicodedata.normalize("NFKC", f"{memory.title or ''} {memory.content}")
    text = " ".join(whole.lower().split())
    return any(phrase in text for phrase in phrases)


def order(hit: Ranked) -> tuple[float, float, str]:
    """Best first; of equals the newer, then by id."""
    return -round(hit.score, 6), -hit.created.timestamp(), hit.id


def _best_first(
    stores: Stores, scored: Scored, understood: Understood, named: frozenset[str]
) -> NDArray[np.int64]:
    """Return the candidates in their likely order, the best passage of each memory."""
    pool, places = scored.pool, scored.places
    tier = np.array([1 + TIER_BOOST[each] for each in TIERS])
    rough = scored.chances * tier[pool.tier[places]]
    rough = rough * np.where(pool.same_space[places], 1, OTHER_SPACE)
    rough = rough * np.where(pool.outdated[places], OUTDATED, 1)
    rough = np.maximum(rough, pool.tagged[places] * _self_lift(understood))
    if named:
        ids = stores.index.ids(pool.nodes[places].tolist())
        rough += [ids.get(node) in named for node in pool.nodes[places].tolist()]
    ordered = np.lexsort((-pool.created[places], -np.round(rough, 9)))
    _, first = np.unique(pool.nodes[places][ordered], return_index=True)
    return ordered[np.sort(first)]


def _rank(view: _View, record: Record, spot: int) -> Ranked:
    chance = float(view.scored.chances[spot])
    lifts = _lifts(view, record, spot)
    for lift in lifts.values():
        chance = lifted(chance, lift)
    factors = {} if record.id in view.named else boosts(_standing(view, record, spot))
    score = chance * math.prod(factors.values())
    return Ranked(record.id, record.created, score, spot, factors, lifts)


def _lifts(view: _View, record: Record, spot: int) -> dict[str, float]:
    """Return the further reasons that a memory is meant, by name."""
    lifts: dict[str, float] = {}
    if record.id in view.named:
        lifts["named by its id"] = 1.0
    if record.id in view.quoting:
        lifts["holds the quoted words"] = LIFT_QUOTED
    if view.scored.pool.tagged[view.scored.places[spot]]:
        lifts["about you"] = _self_lift(view.understood)
    return lifts


def _self_lift(understood: Understood) -> float:
    if not understood.about_self:
        return 0.0
    return LIFT_SELF if understood.telling - IDENTITY else LIFT_ONLY_SELF


def _standing(view: _View, record: Record, spot: int) -> Standing:
    pool, place, now = view.scored.pool, view.scored.places[spot], view.now
    newest = view.understood.newest_first
    return Standing(
        tier=TIERS[pool.tier[place]],
        confidence=record.confidence,
        same_space=bool(pool.same_space[place]),
        idle_days=_days(record.last_accessed, now),
        uses=record.access_count,
        importance=record.importance,
        outdated=bool(pool.outdated[place]),
        age_days=_days(record.created, now) if newest else None,
        on_date=_on_date(view, spot),
    )


def _on_date(view: _View, spot: int) -> bool | None:
    """Whether a note is of the date asked about; a conversation's head sees to it itself."""
    soft = any(span.month and not span.firm for span in view.understood.spans)
    if not soft or HEADS[view.scored.head[spot]] == "dialogue":
        return None
    return bool(view.scored.columns["date"][spot] > 0)


def _days(since: datetime, now: datetime) -> float:
    return (now - since).total_seconds() / SECONDS_A_DAY
