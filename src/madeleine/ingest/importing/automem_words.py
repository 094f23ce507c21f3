"""AutoMem's words for types and relations, and ours, both ways.

An import and the routes for its clients (`server/automem`) go by these tables. Where several of
its words mean one of ours, a connection keeps which one it was as its `kind`, and a memory among
its `metadata`, so that it is answered with the word that was sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import NamedTuple

from madeleine.ingest.importing.words import map_type
from madeleine.model.words import MACHINE_AUTHORS, Edge, MemoryType

METADATA_KEY = "automem"
"""Under which metadata have what AutoMem keeps of a memory and we have no field for."""
RESERVED_FIELDS = ("type", "tags", "importance", "t_valid")
"""What stands there, as it was sent."""


class ForeignRelation(NamedTuple):
    """What a relation of AutoMem is to us."""

    edge: Edge
    kind: str | None = None
    turned: bool = False
    """Whether it leads from the older memory to the newer; our arrow leads back."""


RELATIONS = MappingProxyType(
    {
        "RELATES_TO": ForeignRelation(Edge.RELATED_TO),
        "LEADS_TO": ForeignRelation(Edge.RELATED_TO, "leads_to"),
        "OCCURRED_BEFORE": ForeignRelation(Edge.RELATED_TO, "occurred_before"),
        "PREFERS_OVER": ForeignRelation(Edge.RELATED_TO, "prefers_over"),
        "EXEMPLIFIES": ForeignRelation(Edge.SUPPORTS, "exemplifies"),
        "CONTRADICTS": ForeignRelation(Edge.CONTRADICTS),
        "REINFORCES": ForeignRelation(Edge.SUPPORTS),
        "INVALIDATED_BY": ForeignRelation(Edge.EVOLVED_FROM, "invalidated_by", turned=True),
        "EVOLVED_INTO": ForeignRelation(Edge.EVOLVED_FROM, turned=True),
        "DERIVED_FROM": ForeignRelation(Edge.DERIVED_FROM),
        "PART_OF": ForeignRelation(Edge.PART_OF),
        "SIMILAR_TO": ForeignRelation(Edge.RELATED_TO, "similar_to"),
        "PRECEDED_BY": ForeignRelation(Edge.RELATED_TO, "preceded_by"),
        "DISCOVERED": ForeignRelation(Edge.DISCOVERED),
        "SUMMARIZES": ForeignRelation(Edge.SUMMARIZES),
    }
)
"""Its fourteen relations, and the one from a MetaPattern to its members."""

AUTHORABLE = (
    "CONTRADICTS",
    "DERIVED_FROM",
    "EVOLVED_INTO",
    "EXEMPLIFIES",
    "INVALIDATED_BY",
    "LEADS_TO",
    "OCCURRED_BEFORE",
    "PART_OF",
    "PREFERS_OVER",
    "REINFORCES",
    "RELATES_TO",
)
"""Those that a client may draw."""
DRAWN_BY_MACHINE = ("DISCOVERED", "PRECEDED_BY", "SIMILAR_TO")
OLD_DISCOVERIES = ("EXPLAINS", "SHARES_THEME", "PARALLEL_CONTEXT")
"""Labels of older releases for DISCOVERED with that kind."""

_NAME_BY_EDGE = MappingProxyType(
    {
        Edge.SUPPORTS: "REINFORCES",
        Edge.PART_OF: "PART_OF",
        Edge.DEPENDS_ON: "RELATES_TO",
        Edge.DEFINES: "RELATES_TO",
        Edge.DERIVED_FROM: "DERIVED_FROM",
        Edge.EVOLVED_FROM: "EVOLVED_INTO",
        Edge.RELATED_TO: "RELATES_TO",
        Edge.CONTRADICTS: "CONTRADICTS",
        Edge.DISCOVERED: "DISCOVERED",
        Edge.SUMMARIZES: "SUMMARIZES",
    }
)
_NAME_BY_KIND = MappingProxyType(
    {f"{each.edge} {each.kind}": name for name, each in RELATIONS.items() if each.kind}
)

_CHANGED_IN_TAGS = frozenset(" \t\n,[]{}\"'`#")

TYPES = ("Decision", "Pattern", "Preference", "Style", "Habit", "Insight", "Context")
META_PATTERN = "MetaPattern"
TYPE_NAMES = MappingProxyType(
    {
        MemoryType.FACT: "Context",
        MemoryType.DECISION: "Decision",
        MemoryType.PREFERENCE: "Preference",
        MemoryType.EVENT: "Context",
        MemoryType.PERSON: "Context",
        MemoryType.PROJECT: "Context",
        MemoryType.CONCEPT: "Pattern",
        MemoryType.PROCEDURE: "Pattern",
        MemoryType.GOAL: "Context",
        MemoryType.OBSERVATION: "Insight",
    }
)


def keep_type(sent: str) -> str | None:
    """Return the word that was sent for a type, unless ours says it."""
    return None if TYPE_NAMES[MemoryType(map_type(sent))] == sent else sent


def keep_tags(tags: Sequence[str]) -> list[str] | None:
    """Return the tags that were sent, unless ours are just these."""
    same = all(_is_normal(each) for each in tags) and len(set(tags)) == len(tags)
    return None if same else list(tags)


def _is_normal(tag: str) -> bool:
    return bool(tag) and tag == tag.lower().strip() and not set(tag) & _CHANGED_IN_TAGS


def find_relation(name: str) -> tuple[ForeignRelation, str | None] | None:
    """Return what a relation means, and the kind that its old label says."""
    if name in OLD_DISCOVERIES:
        return RELATIONS["DISCOVERED"], name.lower()
    known = RELATIONS.get(name)
    return None if known is None else (known, None)


def name_relation(edge: Edge, kind: str | None, by: str | None) -> str:
    """Return what AutoMem calls a connection of ours."""
    named = _NAME_BY_KIND.get(f"{edge} {kind}")
    if named is None and edge is Edge.RELATED_TO and by in MACHINE_AUTHORS:
        return "SIMILAR_TO"
    return named or _NAME_BY_EDGE[edge]
