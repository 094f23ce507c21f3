"""Which summary belongs to which cluster, from one run to the next.

A cluster is what its members are; a summary is the same one as long as it sums up mostly the
same memories. So of all pairs of a cluster and a summary that share more than half of the
smaller one, those belong together that share most. A cluster that shares so much with a summary
that somebody refused is left alone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence


def match_summaries(
    found: Sequence[Collection[str]], known: Sequence[Collection[str]]
) -> dict[int, int]:
    """Return for clusters, by their places, the summaries that belong to them."""
    same: dict[int, int] = {}
    taken: set[int] = set()
    for place, at in _find_overlapping(found, known):
        if place not in same and at not in taken:
            same[place] = at
            taken.add(at)
    return same


def find_refused(found: Sequence[Collection[str]], unwanted: Sequence[Collection[str]]) -> set[int]:
    """Return the places of the clusters whose summary somebody said no to."""
    return {place for place, _ in _find_overlapping(found, unwanted)}


def _find_overlapping(
    found: Sequence[Collection[str]], known: Sequence[Collection[str]]
) -> list[tuple[int, int]]:
    """Return the pairs that share more than half of the smaller one, those first that share
    most."""
    holders: dict[str, list[int]] = defaultdict(list)
    for at, members in enumerate(known):
        for each in members:
            holders[each].append(at)
    shared = Counter(
        (place, at) for place, each in enumerate(found) for one in each for at in holders[one]
    )
    return [
        (place, at)
        for (place, at), count in sorted(shared.items(), key=lambda each: (-each[1], each[0]))
        if 2 * count > min(len(found[place]), len(known[at]))
    ]
