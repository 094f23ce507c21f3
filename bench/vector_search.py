"""How quick and how right vector search is: `python bench/vector_search.py [rows …]`.

Compares scoring every row with comparing signs first, on vectors of 384 numbers made three
ways: many small topics, few broad ones, and none at all, which is the hardest. Times are
medians of one thread asking; recall is the share of the exact ten nearest that are found.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from madeleine.index.common.matrix import FOREVER, Matrix, MatrixChange, PassageCells

DIMENSION = 384
INNER = 96  # how many directions the meanings of real sentences spread in, about
QUERIES = 30
TOPICS = {"many topics": (20_000, 0.5), "few topics": (200, 0.5), "no topics": (1, 1.0)}
PART = 20_000

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Mould:
    """Where vectors come from: topics in a space of fewer directions, with noise."""

    basis: Floats
    centres: Floats
    spread: float

    @classmethod
    def of(cls, topics: int, spread: float) -> Mould:
        random = np.random.default_rng(1)
        basis = random.standard_normal((INNER, DIMENSION), np.float32) / np.sqrt(INNER)
        return cls(basis, random.standard_normal((topics, INNER), np.float32), spread)

    def rows(self, count: int, seed: int) -> Floats:
        random = np.random.default_rng(seed)
        topic = random.integers(0, len(self.centres), count)
        inner = self.centres[topic] + self.spread * random.standard_normal(
            (count, INNER), np.float32
        )
        rows = inner @ self.basis + 0.15 * random.standard_normal((count, DIMENSION), np.float32)
        normal: Floats = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        return normal


def cells(node: int) -> PassageCells:
    return PassageCells(node, node % 10, 0, 0, node, FOREVER, superseded=False, embedded=True)


def filled(mould: Mould, count: int) -> Matrix:
    """Return a matrix that keeps signs, so that both ways can be asked of the same rows."""
    matrix = Matrix(DIMENSION, exact_up_to=0, rows=count)
    for start, end in pairwise([*range(0, count, PART), count]):
        rows = mould.rows(end - start, seed=start + 2).astype(np.float16)
        matrix.apply(MatrixChange([cells(node) for node in range(start, end)], rows))
    return matrix


def median_ms(ask: Callable[[Floats], object], queries: Floats) -> float:
    times = []
    for query in queries:
        start = time.perf_counter()
        ask(query)
        times.append(time.perf_counter() - start)
    return float(np.median(times)) * 1_000


def measure(name: str, mould: Mould, count: int) -> None:
    matrix, queries = filled(mould, count), mould.rows(QUERIES, seed=1)
    snapshot = matrix.snapshot
    signs = snapshot.arrays.signs

    def ask(query: Floats, share: float = 1.0) -> set[int]:
        allowed = snapshot.alive()
        if share < 1:
            allowed &= snapshot.column("created") < share * count
        nodes, _ = snapshot.nearest(query, allowed, 10)
        return set(nodes.tolist()[:10])

    near = [ask(query) for query in queries]
    by_signs, tenth = median_ms(ask, queries), median_ms(lambda query: ask(query, 0.1), queries)
    snapshot.arrays.signs = None
    exact = [ask(query) for query in queries]
    by_all, exact_tenth = median_ms(ask, queries), median_ms(lambda query: ask(query, 0.1), queries)
    snapshot.arrays.signs = signs
    recall = np.mean([len(one & other) / 10 for one, other in zip(near, exact, strict=True)])
    print(
        f"| {count:>9,} | {name:<11} | {by_all:6.1f} | {exact_tenth:6.1f} "
        f"| {by_signs:6.1f} | {tenth:6.1f} | {recall:.3f} |"
    )


def main() -> None:
    sizes = [int(each) for each in sys.argv[1:]] or [10_000, 100_000, 1_000_000]
    print(
        "|      rows | data        | all, ms | all, 1 in 10 allowed | signs | 1 in 10 | recall@10 |"
    )
    print("|--:|---|--:|--:|--:|--:|--:|")
    for count in sizes:
        for name, (topics, spread) in TOPICS.items():
            measure(name, Mould.of(topics, spread), count)


if __name__ == "__main__":
    main()
