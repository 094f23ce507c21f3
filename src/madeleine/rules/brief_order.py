"""In which order memories are told when a session starts: by importance and recency."""

from __future__ import annotations

HALF_LIFE_DAYS = 45.0  # after which the newness of a memory counts half
IMPORTANCE_WEIGHT = 0.6
RECENCY_WEIGHT = 0.4
CORE_MORE = 0.5  # of what somebody put into core: before all that is not, but for the newest


def brief_worth(importance: float, is_core: bool, age_days: float) -> float:
    """Return what telling a memory at the start of a session is worth, from 0 on."""
    recency: float = 0.5 ** (max(age_days, 0.0) / HALF_LIFE_DAYS)
    more = CORE_MORE if is_core else 0.0
    return IMPORTANCE_WEIGHT * importance + RECENCY_WEIGHT * recency + more
