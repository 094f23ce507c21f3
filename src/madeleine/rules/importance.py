"""How much a memory matters, whoever asks: uses, connections and recency, log-normalised.

Numbers or whole columns of them go in, and as many come out.
"""

from __future__ import annotations

import math

import numpy as np

from madeleine.rules.strength import Number, retrievability

ACCESS_WEIGHT = 0.34
EDGE_WEIGHT = 0.33
RECENCY_WEIGHT = 0.33
ACCESS_REFERENCE = 50
EDGE_REFERENCE = 20


def importance_score(
    uses: Number, connections: Number, days: Number, stability_days: Number
) -> Number:
    """Return the documented importance, between 0 and 1."""
    return (
        ACCESS_WEIGHT * log_share(uses, ACCESS_REFERENCE)
        + EDGE_WEIGHT * log_share(connections, EDGE_REFERENCE)
        + RECENCY_WEIGHT * retrievability(stability_days, days)
    )


def stability_of_half_life(days: float) -> float:
    """Return the stability with which recency falls to a half in so many days."""
    return days / math.log(2)


def log_share(count: Number, reference: int) -> Number:
    """Return how far `count` is on the way to `reference`, on a log scale, at most 1."""
    share: Number = np.minimum(1.0, np.log1p(count) / np.log1p(reference))
    return share
