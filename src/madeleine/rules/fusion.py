"""One score from several: absolute, between 0 and 1, and the same in every store (I10)."""

from __future__ import annotations

BM25_HALF = 8.0  # the bm25 at which the text score is one half; found on hand-made stores
TIER_BOOST = {"core": 0.10, "working": 0.0, "archival": -0.10}
OTHER_SPACE = 0.6  # what a memory of another space counts for
CONFIDENCE_FLOOR = 0.4  # what a memory counts for whose author was not sure at all


def text_share(bm25: float) -> float:
    """Return a bm25 as a share of the most it can be; rises with it and never reaches 1."""
    return bm25 / (bm25 + BM25_HALF) if bm25 > 0 else 0.0


def fused(
    text: float | None, cosine: float | None, text_weight: float, vector_weight: float
) -> float:
    """Return the weighted mean of the sources that there are.

    A source that is absent altogether (no model) takes its weight with it; a memory that a
    present source did not find scores 0 there.
    """
    parts = [
        (value, weight)
        for value, weight in ((text, text_weight), (cosine, vector_weight))
        if value is not None
    ]
    total = sum(weight for _, weight in parts)
    return sum(max(value, 0.0) * weight for value, weight in parts) / total if total else 0.0


def boosted(score: float, tier: str, confidence: float, same_space: bool) -> float:
    """Return the score after the documented boosts, between 0 and 1."""
    sure = CONFIDENCE_FLOOR + (1 - CONFIDENCE_FLOOR) * confidence
    near = 1.0 if same_space else OTHER_SPACE
    return min(1.0, max(0.0, score * sure * near * (1 + TIER_BOOST[tier])))
