"""Connections of ours as relations of AutoMem: which way they lead and what they are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from madeleine.api.contract.responses import Arrow
from madeleine.api.memory_operations import MAX_ASKED_IDS, gather_connected
from madeleine.ingest.importing.automem_words import DRAWN_BY_MACHINE, name_relation
from madeleine.model.codec import Json
from madeleine.model.memory import Connection, Memory
from madeleine.model.times import parse_time
from madeleine.model.words import Edge
from madeleine.server.automem.call import AutomemCall, format_moment
from madeleine.server.automem.shapes import memory_to_short

SHOWN_RELATIONS = 5  # of each memory that is found
ARROWS_EACH = 50

# In the words of AutoMem's graph viewer.
RELATION_COLORS: Mapping[str, str] = {
    "RELATES_TO": "#94A3B8",
    "LEADS_TO": "#3B82F6",
    "OCCURRED_BEFORE": "#6B7280",
    "PREFERS_OVER": "#8B5CF6",
    "EXEMPLIFIES": "#10B981",
    "CONTRADICTS": "#EF4444",
    "REINFORCES": "#22C55E",
    "INVALIDATED_BY": "#F97316",
    "EVOLVED_INTO": "#06B6D4",
    "DERIVED_FROM": "#A855F7",
    "PART_OF": "#64748B",
    "SIMILAR_TO": "#0EA5E9",
    "PRECEDED_BY": "#475569",
}
OTHER_COLOR = "#94A3B8"


@dataclass(frozen=True, slots=True)
class RelationRow:
    """One relation, in AutoMem's direction."""

    start: str
    end: str
    name: str
    strength: float
    kind: str | None
    reason: str | None
    at: str

    @property
    def is_authored(self) -> bool:
        return self.name not in DRAWN_BY_MACHINE

    def to_json(self) -> Json:
        given: Json = {"type": self.name, "strength": self.strength}
        return given if self.kind is None else {**given, "kind": self.kind}


@dataclass(frozen=True, slots=True)
class RelationsFound:
    """Relations at some memories, and all memories at their ends."""

    memories: Mapping[str, Memory]
    rows: tuple[RelationRow, ...]

    def outgoing(self, memory_id: str) -> list[Json]:
        """Return what leads away from a memory, the newest first."""
        here = [each for each in self.rows if each.start == memory_id and each.end in self.memories]
        newest = sorted(here, key=lambda each: each.at, reverse=True)[:SHOWN_RELATIONS]
        return [
            {**each.to_json(), "memory": memory_to_short(self.memories[each.end])}
            for each in newest
        ]

    def around(self, memory_id: str) -> list[tuple[RelationRow, Memory]]:
        """Return what a memory is related with, either way, the strongest first."""
        found = []
        for each in sorted(self.rows, key=lambda row: -row.strength):
            if memory_id in (each.start, each.end):
                other = each.end if each.start == memory_id else each.start
                if other in self.memories and other != memory_id:
                    found.append((each, self.memories[other]))
        return found


def find_relations(
    call: AutomemCall, ids: Iterable[str], each: int = ARROWS_EACH
) -> RelationsFound:
    """Return the relations at some memories."""
    wanted = list(dict.fromkeys(ids))
    memories: dict[str, Memory] = {}
    rows: dict[RelationRow, None] = {}
    for start in range(0, len(wanted), MAX_ASKED_IDS):
        some = wanted[start : start + MAX_ASKED_IDS]
        told = call.perform(gather_connected, {"ids": some, "limit": each})
        memories.update({memory.id: memory for memory in told.memories})
        rows.update({_read_arrow(arrow): None for arrow in told.arrows})
    return RelationsFound(memories, tuple(rows))


def _read_arrow(arrow: Arrow) -> RelationRow:
    at = None if arrow.at is None else parse_time("at", arrow.at)
    drawn = Connection(
        arrow.target, arrow.edge, arrow.weight, arrow.reason, arrow.by, at, arrow.kind
    )
    return build_row(arrow.source, drawn)


def build_row(source: str, drawn: Connection) -> RelationRow:
    """Return a connection as a relation."""
    start, end = source, drawn.target
    if drawn.edge is Edge.EVOLVED_FROM:
        start, end = end, start
    return RelationRow(
        start=start,
        end=end,
        name=name_relation(drawn.edge, drawn.kind, drawn.by),
        strength=drawn.weight,
        kind=drawn.kind if drawn.edge is Edge.DISCOVERED else None,
        reason=drawn.reason,
        at=format_moment(drawn.at) if drawn.at else "",
    )
