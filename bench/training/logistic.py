"""The log loss of weighted rows, for what is learnt by logistic regression."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench.training.descent import Vector


class LogisticLoss:
    """The log loss of weighted rows; the last column is the bias and is not held back."""

    def __init__(
        self, rows: NDArray[np.float64], gold: NDArray[np.bool_], counted: Vector, l2: float
    ) -> None:
        self._rows, self._counted = rows, counted
        self._toward = np.where(gold, 1.0, -1.0)
        self._held = np.append(np.full(rows.shape[1] - 1, l2), 0.0)

    def __call__(self, weights: Vector) -> tuple[float, Vector]:
        margin = self._toward * (self._rows @ weights)
        loss = (self._counted * np.logaddexp(0, -margin)).sum()
        doubt = np.exp(-np.logaddexp(0, margin))
        slope = self._rows.T @ (-self._counted * self._toward * doubt)
        return (
            float(loss + (self._held * weights) @ weights / 2),
            slope + self._held * weights,
        )
