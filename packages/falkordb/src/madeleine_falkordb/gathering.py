"""Who takes part in what consolidation finds by itself, at random or all at once.

Each memory has a lot: a number that follows from its id and says nothing about it. A sample
throws darts at the range of lots and takes who stands next to each, so that it takes no longer
for a large index than for a small one; only if hardly anybody takes part, all are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from madeleine.index.common.gathering_filters import CURRENT_FILTER, DRAW_FACTOR, OFFERED_FILTER
from madeleine.index.common.passages import TYPE_CODES
from madeleine.index.search import EmbeddedMemories, RelevanceThreshold
from madeleine_falkordb.connection import GraphAccess, GraphRow
from madeleine_falkordb.filters import CypherCondition, build_condition
from madeleine_falkordb.nodes import LOT_RANGE
from madeleine_falkordb.schema import read_head
from madeleine_falkordb.standing import standings
from madeleine_falkordb.vector_search import VectorSpace

MAX_THROWS = 3  # for each one that is wanted, before all are looked at
MEMORIES_PER_DART = 32  # memories next to where a dart lands, about
MAX_SCANNED_MEMORIES = 4_000  # memories that are all looked at

_IS_RELEVANT = "(k.relevance_value IS NULL OR k.relevance_value > $above)"
_TAKES_PART = f"m.embedded AND m.original AND {_IS_RELEVANT}"
_MATCH_KNOWN = "WITH m MATCH (m)-[:IS]->(k)"


def sample(
    access: GraphAccess, bar: RelevanceThreshold, now: datetime, size: int, seed: int
) -> list[str]:
    """Return so many memories at random, in random order."""
    found: dict[str, None] = {}
    for rows in _draw_rows(access, bar, now, size, seed) if size > 0 else ():
        faded = _find_faded(access, bar, [each for each, unscored in rows if unscored])
        found.update(dict.fromkeys(each for each, _ in rows if each not in faded))
        if len(found) >= size:
            break
    return list(found)[: max(size, 0)]


def _draw_rows(
    access: GraphAccess, bar: RelevanceThreshold, now: datetime, size: int, seed: int
) -> Iterator[list[GraphRow]]:
    """Yield memories that may take part, some at a time, and whether each has no score: those
    next to where darts land, and if that is not enough, all."""
    passing, chance = build_condition(OFFERED_FILTER, now), np.random.default_rng(seed)
    memories = read_head(access).memories
    for _ in range(MAX_THROWS if memories > MAX_SCANNED_MEMORIES else 0):
        yield _throw_darts(access, bar, passing, memories, chance.integers(0, LOT_RANGE, 2 * size))
    everybody = _read_candidates(access, bar, passing, "MATCH (m:Memory)")
    shuffled = [everybody[place] for place in chance.permutation(len(everybody)).tolist()]
    start, count = 0, DRAW_FACTOR * size
    while start < len(shuffled):
        yield shuffled[start : start + count]
        start, count = start + count, DRAW_FACTOR * count


def _throw_darts(
    access: GraphAccess,
    bar: RelevanceThreshold,
    passing: CypherCondition,
    memories: int,
    darts: Any,
) -> list[GraphRow]:
    """Return one of those who stand next to each dart: whoever stands next of all would be drawn
    the more often, the wider the gap before."""
    width = LOT_RANGE * MEMORIES_PER_DART // max(memories, 1)
    found: dict[str, GraphRow] = {}
    for dart in darts.tolist():
        question = "MATCH (m:Memory) WHERE m.lot >= $low AND m.lot < $high"
        near = _read_candidates(access, bar, passing, question, low=dart, high=dart + width)
        if near:
            drawn = near[dart % len(near)]
            found[drawn[0]] = drawn
    return list(found.values())


def _read_candidates(
    access: GraphAccess,
    bar: RelevanceThreshold,
    passing: CypherCondition,
    question: str,
    **bounds: int,
) -> list[GraphRow]:
    whole = f"""{question} {_MATCH_KNOWN} WHERE {_TAKES_PART} AND {passing.cypher}
                WITH m, k ORDER BY m.lot"""
    values = {"above": bar.above, **passing.parameters, **bounds}
    return access.rows(whole, "m.id, k.relevance IS NULL", **values)


def _find_faded(access: GraphAccess, bar: RelevanceThreshold, unscored: Sequence[str]) -> set[str]:
    """Return those of the memories without a score that are not relevant enough."""
    if not unscored:
        return set()
    found = standings(access, unscored)
    low = np.flatnonzero(bar.reckon(found) <= bar.above)
    return {found.ids[place] for place in low.tolist()}


def gather_all(
    space: VectorSpace, bar: RelevanceThreshold, now: datetime, also: Sequence[str]
) -> EmbeddedMemories:
    """Return all who take part, by their ids."""
    offered, current = build_condition(OFFERED_FILTER, now), build_condition(CURRENT_FILTER, now)
    question = f"""MATCH (m:Memory) WHERE m.embedded AND m.original {_MATCH_KNOWN}
        WHERE ({_IS_RELEVANT} AND {offered.cypher}) OR (m.id IN $also AND {current.cypher})
        WITH m, k MATCH (m)-[:PART]->(p) WHERE p.part = 0 AND p.point IS NOT NULL
        WITH m, k, p ORDER BY m.id"""
    columns = """m.id, m.digest, m.space, m.type, m.created, p.point,
                 k.relevance IS NULL AND NOT m.id IN $also"""
    values = {**offered.parameters, **current.parameters, "also": list(also), "above": bar.above}
    rows = space.access.rows(question, columns, **values) if space.vectors.dimension else []
    faded = _find_faded(space.access, bar, [row[0] for row in rows if row[6]])
    return _build_gathered(space, [row for row in rows if row[0] not in faded])


def _build_gathered(space: VectorSpace, rows: Sequence[GraphRow]) -> EmbeddedMemories:
    columns: list[Sequence[Any]] = list(zip(*rows, strict=True)) if rows else [()] * 7
    ids, digests, spaces, types, created, points, _ = columns
    codes: dict[str | None, int] = {None: 0}
    return EmbeddedMemories(
        ids=list(ids),
        digests=[bytes.fromhex(each) for each in digests],
        spaces=np.array([codes.setdefault(each, len(codes)) for each in spaces], np.int32),
        types=np.array([TYPE_CODES[each] for each in types], np.uint8),
        created=np.array(created, np.int64),
        matrix=space.vectors.read(read_head(space.access), points),
        rows=np.arange(len(ids)),
    )
