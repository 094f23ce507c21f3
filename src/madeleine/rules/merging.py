"""Which of two duplicates is kept."""

from __future__ import annotations

from datetime import datetime

TIER_RANK = {"archival": 0, "working": 1, "core": 2}


def keeper_order(tier: str, content: str, created: datetime) -> tuple[int, int, datetime]:
    """Return a key that is larger for the better keeper: higher tier, then longer, then newer."""
    return TIER_RANK[tier], len(content), created
