"""What the graph is drawn from: the memories of each space, strongest first, and their sketches.

The order is worked out once by walking the tables in the order in which they lie on the disk, and
kept until a memory comes, goes or is scored; a page of it is then a slice. It holds nothing but
numbers of nodes, eight bytes for each memory.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

import apsw
import numpy as np
from numpy.typing import NDArray

from madeleine.index.common.ranking import BEGINNING_CHARS, NodeRanking, rank_nodes, sketch_from_row
from madeleine.index.common.times import to_micros
from madeleine.index.graph import MemorySketch
from madeleine.index.sqlite.filters import CURRENT_SQL
from madeleine.model.memory import DEFAULT_IMPORTANCE

_IS_OUTDATED = f"NOT {CURRENT_SQL}"


def read_ranking(connection: apsw.Connection, now: datetime) -> NodeRanking:
    """Return all nodes by space, as `rank_nodes` orders them."""
    sql = f"SELECT n.node, n.space, n.tier, n.created, {_IS_OUTDATED}, n.id FROM nodes n"
    rows = connection.execute(sql, (to_micros(now),)).fetchall()
    importance = _read_importance(connection)
    return rank_nodes(rows, [importance.get(str(row[5]), DEFAULT_IMPORTANCE) for row in rows])


def _read_importance(connection: apsw.Connection) -> dict[str, float]:
    used = connection.execute("SELECT memory, importance FROM usage")
    scored = connection.execute("SELECT memory, importance FROM scores WHERE importance NOT NULL")
    return {**dict(used), **dict(scored)}


_SELECT_SKETCH = f"""
    SELECT n.id, n.type, n.tier, n.space, t.title, substr(t.content, 1, {BEGINNING_CHARS}),
           coalesce(s.importance, u.importance, {DEFAULT_IMPORTANCE}), {_IS_OUTDATED}
    FROM nodes n JOIN texts t ON t.node = n.node
    LEFT JOIN usage u ON u.memory = n.id LEFT JOIN scores s ON s.memory = n.id
"""


def sketches_of_nodes(
    connection: apsw.Connection, nodes: NDArray[np.int64], now: datetime
) -> list[MemorySketch]:
    """Return the sketches of these nodes in this order; what is gone is left out."""
    sql = f"{_SELECT_SKETCH} JOIN json_each(?) w ON w.value = n.node ORDER BY w.key"
    return _read_sketches(connection, sql, now, nodes.tolist())


def sketches(connection: apsw.Connection, ids: Sequence[str], now: datetime) -> list[MemorySketch]:
    """Return the sketches of these memories in this order; what is gone is left out."""
    sql = f"{_SELECT_SKETCH} JOIN json_each(?) w ON w.value = n.id ORDER BY w.key"
    return _read_sketches(connection, sql, now, list(ids))


def _read_sketches(
    connection: apsw.Connection, sql: str, now: datetime, wanted: Sequence[object]
) -> list[MemorySketch]:
    rows = connection.execute(sql, (to_micros(now), json.dumps(wanted)))
    return [sketch_from_row(row) for row in rows]
