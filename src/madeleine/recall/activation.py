"""Spreading activation: what hangs on a good answer may be part of the answer.

The best few hits pass some of their score on over their connections, each kind with its
documented factor, in either direction; the boosts of whoever inherits act on what it inherits.
Whom the filter does not let through stays out (I11).

A connection that was drawn for similarity alone passes nothing on: what is like a good answer
has been compared with the question itself, and measurably knows better. Nor does a contrast: its
ends have little in common.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from madeleine.index.graph import EdgeRow
from madeleine.model.cause import Cause, ReasonKind
from madeleine.model.memory import Memory
from madeleine.model.query import Filter
from madeleine.model.spaces import related_spaces
from madeleine.model.words import ACTIVATION_BY_EDGE
from madeleine.rules.associations import is_contrast
from madeleine.rules.fusion import BoostInputs, spread_score
from madeleine.write.linking import SIMILARITY_AUTHOR
from madeleine.write.stores import Stores


@dataclass(frozen=True, slots=True)
class InheritedScore:
    """What a memory inherits, and from whom."""

    score: float
    reason: Cause
    seed: str


def spread_activation(
    stores: Stores, seeds: Sequence[tuple[str, float]], chosen: Filter, now: datetime
) -> dict[str, InheritedScore]:
    """Return what the neighbours of the seeds (id and score, best first) inherit."""
    config = stores.config
    scores = dict(seeds[: config.recall.activation_seeds])
    if not scores:
        return {}
    passed = _shares_by_seed(
        stores.graph.edges(list(scores), but_by=SIMILARITY_AUTHOR),
        scores,
        config.recall.activation_decay,
    )
    offered = {each for row in passed.values() for each, _ in row}
    allowed = stores.search.select_allowed(offered, chosen, now) if offered else set[str]()
    found: dict[str, InheritedScore] = {}
    for row in passed.values():
        fitting = [(each, what) for each, what in row if each in allowed]
        for neighbour, what in fitting[: config.recall.activation_per_seed]:
            if neighbour not in found or found[neighbour].score < what.score:
                found[neighbour] = what
    return found


def standing_of(
    memory: Memory, space: str | None, over: bool, newest_first: bool, now: datetime
) -> BoostInputs:
    """Return how a memory stands that only a connection brought. It was not compared with the
    question, so nothing is said of a date."""
    used, day = memory.usage, timedelta(days=1)
    return BoostInputs(
        tier=memory.tier.value,
        confidence=memory.confidence,
        same_space=space is None or memory.space in (None, *related_spaces(space)),
        idle_days=(now - (used.last_accessed or memory.created)) / day,
        uses=used.access_count,
        importance=used.importance,
        outdated=over,
        age_days=(now - memory.created) / day if newest_first else None,
        relevance=used.relevance,
    )


def _shares_by_seed(
    edges: Sequence[EdgeRow], scores: Mapping[str, float], decay: float
) -> dict[str, list[tuple[str, InheritedScore]]]:
    """Return for each seed what it passes on, the most first."""
    passed: dict[str, list[tuple[str, InheritedScore]]] = {seed: [] for seed in scores}
    for edge in edges:
        if edge.resolved and not is_contrast(edge.connection):
            for seed, neighbour, reason in _seed_neighbours(edge):
                if seed in scores:
                    link = edge.connection
                    share = spread_score(
                        scores[seed], link.weight, ACTIVATION_BY_EDGE[link.edge], decay
                    )
                    passed[seed].append((neighbour, InheritedScore(share, reason, seed)))
    for row in passed.values():
        row.sort(key=lambda each: (-each[1].score, each[0]))
    return passed


def _seed_neighbours(edge: EdgeRow) -> tuple[tuple[str, str, Cause], ...]:
    """Return each end as a seed, with its neighbour and how the neighbour hangs on it."""
    source, target = edge.source, edge.connection.target
    named = edge.connection.edge.value
    incoming = {"edge": named, "memory": source, "incoming": True}
    onward = (source, target, Cause(ReasonKind.CONNECTED, incoming))
    if edge.implied:  # from the self, which is no answer to what leads to it
        return (onward,)
    outgoing = {"edge": named, "memory": target, "incoming": False}
    return (target, source, Cause(ReasonKind.CONNECTED, outgoing)), onward
