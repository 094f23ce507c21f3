"""One score from many signs: absolute, between 0 and 1, and the same in every store (I10).

What a question and a passage have in common is told by *features*. Each *head* is a list of
features with one weight each, found by `bench/training` and kept in a small readable file. A
head's sum becomes the chance that the passage answers the question (`calibrate_sums`), and the
documented boosts act on that chance (`boost_factors`), here and nowhere else.

No feature is relative to the best candidate: the best of nothing must not look good.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float64]
"""One number for each candidate."""

TIER_BOOST = {"core": 0.10, "working": 0.0, "archival": -0.10}
OTHER_SPACE_FACTOR = 0.6  # what a memory of another space counts for
CONFIDENCE_FLOOR = 0.4  # what a memory counts for whose author was not sure at all
RECENCY_BOOST = 0.05  # for a memory used just now
RECENCY_HALF_LIFE_DAYS = 7.0
USE_BOOST = 0.05  # for a memory used often
USES_FOR_FULL_BOOST = 20  # uses that earn the whole boost
IMPORTANCE_BOOST = 0.05  # at importance 1; as much is lost at 0
TINY = 1e-9
LEAD_MOST = 3.0  # of a sum: whoever is further ahead or behind is no surer for it
OUTDATED_FACTOR = 0.5  # what a memory counts for that is no longer true
NEWEST_BOOST = 1.5  # for a memory of just now, when the newest are asked for
NEWEST_HALF_LIFE_DAYS = 14.0
ON_DAY_FACTOR, ON_DATE_FACTOR, OFF_DATE_FACTOR = (
    2.0,
    1.3,
    0.7,
)  # for a note of the day, of the month, of another
IN_TIME_FACTOR = 1.2  # for a memory from a time that the question only mentions

LIFT_QUOTED = 0.5  # how far towards certainty a memory is lifted that holds what is quoted
LIFT_SELF = 0.15  # and one about the asker, when the asker speaks of themselves
LIFT_ONLY_SELF = 0.6  # and when they speak of nothing else

BM25_K1 = 1.2  # how soon a word said again adds nothing
BM25_B = 0.75  # how much a long text has to pay
SOFT_FROM, SOFT_OVER = 0.35, 0.5  # token cosines below say nothing; .85 and above say it all


@dataclass(frozen=True, slots=True)
class Calibration:
    """How a head's sum becomes a chance: the logistic of slope x sum + the weighted evidence +
    bias. More evidence never lowers it."""

    slope: float
    bias: float
    evidence: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RecallHead:
    """What counts for one kind of candidate."""

    weights: Mapping[str, float]
    calibration: Calibration


@dataclass(frozen=True, slots=True)
class BoostInputs:
    """What the boosts look at."""

    tier: str = "working"
    confidence: float = 1.0
    same_space: bool = True
    idle_days: float = math.inf
    uses: int = 0
    importance: float = 0.5
    outdated: bool = False
    age_days: float | None = None
    """How old it is, when the newest are asked for."""
    on_date: bool | None = None
    """Whether it is of the month or year that is asked about, when one is."""
    on_day: bool = False
    """Whether it is of the very day."""
    in_time: bool = False
    """Whether it is from a time that the question mentions, though it asks for something else."""
    relevance: float | None = None
    """What consolidation thinks it is worth now, where it has a say."""
    relevance_weight: float = 0.0
    """How much of a say: 1 lets what is not relevant at all count nothing."""


def weighted_sums(head: RecallHead, features: Mapping[str, Column]) -> Column:
    """Return each candidate's weighted sum. A feature that is not there counts nothing."""
    there = {name: weight for name, weight in head.weights.items() if name in features}
    if not there:
        return np.zeros(len(next(iter(features.values()), ())))
    total: Column = np.array(list(there.values())) @ np.array([features[name] for name in there])
    return total


def calibrate_sums(
    head: RecallHead, sums: Column, evidence: Mapping[str, float | Column]
) -> Column:
    """Return for each sum the chance that the candidate answers the question. Evidence is of the
    question (one number) or of each candidate."""
    said = head.calibration
    least = said.bias + sum(
        weight * evidence.get(name, 0.0) for name, weight in said.evidence.items()
    )
    chance: Column = 1.0 / (1.0 + np.exp(-np.clip(said.slope * sums + least, -60.0, 60.0)))
    return chance


def leads_over_others(sums: Column, owners: NDArray[np.int64]) -> Column:
    """Return how far each sum is ahead of the best sum of another owner, negative if behind, at
    most `LEAD_MOST` either way. Whoever is alone is compared with what has nothing in common with
    the question: one unrelated memory more must not make an answer surer (I10)."""
    if not len(sums):
        return np.zeros(0)
    first = sums.argmax()
    own = owners == owners[first]
    best_of_others = 0.0 if own.all() else sums[~own].max()
    lead: Column = np.clip(sums - np.where(own, best_of_others, sums[first]), -LEAD_MOST, LEAD_MOST)
    return lead


def chance_behind(chances: Column, best: float) -> Column:
    """Return the chances of candidates beside a better one that other weights have weighed. Each
    was said as if there were nothing but its own kind. As a rule only one of two answers: the
    chance is that of this one and not the other, among all that leaves at most one an answer."""
    behind: Column = chances * (1 - best) / np.maximum(1 - chances * best, TINY)
    return behind


def boost_factors(standing: BoostInputs) -> dict[str, float]:
    """Return each documented boost as a factor, by name; 1 changes nothing."""
    recent = 2.0 ** (-max(standing.idle_days, 0.0) / RECENCY_HALF_LIFE_DAYS)
    often = min(1.0, math.log1p(standing.uses) / math.log1p(USES_FOR_FULL_BOOST))
    return {
        "tier": 1 + TIER_BOOST[standing.tier],
        "confidence": CONFIDENCE_FLOOR + (1 - CONFIDENCE_FLOOR) * standing.confidence,
        "space": 1.0 if standing.same_space else OTHER_SPACE_FACTOR,
        "recency": 1 + RECENCY_BOOST * recent,
        "use": 1 + USE_BOOST * often,
        "importance": 1 + IMPORTANCE_BOOST * (2 * standing.importance - 1),
        "validity": OUTDATED_FACTOR if standing.outdated else 1.0,
        "newest": 1 + NEWEST_BOOST * _newest_share(standing.age_days),
        "date": _date_factor(standing),
        **_relevance_factor(standing),
    }


def _relevance_factor(standing: BoostInputs) -> dict[str, float]:
    """Return what relevance takes away; without a weight or a score it is no factor at all."""
    if standing.relevance is None or not standing.relevance_weight:
        return {}
    return {"relevance": 1 - standing.relevance_weight * (1 - standing.relevance)}


def _date_factor(standing: BoostInputs) -> float:
    if standing.on_day:
        return ON_DAY_FACTOR
    if standing.on_date is None and standing.in_time:
        return IN_TIME_FACTOR
    return {None: 1.0, True: ON_DATE_FACTOR, False: OFF_DATE_FACTOR}[standing.on_date]


def _newest_share(age_days: float | None) -> float:
    return 0.0 if age_days is None else 2.0 ** (-max(age_days, 0.0) / NEWEST_HALF_LIFE_DAYS)


def boost_chance(chance: float, factors: Mapping[str, float]) -> float:
    """Return the chance after all boosts. It may pass 1, so that order is kept among the
    best; what is shown is cut there (`display_score`)."""
    return chance * math.prod(factors.values())


def lift_chance(chance: float, lift: float) -> float:
    """Return a chance with another, independent reason on its side."""
    return 1 - (1 - chance) * (1 - lift)


def blend_with_rerank(score: float, logit: float, blend: float) -> float:
    """Return a score blended with what a cross-encoder says; its logits run from -12 to 6."""
    return blend * min(1.0, max(0.0, (logit + 12) / 18)) + (1 - blend) * score


def display_score(score: float) -> float:
    """Return a score as people see it."""
    return round(min(1.0, max(0.0, score)), 4)


def idf(holders: float, memories: float) -> float:
    """Return how much a word tells that `holders` of the memories hold."""
    return math.log(1 + (memories - min(holders, memories) + 0.5) / (holders + 0.5))


def bm25(counts: Column, weights: Column, lengths: Column, mean_length: float) -> Column:
    """Return the sum over words (columns) of their idf, dampened by count and length."""
    room = BM25_K1 * (1 - BM25_B + BM25_B * lengths / max(mean_length, 1.0))
    sums: Column = (counts * (BM25_K1 + 1) / (counts + room[:, None])) @ weights
    return sums


def select_rarest_words(holders: Sequence[int], budget: int, least: int = 1) -> list[int]:
    """Return which words to draw candidates by: the rarest, as long as they stand in no more
    than `budget` memories together; at least `least`, if so many stand anywhere.

    A word that half of the memories hold says little about which to take, and reading where
    it stands takes longest. It still counts when the candidates are compared.
    """
    places = sorted(
        (place for place, count in enumerate(holders) if count), key=holders.__getitem__
    )
    chosen: list[int] = []
    total = 0
    for place in places:
        total += holders[place]
        if len(chosen) >= least and total > budget:
            break
        chosen.append(place)
    return chosen


def spread_score(score: float, weight: float, factor: float, decay: float) -> float:
    """Return what a neighbour inherits over a connection."""
    return score * weight * factor * decay
