"""What whispers are worth, given which memories fit a prompt and which prompts nothing fits.

Rates are means over prompts, precision and recall over memories. A gate is chosen on prompts
that nothing fits, or on exact sets, and read on others: chosen and read on the same prompts it
is optimistic, and whoever shows such a figure has to say so.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from _recall_metrics import NORMAL_95, Mean, mean
from _whisper_asking import Answer

Answers = Sequence[Answer]
Choose = Callable[[Answers], float]
"""A gate for the prompts that are given."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How often a whisper may come where nothing fits: on the mean over kinds, and for some
    kinds by themselves."""

    mean: float
    of_kind: Mapping[str, float] = field(default_factory=dict)

    def within(self, margin: float) -> Limits:
        """Return limits so many times as strict: a gate that is frozen drifts."""
        of_kind = {kind: most / margin for kind, most in self.of_kind.items()}
        return Limits(self.mean / margin, of_kind)

    def met(self, rates: Mapping[str, float]) -> bool:
        whole = math.fsum(rates.values()) / max(len(rates), 1)
        each = (rates.get(kind, 0.0) <= most for kind, most in self.of_kind.items())
        return whole <= self.mean and all(each)


# -- rates ---------------------------------------------------------------------------------


def of_kind(answers: Iterable[Answer], kind: str) -> list[Answer]:
    return [each for each in answers if each.prompt.kind == kind]


def whisper_rate(answers: Answers) -> Mean:
    """Return the share of prompts on which anything was whispered; where nothing fits, that is
    the false-whisper rate."""
    return mean(float(bool(each.injected)) for each in answers)


def hit_rate(own: Answers) -> Mean:
    """Return the share of prompts on which a memory that fits was whispered."""
    return mean(float(_fits(each)) for each in own)


def precision(own: Answers) -> Mean:
    """Return the share of what was whispered that fits."""
    return mean(float(name in each.prompt.gold) for each in own for name in each.ids)


def recall(own: Answers) -> Mean:
    """Return the share of what fits that was whispered."""
    return mean(float(name in each.ids) for each in own for name in each.prompt.gold)


def false_rates(answers: Answers, kinds: Iterable[str]) -> dict[str, Mean]:
    """Return the false-whisper rate of each kind of which there are prompts."""
    found = {kind: whisper_rate(of_kind(answers, kind)) for kind in kinds}
    return {kind: rate for kind, rate in found.items() if rate.n}


def over_kinds(rates: Iterable[Mean]) -> Mean:
    """Return the mean over kinds, each weighing the same however many prompts it has."""
    given = list(rates)
    if not given:
        return Mean(0.0, 0, 0.0)
    middle = math.fsum(each.value for each in given) / len(given)
    spread = math.sqrt(math.fsum(each.spread**2 for each in given)) / len(given)
    return Mean(middle, sum(each.n for each in given), spread)


def useful(hit: Mean, whispers: Mean, false: Mean) -> float:
    """Return the share of whispers that were right if a prompt fits as often as not."""
    spoken = whispers.value + false.value
    return hit.value / spoken if spoken else 0.0


def exact(answer: Answer) -> bool:
    """Say whether what was whispered is what fits, no more and no less."""
    return set(answer.ids) == answer.prompt.gold and not forbidden(answer)


def forbidden(answer: Answer) -> bool:
    return not answer.prompt.forbidden.isdisjoint(answer.ids)


def concept_recall(ranked: Sequence[str], concepts: Sequence[frozenset[str]], k: int) -> float:
    """Return the share of concepts that a memory among the first `k` carries."""
    first = frozenset(ranked[:k])
    return sum(not first.isdisjoint(each) for each in concepts) / len(concepts)


def auc(own: Sequence[float], others: Sequence[float]) -> Mean:
    """Return how often a score of the first kind is above one of the second; a tie is half.

    The interval is that of Hanley and McNeil (1982).
    """
    many, few = len(own), len(others)
    if not many or not few:
        return Mean(0.0, 0, 0.0)
    ordered = sorted(others)
    wins = sum(_above(ordered, score) for score in own)
    area = wins / (many * few)
    one, two = area / (2 - area), 2 * area * area / (1 + area)
    square = area * area
    left = (many - 1) * (one - square) + (few - 1) * (two - square)
    variance = (area * (1 - area) + left) / (many * few)
    return Mean(area, many + few, NORMAL_95 * math.sqrt(max(variance, 0.0)))


def _above(ordered: Sequence[float], score: float) -> float:
    below = bisect_left(ordered, score)
    ties = sum(1 for each in ordered[below:] if each == score)
    return below + ties / 2


def _fits(answer: Answer) -> bool:
    return not answer.prompt.gold.isdisjoint(answer.ids)


# -- choosing a gate -----------------------------------------------------------------------


def lowest_gate(answers: Answers, kinds: Iterable[str], limits: Limits) -> float:
    """Return the lowest gate that keeps within the limits on these prompts."""
    tops = {kind: sorted(each.top for each in of_kind(answers, kind)) for kind in kinds}
    tops = {kind: found for kind, found in tops.items() if found}
    scores = sorted({top for found in tops.values() for top in found if math.isfinite(top)})
    for gate in [0.0, *(math.nextafter(each, math.inf) for each in scores)]:
        rates = {kind: _share_from(found, gate) for kind, found in tops.items()}
        if limits.met(rates):
            return gate
    raise AssertionError("above all scores there is nothing left to whisper")


def _share_from(ordered: Sequence[float], gate: float) -> float:
    return (len(ordered) - bisect_left(ordered, gate)) / len(ordered)


def most_exact_gate(answers: Answers) -> float:
    """Return the gate with which most sets are exact; of several, the one in the middle."""
    scores = {each.score for answer in answers for each in answer.injected}
    gates = sorted({0.0, *scores, *(math.nextafter(each, math.inf) for each in scores)})
    passed = [sum(exact(answer.at(gate)) for answer in answers) for gate in gates]
    best = [gate for gate, count in zip(gates, passed, strict=True) if count == max(passed)]
    return best[len(best) // 2]


@dataclass(frozen=True, slots=True)
class Frozen:
    """Answers of one group at a gate that was chosen on the other groups."""

    gate: float
    answers: list[Answer]


def frozen(groups: Sequence[Answers], choose: Choose) -> list[Frozen]:
    """Return each group as it is with a gate that was chosen without it."""
    found = []
    for place, group in enumerate(groups):
        others = [each for other, of in enumerate(groups) if other != place for each in of]
        gate = choose(others)
        found.append(Frozen(gate, [each.at(gate) for each in group]))
    return found


def halves(answers: Answers) -> list[list[Answer]]:
    """Return two groups with every second prompt of each kind, for a part with one store."""
    seen: defaultdict[str, int] = defaultdict(int)
    found: list[list[Answer]] = [[], []]
    for each in answers:
        found[seen[each.prompt.kind] % 2].append(each)
        seen[each.prompt.kind] += 1
    return found
