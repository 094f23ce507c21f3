"""Which hits an overview is made of: the best, spread over conversations and days.

Who asks for all the times that something happened is badly served by thirty lines of one afternoon.
So each further hit of a group counts for less than the one before, and the best that is left is
taken, until there are enough.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Hashable, Sequence

GROUP_FACTOR = 0.7  # what a hit counts for, for each one of its group that was taken before


def spread_over_groups(
    scores: Sequence[float], groups: Sequence[Hashable], count: int
) -> list[int]:
    """Return the places of at most `count` hits, in their order. `scores` are those of a ranked
    list, best first; hits of one conversation or day have equal `groups`."""
    if len(scores) <= count:
        return list(range(len(scores)))
    taken: Counter[Hashable] = Counter()
    waiting = [(-score, place, 0) for place, score in enumerate(scores)]
    heapq.heapify(waiting)
    chosen: list[int] = []
    while waiting and len(chosen) < count:
        _, place, known = heapq.heappop(waiting)
        before = taken[groups[place]]
        if known == before:
            chosen.append(place)
            taken[groups[place]] += 1
        else:  # more of its group were taken since it was weighed
            heapq.heappush(waiting, (-scores[place] * GROUP_FACTOR**before, place, before))
    return sorted(chosen)
