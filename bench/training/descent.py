"""Finds the least of a smooth convex loss where each weight has its own bounds.

Accelerated projected gradient: a step against the slope, back into the bounds, and on along
the way the weights were already going. The length of a step is found by trying.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Loss = Callable[[Vector], tuple[float, Vector]]
"""Returns the loss at some weights, and its slope there."""

FIRST_STEP = 1e-3
GROWTH = 1.3  # a step that was good may be longer the next time
STILL = 1e-5  # weights that move less than this have arrived
SLACK = 1e-9  # what rounding may add to a loss


def minimise(loss: Loss, lower: Vector, upper: Vector, steps: int) -> Vector:
    """Return the weights within the bounds at which the loss is least, from 0 on."""
    weights = np.clip(np.zeros_like(lower), lower, upper)
    ahead, pace, step = weights, 1.0, FIRST_STEP
    for _ in range(steps):
        reached, step = _stepped(loss, ahead, lower, upper, step)
        moved = reached - weights
        faster = (1 + np.sqrt(1 + 4 * pace * pace)) / 2
        ahead = reached + (pace - 1) / faster * moved
        weights, pace, step = reached, faster, step * GROWTH
        if np.abs(moved).max() < STILL:
            break
    return weights


def _stepped(
    loss: Loss, start: Vector, lower: Vector, upper: Vector, step: float
) -> tuple[Vector, float]:
    """Return where a step leads that is short enough for the slope to be believed."""
    value, slope = loss(start)
    while True:
        reached = np.clip(start - step * slope, lower, upper)
        moved = reached - start
        believed = value + slope @ moved + moved @ moved / (2 * step)
        if loss(reached)[0] <= believed + SLACK:
            return reached, step
        step /= 2
        if step == 0:
            raise ArithmeticError("the loss is not a number, or not smooth")
