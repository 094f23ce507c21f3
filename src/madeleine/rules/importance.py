"""How much a memory matters, whoever asks: uses, connections and recency, log-normalised."""

from __future__ import annotations

import math

from madeleine.rules.strength import retrievability

ACCESS_WEIGHT = 0.34
EDGE_WEIGHT = 0.33
RECENCY_WEIGHT = 0.33
ACCESS_REFERENCE = 50
EDGE_REFERENCE = 20


def importance(uses: int, connections: int, days: float, stability_days: float) -> float:
    """Return the documented importance, between 0 and 1."""
    return (
        ACCESS_WEIGHT * log_share(uses, ACCESS_REFERENCE)
        + EDGE_WEIGHT * log_share(connections, EDGE_REFERENCE)
        + RECENCY_WEIGHT * retrievability(stability_days, days)
    )


def log_share(count: int, reference: int) -> float:
    """Return how far `count` is on the way to `reference`, on a log scale, at most 1."""
    return min(1.0, math.log1p(count) / math.log1p(reference))
