"""Edges as values: how one is written, read back, and told from another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from madeleine.index.common.rows import ColumnValue
from madeleine.index.common.times import from_micros_or_none, to_micros_or_none
from madeleine.index.graph import EdgeRow
from madeleine.model.codec import CREATIVE
from madeleine.model.memory import Connection
from madeleine.model.words import Edge

IMPLIED_WEIGHT = 1.0  # what a memory says of itself is not a guess
MAX_EDGES_SCANNED = 2_000  # arrows that end at one memory among which the strongest are chosen
_DISCOVERED_SQL = f"e.edge = '{Edge.DISCOVERED.value}'"
_CONTRAST_SQL = f"e.edge = '{Edge.CONTRADICTS.value}' AND e.by = '{CREATIVE}'"
ASSOCIATIONS_SQL = f"({_DISCOVERED_SQL} OR ({_CONTRAST_SQL}))"
EdgeKey = tuple[str, str, str]
_EDGES = {each.value: each for each in Edge}


def build_implied_edge(myself: str, target: str) -> EdgeRow:
    """Return the arrow from the self to what describes it."""
    return EdgeRow(myself, Connection(target, Edge.DEFINES, IMPLIED_WEIGHT), implied=True)


def edge_key(row: EdgeRow) -> EdgeKey:
    return row.source, row.connection.target, row.connection.edge.value


def edge_values(node: int, position: int, each: Connection) -> tuple[ColumnValue, ...]:
    return (
        node,
        each.target,
        each.edge.value,
        position,
        each.weight,
        each.reason,
        each.by,
        to_micros_or_none(each.at),
        each.kind,
        each.confidence,
    )


def connection_from_row(values: Sequence[Any]) -> Connection:
    target, edge, weight, reason, by, at, kind, confidence = values
    return Connection(
        target, _EDGES[edge], weight, reason, by, from_micros_or_none(at), kind, confidence
    )
