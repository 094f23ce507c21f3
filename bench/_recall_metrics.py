"""What a ranked list is worth, given which memories answer the question.

Each function takes one list, best first and no id twice, and the set of ids that answer. A
figure is the mean over questions, each weighing the same; `Mean` keeps how many there were and
how far the mean may be off.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

MRR_DEPTH = 50  # a first answer further down counts as none
NORMAL_95 = 1.96


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over `n` values; the true one lies within `spread` of it, 19 times in 20."""

    value: float
    n: int
    spread: float


def recall_at(ranked: Sequence[str], gold: frozenset[str], k: int) -> float:
    """Return the share of the answers that stand among the first `k`."""
    return len(gold.intersection(ranked[:k])) / len(gold)


def any_at(ranked: Sequence[str], gold: frozenset[str], k: int) -> float:
    """Return 1 if an answer stands among the first `k`, else 0."""
    return float(not gold.isdisjoint(ranked[:k]))


def ndcg_at(ranked: Sequence[str], gold: frozenset[str], k: int) -> float:
    """Return the gain of the first `k`, an answer further up counting more, against the best
    order there could be."""
    gain = sum(_discount(place) for place, each in enumerate(ranked[:k]) if each in gold)
    return gain / sum(_discount(place) for place in range(min(len(gold), k)))


def reciprocal_rank(ranked: Sequence[str], gold: frozenset[str], depth: int = MRR_DEPTH) -> float:
    """Return 1 divided by the rank of the first answer, 0 if there is none within `depth`."""
    ranks = (place for place, each in enumerate(ranked[:depth], 1) if each in gold)
    first = next(ranks, None)
    return 1 / first if first else 0.0


def collapsed(ranked: Iterable[str], group: Mapping[str, str]) -> list[str]:
    """Return the groups of the ranked ids, each where the first of its members stood."""
    return list(dict.fromkeys(group[each] for each in ranked if each in group))


def intruders(ranked: Sequence[str], gold: frozenset[str], foreign: frozenset[str]) -> int:
    """Return how many foreign ids stand above the last answer that was found."""
    places = [place for place, each in enumerate(ranked) if each in gold]
    return len(foreign.intersection(ranked[: places[-1]])) if places else 0


def mean(values: Iterable[float]) -> Mean:
    """Return the mean with its interval; of nothing it is 0."""
    given = list(values)
    count = len(given)
    if not count:
        return Mean(0.0, 0, 0.0)
    middle = math.fsum(given) / count
    variance = math.fsum((each - middle) ** 2 for each in given) / max(count - 1, 1)
    return Mean(middle, count, NORMAL_95 * math.sqrt(variance / count))


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that `share` of all do not exceed."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1]


def _discount(place: int) -> float:
    return 1 / math.log2(place + 2)
