"""Which of many vectors are alike, without comparing each with each.

Up to `EXACT_UP_TO` vectors all are compared: nothing is overlooked, and a few seconds are enough.
Of more, each is compared with those that are nearest to the same *landmarks*, a few hundred of
the vectors themselves: what is alike mostly has the same landmarks near it. Where many vectors
are close together many landmarks are too, so that no group of them gets too large.

The same vectors give the same answer in whatever order they come, and one vector more changes
the answer near it and hardly elsewhere: landmarks are those whose numbers hash lowest.

The work is done in blocks of at most `BLOCK` vectors, some hundredths of a second each, so that
whoever else needs the processor gets a turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

EXACT_UP_TO = 12_000  # vectors that are all compared: some 40 billion operations
BLOCK = 1_024  # vectors multiplied at a time
LANDMARKS_PER_ROOT = (
    2.0  # of them, times the root of how many vectors there are: balances both stages
)
NEAR_LANDMARKS = 4  # groups that a vector is compared in
MOST_NEIGHBOURS = 10  # kept for each vector and group, the nearest: more tell nothing new
PAIRS_AT_ONCE = 1_000_000  # found before those that were found twice are thrown out: 12 MB
ROUNDING = 1e-4  # by which float16 may move a cosine
_SEED = 0x9E3779B97F4A7C15

Floats = NDArray[np.float32]
Places = NDArray[np.int64]
SmallPlaces = NDArray[np.int32]
ShouldStop = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class VectorSet:
    """Vectors that stand in some rows of a larger matrix, which is not copied. None is zero."""

    matrix: Floats
    rows: Places
    lengths: Floats = field(init=False)

    def __post_init__(self) -> None:
        parts = [self._select_rows(slice(at, at + BLOCK)) for at in range(0, len(self), BLOCK)]
        lengths = [np.sqrt(np.vecdot(each, each)) for each in parts]
        object.__setattr__(self, "lengths", np.concatenate([np.empty(0, np.float32), *lengths]))

    def __len__(self) -> int:
        return len(self.rows)

    def unit_vectors(self, places: Places | slice) -> Floats:
        """Return some of the vectors, each of length 1."""
        unit: Floats = self._select_rows(places) / self.lengths[places][:, None]
        return unit

    def similarity(self, places: Places, centre: Floats) -> Floats:
        """Return how alike some of the vectors are to one of length 1."""
        similarity: Floats = self._select_rows(places) @ centre / self.lengths[places]
        return similarity

    def total(self, places: Places, weight: Places) -> Floats:
        """Return the sum of some of the vectors, each of length 1 and as often as it weighs."""
        total: Floats = (weight / self.lengths[places]).astype(np.float32) @ self._select_rows(
            places
        )
        return total

    def _select_rows(self, places: Places | slice) -> Floats:
        found: Floats = self.matrix[self.rows[places]]
        return found


@dataclass(frozen=True, slots=True)
class SimilarPairs:
    """Pairs of places whose vectors are alike, each pair once, the smaller place first."""

    one: SmallPlaces
    other: SmallPlaces
    similarity: Floats

    def __len__(self) -> int:
        return len(self.one)


def find_similar_pairs(
    cloud: VectorSet, least: float, stop: ShouldStop = lambda: False
) -> SimilarPairs:
    """Return the pairs with a cosine of at least `least`; for each vector those with its
    `MOST_NEIGHBOURS` nearest. Asked to stop, it returns what it has."""
    groups = _one_group(cloud) if len(cloud) <= EXACT_UP_TO else _group_by_landmarks(cloud, stop)
    found: list[SimilarPairs] = []
    for group in groups:
        if len(group) > 1 and not stop():
            found += _find_pairs_in_group(cloud, group, least - ROUNDING)
        if sum(map(len, found[1:])) > PAIRS_AT_ONCE:
            found = [_deduplicate_pairs(found, len(cloud))]
    return _deduplicate_pairs(found, len(cloud))


def vector_fingerprints(cloud: VectorSet) -> NDArray[np.uint64]:
    """Return a number for each vector that is the same for the same vector only."""
    width = cloud.matrix.shape[1]
    keys = np.random.default_rng(_SEED).integers(1, 2**63, width, np.uint64) | np.uint64(1)
    parts = [
        (cloud.matrix[cloud.rows[start : start + BLOCK]].view(np.uint32) * keys).sum(
            axis=1, dtype=np.uint64
        )
        for start in range(0, len(cloud), BLOCK)
    ]
    return np.concatenate(parts) if parts else np.empty(0, np.uint64)


# --- groups -------------------------------------------------------------------------------


def _one_group(cloud: VectorSet) -> Iterator[Places]:
    yield np.arange(len(cloud))


def _group_by_landmarks(cloud: VectorSet, stop: ShouldStop) -> Iterator[Places]:
    """Yield for each landmark the places of those vectors that it is nearest to."""
    landmarks = _select_landmarks(cloud)
    common = landmarks.mean(axis=0)
    apart = landmarks - common  # what all have in common would draw most to a few of them
    apart /= np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), 1e-12)
    nearest = np.concatenate(
        [
            _find_nearest_landmarks(cloud.unit_vectors(slice(start, start + BLOCK)) - common, apart)
            for start in range(0, len(cloud), BLOCK)
            if not stop()
        ]
    )
    places = np.repeat(np.arange(len(nearest)), nearest.shape[1])
    order = np.argsort(nearest.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(nearest.ravel(), minlength=len(landmarks)))
    yield from np.split(places[order], ends[:-1])


def _select_landmarks(cloud: VectorSet) -> Floats:
    """Return vectors of the cloud, no two the same. Their number goes in steps, so that it
    stays for long while the cloud grows."""
    marks = vector_fingerprints(cloud)
    _, first = np.unique(marks, return_index=True)
    wanted = 2 ** round(np.log2(LANDMARKS_PER_ROOT * np.sqrt(len(cloud))))
    return cloud.unit_vectors(first[:wanted])


def _find_nearest_landmarks(vectors: Floats, landmarks: Floats) -> Places:
    scores, rows = vectors @ landmarks.T, np.arange(len(vectors))
    best = []
    for _ in range(min(NEAR_LANDMARKS, len(landmarks))):
        best.append(scores.argmax(axis=1))
        scores[rows, best[-1]] = -np.inf
    return np.stack(best, axis=1)


# --- pairs --------------------------------------------------------------------------------


def _find_pairs_in_group(cloud: VectorSet, group: Places, least: float) -> Iterator[SimilarPairs]:
    """Yield the pairs of a group, block by block."""
    for start in range(0, len(group), BLOCK):
        mine = cloud.unit_vectors(group[start : start + BLOCK])
        kept = _NearestInBlock()
        for begin in range(0, len(group), BLOCK):
            theirs = mine if begin == start else cloud.unit_vectors(group[begin : begin + BLOCK])
            kept.add_block(mine @ theirs.T, least, begin, start)
        places, others, similarity = kept.best_pairs()
        one, other = group[places + start].astype(np.int32), group[others].astype(np.int32)
        yield SimilarPairs(np.minimum(one, other), np.maximum(one, other), similarity)


class _NearestInBlock:
    """The nearest of each vector of a block, while blocks of others go by."""

    def __init__(self) -> None:
        self._parts: list[tuple[Places, Places, Floats]] = []

    def add_block(self, scores: Floats, least: float, begin: int, start: int) -> None:
        """Take the best of a block of others, which begins at `begin`; the own one at `start`."""
        if begin == start:
            np.fill_diagonal(scores, -1.0)
        near = scores >= np.float32(least)
        crowded = np.flatnonzero(np.count_nonzero(near, axis=1) > MOST_NEIGHBOURS)
        if len(crowded):
            floor = np.partition(scores[crowded], -MOST_NEIGHBOURS, axis=1)[:, [-MOST_NEIGHBOURS]]
            near[crowded] &= scores[crowded] >= floor
        places, others = np.divmod(np.flatnonzero(near), near.shape[1])
        self._parts.append((places, others + begin, scores[places, others]))

    def best_pairs(self) -> tuple[Places, Places, Floats]:
        """Return the best of all blocks; of equals those that come first."""
        if len(self._parts) == 1:
            return self._parts[0]
        places, others, similarity = (
            np.concatenate(each) for each in zip(*self._parts, strict=True)
        )
        order = np.lexsort((others, -similarity, places))
        places, others, similarity = places[order], others[order], similarity[order]
        rank = np.arange(len(places)) - np.searchsorted(places, places)
        near = rank < MOST_NEIGHBOURS
        return places[near], others[near], similarity[near]


def _deduplicate_pairs(found: list[SimilarPairs], count: int) -> SimilarPairs:
    if not found:
        nothing = np.empty(0, np.int32)
        return SimilarPairs(nothing, nothing, np.empty(0, np.float32))
    one, other = (
        np.concatenate([getattr(each, side) for each in found]) for side in ("one", "other")
    )
    similarity = np.concatenate([each.similarity for each in found])
    _, first = np.unique(one.astype(np.int64) * count + other, return_index=True)
    return SimilarPairs(one[first], other[first], similarity[first])
