"""Who is near whom, worked out on columns in memory: for engines that compare exactly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from madeleine.index.common.matrix import (
    TIE_TOLERANCE,
    Mask,
    MatrixSnapshot,
    Rows,
)
from madeleine.index.search import IndexHit
from madeleine.language.passages import MOST_PASSAGES
from madeleine.model.vector import Vector


def find_nearest_nodes(
    snapshot: MatrixSnapshot, query: Vector, mask: Mask, limit: int, least: float
) -> dict[int, float]:
    """Return the nearest nodes, at least `limit` of them if there are so many, each with the
    cosine of its best passage. Passages of one long memory may crowd out the others; then
    more are looked at."""
    rows = limit + MOST_PASSAGES
    while True:
        found, scores = snapshot.nearest(query, mask, rows, least)
        near = scores >= least
        scored: dict[int, float] = {}
        for node, score in zip(found[near].tolist(), scores[near].tolist(), strict=True):
            scored.setdefault(node, score)
        if len(scored) >= limit or len(found) < rows or not near.all():
            return scored
        rows *= 4


SCORES_PER_BLOCK = 4_000_000  # scores worked out at a time: 16 MB, some tenths of a second


@dataclass(frozen=True, slots=True)
class NeighbourQuery:
    """Whose neighbours are wanted, by the row of their first passage, and who may be one."""

    snapshot: MatrixSnapshot
    rows: dict[str, int]
    mask: NDArray[np.bool_]


NearestById = dict[str, list[tuple[int, float]]]
"""By the id that was asked about: nodes and cosines, a few more than wanted where they tie."""


def nearest_by_id(asked: NeighbourQuery, k: int, least: float) -> NearestById:
    """Return the nearest memories of each that was asked about. Takes long and needs no file."""
    found: NearestById = {each: [] for each in asked.rows}
    if not asked.rows or k <= 0:
        return found
    snapshot = asked.snapshot
    if snapshot.count > snapshot.exact_up_to:
        return found | _compare_one_by_one(snapshot, asked.rows, asked.mask, k, least)
    return found | _compare_in_blocks(snapshot, asked.rows, np.flatnonzero(asked.mask), k, least)


def build_hits(found: Iterable[tuple[int, float]], names: dict[int, str], k: int) -> list[IndexHit]:
    hits = [IndexHit(names[node], score) for node, score in found if node in names]
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:k]


def _compare_one_by_one(
    snapshot: MatrixSnapshot, asked: dict[str, int], mask: NDArray[np.bool_], k: int, least: float
) -> NearestById:
    """Of very many rows the signs say first which are worth a product; see `matrix`."""
    near: NearestById = {}
    nodes = snapshot.column("node")
    for each, row in asked.items():
        query = snapshot.arrays.matrix[row].copy()
        scored = find_nearest_nodes(snapshot, query, mask, k + 1, least)
        scored.pop(int(nodes[row]), None)
        near[each] = list(scored.items())
    return near


def _compare_in_blocks(
    snapshot: MatrixSnapshot, asked: dict[str, int], rows: Rows, k: int, least: float
) -> NearestById:
    """Multiply some memories at a time with all rows that may be neighbours.

    Each product takes a fraction of a second and no lock is held, so that whoever writes or
    asks meanwhile hardly notices.
    """
    near: NearestById = {}
    if not len(rows):
        return near
    others = _NeighbourRows(snapshot, rows)
    names, own = list(asked), np.fromiter(asked.values(), np.int64)
    step = max(1, SCORES_PER_BLOCK // len(rows))
    for start in range(0, len(names), step):
        block = own[start : start + step]
        for place, node, score in others.nearest(block, k, least):
            near.setdefault(names[start + place], []).append((node, score))
    return near


class _NeighbourRows:
    """The rows that may be neighbours, one group for the passages of each memory."""

    def __init__(self, snapshot: MatrixSnapshot, rows: Rows) -> None:
        self._all = snapshot.arrays.matrix
        self._nodes = snapshot.column("node")
        self._rows = rows
        # Passages of one memory follow each other, and a filter takes all of them or none.
        self._starts = np.flatnonzero(snapshot.column("part")[rows] == 0)
        self._whole = len(rows) == snapshot.count
        self._matrix = self._all[: len(rows)] if self._whole else self._all[rows]

    def nearest(self, block: Rows, k: int, least: float) -> Iterator[tuple[int, int, float]]:
        """Yield (place in the block, node, cosine) for the best `k` of each row of the block,
        and for what ties with the last of them."""
        scores = self._all[block] @ self._matrix.T
        best = self._of_memories(scores)
        nodes = self._nodes[self._rows[self._starts]]
        best[self._nodes[block][:, None] == nodes[None, :]] = -np.inf
        floor = np.full(len(block), least, np.float32)
        if best.shape[1] > k:
            floor = np.maximum(floor, np.partition(best, -k, axis=1)[:, -k])
        places, groups = np.nonzero(best >= (floor - TIE_TOLERANCE)[:, None])
        exact = self._compute_exact(block[places], groups, scores, places)
        near = exact >= least
        yield from zip(
            places[near].tolist(), nodes[groups[near]].tolist(), exact[near].tolist(), strict=True
        )

    def _of_memories(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the score of the best passage of each memory."""
        if len(self._starts) == len(self._rows):
            return scores
        best: NDArray[np.float32] = np.maximum.reduceat(scores, self._starts, axis=1)
        return best

    def _compute_exact(
        self,
        own: Rows,
        groups: Rows,
        scores: NDArray[np.float32],
        places: Rows,
    ) -> NDArray[np.float32]:
        """Return cosines that do not depend on where in the matrix a row stands."""
        best = self._best_passage(groups, scores, places)
        one = self._all[own].astype(np.float64)
        other = self._all[self._rows[best]].astype(np.float64)
        exact: NDArray[np.float32] = (one * other).sum(axis=1).astype(np.float32)
        return exact

    def _best_passage(self, groups: Rows, scores: NDArray[np.float32], places: Rows) -> Rows:
        """Return for each memory of a pair the column of the passage that scored best."""
        if len(self._starts) == len(self._rows):
            return groups
        ends = np.append(self._starts[1:], len(self._rows))
        best = [
            start + int(np.argmax(scores[place, start:end]))
            for place, start, end in zip(
                places.tolist(), self._starts[groups].tolist(), ends[groups].tolist(), strict=True
            )
        ]
        return np.array(best, np.int64)
