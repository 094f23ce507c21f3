"""How likely two memories of one store say the same, or the newer one replaces the older.

A reader of pairs is calibrated on pairs of which as many are updates as anything else. In a store
nearly all that is near is nothing of the kind, and what two memories share says more there: how
alike they are, and how rare the words are that both have. Weights fitted on whole stores make
chances of both that hold at that base rate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

LEAST_STORE = 65  # memories of the stores that were learnt from; in a smaller one no word is common
RARE_HOLDERS = 3  # memories at most that have a rare word


def word_rarity(holders: int, memories: int) -> float:
    """Return how rare a word is, 0 to 1, that so many of all memories have."""
    share = max(memories, LEAST_STORE) / max(holders, 1)
    return min(1.0, math.log(max(share, 1.0)) / math.log(LEAST_STORE))


def weigh_signs(
    weights: Mapping[str, Mapping[str, float]], signs: Mapping[str, float]
) -> dict[str, float]:
    """Return the chance of each answer that has weights; what is left is none of them."""
    sums = {
        answer: own["bias"] + math.fsum(own[name] * value for name, value in signs.items())
        for answer, own in weights.items()
    }
    most = max(0.0, *sums.values())
    likely = {answer: math.exp(each - most) for answer, each in sums.items()}
    total = math.exp(-most) + math.fsum(likely.values())
    return {answer: each / total for answer, each in likely.items()}
