"""How a memory fades, and how use makes it last longer.

*Retrievability* is our guess at the chance that a memory would still come to mind. It is 1.0
at the moment of use and falls to 37 % after `stability` days. Each use makes the memory more
stable, the more so the closer it was to being forgotten. This is the documented exponential
lifecycle; it is not FSRS, which follows a power curve.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

STABILITY_GROWTH = 1.5
STABILITY_EXPONENT = -0.2
MAX_STABILITY_DAYS = 365.0
WHISPER_SHARE = 0.5  # of a recall's growth, by its logarithm, that a delivered whisper brings
MAX_POWER = 60.0  # e^60 takes any stability there can be past the maximum, and is no overflow
DAY = timedelta(days=1)

Number = TypeVar("Number", float, NDArray[np.float64])
"""One number, or a column of them."""


def idle_days(since: datetime, now: datetime) -> float:
    """Return the days between two instants, never negative.

    Two machines that share a vault may disagree about the time, and a fast clock must not
    fade anything.
    """
    return max(now - since, timedelta(0)) / DAY


def retrievability(stability_days: Number, days: Number) -> Number:
    """Return the retrievability after `days` without use, between 0 and 1."""
    found: Number = np.exp(-np.maximum(days, 0.0) / stability_days)
    return found


def stability_after_use(stability_days: float, days: float, share: float = 1.0) -> float:
    """Return the stability after a use that came `days` after the last one.

    This is S · (growth · R^exponent)^share, with the power written out as the exponential it is:
    R itself is too small to be told from 0 after a few hundred times S. A share of 1 is a recall.
    """
    power = min(-STABILITY_EXPONENT * max(days, 0.0) / stability_days, MAX_POWER)
    grown = math.pow(STABILITY_GROWTH, share) * stability_days * math.exp(share * power)
    return min(grown, MAX_STABILITY_DAYS)
