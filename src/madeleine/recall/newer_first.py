"""Of two hits that say different things of the same, the newer first.

Where one memory is known to have superseded another, or may have as somebody is being asked or a
job suspects, `recall.py` orders them. Mostly nobody has said so: the old price and the new one
stand side by side and fit the question about as well. Only the first few hits are looked at, only
pairs that are near in score, and only what may be the same matter told twice
(`language/rivals.py`); whatever stands in between stays where it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from madeleine.language.rivals import are_rivals
from madeleine.model.cause import Cause, ReasonKind
from madeleine.model.memory import Memory
from madeleine.model.vector import Vector
from madeleine.recall.memory_reader import MemoryReader
from madeleine.recall.ranking import RankedHit, rank_key
from madeleine.rules.chances import log_odds
from madeleine.write.stores import Stores

LOOKED_AT = 10  # hits from the first
NEAR_SCORE = 1.5
"""Log odds between two scores that are near. In shares of the better one, an exact answer (.99)
would be near a mere relative (.5), and an old value (.33) far from the new one (.15)."""

_ASKED_FOR = frozenset({ReasonKind.NAMED_BY_ID, ReasonKind.HOLDS_QUOTE})


def put_newer_first(stores: Stores, reader: MemoryReader, hits: list[RankedHit]) -> list[RankedHit]:
    """Return the hits, which come best first, with what is newer before what it may have replaced.
    Two that change places exchange their scores."""
    first = hits[:LOOKED_AT]
    near = list(_near_places(first))  # who changes places changes scores too: it stays so
    pairs = [(first[above], first[below]) for above, below in near]
    ids = list(dict.fromkeys(each.id for pair in pairs if _may_swap(*pair) for each in pair))
    if not ids:
        return hits
    memories, vectors = reader.read(ids), stores.search.vectors(ids)
    swapped = False
    for above, below in near:
        older, newer = first[above], first[below]
        if _may_swap(older, newer) and _are_rivals(older, newer, memories, vectors):
            older.score, newer.score = newer.score, older.score
            newer.said.append(Cause(ReasonKind.NEWER_OF_TWO, {"memory": older.id}))
            newer.mentioned.append(older.id)
            first[above], first[below] = newer, older
            swapped = True
    return sorted(hits, key=rank_key) if swapped else hits


def _near_places(hits: Sequence[RankedHit]) -> Iterator[tuple[int, int]]:
    """Yield the places of two hits of which the lower is about as good."""
    odds = [log_odds(each.score) for each in hits]
    for above, below in combinations(range(len(hits)), 2):
        if odds[above] - odds[below] <= NEAR_SCORE:
            yield above, below


def _may_swap(above: RankedHit, below: RankedHit) -> bool:
    """Whether the lower of two hits is newer, true, and as sure. What the question names or quotes
    stays where it is."""
    if above.created >= below.created:
        return False
    if not _ASKED_FOR.isdisjoint(above.lifts) or below.factors.get("validity", 1.0) < 1:
        return False
    return below.factors.get("confidence", 1.0) >= above.factors.get("confidence", 1.0)


def _are_rivals(
    older: RankedHit,
    newer: RankedHit,
    memories: Mapping[str, Memory],
    vectors: Mapping[str, Vector],
) -> bool:
    one, other = memories.get(older.id), memories.get(newer.id)
    if one is None or other is None or one.space != other.space:
        return False
    if _speaker_of(one) != _speaker_of(other):
        return False
    similarity = (
        float(np.dot(vectors[older.id], vectors[newer.id]))
        if older.id in vectors and newer.id in vectors
        else None
    )
    return are_rivals(one.content, other.content, similarity)


def _speaker_of(memory: Memory) -> str | None:
    return memory.origin.speaker if memory.origin else None
