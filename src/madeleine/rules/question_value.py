"""Which of several questions is worth a person's time: the surest about what matters most."""

from __future__ import annotations

import math

USES_FULL = 20  # uses from which a memory counts as much used
LEAST_SHARE = 0.4  # of its sureness that a question about a memory of no weight is worth


def question_value(sure: float, importance: float, uses: int) -> float:
    """Return what a question is worth, 0 to 1: how sure the judge is of the answer, and how much
    the memory that it is about matters, by its importance or its use, whichever is more."""
    used = min(1.0, math.log1p(max(uses, 0)) / math.log1p(USES_FULL))
    weight = max(min(max(importance, 0.0), 1.0), used)
    return min(max(sure, 0.0), 1.0) * (LEAST_SHARE + (1 - LEAST_SHARE) * weight)
