"""Searching by meaning: the index of vectors among many, every vector among few.

The index knows nothing of filters, and dead entries in it take the places of living ones. So
what passes a filter is counted first: up to `exact_up_to` memories are compared one by one, which
misses nothing. Of more the index is asked for some, and for four times as many as long as too few
of them pass (I11). Cosines are taken from the vectors themselves in either case, so that every
engine gives the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from madeleine.index.common import neighbours as exact
from madeleine.index.common.matrix import (
    TIE_TOLERANCE,
    Matrix,
    MatrixChange,
    MatrixSnapshot,
    PassageCells,
    multiply_exactly,
    multiply_on_one_thread,
)
from madeleine.index.common.passages import check_query_vector
from madeleine.index.search import IndexHit
from madeleine.language.passages import MOST_PASSAGES
from madeleine.model.query import Filter
from madeleine.model.vector import Vector
from madeleine_falkordb.connection import GraphAccess, GraphRow
from madeleine_falkordb.encoding import number_keys
from madeleine_falkordb.filters import build_condition
from madeleine_falkordb.schema import GraphHead, read_head
from madeleine_falkordb.vectors import GraphVectors

RETRY_FACTOR = 4  # times as many are asked for, when too few of those found pass
SPARE_POINTS = 64  # asked for beyond what is wanted, for such as are dead
NO_LIMIT = 10**9

_MATCH_PASSAGES = "WITH m MATCH (m)-[:PART]->(p) WHERE p.point IS NOT NULL"
_PASSAGE_COLUMNS = "m.node, m.id, p.part, p.point"


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """One graph's vectors, and up to how many memories each is compared."""

    access: GraphAccess
    vectors: GraphVectors
    exact_up_to: int


@dataclass(frozen=True, slots=True)
class FalkorSearchPlan:
    """How to search among what passes a filter."""

    space: VectorSpace
    head: GraphHead
    chosen: Filter
    now: datetime
    few: list[int] | None
    """All nodes that pass, if they are so few that each can be compared."""


def plan_search(
    space: VectorSpace, chosen: Filter, now: datetime, least: int = 0
) -> FalkorSearchPlan:
    """Return how to search, after counting what passes."""
    head = read_head(space.access)
    most = max(space.exact_up_to, least)
    passing = build_condition(chosen, now)
    question = f"MATCH (m:Memory) WHERE {passing.cypher} WITH m LIMIT {most + 1}"
    nodes = space.access.column(question, "m.node", **passing.parameters)
    return FalkorSearchPlan(space, head, chosen, now, nodes if len(nodes) <= most else None)


def search_nearest(
    looking: FalkorSearchPlan, vector: Vector, limit: int, least: float
) -> list[IndexHit]:
    """Return the nearest memories, best first, ties by id, each by its best passage."""
    query = check_query_vector(vector, looking.space.vectors.dimension)
    rows = find_nearest_passages(looking, query, limit + MOST_PASSAGES, limit) if limit > 0 else []
    best: dict[str, float] = {}
    for row, score in rows:
        best[row[1]] = max(score, best.get(row[1], -np.inf))
    hits = [IndexHit(memory, score) for memory, score in best.items() if score >= least]
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]


def find_nearest_passages(
    looking: FalkorSearchPlan, query: Vector, wanted: int, memories: int = 0
) -> list[tuple[GraphRow, float]]:
    """Return (node, id, part, point) of the nearest passages, with their cosines: at least so
    many, of at least so many memories, if there are; and whatever ties with the last of them."""
    if looking.few is not None:
        return _score_best(
            looking, _read_passages_of_nodes(looking, looking.few), query, wanted, memories
        )
    vectors, limit = looking.space.vectors, wanted + SPARE_POINTS
    while True:
        points = vectors.nearest(looking.head, query, limit)
        found = _score_rows(looking, _read_passages_of_points(looking, points), query)
        there_is_more = vectors.may_have_more(looking.head, limit, len(points))
        if _has_enough(found, wanted, memories) or not there_is_more:
            return found
        limit *= RETRY_FACTOR


def _has_enough(found: Sequence[tuple[GraphRow, float]], wanted: int, memories: int) -> bool:
    """Whether so many were found, and what was found last is worse than the last that counts."""
    scores = [score for _, score in found]
    if len(found) <= wanted or len({row[0] for row, _ in found}) < memories:
        return False
    return min(scores) < sorted(scores, reverse=True)[wanted - 1] - TIE_TOLERANCE


def _read_passages_of_nodes(looking: FalkorSearchPlan, nodes: Sequence[int]) -> list[GraphRow]:
    question = f"UNWIND $nodes AS node MATCH (m:Memory {{at: node}}) {_MATCH_PASSAGES}"
    return looking.space.access.rows(question, _PASSAGE_COLUMNS, nodes=number_keys(nodes))


def _read_passages_of_points(looking: FalkorSearchPlan, points: Sequence[int]) -> list[GraphRow]:
    """Return the passages with these vectors, of memories that pass."""
    passing = build_condition(looking.chosen, looking.now)
    question = f"""UNWIND $points AS point MATCH (p:Passage {{trace: point}})
                   WITH p MATCH (p)<-[:PART]-(m) WHERE {passing.cypher}"""
    return looking.space.access.rows(
        question, _PASSAGE_COLUMNS, points=number_keys(points), **passing.parameters
    )


def _score_best(
    looking: FalkorSearchPlan, rows: list[GraphRow], query: Vector, wanted: int, memories: int
) -> list[tuple[GraphRow, float]]:
    """Return the best of many, which a quick product tells well enough from the others; all of
    them, if the passages of a few long memories crowd out the rest."""
    if len(rows) > wanted:
        matrix = looking.space.vectors.read(looking.head, [row[3] for row in rows])
        rough = multiply_on_one_thread(matrix, query)
        near = np.flatnonzero(rough >= np.partition(rough, -wanted)[-wanted] - TIE_TOLERANCE)
        best = [rows[place] for place in near.tolist()]
        rows = best if len({row[0] for row in best}) >= memories else rows
    return _score_rows(looking, rows, query)


def _score_rows(
    looking: FalkorSearchPlan, rows: list[GraphRow], query: Vector
) -> list[tuple[GraphRow, float]]:
    matrix = looking.space.vectors.read(looking.head, [row[3] for row in rows])
    scores = multiply_exactly(matrix, np.arange(len(rows)), query)
    return list(zip(rows, scores.tolist(), strict=True))


def read_vectors(space: VectorSpace, ids: Sequence[str]) -> dict[str, Vector]:
    """Return the vectors of those of the ids that have one."""
    question = f"MATCH (m:Memory) WHERE m.id IN $ids {_MATCH_PASSAGES} AND p.part = 0"
    rows = space.access.rows(question, _PASSAGE_COLUMNS, ids=list(ids))
    matrix = space.vectors.read(read_head(space.access), [row[3] for row in rows])
    return {row[1]: matrix[place] for place, row in enumerate(rows)}


# --- who is near whom ---------------------------------------------------------------------


def neighbours(
    looking: FalkorSearchPlan, ids: Sequence[str], k: int, least: float
) -> dict[str, list[IndexHit]]:
    """Return the nearest memories of each that was asked about and has a vector."""
    if looking.few is not None:
        return _compare_all(looking, ids, looking.few, k, least)
    found = read_vectors(looking.space, ids)
    near: dict[str, list[IndexHit]] = {}
    for each in dict.fromkeys(ids):
        if each in found:
            hits = search_nearest(looking, found[each], k + 1, least)
            near[each] = [hit for hit in hits if hit.id != each][: max(k, 0)]
    return near


def _compare_all(
    looking: FalkorSearchPlan, ids: Sequence[str], few: list[int], k: int, least: float
) -> dict[str, list[IndexHit]]:
    """Compare each with each, some at a time, as the embedded index does."""
    own = f"MATCH (m:Memory) WHERE m.id IN $ids {_MATCH_PASSAGES}"
    asked_about = looking.space.access.rows(own, _PASSAGE_COLUMNS, ids=list(ids))
    found = {
        (row[0], row[2]): row for row in (*_read_passages_of_nodes(looking, few), *asked_about)
    }
    rows = [found[key] for key in sorted(found)]
    nodes = list(dict.fromkeys(row[0] for row in rows))
    snapshot = _build_snapshot(rows, nodes, looking)
    first = {row[1]: place for place, row in enumerate(rows) if not row[2]}
    asked = {each: first[each] for each in dict.fromkeys(ids) if each in first}
    mask = np.isin(np.array([row[0] for row in rows], np.int64), np.array(few, np.int64))
    near = exact.nearest_by_id(exact.NeighbourQuery(snapshot, asked, mask), k, least)
    ids_of = {row[0]: row[1] for row in rows}
    names = {code: ids_of[node] for code, node in enumerate(nodes)}
    return {each: exact.build_hits(its, names, k) for each, its in near.items()}


def _build_snapshot(
    rows: Sequence[GraphRow], nodes: Sequence[int], looking: FalkorSearchPlan
) -> MatrixSnapshot:
    """Return the rows as a matrix, in which places in `nodes` stand for their numbers: those
    may be large, and a matrix has room for all up to the largest."""
    vectors = looking.space.vectors.read(looking.head, [row[3] for row in rows])
    codes = {node: code for code, node in enumerate(nodes)}
    matrix = Matrix(vectors.shape[1], NO_LIMIT, len(rows))
    cells = [
        PassageCells(codes[node], 0, 0, 0, 0, 0, False, True, part) for node, _, part, _ in rows
    ]
    matrix.apply(MatrixChange(cells, vectors.astype(np.float16)))
    return matrix.snapshot
