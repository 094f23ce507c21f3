"""How sums of evidence and the numbers of a network become chances.

A network's largest number says what it takes for likeliest, not how often it is right when it
says so. Both are mended here by numbers that were fitted on pairs it had not learnt: a
`temperature` that makes all answers more or less sure, and for each answer a `bias` that makes
it rarer or more frequent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

SMALLEST = 1e-6  # keeps log-odds finite
MOST_LOG_ODDS = 30.0  # beyond which a chance is 0 or 1 for every purpose


def chance_from_log_odds(log_odds: float) -> float:
    """Return the chance, between 0 and 1."""
    return 1.0 / (1.0 + math.exp(-max(-MOST_LOG_ODDS, min(MOST_LOG_ODDS, log_odds))))


def log_odds(chance: float) -> float:
    """Return how likely something is on the scale that has no ends."""
    kept = min(max(chance, SMALLEST), 1 - SMALLEST)
    return math.log(kept / (1 - kept))


def calibrate_logits(
    logits: Sequence[float], temperature: float, bias: Sequence[float]
) -> list[float]:
    """Return the chance of each answer: exp(logit / temperature + bias), as shares of the sum."""
    raised = [each / temperature + more for each, more in zip(logits, bias, strict=True)]
    most = max(raised)
    likely = [math.exp(each - most) for each in raised]
    total = math.fsum(likely)
    return [each / total for each in likely]


def rescale_chance(chance: float, slope: float, shift: float) -> float:
    """Return how likely what was said with `chance` turned out to be: a logistic curve of its
    log-odds."""
    return 1 / (1 + math.exp(-(slope * log_odds(chance) + shift)))
