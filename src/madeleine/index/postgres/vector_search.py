"""Searching by meaning: a graph walk (HNSW) among many, every vector among few.

A walk looks at what is near and leaves out what the filter refuses until enough is found, so a
filter that refuses almost everything makes it long. What passes such a filter is counted first:
up to `exact_up_to` vectors are compared one by one, which misses nothing.

Vectors are kept with half the digits, as in the embedded index; products are taken with all the
digits of the question, so that both engines give the same cosines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from madeleine.database.adapters import HalfVector, unpack_half_vectors
from madeleine.database.connection import DatabaseRow
from madeleine.database.schema import MAX_INDEXED_DIMENSION
from madeleine.database.transactions import TenantAccess
from madeleine.index.common import neighbours as exact
from madeleine.index.common.matrix import (
    Matrix,
    MatrixChange,
    MatrixSnapshot,
    PassageCells,
    multiply_exactly,
)
from madeleine.index.common.passages import check_query_vector
from madeleine.index.postgres.filters import PostgresCondition, build_condition
from madeleine.index.postgres.nodes import read_ids
from madeleine.index.search import IndexHit
from madeleine.language.passages import MOST_PASSAGES
from madeleine.model.query import Filter
from madeleine.model.vector import Vector

RETRY_FACTOR = (
    4  # times as many passages are drawn, when those of long memories crowd out the others
)
NO_LIMIT = 10**9


@dataclass(frozen=True, slots=True)
class PostgresSearchPlan:
    """How to search among what passes a filter: `few` are all nodes that do, if they are so
    few that each can be compared; or whoever passes is compared with `every`."""

    dimension: int
    passing: PostgresCondition
    few: list[int] | None
    every: bool = False


# How many are wanted stands in the statement itself: the planner has to know.
_SELECT_BY_INDEX = """
    SELECT {columns} FROM passages p
    WHERE p.tenant = :tenant AND p.wide = {dimension} AND {where}
    ORDER BY (p.vector::halfvec({dimension})) <#> %s
    FETCH FIRST {limit} ROWS WITH TIES
"""
_SELECT_BY_COMPARING = """
    SELECT {columns} FROM passages p
    WHERE p.tenant = :tenant AND p.wide = {dimension} AND {where}
    ORDER BY p.vector <#> %s FETCH FIRST {limit} ROWS WITH TIES
"""
_SELECT_VECTORS = """
    SELECT p.node, p.part, p.vector FROM passages p
    WHERE p.tenant = :tenant AND p.node = ANY(%s::bigint[]) AND p.wide = %s ORDER BY 1, 2
"""


def plan_search(
    access: TenantAccess,
    dimension: int,
    chosen: Filter,
    now: datetime,
    exact_up_to: int,
    counted: int | None = None,
) -> PostgresSearchPlan:
    """Return how to search, after counting what passes as far as that matters: in an index with
    more memories than can be compared one by one, up to `counted` if that is less."""
    most = exact_up_to if dimension <= MAX_INDEXED_DIMENSION else NO_LIMIT
    least = most if counted is None else counted
    passing = build_condition(chosen, now)
    sql = f"""WITH there AS (SELECT memories <= %s AS few FROM tallies WHERE tenant = :tenant)
              SELECT (SELECT few FROM there), array_agg(node) FROM
              (SELECT n.node FROM nodes n WHERE n.tenant = :tenant AND {passing.sql}
               LIMIT 1 + CASE WHEN (SELECT few FROM there) THEN %s ELSE %s END) f"""
    few, found = access.rows(sql, most, *passing.bindings, most, least)[0]
    nodes = [] if found is None else found.tolist()
    compared = nodes if few or len(nodes) <= least else None
    return PostgresSearchPlan(dimension, build_condition(chosen, now, "p"), compared)


def nearest_passages_sql(
    looking: PostgresSearchPlan, columns: str, limit: int
) -> tuple[str, list[object]]:
    """Return the statement that finds the nearest passages, with its first bindings; the
    question as a `HalfVector` is the last."""
    among = "p.node = ANY(%s::bigint[])" if looking.few is not None else looking.passing.sql
    walks = looking.few is None and not looking.every
    words = {"columns": columns, "dimension": looking.dimension, "where": among, "limit": limit}
    sql = (_SELECT_BY_INDEX if walks else _SELECT_BY_COMPARING).format(**words)
    return sql, looking.passing.bindings if looking.few is None else [looking.few]


def search_nearest(
    access: TenantAccess, looking: PostgresSearchPlan, vector: Vector, limit: int, least: float
) -> list[IndexHit]:
    """Return the nearest memories, best first, ties by id, each by its best passage."""
    query = check_query_vector(vector, looking.dimension)
    scored = _score_nodes(access, looking, query, limit) if limit > 0 else {}
    near = {node: score for node, score in scored.items() if score >= least}
    names = read_ids(access, list(near)) if near else {}
    return exact.build_hits(near.items(), names, limit)


def _score_nodes(
    access: TenantAccess, looking: PostgresSearchPlan, query: Vector, limit: int
) -> dict[int, float]:
    """Return the nearest nodes, at least `limit` of them if there are so many, each with the
    cosine of its best passage."""
    passages = limit + MOST_PASSAGES
    while True:
        sql, bindings = nearest_passages_sql(looking, "p.node, p.vector", passages)
        rows = access.rows(sql, *bindings, HalfVector(query))
        if len({node for node, _ in rows}) >= limit or len(rows) < passages:
            break
        passages *= RETRY_FACTOR
    matrix = unpack_half_vectors([vector for _, vector in rows], looking.dimension)
    scores = multiply_exactly(matrix, np.arange(len(rows)), query)
    best: dict[int, float] = {}
    for (node, _), score in zip(rows, scores.tolist(), strict=True):
        best[node] = max(score, best.get(node, -np.inf))
    return best


def read_vectors(access: TenantAccess, dimension: int, ids: Sequence[str]) -> dict[str, Vector]:
    """Return the vectors of those of the ids that have one."""
    sql = """SELECT n.id, p.vector FROM nodes n
             JOIN passages p ON p.tenant = :tenant AND p.node = n.node AND p.part = 0
             WHERE n.tenant = :tenant AND n.id = ANY(%s::text[]) AND p.wide = %s"""
    rows = access.rows(sql, list(ids), dimension)
    matrix = unpack_half_vectors([vector for _, vector in rows], dimension)
    return {memory_id: matrix[place] for place, (memory_id, _) in enumerate(rows)}


# --- who is near whom ---------------------------------------------------------------------


def neighbours(
    access: TenantAccess, looking: PostgresSearchPlan, ids: Sequence[str], k: int, least: float
) -> dict[str, list[IndexHit]]:
    """Return the nearest memories of each that was asked about and has a vector."""
    if looking.few is not None:
        return _compare_all(access, looking, ids, looking.few, k, least)
    found = read_vectors(access, looking.dimension, ids)
    near: dict[str, list[IndexHit]] = {}
    for each in dict.fromkeys(ids):
        if each in found:
            hits = search_nearest(access, looking, found[each], k + 1, least)
            near[each] = [hit for hit in hits if hit.id != each][: max(k, 0)]
    return near


def _compare_all(
    access: TenantAccess,
    looking: PostgresSearchPlan,
    ids: Sequence[str],
    few: list[int],
    k: int,
    least: float,
) -> dict[str, list[IndexHit]]:
    """Compare each with each, some at a time, as the embedded index does."""
    sql = "SELECT id, node FROM nodes WHERE tenant = :tenant AND id = ANY(%s::text[])"
    named: dict[str, int] = dict(access.rows(sql, list(ids)))
    rows = access.rows(_SELECT_VECTORS, [*few, *named.values()], looking.dimension)
    snapshot = _build_snapshot(rows, looking.dimension)
    first = {node: row for row, (node, part, _) in enumerate(rows) if not part}
    asked = {each: first[named[each]] for each in dict.fromkeys(ids) if named.get(each) in first}
    mask = np.isin(snapshot.column("node"), np.array(few, np.int64))
    near = exact.nearest_by_id(exact.NeighbourQuery(snapshot, asked, mask), k, least)
    names = read_ids(access, list({node for found in near.values() for node, _ in found}))
    return {each: exact.build_hits(found, names, k) for each, found in near.items()}


def _build_snapshot(rows: Sequence[DatabaseRow], dimension: int) -> MatrixSnapshot:
    matrix = Matrix(dimension, NO_LIMIT, len(rows))
    cells = [PassageCells(node, 0, 0, 0, 0, 0, False, True, part) for node, part, _ in rows]
    vectors = unpack_half_vectors([vector for *_, vector in rows], dimension)
    matrix.apply(MatrixChange(cells, vectors))
    return matrix.snapshot
