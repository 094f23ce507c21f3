"""Clusters: which of many memories belong together.

Two that are alike enough are joined by a line, as documented; but a cluster is not simply all
that hangs together by lines. A chain of them, each end a little further off, ends at something
that has nothing to do with its beginning. So a cluster has a centre, what its members have in
common, and whoever belongs to it is as alike to the centre as two memories must be for a line.

It is found in four steps, each of which takes the best first and, of equals, what comes first:
*stars* of a vector and those it has lines to; stars with lines between them become one as long
as hardly anybody drops out; what is left over joins the cluster that it has a line to; and what
the centre has moved away from leaves. The same vectors give the same clusters in the same
order, and equal vectors are always together.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from madeleine.rules.similarity import (
    ROUNDING,
    Floats,
    Places,
    ShouldStop,
    SimilarPairs,
    VectorSet,
    find_similar_pairs,
    vector_fingerprints,
)

STAYING_SHARE = 0.9  # share of each of two clusters that has to stay for them to become one
FAR_LARGER_TIMES = 8  # times another cluster: so much that taking it in moves no centre
PAIRS_PER_BLOCK = 16_384  # of clusters that are compared at a time
MERGE_ROUNDS = 32  # of putting clusters together; a few are enough
NO_CLUSTER = -1  # in no cluster
STOP_CHECK_EVERY = 16  # clusters made or put together: a few milliseconds


@dataclass(frozen=True, slots=True)
class Community:
    """The places of those that belong together, in order, and how alike each is to what they
    have in common."""

    places: tuple[int, ...]
    similarity: tuple[float, ...]


def find_communities(
    cloud: VectorSet,
    least: float,
    fewest: int,
    apart: NDArray[np.int32] | None = None,
    stop: ShouldStop = lambda: False,
) -> list[Community]:
    """Return the clusters of at least `fewest`, the largest first.

    `apart` numbers what must not be mixed: two vectors with different numbers are in no cluster
    together, unless one of the numbers is 0, which goes with any. Asked to stop, it returns
    what it has.
    """
    groups = np.zeros(len(cloud), np.int32) if apart is None else apart
    copies = _DuplicateVectors.of(cloud, groups)
    firsts = VectorSet(cloud.matrix, cloud.rows[copies.first])
    lines = _select_lines_within(find_similar_pairs(firsts, least, stop), groups[copies.first])
    found = _ClusterBuilder(firsts, least, lines, copies.count, stop).build_clusters()
    whole = [copies.expand_copies(each) for each in found]
    parts = [part for each in whole for part in _split_mixed(each, groups)]
    large = [each for each in parts if len(each) >= fewest]
    return sorted((_build_community(cloud, each) for each in large), key=_size_order_key)


def _size_order_key(community: Community) -> tuple[int, tuple[int, ...]]:
    return -len(community.places), community.places


def _build_community(cloud: VectorSet, places: Places) -> Community:
    vectors = cloud.unit_vectors(places)
    similarity = np.clip(vectors @ _unit_vector(vectors.sum(axis=0)), 0.0, 1.0)
    return Community(tuple(places.tolist()), tuple(round(float(each), 4) for each in similarity))


# --- copies -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _DuplicateVectors:
    """Equal vectors that may be together, told once. There may be very many of one."""

    first: Places
    count: Places
    ends: Places
    """Where the copies of each end among `places`."""
    places: Places

    @classmethod
    def of(cls, cloud: VectorSet, groups: NDArray[np.int32]) -> _DuplicateVectors:
        marks = vector_fingerprints(cloud) + groups.astype(np.uint64)
        _, first, kind, count = np.unique(
            marks, return_index=True, return_inverse=True, return_counts=True
        )
        order = np.argsort(first)  # as they come, not as their marks are
        rank = np.empty(len(first), np.int64)
        rank[order] = np.arange(len(first))
        places = np.argsort(rank[kind], kind="stable")
        return cls(first[order], count[order], np.cumsum(count[order]), places)

    def expand_copies(self, firsts: Places) -> Places:
        """Return the places of all copies of these, in order."""
        ends, count = self.ends[firsts].tolist(), self.count[firsts].tolist()
        each = [self.places[end - size : end] for end, size in zip(ends, count, strict=True)]
        return np.sort(np.concatenate(each))


# --- what must not be mixed ---------------------------------------------------------------


def _select_lines_within(lines: SimilarPairs, groups: NDArray[np.int32]) -> SimilarPairs:
    """Return the lines between those that may be together."""
    one, other = groups[lines.one], groups[lines.other]
    kept = (one == other) | (one == 0) | (other == 0)
    return SimilarPairs(lines.one[kept], lines.other[kept], lines.similarity[kept])


def _split_mixed(places: Places, groups: NDArray[np.int32]) -> list[Places]:
    """Return a cluster as it is if it mixes nothing; else by groups. Those of group 0 stand
    between the others and belong to none of them more than to another."""
    named = np.unique(groups[places])
    if np.count_nonzero(named) <= 1:
        return [places]
    return [places[groups[places] == each] for each in named]


# --- forming clusters ---------------------------------------------------------------------


@dataclass(slots=True)
class _Cluster:
    """Members in parts, as they came together, and the sum of their vectors."""

    parts: list[Places]
    size: int
    total: Floats
    in_order: bool = False

    @property
    def centre(self) -> Floats:
        return _unit_vector(self.total)

    def members(self) -> Places:
        """Return them in order; what was put in order once stays so."""
        if len(self.parts) > 1 or not self.in_order:
            self.parts, self.in_order = [np.sort(np.concatenate(self.parts))], True
        return self.parts[0]


class _ClusterBuilder:
    """Clusters in the making, each named by the vector that was its first centre."""

    def __init__(
        self, cloud: VectorSet, least: float, lines: SimilarPairs, weight: Places, stop: ShouldStop
    ) -> None:
        self._cloud, self._bar, self._lines = cloud, least - ROUNDING, lines
        self._weight = weight  # how often each vector is there
        self._stop = stop
        self._cluster_of = np.full(len(cloud), NO_CLUSTER, np.int64)
        self._clusters: dict[int, _Cluster] = {}
        self._changes: Counter[int] = Counter()
        self._refused: dict[tuple[int, int], tuple[int, int]] = {}
        """Clusters that were not put together, and how often each had changed by then."""

    def build_clusters(self) -> list[Places]:
        self._build_stars()
        pairs = self._find_linked_clusters()
        for _ in range(MERGE_ROUNDS):
            into = self._merge_clusters(pairs)
            if not into:
                break
            pairs = _rename_pairs(pairs, into)
        self._assign_free_vectors()
        members = [each.members() for each in self._clusters.values()]
        return [
            *(self._select_near(each, self._unit_centre(each)) for each in members),
            *self._list_lone_duplicates(),
        ]

    def _list_lone_duplicates(self) -> list[Places]:
        """Return the vectors that are like no other, but there several times."""
        several = np.flatnonzero((self._cluster_of == NO_CLUSTER) & (self._weight > 1))
        return [several[[at]] for at in range(len(several))]

    def _select_near(self, members: Places, centre: Floats) -> Places:
        """Return those that are alike enough to what all of them have in common."""
        return members[self._cloud.similarity(members, centre) >= self._bar]

    def _weighted_total(self, members: Places) -> Floats:
        return self._cloud.total(members, self._weight[members])

    def _unit_centre(self, members: Places) -> Floats:
        return _unit_vector(self._weighted_total(members))

    # -- stars --

    def _build_stars(self) -> None:
        """Make a cluster of each vector that has lines to free ones and of those, whoever has
        most lines first."""
        starts, others = _build_adjacency(self._lines, len(self._cloud))
        degree = np.diff(starts)
        hubs = np.argsort(-degree, kind="stable")[: np.count_nonzero(degree)].tolist()
        for hub in _iterate_until_stopped(hubs, self._stop):
            if self._cluster_of[hub] != NO_CLUSTER:
                continue
            near = others[starts[hub] : starts[hub + 1]]
            star = np.append(near[self._cluster_of[near] == NO_CLUSTER], hub)
            kept = self._select_near(star, self._unit_centre(star)) if len(star) > 1 else star
            if len(kept) > 1:
                self._cluster_of[kept] = hub
                self._clusters[hub] = _Cluster([kept], len(kept), self._weighted_total(kept))

    # -- clusters of clusters --

    def _find_linked_clusters(self) -> ClusterPairs:
        """Return the clusters that have lines between them, each pair once."""
        one, other = self._cluster_of[self._lines.one], self._cluster_of[self._lines.other]
        both = (one != NO_CLUSTER) & (other != NO_CLUSTER)
        return _distinct_pairs(one[both], other[both])

    def _merge_clusters(self, pairs: ClusterPairs) -> dict[int, int]:
        """Put clusters together, those first that have most in common; return which went into
        which."""
        into: dict[int, int] = {}
        similarity = self._centre_similarities(pairs)
        best_first = np.argsort(-np.round(similarity, 5), kind="stable").tolist()
        for at in _iterate_until_stopped(best_first, self._stop):
            one, other = (_find_merged_into(into, name) for name in pairs[at].tolist())
            if one != other and self._unite_if_new(one, other):
                into[other] = one
        return into

    def _unite_if_new(self, one: int, other: int) -> bool:
        """Try to put two clusters together, unless they were tried as they are now."""
        as_they_are = self._changes[one], self._changes[other]
        if self._refused.get((one, other)) == as_they_are:
            return False
        if self._unite_clusters(one, other):
            return True
        self._refused[one, other] = as_they_are
        return False

    def _centre_similarities(self, pairs: ClusterPairs) -> Floats:
        """Return how alike the centres of each pair are."""
        names = np.unique(pairs)
        centres = np.array([self._clusters[each].centre for each in names.tolist()], np.float32)
        one, other = np.searchsorted(names, pairs.T)
        parts = [
            np.vecdot(
                centres[one[at : at + PAIRS_PER_BLOCK]], centres[other[at : at + PAIRS_PER_BLOCK]]
            )
            for at in range(0, len(pairs), PAIRS_PER_BLOCK)
        ]
        return np.concatenate(parts) if parts else np.empty(0, np.float32)

    def _unite_clusters(self, one: int, other: int) -> bool:
        """Let one cluster take in another, if hardly anybody drops out of either. Of one that
        is far larger nobody does: its centre stays where it is."""
        mine, theirs = self._clusters[one], self._clusters[other]
        centre = _unit_vector(mine.total + theirs.total)
        staying: list[Places | None] = []
        for each, beside in ((theirs, mine), (mine, theirs)):
            far_larger = each.size >= FAR_LARGER_TIMES * beside.size
            near = None if far_larger else self._select_near(each.members(), centre)
            if near is not None and len(near) < STAYING_SHARE * each.size:
                return False
            staying.append(near)
        theirs_left, mine_left = staying
        kept = [self._shrink_cluster(mine, mine_left), self._shrink_cluster(theirs, theirs_left)]
        self._absorb_cluster(one, other, kept)
        return True

    def _shrink_cluster(self, cluster: _Cluster, near: Places | None) -> _Cluster:
        """Return what is left of a cluster when only those near to a new centre stay."""
        if near is None or len(near) == cluster.size:
            return cluster
        return _Cluster([near], len(near), self._weighted_total(near), in_order=True)

    def _absorb_cluster(self, one: int, other: int, kept: Sequence[_Cluster]) -> None:
        for name, after in zip((one, other), kept, strict=True):
            if after is not self._clusters[name]:
                self._cluster_of[self._clusters[name].members()] = NO_CLUSTER
        first, second = sorted(kept, key=lambda each: -len(each.parts))
        for each in kept:
            if each is not self._clusters[one]:
                for part in each.parts:
                    self._cluster_of[part] = one
        first.parts.extend(second.parts)
        made = _Cluster(first.parts, first.size + second.size, first.total + second.total)
        del self._clusters[other]
        self._clusters[one] = made
        self._changes[one] += 1

    # -- the rest --

    def _assign_free_vectors(self) -> None:
        """Let each free vector join the cluster that it is most like, of those to whose members
        it has a line."""
        names = self._cluster_of.copy()
        offers: dict[int, set[int]] = {}
        ends = (self._lines.one, self._lines.other)
        for mine, theirs in (ends, ends[::-1]):
            wanted = (names[mine] == NO_CLUSTER) & (names[theirs] != NO_CLUSTER)
            pairs = zip(mine[wanted].tolist(), names[theirs[wanted]].tolist(), strict=True)
            for each, name in pairs:
                offers.setdefault(each, set()).add(name)
        for each in _iterate_until_stopped(sorted(offers), self._stop):
            similarity, name = self._find_most_similar(each, offers[each])
            if similarity >= self._bar:
                self._cluster_of[each] = name
                self._clusters[name].parts.append(np.array([each]))

    def _find_most_similar(self, place: int, names: set[int]) -> tuple[float, int]:
        vector = self._cloud.unit_vectors(np.array([place]))[0]
        similarity, name = max((float(vector @ self._clusters[at].centre), -at) for at in names)
        return similarity, -name


ClusterPairs = NDArray[np.int64]


def _iterate_until_stopped(places: Sequence[int], stop: ShouldStop) -> Iterator[int]:
    """Yield the places, looking every now and then whether to stop."""
    for number, place in enumerate(places):
        if number % STOP_CHECK_EVERY == 0 and stop():
            return
        yield place


def _distinct_pairs(one: Places, other: Places) -> ClusterPairs:
    """Return pairs of different names, each once, the smaller first."""
    low, high = np.minimum(one, other), np.maximum(one, other)
    apart = low != high
    keys = np.unique(low[apart] * 2**31 + high[apart])
    return np.stack([keys >> 31, keys & (2**31 - 1)], axis=1)


def _rename_pairs(pairs: ClusterPairs, into: dict[int, int]) -> ClusterPairs:
    names = np.unique(pairs)
    now = np.array([_find_merged_into(into, name) for name in names.tolist()], np.int64)
    one, other = now[np.searchsorted(names, pairs.T)]
    return _distinct_pairs(one, other)


def _find_merged_into(into: dict[int, int], name: int) -> int:
    """Return the cluster that one has become part of, and note it for the next time."""
    last = name
    while last in into:
        last = into[last]
    while name in into and into[name] != last:
        into[name], name = last, into[name]
    return last


def _build_adjacency(lines: SimilarPairs, count: int) -> tuple[Places, Places]:
    """Return for each place where its neighbours begin in one long list of them."""
    one, other = lines.one.astype(np.int64), lines.other.astype(np.int64)
    both = np.sort(np.concatenate([one * count + other, other * count + one]))
    starts = np.searchsorted(both, np.arange(count + 1) * count)
    return starts, both % max(count, 1)


def _unit_vector(total: Floats) -> Floats:
    centre: Floats = total / max(math.sqrt(total.dot(total)), 1e-12)
    return centre
