"""Whether two memories look like duplicates, and which of two duplicates is kept."""

from __future__ import annotations

from datetime import datetime

TIER_RANK = {"archival": 0, "working": 1, "core": 2}

BY_SIMILARITY, BY_TITLE, BY_WORDS = 0.6, 0.2, 0.2  # the documented shares; they add up to 1


def keeper_order(tier: str, length: int, created: datetime) -> tuple[int, int, datetime]:
    """Return a key that is larger for the better keeper: higher tier, then longer, then newer."""
    return TIER_RANK[tier], length, created


def duplicate_score(similarity: float, title_similarity: float, word_overlap: float) -> float:
    """Return the documented composite of vectors (0.6), titles by Levenshtein (0.2) and words by
    Jaccard (0.2). It chooses the pairs that a judge is asked about; the judge decides."""
    return (
        BY_SIMILARITY * max(0.0, min(1.0, similarity))
        + BY_TITLE * title_similarity
        + BY_WORDS * word_overlap
    )
