"""Learns how a head's sum becomes the chance that a candidate answers the question.

A sum only orders the candidates of one question. Whether the best of them is an answer at all
is also told by the question's own evidence: how much of it the best candidate covers, how well
the best passage meets it, how many telling words it has. None of it is relative to the other
candidates, and none may lower the chance: the bounds of the fit see to that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.training.descent import Vector, minimise
from bench.training.fit import spread_of
from bench.training.logistic import LogisticLoss
from madeleine.rules.fusion import Calibration, RecallHead, calibrate_sums

STEPS = 2_000
BINS = 10
MIDDLE = (0.1, 0.9)  # where a threshold may lie
POPULATED = 20  # candidates that a bin needs before its error says anything
TINY = 1e-6
LEAST_SLOPE = 1e-3  # in units of the spread: the better sum is always the better chance
OWN = "own"
"""The kind of a store's own questions, in reports; others have no answer there."""


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """The best candidates of a question: their sums, which are answers, and the evidence, of the
    question or of each candidate."""

    kind: str
    sums: Vector
    gold: NDArray[np.bool_]
    evidence: Mapping[str, float | Vector]


@dataclass(frozen=True, slots=True)
class Bin:
    """Candidates whose chance was said to be about the same: what was said, and what was so."""

    low: float
    count: int
    said: float
    was: float


@dataclass(frozen=True, slots=True)
class Report:
    """How far chances can be trusted. By kind of question without an answer: how often the
    best chance of an own question is above theirs, and what 95 of 100 of them stay below."""

    error: float
    middle_error: float
    bins: tuple[Bin, ...]
    auc: dict[str, float]
    ceiling: dict[str, float]
    median_own: float


def fit_calibration(
    asked: Sequence[Scored],
    evidence: Sequence[str],
    l2: float = 1.0,
    steps: int = STEPS,
    alike: bool = True,
) -> Calibration:
    """Return the calibration under which what is said fits best what is so.

    `alike`: questions with an answer and questions without count alike, however many there are of
    each. Otherwise each question counts as one.
    """
    rows = np.concatenate([_rows(each, evidence) for each in asked])
    gold = np.concatenate([each.gold for each in asked])
    spread, mean = spread_of(rows), rows.mean(axis=0)
    design = np.column_stack([(rows - mean) / spread, np.ones(len(rows))])
    counted = _counted_alike(asked) if alike else np.ones(len(rows))
    loss = LogisticLoss(design, gold, counted, l2)
    lower = np.array([LEAST_SLOPE, *(0.0 for _ in evidence), -np.inf])
    fitted = minimise(loss, lower, np.full(len(lower), np.inf), steps)
    weights = fitted[:-1] / spread
    bias = float(fitted[-1] - weights @ mean)
    return Calibration(
        float(weights[0]), bias, dict(zip(evidence, weights[1:].tolist(), strict=True))
    )


def scale_to_first_hits(calibration: Calibration, asked: Sequence[Scored]) -> Calibration:
    """Return the calibration with its log odds scaled and shifted so that what is said of the first
    hit of a question is so. A fit over all candidates is one over the many that are no answers, and
    too shy about the one that people look at."""
    first = [each for each in asked if len(each.sums)]
    said = np.array([chances(calibration, each)[0] for each in first])
    said = np.clip(said, TINY, 1 - TINY)
    design = np.column_stack([np.log(said / (1 - said)), np.ones(len(said))])
    gold = np.array([each.gold[0] for each in first], np.bool_)
    loss = LogisticLoss(design, gold, np.ones(len(said)), l2=0.0)
    scale, shift = minimise(loss, np.array([LEAST_SLOPE, -np.inf]), np.full(2, np.inf), STEPS)
    return Calibration(
        float(scale * calibration.slope),
        float(scale * calibration.bias + shift),
        {name: float(scale * weight) for name, weight in calibration.evidence.items()},
    )


def chances(calibration: Calibration, asked: Scored) -> Vector:
    """Return the chance of each candidate, as recall itself would say it."""
    return calibrate_sums(RecallHead({}, calibration), asked.sums, asked.evidence)


def judge(calibration: Calibration, asked: Sequence[Scored]) -> Report:
    """Return how well a calibration does on questions it may not have seen."""
    said = [(each, chances(calibration, each)) for each in asked]
    own = [(each, chance) for each, chance in said if each.kind == OWN]
    bins = reliability(
        np.concatenate([chance for _, chance in own]), np.concatenate([e.gold for e, _ in own])
    )
    best = {
        kind: np.array([chance.max(initial=0.0) for each, chance in said if each.kind == kind])
        for kind in sorted({each.kind for each in asked})
    }
    foreign = {kind: found for kind, found in best.items() if kind != OWN}
    return Report(
        error=calibration_error(bins),
        middle_error=calibration_error(
            [b for b in bins if MIDDLE[0] <= b.low < MIDDLE[1] and b.count >= POPULATED]
        ),
        bins=bins,
        auc={kind: auc(best[OWN], found) for kind, found in foreign.items()},
        ceiling={kind: float(np.percentile(found, 95)) for kind, found in foreign.items()},
        median_own=float(np.median(best[OWN])),
    )


def reliability(said: Vector, was: NDArray[np.bool_], bins: int = BINS) -> tuple[Bin, ...]:
    """Return the bins that hold anything, from low to high."""
    number = np.minimum((said * bins).astype(int), bins - 1)
    return tuple(
        Bin(
            each / bins,
            int((number == each).sum()),
            float(said[number == each].mean()),
            float(was[number == each].mean()),
        )
        for each in np.unique(number).tolist()
    )


def calibration_error(bins: Sequence[Bin]) -> float:
    """Return the expected calibration error: how far what is said lies from what is so."""
    total = sum(each.count for each in bins)
    return sum(each.count * abs(each.said - each.was) for each in bins) / total if total else 0.0


def auc(higher: Vector, lower: Vector) -> float:
    """Return how often one of `higher` is above one of `lower`; equal ones count half."""
    ordered = np.sort(lower)
    below = np.searchsorted(ordered, higher, "left") + np.searchsorted(ordered, higher, "right")
    return float(below.mean() / 2 / len(lower))


def _rows(asked: Scored, evidence: Sequence[str]) -> NDArray[np.float64]:
    """Return a row for each candidate: its sum, and the evidence in each."""
    said = [np.broadcast_to(asked.evidence.get(name, 0.0), len(asked.sums)) for name in evidence]
    return np.column_stack([asked.sums, *said])


def _counted_alike(asked: Sequence[Scored]) -> Vector:
    """Return how much each candidate counts: both kinds of questions half of the whole."""
    own = np.concatenate([np.full(len(each.sums), each.kind == OWN) for each in asked])
    share = float(own.mean())
    if share in (0.0, 1.0):
        return np.ones(len(own))
    return np.where(own, 0.5 / share, 0.5 / (1 - share))
