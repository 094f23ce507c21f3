"""Who takes part in what consolidation finds by itself, at random or all at once.

A memory that has no score yet is weighed on the spot: that nobody has looked at it does not
make what is old relevant.

The matrix knows of each memory's vector, tier and validity; the file knows its score and
whether it was made of others. So a sample is drawn from the matrix and only the few that were
drawn are looked up.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime

import apsw
import numpy as np
from numpy.typing import NDArray

from madeleine.index.common.gathering_filters import CURRENT_FILTER, DRAW_FACTOR, OFFERED_FILTER
from madeleine.index.common.matrix import NONE, Matrix, MatrixSnapshot, Rows
from madeleine.index.common.times import to_micros
from madeleine.index.search import EmbeddedMemories, PauseCallback, RelevanceThreshold, no_pause
from madeleine.index.sqlite import vectors
from madeleine.index.sqlite.standing import read_in_batches, standings
from madeleine.model.query import Filter
from madeleine.model.words import DERIVED_EDGES, DERIVED_SOURCES, SELF_SOURCE

MAX_LOOKED_UP = 500  # memories that are looked up one by one; of more all are read from end to end

GatheredRow = tuple[int, str, bytes, int]  # node, id, digest, and whether it comes anyway

_MADE_SOURCES_SQL = ", ".join(f"'{each}'" for each in (SELF_SOURCE, *DERIVED_SOURCES))
_MADE_EDGES_SQL = ", ".join(f"'{each.value}'" for each in DERIVED_EDGES)
_IS_ORIGINAL = f"""n.source NOT IN ({_MADE_SOURCES_SQL})
    AND n.node NOT IN (SELECT source FROM edges WHERE edge IN ({_MADE_EDGES_SQL}))"""
_FROM_SCORED_NODES = "FROM nodes n LEFT JOIN scores s ON s.memory = n.id"
_IS_RELEVANT = "(s.relevance IS NULL OR s.relevance > ?1)"
_SELECT_SAMPLED = f"""SELECT n.node, n.id, s.relevance IS NULL {_FROM_SCORED_NODES}
    WHERE {_IS_RELEVANT} AND {_IS_ORIGINAL} AND n.node IN (SELECT value FROM json_each(?2))"""
_SELECT_GATHERED = f"""SELECT n.node, n.id, d.digest, n.id IN (SELECT value FROM json_each(?2)),
    s.relevance IS NULL
    {_FROM_SCORED_NODES} JOIN digests d ON d.node = n.node
    WHERE n.embedded AND {_IS_ORIGINAL} AND
          ({_IS_RELEVANT} OR n.id IN (SELECT value FROM json_each(?2)))
    ORDER BY n.id"""
_SELECT_USED_TOGETHER = """SELECT p.value ->> 0, p.value ->> 1 FROM json_each(?) p WHERE EXISTS
    (SELECT 1 FROM uses a JOIN uses b ON b.memory = p.value ->> 1 AND b.session = a.session
     WHERE a.memory = p.value ->> 0 AND a.at >= p.value ->> 2 AND b.at >= p.value ->> 2
     AND a.n > 0 AND b.n > 0)"""


def sample(
    connection: apsw.Connection,
    matrix: Matrix,
    bar: RelevanceThreshold,
    now: datetime,
    size: int,
    seed: int,
) -> list[str]:
    """Return so many memories at random, in random order."""
    drawn = _shuffle_nodes(connection, matrix, now, seed)
    found: list[str] = []
    start, count = 0, DRAW_FACTOR * size
    while len(found) < size and start < len(drawn):
        nodes = drawn[start : start + count].tolist()
        rows = list(connection.execute(_SELECT_SAMPLED, (bar.above, json.dumps(nodes))))
        faded = _find_faded(connection, bar, [each for _, each, unscored in rows if unscored])
        named = {node: each for node, each, _ in rows if each not in faded}
        found += [named[node] for node in nodes if node in named]
        start, count = start + count, DRAW_FACTOR * count
    return found[: max(size, 0)]


def _find_faded(
    connection: apsw.Connection,
    bar: RelevanceThreshold,
    unscored: Sequence[str],
    between: PauseCallback = no_pause,
) -> set[str]:
    """Return those of the memories without a score that are not relevant enough."""
    if not unscored:
        return set()
    found = standings(connection, unscored if len(unscored) <= MAX_LOOKED_UP else None, between)
    low = np.flatnonzero(bar.reckon(found) <= bar.above)
    return {found.ids[place] for place in low.tolist()}.intersection(unscored)


def _shuffle_nodes(
    connection: apsw.Connection, matrix: Matrix, now: datetime, seed: int
) -> NDArray[np.int64]:
    """Return the nodes that may be drawn, in an order that follows from the seed. They are put
    in the order of their time first: their numbers are others in an index made anew."""
    snapshot = matrix.snapshot
    rows = np.flatnonzero(_mask_first_passages(connection, matrix, snapshot, OFFERED_FILTER, now))
    nodes, created = (snapshot.column(name)[rows] for name in ("node", "created"))
    in_time = nodes[np.lexsort((nodes, created))]
    shuffled: NDArray[np.int64] = np.random.default_rng(seed).permutation(in_time)
    return shuffled


def gather_all(
    connection: apsw.Connection,
    matrix: Matrix,
    bar: RelevanceThreshold,
    now: datetime,
    also: Sequence[str],
    between: PauseCallback,
) -> EmbeddedMemories:
    """Return all who take part, by their ids."""
    snapshot = matrix.snapshot
    known = list(_read_relevant(connection, bar, also, between))
    rows = snapshot.rows_of(np.array([node for node, *_ in known], np.int64))
    anyway = np.array([bool(each) for *_, each in known], np.bool_)
    current, offered = (
        _mask_first_passages(connection, matrix, snapshot, chosen, now)
        for chosen in (CURRENT_FILTER, OFFERED_FILTER)
    )
    there = rows != NONE
    safe = np.where(there, rows, 0)
    kept = there & (offered[safe] | (anyway & current[safe])) if snapshot.count else there
    return _build_gathered(
        snapshot, rows[kept], [known[place] for place in np.flatnonzero(kept).tolist()]
    )


def _read_relevant(
    connection: apsw.Connection,
    bar: RelevanceThreshold,
    also: Sequence[str],
    between: PauseCallback,
) -> Iterable[GatheredRow]:
    found = connection.execute(_SELECT_GATHERED, (bar.above, json.dumps(list(also))))
    rows = [each for some in read_in_batches(found, between) for each in some]
    unscored = [each[1] for each in rows if each[4] and not each[3]]
    faded = _find_faded(connection, bar, unscored, between)
    return (each[:4] for each in rows if each[1] not in faded)


def _build_gathered(
    snapshot: MatrixSnapshot, rows: Rows, known: Sequence[GatheredRow]
) -> EmbeddedMemories:
    return EmbeddedMemories(
        ids=[memory_id for _, memory_id, _, _ in known],
        digests=[digest for _, _, digest, _ in known],
        spaces=snapshot.column("space")[rows],
        types=snapshot.column("type")[rows],
        created=snapshot.column("created")[rows],
        matrix=snapshot.arrays.matrix,
        rows=rows,
    )


def _mask_first_passages(
    connection: apsw.Connection,
    matrix: Matrix,
    snapshot: MatrixSnapshot,
    chosen: Filter,
    now: datetime,
) -> NDArray[np.bool_]:
    """Return which rows are the first of a memory that passes the filter and has a vector."""
    passing = vectors.mask_allowed(connection, matrix, snapshot, chosen, now)
    passing &= snapshot.column("embedded")
    passing &= snapshot.column("part") == 0
    return passing


def of_source(connection: apsw.Connection, source: str) -> list[str]:
    """Return the memories that come from there."""
    sql = "SELECT id FROM nodes WHERE source = ? ORDER BY id"
    return [memory_id for (memory_id,) in connection.execute(sql, (source,))]


def used_together(
    connection: apsw.Connection, pairs: Sequence[tuple[str, str]], since: Sequence[datetime]
) -> set[tuple[str, str]]:
    """Return the pairs that were used in one session."""
    wanted = [[*pair, to_micros(at)] for pair, at in zip(pairs, since, strict=True)]
    return {
        (one, other)
        for one, other in connection.execute(_SELECT_USED_TOGETHER, (json.dumps(wanted),))
    }
