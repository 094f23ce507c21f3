"""Words of other programs for what we call types and edges."""

from __future__ import annotations

import re
from types import MappingProxyType

from madeleine.ingest.importing.values import Json, drop_empty
from madeleine.model.words import FOREIGN_TYPES, Edge, MemoryType

REASON_CHARS = 300

_TYPES = MappingProxyType(
    {
        "user": MemoryType.FACT,
        "feedback": MemoryType.PREFERENCE,
        "reference": MemoryType.FACT,
        "rule": MemoryType.PREFERENCE,
        "convention": MemoryType.PREFERENCE,
        "technique": MemoryType.PROCEDURE,
        "method": MemoryType.PROCEDURE,
        "guide": MemoryType.PROCEDURE,
        "howto": MemoryType.PROCEDURE,
        "idea": MemoryType.CONCEPT,
        "meeting": MemoryType.EVENT,
        "people": MemoryType.PERSON,
        "user_profile": MemoryType.PERSON,
        "requirement": MemoryType.GOAL,
        "todo": MemoryType.GOAL,
    }
)
_EDGES = MappingProxyType(
    {
        "relates_to": Edge.RELATED_TO,
        "links_to": Edge.RELATED_TO,
        "similar_to": Edge.RELATED_TO,
        "belongs_to": Edge.PART_OF,
        "member_of": Edge.PART_OF,
        "requires": Edge.DEPENDS_ON,
        "needs": Edge.DEPENDS_ON,
        "uses": Edge.DEPENDS_ON,
        "reinforces": Edge.SUPPORTS,
        "exemplifies": Edge.SUPPORTS,
        "based_on": Edge.DERIVED_FROM,
        "extends": Edge.DERIVED_FROM,
        "supersedes": Edge.EVOLVED_FROM,
        "replaces": Edge.EVOLVED_FROM,
        "conflicts_with": Edge.CONTRADICTS,
        "summarises": Edge.SUMMARIZES,
    }
)


def map_type(word: object, default: MemoryType = MemoryType.FACT) -> str:
    """Return our type for another program's word."""
    name = _normalize_word(str(word or ""))
    if name in {each.value for each in MemoryType}:
        return name
    return (_TYPES.get(name) or FOREIGN_TYPES.get(name) or default).value


def build_connection(
    target: str, word: str = "", weight: float | None = None, why: str = ""
) -> Json:
    """Return the connection that another program's word means. A word that we have no edge for
    is kept as the reason."""
    name = _normalize_word(word)
    known = {each.value: each for each in Edge}
    edge = known.get(name) or _EDGES.get(name) or Edge.RELATED_TO
    said = "" if name in ("", edge.value, "relates_to", "links_to") else word.strip()
    reason = "; ".join(part for part in (said, why.strip()) if part)[:REASON_CHARS]
    return drop_empty(target=target, edge=edge.value, weight=weight, reason=reason)


def _normalize_word(word: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", word.lower()).strip("_")
