"""How a relevance and a chance are called, for people and reports."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

RELEVANCE_LEVELS: Mapping[str, float] = MappingProxyType({"high": 0.7, "medium": 0.3, "low": 0.1})
"""The relevance above which a memory is so called; below all of them it is ripe for the
archive."""
LOWEST_LEVEL = "archive"


def relevance_level(score: float) -> str:
    """Return how a relevance is called."""
    return next((name for name, above in RELEVANCE_LEVELS.items() if score > above), LOWEST_LEVEL)


SURENESS_LEVELS: Mapping[str, float] = MappingProxyType({"sure": 0.6, "likely": 0.25})
"""The chance that a memory answers from which it is so called."""
LEAST_SURE = "maybe"


def sureness_level(chance: float) -> str:
    """Return how sure it is that a memory answers, in a word."""
    return next((name for name, from_ in SURENESS_LEVELS.items() if chance >= from_), LEAST_SURE)
