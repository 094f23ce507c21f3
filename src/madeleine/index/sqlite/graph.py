"""Edges: the arrows between memories, those in files and those that follow from a tag.

A node's outgoing edges are replaced with its row. Edges that point to it belong to other
rows and stay. The self defines whatever is tagged about_self; such an arrow is worked out
when it is asked for and stands nowhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from operator import itemgetter

import apsw

from madeleine.index.common.edges import (
    _CONTRAST_SQL,
    _DISCOVERED_SQL,
    MAX_EDGES_SCANNED,
    build_implied_edge,
    connection_from_row,
    edge_key,
    edge_values,
)
from madeleine.index.graph import EdgeRow
from madeleine.model.memory import Connection
from madeleine.model.words import ABOUT_SELF, SELF_SOURCE, Edge

_EDGE_COLUMNS = "e.target, e.edge, e.weight, e.reason, e.by, e.at, e.kind, e.confidence"
_SELECT_EDGES = f"""
    SELECT s.id, EXISTS (SELECT 1 FROM nodes t WHERE t.id = e.target), {_EDGE_COLUMNS}
    FROM edges e JOIN nodes s ON s.node = e.source
"""
_SELECT_STARTING = f"""
    SELECT s.id, {_EDGE_COLUMNS} FROM nodes s CROSS JOIN edges e ON e.source = s.node
    CROSS JOIN nodes t ON t.id = e.target WHERE s.id IN (SELECT value FROM json_each(?))
    ORDER BY s.id, e.weight DESC, e.target
"""
_SELECT_ENDING = f"""
    SELECT s.id, {_EDGE_COLUMNS}
    FROM (SELECT * FROM edges WHERE target = ? LIMIT {MAX_EDGES_SCANNED}) e
    JOIN nodes s ON s.node = e.source JOIN nodes t ON t.id = e.target
    ORDER BY e.weight DESC, s.id LIMIT ?
"""

_TURNING_EDGES = frozenset({Edge.CONTRADICTS, Edge.EVOLVED_FROM})
_ORDER_BY_AT = (
    "7, 1, 2"  # columns of a source and `_EDGE_COLUMNS`: when it was drawn, from where, to where
)
_IS_TURNING = "e.edge IN ('contradicts', 'evolved_from')"  # in the words of their index


def insert_edges(
    connection: apsw.Connection, sources: Iterable[tuple[int, Sequence[Connection]]]
) -> None:
    """Write the outgoing edges of nodes that have none. Of two alike the first counts."""
    rows = (
        edge_values(node, position, each)
        for node, connections in sources
        for position, each in enumerate(connections)
    )
    connection.executemany("INSERT OR IGNORE INTO edges VALUES (?,?,?,?,?,?,?,?,?,?)", rows)


def delete_edges(connection: apsw.Connection, nodes: Iterable[int]) -> None:
    """Remove the outgoing edges of these nodes."""
    connection.executemany("DELETE FROM edges WHERE source = ?", ((node,) for node in nodes))


def read_connections(
    connection: apsw.Connection, nodes: Sequence[int]
) -> dict[int, list[Connection]]:
    """Return each node's outgoing connections in the order of its file."""
    found: dict[int, list[Connection]] = {}
    sql = f"""SELECT e.source, {_EDGE_COLUMNS} FROM edges e
              WHERE e.source IN (SELECT value FROM json_each(?)) ORDER BY e.source, e.position"""
    for node, *values in connection.execute(sql, (json.dumps(nodes),)):
        found.setdefault(node, []).append(connection_from_row(values))
    return found


def edges(
    connection: apsw.Connection, ids: Sequence[str], but_by: str | None = None
) -> list[EdgeRow]:
    """Return the arrows that start or end at any of the ids, but those drawn `but_by`."""
    wanted = json.dumps(list(ids))
    found = {edge_key(row): row for row in _read_stored_edges(connection, wanted, but_by)}
    for row in _read_implied_edges(connection, wanted):
        found.setdefault(edge_key(row), row)
    return [found[key] for key in sorted(found)]


def edges_between(connection: apsw.Connection, ids: Sequence[str]) -> list[EdgeRow]:
    """Return the arrows between these nodes. Source and target together are looked up, so a
    node with a million arrows costs no more than another."""
    sql = f"""SELECT s.id, {_EDGE_COLUMNS} FROM nodes s CROSS JOIN json_each(?1) t
              CROSS JOIN edges e ON e.source = s.node AND e.target = t.value
              WHERE s.id IN (SELECT value FROM json_each(?1)) ORDER BY s.id, e.target, e.edge"""
    rows = connection.execute(sql, (json.dumps(list(ids)),))
    return [EdgeRow(source, connection_from_row(values)) for source, *values in rows]


def arrows(
    connection: apsw.Connection, ids: Sequence[str], each: int, incoming: bool = True
) -> list[EdgeRow]:
    """Return the strongest arrows that start at each of the ids, or also those that end there."""
    found = {edge_key(row): row for row in _read_starting(connection, ids, each)}
    for memory_id in ids if incoming else ():
        for source, *values in connection.execute(_SELECT_ENDING, (memory_id, each)):
            row = EdgeRow(source, connection_from_row(values))
            found[edge_key(row)] = row
    for row in _read_defining(connection, ids, each if incoming else 0):
        found.setdefault(edge_key(row), row)
    return [found[key] for key in sorted(found)]


def _read_starting(connection: apsw.Connection, ids: Sequence[str], each: int) -> Iterator[EdgeRow]:
    """Yield the strongest arrows in the files of some memories. All of those of one stand in one
    file, so there are never very many."""
    rows = connection.execute(_SELECT_STARTING, (json.dumps(list(ids)),))
    for source, its in groupby(rows, key=itemgetter(0)):
        for _, *values in islice(its, each):
            yield EdgeRow(source, connection_from_row(values))


def _read_defining(
    connection: apsw.Connection, ids: Sequence[str], of_self: int
) -> Iterator[EdgeRow]:
    """Yield the arrows that follow from a tag: those to the ids, and some of those from the self
    if it is among them."""
    myself = self_id(connection)
    if myself is None:
        return
    sql = """SELECT n.id FROM nodes n JOIN node_tags t ON t.tag = ?1 AND t.node = n.node
             WHERE n.id IN (SELECT value FROM json_each(?2)) AND n.id <> ?3"""
    rows = connection.execute(sql, (ABOUT_SELF, json.dumps(list(ids)), myself)).fetchall()
    if of_self and myself in ids:
        sql = """SELECT n.id FROM node_tags t JOIN nodes n ON n.node = t.node
                 WHERE t.tag = ?1 AND n.id <> ?2 ORDER BY t.node DESC LIMIT ?3"""
        rows += connection.execute(sql, (ABOUT_SELF, myself, of_self)).fetchall()
    for (target,) in rows:
        yield build_implied_edge(myself, str(target))


def associations(connection: apsw.Connection) -> list[EdgeRow]:
    """Return what consolidation discovered, as far as both ends are there. Each of the two kinds
    is found by an index of its own."""
    rows = f"""SELECT s.id, {_EDGE_COLUMNS} FROM edges e CROSS JOIN nodes s ON s.node = e.source
               CROSS JOIN nodes t ON t.id = e.target"""
    sql = f"""{rows} WHERE {_DISCOVERED_SQL} UNION ALL
              {rows} WHERE {_CONTRAST_SQL} AND {_IS_TURNING} ORDER BY {_ORDER_BY_AT}"""
    return [
        EdgeRow(source, connection_from_row(values)) for source, *values in connection.execute(sql)
    ]


def newest_edges(
    connection: apsw.Connection, wanted: Sequence[Edge], limit: int, but_by: str | None = None
) -> list[EdgeRow]:
    """Return arrows of some kinds whose both ends are there, the newest first, but those drawn
    `but_by`. Those that have an index of their own are found by it."""
    known = f"AND {_IS_TURNING}" if _TURNING_EDGES.issuperset(wanted) else ""
    sql = f"""SELECT s.id, {_EDGE_COLUMNS} FROM edges e
              CROSS JOIN nodes s ON s.node = e.source CROSS JOIN nodes t ON t.id = e.target
              WHERE e.edge IN (SELECT value FROM json_each(?)) {known}
                AND (? IS NULL OR e.by IS NOT ?)
              ORDER BY e.at DESC NULLS LAST, s.id, e.target LIMIT ?"""
    listed = json.dumps([each.value for each in wanted])
    rows = connection.execute(sql, (listed, but_by, but_by, limit))
    return [EdgeRow(source, connection_from_row(values)) for source, *values in rows]


def self_id(connection: apsw.Connection) -> str | None:
    """Return the self: the oldest of the memories whose source says so."""
    row = connection.execute(
        f"SELECT id FROM nodes WHERE source = '{SELF_SOURCE}' ORDER BY created, id LIMIT 1"
    ).fetchone()
    return None if row is None else str(row[0])


def _read_stored_edges(
    connection: apsw.Connection, wanted: str, but_by: str | None
) -> Iterator[EdgeRow]:
    listed = "(SELECT value FROM json_each(?1))"
    outgoing = f"{_SELECT_EDGES} WHERE e.source IN (SELECT node FROM nodes WHERE id IN {listed})"
    for sql in (outgoing, f"{_SELECT_EDGES} WHERE e.target IN {listed}"):
        other = f"{sql} AND (?2 IS NULL OR e.by IS NOT ?2)"
        for source, resolved, *values in connection.execute(other, (wanted, but_by)):
            yield EdgeRow(source, connection_from_row(values), resolved=bool(resolved))


def _read_implied_edges(connection: apsw.Connection, wanted: str) -> Iterator[EdgeRow]:
    source = self_id(connection)
    if source is None:
        return
    sql = """SELECT n.id FROM node_tags t JOIN nodes n ON n.node = t.node
             WHERE t.tag = ?1 AND n.id <> ?2
               AND (n.id IN (SELECT value FROM json_each(?3))
                    OR ?2 IN (SELECT value FROM json_each(?3)))"""
    for (target,) in connection.execute(sql, (ABOUT_SELF, source, wanted)):
        yield build_implied_edge(source, target)
