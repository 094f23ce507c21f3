"""Who takes part in what consolidation finds by itself, at random or all at once.

Each memory has a lot: a number that follows from its id and says nothing about it. A sample
throws darts at the range of lots and takes who stands next to each, so that it takes no longer
for a large index than for a small one; only if hardly anybody takes part, all are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from madeleine.database.adapters import unpack_joined_vectors
from madeleine.database.transactions import TenantAccess
from madeleine.index.common.gathering_filters import CURRENT_FILTER, DRAW_FACTOR, OFFERED_FILTER
from madeleine.index.common.times import to_micros
from madeleine.index.postgres import sums
from madeleine.index.postgres.filters import PostgresCondition, build_condition
from madeleine.index.postgres.nodes import select_ids
from madeleine.index.postgres.standing import TYPE_CODE_SQL, standings
from madeleine.index.search import EmbeddedMemories, RelevanceThreshold
from madeleine.model.words import DERIVED_EDGES, DERIVED_SOURCES, SELF_SOURCE

MAX_THROWS = 3  # for each one that is wanted, before all are looked at
MEMORIES_PER_DART = 32  # memories next to where a dart lands
DRAWN_FROM_PER_DART = 8  # of those one is drawn
MAX_SCANNED_MEMORIES = 4_000  # memories that are all looked at
LOT_RANGE = 2**63
MAX_BYTES_PER_VALUE = (
    1 << 28
)  # of vectors that are sent as one value; PostgreSQL takes four times that
HALF_BYTES = 2  # of a number
MAX_ASKED_BY_ID = 2_000  # more are looked for among all

_MADE_SOURCES_SQL = ", ".join(f"'{each}'" for each in (SELF_SOURCE, *DERIVED_SOURCES))
_MADE_EDGES_SQL = ", ".join(f"'{each.value}'" for each in DERIVED_EDGES)
_IS_ORIGINAL = f"""n.embedded AND n.source NOT IN ({_MADE_SOURCES_SQL}) AND NOT EXISTS
    (SELECT 1 FROM edges e
     WHERE e.tenant = :tenant AND e.source = n.node AND e.edge IN ({_MADE_EDGES_SQL}))"""
_JOIN_SCORES = "LEFT JOIN scores s ON s.tenant = :tenant AND s.memory = n.id"
_IS_RELEVANT = "(s.relevance IS NULL OR s.relevance > %s)"
_SELECT_BESIDE_DARTS = f"""
    SELECT ARRAY(SELECT n.node FROM (SELECT * FROM nodes WHERE tenant = :tenant AND lot >= d.lot
                                   ORDER BY lot LIMIT {MEMORIES_PER_DART}) n {_JOIN_SCORES}
                 WHERE {_IS_RELEVANT} AND {_IS_ORIGINAL} AND {{where}}
                 ORDER BY n.lot LIMIT {DRAWN_FROM_PER_DART})
    FROM unnest(%s::bigint[]) WITH ORDINALITY AS d (lot, number) ORDER BY d.number
"""
_SELECT_IDS = f"""
    SELECT n.node, n.id, s.relevance IS NULL FROM nodes n {_JOIN_SCORES}
    WHERE n.tenant = :tenant AND n.node = ANY(%s::bigint[])
"""
_SELECT_ALL = f"""
    SELECT n.node FROM nodes n {_JOIN_SCORES}
    WHERE n.tenant = :tenant AND {_IS_RELEVANT} AND {_IS_ORIGINAL} AND {{where}} ORDER BY n.lot
"""
_SELECT_GATHERED = f"""
    SELECT array_agg(q.id), array_agg(q.digest), array_agg(q.space), array_agg(q.type),
           array_agg(q.created), string_agg(halfvec_send(q.vector), ''), array_agg(q.unscored)
    FROM (SELECT n.id, n.digest, n.space, {TYPE_CODE_SQL} AS type, n.created, p.vector,
                 s.relevance IS NULL AND NOT n.id = ANY(%s::text[]) AS unscored
          FROM nodes n JOIN passages p
          ON p.tenant = :tenant AND p.node = n.node AND p.part = 0 AND p.wide = %s
          {_JOIN_SCORES} WHERE n.tenant = :tenant AND mod(n.node, %s) = %s AND {_IS_ORIGINAL}
          AND (({_IS_RELEVANT} AND {{offered}}) OR (n.id = ANY(%s::text[]) AND {{current}}))) q
"""
_SELECT_USED_TOGETHER = """
    SELECT p.one, p.other FROM unnest(%s::text[], %s::text[], %s::bigint[]) AS p (one, other, at)
    WHERE EXISTS (SELECT 1 FROM uses a JOIN uses b ON b.tenant = :tenant AND b.memory = p.other
                  AND b.session = a.session AND b.at >= p.at AND b.n > 0
                  WHERE a.tenant = :tenant AND a.memory = p.one AND a.at >= p.at AND a.n > 0)
"""


def sample(
    access: TenantAccess, bar: RelevanceThreshold, now: datetime, size: int, seed: int
) -> list[str]:
    """Return so many memories at random, in random order."""
    found: dict[str, None] = {}
    for nodes in _draw_nodes(access, bar, now, size, seed) if size > 0 else ():
        found.update(dict.fromkeys(_select_relevant(access, bar, nodes)))
        if len(found) >= size:
            break
    return list(found)[: max(size, 0)]


def _draw_nodes(
    access: TenantAccess, bar: RelevanceThreshold, now: datetime, size: int, seed: int
) -> Iterator[list[int]]:
    """Yield nodes that may take part, some at a time: those next to where darts land, and if
    that is not enough, all."""
    passing, chance = build_condition(OFFERED_FILTER, now), np.random.default_rng(seed)
    for _ in range(MAX_THROWS if sums.memory_count(access) > MAX_SCANNED_MEMORIES else 0):
        yield _throw_darts(access, bar, passing, size, chance)
    everybody = access.column(_SELECT_ALL.format(where=passing.sql), bar.above, *passing.bindings)
    shuffled: list[int] = chance.permutation(np.array(everybody, np.int64)).tolist()
    start, count = 0, DRAW_FACTOR * size
    while start < len(shuffled):
        yield shuffled[start : start + count]
        start, count = start + count, DRAW_FACTOR * count


def _throw_darts(
    access: TenantAccess,
    bar: RelevanceThreshold,
    passing: PostgresCondition,
    size: int,
    chance: np.random.Generator,
) -> list[int]:
    """Return one of those who stand next to each dart: whoever stands next of all would be drawn
    the more often, the wider the gap before."""
    darts = chance.integers(-LOT_RANGE, LOT_RANGE, 2 * size, np.int64).tolist()
    rows = access.rows(
        _SELECT_BESIDE_DARTS.format(where=passing.sql), bar.above, *passing.bindings, darts
    )
    return [int(near[chance.integers(len(near))]) for (near,) in rows if len(near)]


def _select_relevant(
    access: TenantAccess, bar: RelevanceThreshold, nodes: Sequence[int]
) -> list[str]:
    """Return those of the nodes that are relevant enough, by their ids, in their order."""
    rows = access.rows(_SELECT_IDS, list(nodes))
    faded = _find_faded(access, bar, [each for _, each, unscored in rows if unscored])
    named = {node: each for node, each, _ in rows if each not in faded}
    return [named[node] for node in nodes if node in named]


def _find_faded(access: TenantAccess, bar: RelevanceThreshold, unscored: Sequence[str]) -> set[str]:
    """Return those of the memories without a score that are not relevant enough."""
    if not unscored:
        return set()
    found = standings(access, unscored if len(unscored) <= MAX_ASKED_BY_ID else None)
    low = np.flatnonzero(bar.reckon(found) <= bar.above)
    return {found.ids[place] for place in low.tolist()}.intersection(unscored)


def gather_all(
    access: TenantAccess,
    dimension: int,
    bar: RelevanceThreshold,
    now: datetime,
    also: Sequence[str],
) -> EmbeddedMemories:
    """Return all who take part, by their ids. Vectors stay in the order in which they came:
    bringing them into another takes longer than all the rest."""
    parts = list(_read_parts(access, dimension, bar, now, also)) if dimension else []
    unscored = [each for part in parts for each in compress(part.ids, part.unscored.tolist())]
    faded = _find_faded(access, bar, unscored)
    ids = [each for part in parts for each in part.ids]
    places = [place for place, each in enumerate(ids) if each not in faded]
    rows = np.array(sorted(places, key=ids.__getitem__), np.int64)
    codes: dict[str | None, int] = {None: 0}
    spaces = [codes.setdefault(each, len(codes)) for part in parts for each in part.spaces]
    digests = [each for part in parts for each in part.digests]
    empty = np.empty((0, dimension), np.float32)
    return EmbeddedMemories(
        ids=[ids[place] for place in rows.tolist()],
        digests=[digests[place] for place in rows.tolist()],
        spaces=np.array(spaces, np.int32)[rows],
        types=np.concatenate([*(part.types for part in parts), ()]).astype(np.uint8)[rows],
        created=np.concatenate([*(part.created for part in parts), ()]).astype(np.int64)[rows],
        matrix=np.concatenate([empty, *(part.vectors for part in parts)]),
        rows=rows,
    )


class _GatheredPart(NamedTuple):
    """Some who take part, as columns."""

    ids: list[str]
    digests: list[bytes]
    spaces: list[str | None]
    types: NDArray[np.int16]
    created: NDArray[np.int64]
    vectors: NDArray[np.float32]
    unscored: NDArray[np.bool_]


def _read_parts(
    access: TenantAccess,
    dimension: int,
    bar: RelevanceThreshold,
    now: datetime,
    also: Sequence[str],
) -> Iterator[_GatheredPart]:
    """Yield all who may take part, as many at a time as can be sent together."""
    offered, current = build_condition(OFFERED_FILTER, now), build_condition(CURRENT_FILTER, now)
    sql = _SELECT_GATHERED.format(offered=offered.sql, current=current.sql)
    asked = list(also)
    bindings = [bar.above, *offered.bindings, asked, *current.bindings]
    count = 1 + sums.memory_count(access) * dimension * HALF_BYTES // MAX_BYTES_PER_VALUE
    for number in range(count):
        found = access.columns(sql, asked, dimension, count, number, *bindings)
        ids, digests, spaces, types, created, vectors, unscored = found
        if ids is not None:
            matrix = unpack_joined_vectors(vectors, dimension)
            yield _GatheredPart(ids, digests, spaces, types, created, matrix, unscored)


def of_source(access: TenantAccess, source: str) -> list[str]:
    """Return the memories that come from there."""
    return select_ids(access, "source = %s ORDER BY id", source)


def used_together(
    access: TenantAccess, pairs: Sequence[tuple[str, str]], since: Sequence[datetime]
) -> set[tuple[str, str]]:
    """Return the pairs that were used in one session."""
    one, other = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    rows = access.rows(_SELECT_USED_TOGETHER, one, other, [to_micros(at) for at in since])
    return {(first, second) for first, second in rows}
