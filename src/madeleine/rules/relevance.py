"""How relevant a memory still is: what consolidation thinks it is worth now, between 0 and 1.

Five factors make it: age, days without use, connections that somebody drew, importance and
confidence. There are two ways to put them together. The documented one is their product, which
goes towards 0. The floored one counts use for a part only, and importance keeps a memory from
falling below a floor. Columns go in, one place for each memory, and a column comes out.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from madeleine.model.levels import LOWEST_LEVEL, RELEVANCE_LEVELS

Column = NDArray[np.float64]

FRESH_DAYS = 1.0  # within which a use counts in full
LEAST_IMPORTANCE_FACTOR = 0.5  # what does not matter at all counts half, what matters most 1.5
LEAST_CONFIDENCE_FACTOR = 0.7
CONFIDENCE_SHARE = 0.3
UNUSED_SHARE = 0.3  # floored: what is left of a memory that nobody uses
USED_SHARE = 0.3
FLOOR_SHARE = 0.3  # floored: of its importance, below which a memory never falls


class RelevanceFormula(enum.StrEnum):
    """How the factors are put together."""

    DOCUMENT = "document"
    """Their product, as documented."""
    FLOORED = "floored"
    """Use counts for a part, and there is a floor."""


@dataclass(frozen=True, slots=True)
class RelevanceCurve:
    """How quickly relevance falls."""

    formula: RelevanceFormula = RelevanceFormula.DOCUMENT
    age_rate: float = 0.01
    """The share that goes in a day of age."""
    idle_rate: float = 0.05
    """The share that goes in a day without use."""
    bonus: float = 0.3
    """What connections add, times the logarithm of one more than there are."""


@dataclass(frozen=True, slots=True)
class RelevanceEvidence:
    """What is known of memories."""

    age: Column
    """In days."""
    idle: Column
    """Days since the last use, or since its birth."""
    connections: Column
    importance: Column
    confidence: Column


def relevance_scores(known: RelevanceEvidence, curve: RelevanceCurve) -> Column:
    """Return the relevance of each memory. Waiting never raises it."""
    age, idle = np.maximum(known.age, 0.0), np.maximum(known.idle, 0.0)
    used = np.where(idle < FRESH_DAYS, 1.0, np.exp(-curve.idle_rate * idle))
    if curve.formula is RelevanceFormula.FLOORED:
        used = UNUSED_SHARE + USED_SHARE * used
    product = np.exp(-curve.age_rate * age) * used * _lasting_factors(known, curve)
    if curve.formula is RelevanceFormula.FLOORED:
        product = np.maximum(product, FLOOR_SHARE * known.importance)
    found: Column = np.minimum(product, 1.0)
    return found


def _lasting_factors(known: RelevanceEvidence, curve: RelevanceCurve) -> Column:
    """Return the factors that time does not touch."""
    connected: Column = 1.0 + curve.bonus * np.log1p(known.connections)
    matters = LEAST_IMPORTANCE_FACTOR + known.importance
    sure = LEAST_CONFIDENCE_FACTOR + CONFIDENCE_SHARE * known.confidence
    return connected * matters * sure


def count_by_level(scores: Column) -> dict[str, int]:
    """Return how many memories are on each level."""
    found, counted = dict[str, int](), 0
    for name, above in RELEVANCE_LEVELS.items():
        higher = int((scores > above).sum())
        found[name], counted = higher - counted, higher
    return {**found, LOWEST_LEVEL: len(scores) - counted}
