"""Edges as values: how one is written, read back, and told from another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from madeleine.index.common.rows import Value
from madeleine.index.common.times import maybe_instant, maybe_micros
from madeleine.index.graph import EdgeRow
from madeleine.model.codec import CREATIVE
from madeleine.model.memory import Connection
from madeleine.model.words import Edge

IMPLIED_WEIGHT = 1.0  # what a memory says of itself is not a guess
LOOKED_AT = 2_000  # arrows that end at one memory among which the strongest are chosen
_DISCOVERED_SQL = f"e.edge = '{Edge.DISCOVERED.value}'"
_CONTRAST_SQL = f"e.edge = '{Edge.CONTRADICTS.value}' AND e.by = '{CREATIVE}'"
ASSOCIATIONS_SQL = f"({_DISCOVERED_SQL} OR ({_CONTRAST_SQL}))"
Key = tuple[str, str, str]


def implied(myself: str, target: str) -> EdgeRow:
    """Return the arrow from the self to what describes it."""
    return EdgeRow(myself, Connection(target, Edge.DEFINES, IMPLIED_WEIGHT), implied=True)


def key_of(row: EdgeRow) -> Key:
    return row.source, row.connection.target, row.connection.edge.value


def edge_values(node: int, position: int, each: Connection) -> tuple[Value, ...]:
    return (
        node,
        each.target,
        each.edge.value,
        position,
        each.weight,
        each.reason,
        each.by,
        maybe_micros(each.at),
        each.kind,
        each.confidence,
    )


def connection_of(values: Sequence[Any]) -> Connection:
    target, edge, weight, reason, by, at, kind, confidence = values
    return Connection(target, Edge(edge), weight, reason, by, maybe_instant(at), kind, confidence)
