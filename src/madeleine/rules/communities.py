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

from madeleine.rules.likeness import (
    ROUNDING,
    Alike,
    Cloud,
    Floats,
    Places,
    Stop,
    alike,
    fingerprints,
)

STAYING = 0.9  # share of each of two clusters that has to stay for them to become one
FAR_LARGER = 8  # times another cluster: so much that taking it in moves no centre
PAIRS = 16_384  # of clusters that are compared at a time
ROUNDS = 32  # of putting clusters together; a few are enough
FREE = -1  # in no cluster
LOOK_EVERY = 16  # clusters made or put together: a few milliseconds


@dataclass(frozen=True, slots=True)
class Community:
    """The places of those that belong together, in order, and how alike each is to what they
    have in common."""

    places: tuple[int, ...]
    likeness: tuple[float, ...]


def communities(
    cloud: Cloud,
    least: float,
    fewest: int,
    apart: NDArray[np.int32] | None = None,
    stop: Stop = lambda: False,
) -> list[Community]:
    """Return the clusters of at least `fewest`, the largest first.

    `apart` numbers what must not be mixed: two vectors with different numbers are in no cluster
    together, unless one of the numbers is 0, which goes with any. Asked to stop, it returns
    what it has.
    """
    groups = np.zeros(len(cloud), np.int32) if apart is None else apart
    copies = _Copies.of(cloud, groups)
    firsts = Cloud(cloud.matrix, cloud.rows[copies.first])
    lines = _within(alike(firsts, least, stop), groups[copies.first])
    found = _Forming(firsts, least, lines, copies.count, stop).clusters()
    whole = [copies.all_of(each) for each in found]
    parts = [part for each in whole for part in _unmixed(each, groups)]
    large = [each for each in parts if len(each) >= fewest]
    return sorted((_community(cloud, each) for each in large), key=_largest_first)


def _largest_first(community: Community) -> tuple[int, tuple[int, ...]]:
    return -len(community.places), community.places


def _community(cloud: Cloud, places: Places) -> Community:
    vectors = cloud.at(places)
    likeness = np.clip(vectors @ _unit(vectors.sum(axis=0)), 0.0, 1.0)
    return Community(tuple(places.tolist()), tuple(round(float(each), 4) for each in likeness))


# --- copies -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Copies:
    """Equal vectors that may be together, told once. There may be very many of one."""

    first: Places
    count: Places
    ends: Places
    """Where the copies of each end among `places`."""
    places: Places

    @classmethod
    def of(cls, cloud: Cloud, groups: NDArray[np.int32]) -> _Copies:
        marks = fingerprints(cloud) + groups.astype(np.uint64)
        _, first, kind, count = np.unique(
            marks, return_index=True, return_inverse=True, return_counts=True
        )
        order = np.argsort(first)  # as they come, not as their marks are
        rank = np.empty(len(first), np.int64)
        rank[order] = np.arange(len(first))
        places = np.argsort(rank[kind], kind="stable")
        return cls(first[order], count[order], np.cumsum(count[order]), places)

    def all_of(self, firsts: Places) -> Places:
        """Return the places of all copies of these, in order."""
        ends, count = self.ends[firsts].tolist(), self.count[firsts].tolist()
        each = [self.places[end - size : end] for end, size in zip(ends, count, strict=True)]
        return np.sort(np.concatenate(each))


# --- what must not be mixed ---------------------------------------------------------------


def _within(lines: Alike, groups: NDArray[np.int32]) -> Alike:
    """Return the lines between those that may be together."""
    one, other = groups[lines.one], groups[lines.other]
    kept = (one == other) | (one == 0) | (other == 0)
    return Alike(lines.one[kept], lines.other[kept], lines.likeness[kept])


def _unmixed(places: Places, groups: NDArray[np.int32]) -> list[Places]:
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
        return _unit(self.total)

    def members(self) -> Places:
        """Return them in order; what was put in order once stays so."""
        if len(self.parts) > 1 or not self.in_order:
            self.parts, self.in_order = [np.sort(np.concatenate(self.parts))], True
        return self.parts[0]


class _Forming:
    """Clusters in the making, each named by the vector that was its first centre."""

    def __init__(
        self, cloud: Cloud, least: float, lines: Alike, weight: Places, stop: Stop
    ) -> None:
        self._cloud, self._bar, self._lines = cloud, least - ROUNDING, lines
        self._weight = weight  # how often each vector is there
        self._stop = stop
        self._of = np.full(len(cloud), FREE, np.int64)
        self._clusters: dict[int, _Cluster] = {}
        self._changes: Counter[int] = Counter()
        self._refused: dict[tuple[int, int], tuple[int, int]] = {}
        """Clusters that were not put together, and how often each had changed by then."""

    def clusters(self) -> list[Places]:
        self._stars()
        pairs = self._between()
        for _ in range(ROUNDS):
            into = self._put_together(pairs)
            if not into:
                break
            pairs = _renamed(pairs, into)
        self._join()
        members = [each.members() for each in self._clusters.values()]
        return [*(self._near(each, self._centre(each)) for each in members), *self._alone()]

    def _alone(self) -> list[Places]:
        """Return the vectors that are like no other, but there several times."""
        several = np.flatnonzero((self._of == FREE) & (self._weight > 1))
        return [several[[at]] for at in range(len(several))]

    def _near(self, members: Places, centre: Floats) -> Places:
        """Return those that are alike enough to what all of them have in common."""
        return members[self._cloud.likeness(members, centre) >= self._bar]

    def _total(self, members: Places) -> Floats:
        return self._cloud.total(members, self._weight[members])

    def _centre(self, members: Places) -> Floats:
        return _unit(self._total(members))

    # -- stars --

    def _stars(self) -> None:
        """Make a cluster of each vector that has lines to free ones and of those, whoever has
        most lines first."""
        starts, others = _neighbours(self._lines, len(self._cloud))
        degree = np.diff(starts)
        hubs = np.argsort(-degree, kind="stable")[: np.count_nonzero(degree)].tolist()
        for hub in _looking(hubs, self._stop):
            if self._of[hub] != FREE:
                continue
            near = others[starts[hub] : starts[hub + 1]]
            star = np.append(near[self._of[near] == FREE], hub)
            kept = self._near(star, self._centre(star)) if len(star) > 1 else star
            if len(kept) > 1:
                self._of[kept] = hub
                self._clusters[hub] = _Cluster([kept], len(kept), self._total(kept))

    # -- clusters of clusters --

    def _between(self) -> Pairs:
        """Return the clusters that have lines between them, each pair once."""
        one, other = self._of[self._lines.one], self._of[self._lines.other]
        both = (one != FREE) & (other != FREE)
        return _distinct(one[both], other[both])

    def _put_together(self, pairs: Pairs) -> dict[int, int]:
        """Put clusters together, those first that have most in common; return which went into
        which."""
        into: dict[int, int] = {}
        likeness = self._likeness(pairs)
        best_first = np.argsort(-np.round(likeness, 5), kind="stable").tolist()
        for at in _looking(best_first, self._stop):
            one, other = (_last(into, name) for name in pairs[at].tolist())
            if one != other and self._unite_if_new(one, other):
                into[other] = one
        return into

    def _unite_if_new(self, one: int, other: int) -> bool:
        """Try to put two clusters together, unless they were tried as they are now."""
        as_they_are = self._changes[one], self._changes[other]
        if self._refused.get((one, other)) == as_they_are:
            return False
        if self._unite(one, other):
            return True
        self._refused[one, other] = as_they_are
        return False

    def _likeness(self, pairs: Pairs) -> Floats:
        """Return how alike the centres of each pair are."""
        names = np.unique(pairs)
        centres = np.array([self._clusters[each].centre for each in names.tolist()], np.float32)
        one, other = np.searchsorted(names, pairs.T)
        parts = [
            np.vecdot(centres[one[at : at + PAIRS]], centres[other[at : at + PAIRS]])
            for at in range(0, len(pairs), PAIRS)
        ]
        return np.concatenate(parts) if parts else np.empty(0, np.float32)

    def _unite(self, one: int, other: int) -> bool:
        """Let one cluster take in another, if hardly anybody drops out of either. Of one that
        is far larger nobody does: its centre stays where it is."""
        mine, theirs = self._clusters[one], self._clusters[other]
        centre = _unit(mine.total + theirs.total)
        staying: list[Places | None] = []
        for each, beside in ((theirs, mine), (mine, theirs)):
            far_larger = each.size >= FAR_LARGER * beside.size
            near = None if far_larger else self._near(each.members(), centre)
            if near is not None and len(near) < STAYING * each.size:
                return False
            staying.append(near)
        theirs_left, mine_left = staying
        kept = [self._left(mine, mine_left), self._left(theirs, theirs_left)]
        self._take_in(one, other, kept)
        return True

    def _left(self, cluster: _Cluster, near: Places | None) -> _Cluster:
        """Return what is left of a cluster when only those near to a new centre stay."""
        if near is None or len(near) == cluster.size:
            return cluster
        return _Cluster([near], len(near), self._total(near), in_order=True)

    def _take_in(self, one: int, other: int, kept: Sequence[_Cluster]) -> None:
        for name, after in zip((one, other), kept, strict=True):
            if after is not self._clusters[name]:
                self._of[self._clusters[name].members()] = FREE
        first, second = sorted(kept, key=lambda each: -len(each.parts))
        for each in kept:
            if each is not self._clusters[one]:
                for part in each.parts:
                    self._of[part] = one
        first.parts.extend(second.parts)
        made = _Cluster(first.parts, first.size + second.size, first.total + second.total)
        del self._clusters[other]
        self._clusters[one] = made
        self._changes[one] += 1

    # -- the rest --

    def _join(self) -> None:
        """Let each free vector join the cluster that it is most like, of those to whose members
        it has a line."""
        names = self._of.copy()
        offers: dict[int, set[int]] = {}
        ends = (self._lines.one, self._lines.other)
        for mine, theirs in (ends, ends[::-1]):
            wanted = (names[mine] == FREE) & (names[theirs] != FREE)
            pairs = zip(mine[wanted].tolist(), names[theirs[wanted]].tolist(), strict=True)
            for each, name in pairs:
                offers.setdefault(each, set()).add(name)
        for each in _looking(sorted(offers), self._stop):
            likeness, name = self._most_like(each, offers[each])
            if likeness >= self._bar:
                self._of[each] = name
                self._clusters[name].parts.append(np.array([each]))

    def _most_like(self, place: int, names: set[int]) -> tuple[float, int]:
        vector = self._cloud.at(np.array([place]))[0]
        likeness, name = max((float(vector @ self._clusters[at].centre), -at) for at in names)
        return likeness, -name


Pairs = NDArray[np.int64]


def _looking(places: Sequence[int], stop: Stop) -> Iterator[int]:
    """Yield the places, looking every now and then whether to stop."""
    for number, place in enumerate(places):
        if number % LOOK_EVERY == 0 and stop():
            return
        yield place


def _distinct(one: Places, other: Places) -> Pairs:
    """Return pairs of different names, each once, the smaller first."""
    low, high = np.minimum(one, other), np.maximum(one, other)
    apart = low != high
    keys = np.unique(low[apart] * 2**31 + high[apart])
    return np.stack([keys >> 31, keys & (2**31 - 1)], axis=1)


def _renamed(pairs: Pairs, into: dict[int, int]) -> Pairs:
    names = np.unique(pairs)
    now = np.array([_last(into, name) for name in names.tolist()], np.int64)
    one, other = now[np.searchsorted(names, pairs.T)]
    return _distinct(one, other)


def _last(into: dict[int, int], name: int) -> int:
    """Return the cluster that one has become part of, and note it for the next time."""
    last = name
    while last in into:
        last = into[last]
    while name in into and into[name] != last:
        into[name], name = last, into[name]
    return last


def _neighbours(lines: Alike, count: int) -> tuple[Places, Places]:
    """Return for each place where its neighbours begin in one long list of them."""
    one, other = lines.one.astype(np.int64), lines.other.astype(np.int64)
    both = np.sort(np.concatenate([one * count + other, other * count + one]))
    starts = np.searchsorted(both, np.arange(count + 1) * count)
    return starts, both % max(count, 1)


def _unit(total: Floats) -> Floats:
    centre: Floats = total / max(math.sqrt(total.dot(total)), 1e-12)
    return centre
