"""What the graph is drawn from: the memories of each space, strongest first, and their sketches.

The order is worked out here from a few numbers of each memory and kept by whoever asked. The head
of the graph says which write was the last that may have changed it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from madeleine.index.common.ranking import BEGINNING_CHARS, NodeRanking, rank_nodes, sketch_from_row
from madeleine.index.graph import MemorySketch
from madeleine.model.memory import DEFAULT_IMPORTANCE
from madeleine.model.query import Filter
from madeleine_falkordb.connection import GraphAccess
from madeleine_falkordb.encoding import number_keys
from madeleine_falkordb.filters import outdated_condition
from madeleine_falkordb.schema import NUMBERS_PER_REBUILD, read_head

_MATCH_KNOWN = "WITH m MATCH (m)-[:IS]->(k)"
_IMPORTANCE_CYPHER = "coalesce(k.importance, k.folded)"
_BEGINNING_LENGTH = f"""CASE WHEN size(m.content) > {BEGINNING_CHARS} THEN {BEGINNING_CHARS}
                 ELSE size(m.content) END"""
# Asked for more than there is, `left` may read past the end.
_BEGINNING = f"left(m.content, {_BEGINNING_LENGTH})"
_NO_NODES: NDArray[np.int64] = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class FalkorRanking:
    """An order as somebody saw it last."""

    write: int | None = None
    """The last write that may have changed it, if the graph tells."""
    rebuild: int = 0
    """Which rebuild the graph came from: what it holds bears other numbers than before."""
    by_space: NodeRanking = field(default_factory=dict)

    def page(self, space: str | None, limit: int, offset: int) -> NDArray[np.int64]:
        """Return some nodes of a space, strongest first."""
        return self.by_space.get(space, _NO_NODES)[offset : offset + max(limit, 0)]


def refresh_ranking(access: GraphAccess, before: FalkorRanking, now: datetime) -> FalkorRanking:
    """Return the order as it is now. The head is read first: what is written meanwhile makes
    the order newer than that, and the next to ask works it out again."""
    head = read_head(access)
    if head.ranked is not None and head.ranked == before.write:
        return before
    return FalkorRanking(
        head.ranked, head.version // NUMBERS_PER_REBUILD, _read_ranking(access, now)
    )


def reuse_ranking(access: GraphAccess, before: FalkorRanking, now: datetime) -> FalkorRanking:
    """Return the order as it was, unless it speaks of nothing that is there."""
    if before.by_space and before.rebuild == read_head(access).version // NUMBERS_PER_REBUILD:
        return before
    return refresh_ranking(access, before, now)


def _read_ranking(access: GraphAccess, now: datetime) -> NodeRanking:
    over = outdated_condition(Filter(), now)
    columns = f"m.node, m.space, m.tier, m.created, {over.cypher}, {_IMPORTANCE_CYPHER}"
    rows = access.rows(f"MATCH (m:Memory) {_MATCH_KNOWN}", columns, **over.parameters)
    return rank_nodes(rows, [_parse_importance(row[5]) for row in rows])


def _parse_importance(importance: str | None) -> float:
    return DEFAULT_IMPORTANCE if importance is None else float(importance)


def sketches_of_nodes(
    access: GraphAccess, nodes: NDArray[np.int64], now: datetime
) -> list[MemorySketch]:
    """Return the sketches of these nodes in this order; what is gone is left out."""
    wanted = number_keys(nodes.tolist())
    found = _read_sketches(access, "at", wanted, now)
    return [found[each] for each in wanted if each in found]


def sketches(access: GraphAccess, ids: Sequence[str], now: datetime) -> list[MemorySketch]:
    """Return the sketches of these memories in this order; what is gone is left out."""
    found = _read_sketches(access, "id", ids, now)
    return [found[each] for each in ids if each in found]


def _read_sketches(
    access: GraphAccess, column: str, wanted: Sequence[str], now: datetime
) -> Mapping[str, MemorySketch]:
    """Return sketches by what they were looked up by."""
    if not wanted:
        return {}
    over = outdated_condition(Filter(), now)
    question = f"MATCH (m:Memory) WHERE m.{column} IN $wanted {_MATCH_KNOWN}"
    columns = f"""m.{column}, m.id, m.type, m.tier, m.space, m.title,
                  {_BEGINNING}, {_IMPORTANCE_CYPHER}, {over.cypher}"""
    rows = access.rows(question, columns, wanted=list(wanted), **over.parameters)
    return {
        key: sketch_from_row([*row[:6], _parse_importance(row[6]), row[7]]) for key, *row in rows
    }
