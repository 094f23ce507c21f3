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

from madeleine.index.common.ranking import BEGINNING_CHARS, Ranking, ranked, sketch_of
from madeleine.index.graph import Sketch
from madeleine.model.memory import DEFAULT_IMPORTANCE
from madeleine.model.query import Filter
from madeleine_falkordb.adapting import at
from madeleine_falkordb.connection import Access
from madeleine_falkordb.filters import outdated
from madeleine_falkordb.schema import FIRST, read_head

_JOINED = "WITH m MATCH (m)-[:IS]->(k)"
_IMPORTANCE = "coalesce(k.importance, k.folded)"
_CHARS = f"""CASE WHEN size(m.content) > {BEGINNING_CHARS} THEN {BEGINNING_CHARS}
                 ELSE size(m.content) END"""
_BEGINNING = f"left(m.content, {_CHARS})"  # asked for more than there is, it may read past the end
_NOBODY: NDArray[np.int64] = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Ranked:
    """An order as somebody saw it last."""

    write: int | None = None
    """The last write that may have changed it, if the graph tells."""
    rebuild: int = 0
    """Which rebuild the graph came from: what it holds bears other numbers than before."""
    by_space: Ranking = field(default_factory=dict)

    def page(self, space: str | None, limit: int, offset: int) -> NDArray[np.int64]:
        """Return some nodes of a space, strongest first."""
        return self.by_space.get(space, _NOBODY)[offset : offset + max(limit, 0)]


def renewed(access: Access, before: Ranked, now: datetime) -> Ranked:
    """Return the order as it is now. The head is read first: what is written meanwhile makes
    the order newer than that, and the next to ask works it out again."""
    head = read_head(access)
    if head.ranked is not None and head.ranked == before.write:
        return before
    return Ranked(head.ranked, head.version // FIRST, _ranking(access, now))


def lasting(access: Access, before: Ranked, now: datetime) -> Ranked:
    """Return the order as it was, unless it speaks of nothing that is there."""
    if before.by_space and before.rebuild == read_head(access).version // FIRST:
        return before
    return renewed(access, before, now)


def _ranking(access: Access, now: datetime) -> Ranking:
    over = outdated(Filter(), now)
    columns = f"m.node, m.space, m.tier, m.created, {over.cypher}, {_IMPORTANCE}"
    rows = access.rows(f"MATCH (m:Memory) {_JOINED}", columns, **over.parameters)
    return ranked(rows, [_worth(row[5]) for row in rows])


def _worth(importance: str | None) -> float:
    return DEFAULT_IMPORTANCE if importance is None else float(importance)


def sketches_of_nodes(access: Access, nodes: NDArray[np.int64], now: datetime) -> list[Sketch]:
    """Return the sketches of these nodes in this order; what is gone is left out."""
    wanted = at(nodes.tolist())
    found = _sketches(access, "at", wanted, now)
    return [found[each] for each in wanted if each in found]


def sketches(access: Access, ids: Sequence[str], now: datetime) -> list[Sketch]:
    """Return the sketches of these memories in this order; what is gone is left out."""
    found = _sketches(access, "id", ids, now)
    return [found[each] for each in ids if each in found]


def _sketches(
    access: Access, column: str, wanted: Sequence[str], now: datetime
) -> Mapping[str, Sketch]:
    """Return sketches by what they were looked up by."""
    if not wanted:
        return {}
    over = outdated(Filter(), now)
    question = f"MATCH (m:Memory) WHERE m.{column} IN $wanted {_JOINED}"
    columns = f"""m.{column}, m.id, m.type, m.tier, m.space, m.title,
                  {_BEGINNING}, {_IMPORTANCE}, {over.cypher}"""
    rows = access.rows(question, columns, wanted=list(wanted), **over.parameters)
    return {key: sketch_of([*row[:6], _worth(row[6]), row[7]]) for key, *row in rows}
