"""Edges: the arrows between memories, those in files and those that follow from a tag.

A node's outgoing edges are replaced with its row. Edges that point to it belong to other
rows and stay. The self defines whatever is tagged about_self; such an arrow is worked out
when it is asked for and stands nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from madeleine.database.connection import DatabaseRow
from madeleine.database.transactions import TenantAccess
from madeleine.index.common.edges import (
    ASSOCIATIONS_SQL,
    IMPLIED_WEIGHT,
    MAX_EDGES_SCANNED,
    EdgeKey,
    connection_from_row,
    edge_key,
    edge_values,
)
from madeleine.index.graph import EdgeRow
from madeleine.model.memory import Connection
from madeleine.model.words import ABOUT_SELF, SELF_SOURCE, Edge

_EDGE_COLUMNS = "e.target, e.edge, e.weight, e.reason, e.by, e.at, e.kind, e.confidence"
_FROM_EDGES = "FROM edges e JOIN nodes s ON s.tenant = :tenant AND s.node = e.source"
_SELECT_STORED = f"""
    SELECT s.id, EXISTS (SELECT 1 FROM nodes t WHERE t.tenant = :tenant AND t.id = e.target), FALSE,
           {_EDGE_COLUMNS} {_FROM_EDGES} WHERE e.tenant = :tenant AND {{}} = ANY(%s::text[])
           AND (%s::text IS NULL OR e.by IS DISTINCT FROM %s::text)
"""
_SELECT_SELF = f"""
    SELECT id FROM nodes WHERE tenant = :tenant AND source = '{SELF_SOURCE}'
    ORDER BY created, id LIMIT 1
"""
_SELECT_FROM_SELF = f"""
    SELECT f.id, TRUE, TRUE, n.id, '{Edge.DEFINES.value}', {IMPLIED_WEIGHT}, NULL, NULL, NULL, NULL,
           NULL FROM ({_SELECT_SELF}) f
"""
_SELECT_IMPLIED = f"""
    {_SELECT_FROM_SELF} CROSS JOIN nodes n
    JOIN node_tags t ON t.tenant = :tenant AND t.tag = '{ABOUT_SELF}' AND t.node = n.node
    WHERE n.tenant = :tenant AND n.id <> f.id AND {{}} = ANY(%s::text[])
"""
_SELECT_EDGES = " UNION ALL ".join(
    (
        *(_SELECT_STORED.format(each) for each in ("s.id", "e.target")),
        *(_SELECT_IMPLIED.format(each) for each in ("n.id", "f.id")),
    )
)
_SELECT_STARTING = f"""
    SELECT s.id, TRUE, FALSE, {_EDGE_COLUMNS} FROM nodes s CROSS JOIN LATERAL
        (SELECT e.* FROM edges e JOIN nodes t ON t.tenant = :tenant AND t.id = e.target
         WHERE e.tenant = :tenant AND e.source = s.node
         ORDER BY e.weight DESC, e.target LIMIT %s) e
    WHERE s.tenant = :tenant AND s.id = ANY(%s::text[])
"""
_SELECT_ENDING = f"""
    SELECT e.id, TRUE, FALSE, {_EDGE_COLUMNS} FROM nodes t CROSS JOIN LATERAL
        (SELECT s.id, e.* FROM (SELECT * FROM edges WHERE tenant = :tenant AND target = t.id
                                LIMIT {MAX_EDGES_SCANNED}) e
         JOIN nodes s ON s.tenant = :tenant AND s.node = e.source
         ORDER BY e.weight DESC, s.id LIMIT %s) e
    WHERE t.tenant = :tenant AND t.id = ANY(%s::text[])
"""
_SELECT_DEFINED = f"""
    {_SELECT_FROM_SELF} CROSS JOIN LATERAL
        (SELECT n.id FROM node_tags t JOIN nodes n ON n.tenant = :tenant AND n.node = t.node
         WHERE t.tenant = :tenant AND t.tag = '{ABOUT_SELF}' AND n.id <> f.id
         ORDER BY t.node DESC LIMIT %s) n
    WHERE f.id = ANY(%s::text[])
"""
_SELECT_ARROWS = " UNION ALL ".join(
    (_SELECT_STARTING, _SELECT_ENDING, _SELECT_DEFINED, _SELECT_IMPLIED.format("n.id"))
)


def insert_edges(access: TenantAccess, sources: Iterable[tuple[int, Sequence[Connection]]]) -> None:
    """Write the outgoing edges of nodes that have none. Of two alike the first counts."""
    rows = (
        edge_values(node, position, each)
        for node, connections in sources
        for position, each in enumerate(connections)
    )
    sql = """INSERT INTO edges VALUES (:tenant, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
             ON CONFLICT DO NOTHING"""
    access.run_many(sql, rows)


def delete_edges(access: TenantAccess, nodes: Sequence[int]) -> None:
    """Remove the outgoing edges of these nodes."""
    if nodes:
        sql = "DELETE FROM edges WHERE tenant = :tenant AND source = ANY(%s::bigint[])"
        access.run(sql, list(nodes))


def read_connections(access: TenantAccess, nodes: Sequence[int]) -> dict[int, list[Connection]]:
    """Return each node's outgoing connections in the order of its file."""
    found: dict[int, list[Connection]] = {}
    sql = f"""SELECT e.source, {_EDGE_COLUMNS} FROM edges e
              WHERE e.tenant = :tenant AND e.source = ANY(%s::bigint[])
              ORDER BY e.source, e.position"""
    for node, *values in access.rows(sql, list(nodes)) if nodes else ():
        found.setdefault(node, []).append(connection_from_row(values))
    return found


def edges(access: TenantAccess, ids: Sequence[str], but_by: str | None = None) -> list[EdgeRow]:
    """Return the arrows that start or end at any of the ids, but those drawn `but_by`. One that
    stands in a file counts before one that is implied."""
    wanted = list(ids)
    stored = (wanted, but_by, but_by)
    return _merge_edges(access.rows(_SELECT_EDGES, *stored, *stored, wanted, wanted))


def arrows(
    access: TenantAccess, ids: Sequence[str], each: int, incoming: bool = True
) -> list[EdgeRow]:
    """Return the strongest arrows that start at each of the ids, or also those that end there,
    and those that follow from a tag: to the ids, and some of those from the self."""
    wanted, most = list(ids), max(each, 0)
    ending = (most if incoming else 0, wanted)
    return _merge_edges(access.rows(_SELECT_ARROWS, most, wanted, *ending, *ending, wanted))


def _merge_edges(rows: Iterable[DatabaseRow]) -> list[EdgeRow]:
    """Return each arrow once, in their order."""
    found: dict[EdgeKey, EdgeRow] = {}
    for source, resolved, implied, *values in rows:
        row = EdgeRow(source, connection_from_row(values), resolved=resolved, implied=implied)
        if not implied or edge_key(row) not in found:
            found[edge_key(row)] = row
    return [found[key] for key in sorted(found)]


def edges_between(access: TenantAccess, ids: Sequence[str]) -> list[EdgeRow]:
    """Return the arrows between these nodes. Source and target together are looked up, so a
    node with a million arrows costs no more than another."""
    sql = f"""SELECT s.id, {_EDGE_COLUMNS} {_FROM_EDGES} WHERE e.tenant = :tenant
              AND s.id = ANY(%s::text[]) AND e.target = ANY(%s::text[])
              ORDER BY s.id, e.target, e.edge"""
    rows = access.rows(sql, list(ids), list(ids))
    return [EdgeRow(source, connection_from_row(values)) for source, *values in rows]


def associations(access: TenantAccess) -> list[EdgeRow]:
    """Return what consolidation discovered, as far as both ends are there."""
    sql = f"""SELECT s.id, {_EDGE_COLUMNS} {_FROM_EDGES}
              JOIN nodes t ON t.tenant = :tenant AND t.id = e.target
              WHERE e.tenant = :tenant AND {ASSOCIATIONS_SQL}
              ORDER BY e.at NULLS FIRST, s.id, e.target"""
    return [EdgeRow(source, connection_from_row(values)) for source, *values in access.rows(sql)]


def newest_edges(
    access: TenantAccess, wanted: Sequence[Edge], limit: int, but_by: str | None = None
) -> list[EdgeRow]:
    """Return arrows of some kinds whose both ends are there, the newest first, but those drawn
    `but_by`."""
    sql = f"""SELECT s.id, {_EDGE_COLUMNS} {_FROM_EDGES}
              JOIN nodes t ON t.tenant = :tenant AND t.id = e.target
              WHERE e.tenant = :tenant AND e.edge = ANY(%s::text[])
                AND (%s::text IS NULL OR e.by IS DISTINCT FROM %s::text)
              ORDER BY e.at DESC NULLS LAST, s.id, e.target LIMIT %s"""
    rows = access.rows(sql, [each.value for each in wanted], but_by, but_by, max(limit, 0))
    return [EdgeRow(source, connection_from_row(values)) for source, *values in rows]


def self_id(access: TenantAccess) -> str | None:
    """Return the self: the oldest of the memories whose source says so."""
    row = access.row(_SELECT_SELF)
    return None if row is None else str(row[0])
