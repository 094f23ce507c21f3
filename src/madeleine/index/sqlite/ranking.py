"""What the graph is drawn from: the memories of each space, strongest first, and their sketches.

The order is worked out once by walking the tables in the order in which they lie on the disk, and
kept until a memory comes, goes or is scored; a page of it is then a slice. It holds nothing but
numbers of nodes, eight bytes for each memory.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from madeleine.index.port import Batch, Sketch
from madeleine.index.sqlite.times import micros
from madeleine.index.sqlite.vectors import TIER_CODES
from madeleine.model.event import Kind
from madeleine.model.memory import DEFAULT_IMPORTANCE, first_words
from madeleine.model.words import MemoryType, Tier

BEGINNING_CHARS = 600  # enough to find the first words in
_OVER = "(n.superseded_by IS NOT NULL OR ifnull(n.valid_until <= ?, FALSE))"

Ranking = Mapping[str | None, NDArray[np.int64]]
"""By space the numbers of its nodes, strongest first; the largest space first."""


def ranking(connection: apsw.Connection, now: datetime) -> Ranking:
    """Return all nodes by space, as `ranked` orders them."""
    sql = f"SELECT n.node, n.space, n.tier, n.created, {_OVER}, n.id FROM nodes n"
    rows = connection.execute(sql, (micros(now),)).fetchall()
    importance = _importance(connection)
    return ranked(rows, [importance.get(str(row[5]), DEFAULT_IMPORTANCE) for row in rows])


def _importance(connection: apsw.Connection) -> dict[str, float]:
    used = connection.execute("SELECT memory, importance FROM usage")
    scored = connection.execute("SELECT memory, importance FROM scores WHERE importance NOT NULL")
    return {**dict(used), **dict(scored)}


def reorders(batch: Batch) -> bool:
    """Whether memories come, go or are scored."""
    scored = any(each.kind is Kind.SCORED for each in batch.events)
    return bool(batch.puts or batch.drops or scored)


def ranked(rows: Sequence[Sequence[Any]], importance: Sequence[float]) -> Ranking:
    """Return nodes by space: what holds before what is outdated, then core, working, archival,
    then by importance; of equals the newest. A row begins with node, space, tier, when it was
    created in microseconds, and whether it is outdated."""
    if not rows:
        return {}
    nodes, spaces, tiers, created, over, *_ = zip(*rows, strict=True)
    keys = (
        np.array(nodes, np.int64),
        -np.array(created, np.int64),
        -np.array(importance),
        np.array([TIER_CODES[each] for each in tiers], np.int8),
        np.array(over, np.int8),
    )
    return _by_space(keys[0], spaces, np.lexsort(keys))


def _by_space(
    nodes: NDArray[np.int64], spaces: Sequence[str | None], order: NDArray[np.int64]
) -> Ranking:
    names = sorted({each for each in spaces if each is not None})
    codes = {None: 0} | {name: code for code, name in enumerate(names, 1)}
    coded, ranked_nodes = np.array([codes[each] for each in spaces], np.int64)[order], nodes[order]
    found = {space: ranked_nodes[coded == code] for space, code in codes.items()}
    filled = [(space, its) for space, its in found.items() if len(its)]
    return dict(sorted(filled, key=lambda each: (-len(each[1]), each[0] or "")))


_SKETCH = f"""
    SELECT n.id, n.type, n.tier, n.space, t.title, substr(t.content, 1, {BEGINNING_CHARS}),
           coalesce(s.importance, u.importance, {DEFAULT_IMPORTANCE}), {_OVER}
    FROM nodes n JOIN texts t ON t.node = n.node
    LEFT JOIN usage u ON u.memory = n.id LEFT JOIN scores s ON s.memory = n.id
"""


def sketches_of_nodes(
    connection: apsw.Connection, nodes: NDArray[np.int64], now: datetime
) -> list[Sketch]:
    """Return the sketches of these nodes in this order; what is gone is left out."""
    sql = f"{_SKETCH} JOIN json_each(?) w ON w.value = n.node ORDER BY w.key"
    return _sketches(connection, sql, now, nodes.tolist())


def sketches(connection: apsw.Connection, ids: Sequence[str], now: datetime) -> list[Sketch]:
    """Return the sketches of these memories in this order; what is gone is left out."""
    sql = f"{_SKETCH} JOIN json_each(?) w ON w.value = n.id ORDER BY w.key"
    return _sketches(connection, sql, now, list(ids))


def _sketches(
    connection: apsw.Connection, sql: str, now: datetime, wanted: Sequence[object]
) -> list[Sketch]:
    rows = connection.execute(sql, (micros(now), json.dumps(wanted)))
    return [sketch_of(row) for row in rows]


def sketch_of(row: Sequence[Any]) -> Sketch:
    """Return what is drawn of id, type, tier, space, title, the beginning of the content,
    importance, and whether it is outdated."""
    memory_id, memory_type, tier, space, title, content, importance, over = row
    return Sketch(
        id=memory_id,
        type=MemoryType(memory_type),
        tier=Tier(tier),
        space=space,
        headline=title or first_words(content),
        importance=importance,
        outdated=bool(over),
    )
