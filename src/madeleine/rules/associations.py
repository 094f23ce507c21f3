"""Associations between memories that nobody connected: the four documented rules.

The first rule that speaks of a pair decides it. Two decisions are the first rule's business
alone: unlike ones may be at odds, alike ones are left to the jobs that read them. What we call
observation and concept is Insight and Pattern in the document.

That two decisions have little in common does not make them contradictory; most are about
different things. So the arrow of the first rule is stored as `contradicts`, as documented, and
is only a *contrast*: it settles nothing, and nobody is told that the two contradict each other.
"""

from __future__ import annotations

from dataclasses import dataclass

from madeleine.model.codec import CREATIVE
from madeleine.model.memory import Connection
from madeleine.model.words import Edge, MemoryType

CONTRAST_BELOW = 0.3  # cosines, each as documented
EXPLAINS_ABOVE = 0.5
SHARES_THEME_ABOVE = 0.7
PARALLEL_BELOW = 0.4
PARALLEL_DAYS = 7.0
CONTRAST_CONFIDENCE = 0.6
EXPLAINS_CONFIDENCE = 0.7
PARALLEL_CONFIDENCE = 0.5

EXPLAINS, SHARES_THEME, PARALLEL_CONTEXT = "explains", "shares_theme", "parallel_context"
EXPLAINING_TYPES = frozenset({MemoryType.OBSERVATION, MemoryType.CONCEPT})
CONTRASTS_WITH = "contrasts_with"  # what a contrast is called where it is shown


@dataclass(frozen=True, slots=True)
class Association:
    """What two memories may have to do with each other. Only `discovered` has a kind."""

    edge: Edge
    confidence: float
    kind: str | None = None


def find_association(
    one: MemoryType, other: MemoryType, similarity: float, days_apart: float
) -> Association | None:
    """Return what the rules say of two memories of these types; nothing if none speaks."""
    types = {one, other}
    if types == {MemoryType.DECISION}:
        return _find_contrast(similarity)
    if types == EXPLAINING_TYPES and similarity > EXPLAINS_ABOVE:
        return Association(Edge.DISCOVERED, EXPLAINS_CONFIDENCE, EXPLAINS)
    if len(types) > 1 and similarity > SHARES_THEME_ABOVE:
        return Association(Edge.DISCOVERED, min(similarity, 1.0), SHARES_THEME)
    if abs(days_apart) < PARALLEL_DAYS and similarity < PARALLEL_BELOW:
        return Association(Edge.DISCOVERED, PARALLEL_CONFIDENCE, PARALLEL_CONTEXT)
    return None


def _find_contrast(similarity: float) -> Association | None:
    if similarity < CONTRAST_BELOW:
        return Association(Edge.CONTRADICTS, CONTRAST_CONFIDENCE)
    return None


def is_contrast(connection: Connection) -> bool:
    """Whether an arrow says no more than that two decisions have little in common: `creative`
    drew it. A person or another job that draws the same arrow means a contradiction."""
    return connection.edge is Edge.CONTRADICTS and connection.by == CREATIVE


def edge_name(connection: Connection) -> str:
    """Return what an arrow is called where people and agents read it."""
    return CONTRASTS_WITH if is_contrast(connection) else connection.edge.value
