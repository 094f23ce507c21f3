"""Chances from sums of weighted evidence."""

from __future__ import annotations

import math

MOST_LOG_ODDS = 30.0  # beyond which a chance is 0 or 1 for every purpose


def chance_from_log_odds(log_odds: float) -> float:
    """Return the chance, between 0 and 1."""
    return 1.0 / (1.0 + math.exp(-max(-MOST_LOG_ODDS, min(MOST_LOG_ODDS, log_odds))))
