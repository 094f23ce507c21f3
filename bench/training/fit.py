"""Learns the weights of a head, so that answers come before everything else.

For each answer the loss is ln(1 + Σ e^(sum of another - sum of the answer)) over the candidates
that are no answers, and a question with many answers counts as the root of their number. What
is wanted is an order, so only differences between candidates of one question count. Every
weight keeps the sign it is allowed: more agreement never lowers a score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.training.descent import Vector, minimise

Weights = dict[str, float]
"""A weight for each feature, by name."""

STEPS = 300
TINY = 1e-300
FLAT = 1e-6  # a feature that varies less says nothing


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A question's candidates: a row of features each, and whether it is an answer.

    `n_gold_total` also counts the answers that are not among the candidates. `sessions` are
    numbers, -1 for none; `gold_sessions` are those that hold an answer.
    """

    features: NDArray[np.float32]
    gold: NDArray[np.bool_]
    n_gold_total: int
    kind: str = ""
    sessions: NDArray[np.int64] | None = None
    gold_sessions: frozenset[int] = frozenset()


def fit_listwise(
    examples: Sequence[Example],
    names: Sequence[str],
    signs: Mapping[str, int],
    l2: float,
    steps: int = STEPS,
) -> Weights:
    """Return the weight of each feature, in the scale in which the features are given.

    `signs` say which weights may not be negative (1), not positive (-1), or are free (0).
    Questions without an answer among their candidates teach no order and are passed over.
    """
    taught = [each for each in examples if each.gold.any()]
    if not taught:
        raise ValueError("no question has an answer among its candidates")
    rows = np.concatenate([each.features for each in taught]).astype(np.float64)
    spread = spread_of(rows)
    loss = _Listwise((rows - rows.mean(axis=0)) / spread, taught, l2)
    sign = np.array([signs[name] for name in names])
    lower, upper = np.where(sign > 0, 0.0, -np.inf), np.where(sign < 0, 0.0, np.inf)
    weights = minimise(loss, lower, upper, steps) / spread
    return dict(zip(names, weights.tolist(), strict=True))


def spread_of(rows: NDArray[np.float64]) -> Vector:
    """Return by how much each column varies; 1 for one that does not."""
    spread: Vector = rows.std(axis=0)
    return np.where(spread < FLAT, 1.0, spread)


class _Listwise:
    """The loss, over all questions at once."""

    def __init__(self, rows: NDArray[np.float64], examples: Sequence[Example], l2: float) -> None:
        lengths = np.array([len(each.gold) for each in examples])
        self._rows, self._l2 = rows, l2
        self._starts = np.cumsum(lengths) - lengths
        self._owner = np.repeat(np.arange(len(examples)), lengths)
        self._gold = np.concatenate([each.gold for each in examples])
        self._of_gold = self._owner[self._gold]
        counts = np.bincount(self._of_gold, minlength=len(examples))
        self._share = 1 / np.sqrt(counts)[self._of_gold]

    def __call__(self, weights: Vector) -> tuple[float, Vector]:
        sums = self._rows @ weights
        best = np.maximum.reduceat(sums, self._starts)
        powers = np.exp(sums - best[self._owner])  # at most 1, so nothing overflows
        others = np.add.reduceat(np.where(self._gold, 0, powers), self._starts)
        mine, margin = powers[self._gold], (sums - best[self._owner])[self._gold]
        against = others[self._of_gold] + mine
        loss = (self._share * (np.log(against + TINY) - margin)).sum()
        slope = self._rows.T @ self._pull(powers, mine, against)
        return (
            float(loss + self._l2 / 2 * weights @ weights),
            slope + self._l2 * weights,
        )

    def _pull(self, powers: Vector, mine: Vector, against: Vector) -> Vector:
        """Return how the loss changes with the sum of each candidate."""
        weight = np.bincount(self._of_gold, self._share / against, len(self._starts))
        pull: Vector = np.where(self._gold, 0, powers * weight[self._owner])
        pull[self._gold] = self._share * (mine / against - 1)
        return pull


def sums_of(example: Example, names: Sequence[str], weights: Weights) -> Vector:
    """Return each candidate's weighted sum."""
    column: Vector = example.features.astype(np.float64) @ np.array([weights[n] for n in names])
    return column


def leave_one_out(
    stores: Mapping[str, Sequence[Example]],
    names: Sequence[str],
    fit: Callable[[list[Example]], Weights],
) -> dict[str, list[Vector]]:
    """Return the sums of each store's candidates under weights that never saw that store."""
    found: dict[str, list[Vector]] = {}
    for held_out, asked in stores.items():
        rest = [each for name, given in stores.items() if name != held_out for each in given]
        weights = fit(rest)
        found[held_out] = [sums_of(each, names, weights) for each in asked]
    return found
