"""Edges: the arrows between memories, those in files and those that follow from a tag.

An arrow leads from a memory to what is known by an id, whether there is a memory or not. A
memory's outgoing arrows are replaced with it. Arrows that point to it belong to others and stay.
The self defines whatever is tagged about_self; such an arrow is worked out when it is asked for
and stands nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from operator import attrgetter
from typing import Any

from madeleine.index.common.edges import (
    ASSOCIATIONS_SQL,
    MAX_EDGES_SCANNED,
    build_implied_edge,
    connection_from_row,
    edge_key,
)
from madeleine.index.common.times import to_micros_or_none
from madeleine.index.graph import EdgeRow
from madeleine.model.memory import Connection
from madeleine.model.words import ABOUT_SELF, SELF_SOURCE, Edge
from madeleine_falkordb.connection import GraphAccess, GraphRow
from madeleine_falkordb.encoding import float_from_text, float_to_text, hash_key
from madeleine_falkordb.writing import FalkorWrite

ARROW_COLUMNS = "t.id, e.edge, e.weight, e.reason, e.by, e.at, e.kind, e.confidence"
_WEIGHT, _CONFIDENCE = 2, 7  # places in `ARROW_COLUMNS`
_MATCH_TARGET = "WITH m, e, t OPTIONAL MATCH (t)<-[:IS]-(o)"
_MATCH_BOTH_ENDS = "MATCH (m:Memory)-[e:ARROW]->(t)<-[:IS]-()"


def merge_known(writing: FalkorWrite, ids: Iterable[str]) -> None:
    """Let there be something that an id stands for."""
    rows = [(hash_key(each), each) for each in dict.fromkeys(ids)]
    writing.statement.each(rows, "MERGE (k:Known {key: r[0]}) ON CREATE SET k.id = r[1]")


def create_arrows(
    writing: FalkorWrite, sources: Iterable[tuple[int, Sequence[Connection]]]
) -> None:
    """Draw the outgoing arrows of memories that have none. Of two alike the first counts."""
    first: dict[tuple[int, str, Edge], dict[str, object]] = {}
    for node, connections in sources:
        for position, each in enumerate(connections):
            first.setdefault((node, each.target, each.edge), _arrow_values(position, each))
    merge_known(writing, (target for _, target, _ in first))
    rows = [(str(node), hash_key(target), arrow) for (node, target, _), arrow in first.items()]
    writing.statement.each(
        rows,
        """MATCH (m:Memory {at: r[0]}) MATCH (k:Known {key: r[1]})
           CREATE (m)-[e:ARROW]->(k) SET e = r[2]""",
    )


def _arrow_values(position: int, each: Connection) -> dict[str, object]:
    return {
        "edge": each.edge.value,
        "position": position,
        "weight": float_to_text(each.weight),
        "reason": each.reason,
        "by": each.by,
        "at": to_micros_or_none(each.at),
        "kind": each.kind,
        "confidence": float_to_text(each.confidence),
    }


def arrow_from_row(values: Sequence[Any]) -> list[Any]:
    """Return the columns of an arrow, with its numbers as they were."""
    columns = list(values)
    columns[_WEIGHT] = float(columns[_WEIGHT])
    columns[_CONFIDENCE] = float_from_text(columns[_CONFIDENCE])
    return columns


def _edge_from_row(row: GraphRow) -> EdgeRow:
    source, *values = row
    return EdgeRow(source, connection_from_row(arrow_from_row(values)))


def edges(access: GraphAccess, ids: Sequence[str], but_by: str | None = None) -> list[EdgeRow]:
    """Return the arrows that start or end at any of the ids, but those drawn `but_by`."""
    wanted = list(ids)
    found = {edge_key(row): row for row in _read_stored_edges(access, wanted, but_by)}
    for row in _read_implied_edges(access, wanted):
        found.setdefault(edge_key(row), row)
    return [found[key] for key in sorted(found)]


def _read_stored_edges(
    access: GraphAccess, wanted: list[str], but_by: str | None
) -> Iterator[EdgeRow]:
    others = "($but_by IS NULL OR e.by IS NULL OR e.by <> $but_by)"
    outgoing = "MATCH (m:Memory) WHERE m.id IN $wanted WITH m MATCH (m)-[e:ARROW]->(t)"
    incoming = "MATCH (t:Known) WHERE t.key IN $wanted WITH t MATCH (t)<-[e:ARROW]-(m)"
    for question, listed in ((outgoing, wanted), (incoming, [hash_key(each) for each in wanted])):
        rows = access.rows(
            f"{question} WHERE {others} {_MATCH_TARGET} WITH m, e, t, o IS NOT NULL AS there",
            f"there, m.id, {ARROW_COLUMNS}",
            wanted=listed,
            but_by=but_by,
        )
        for there, source, *values in rows:
            yield EdgeRow(source, connection_from_row(arrow_from_row(values)), resolved=there)


def _read_implied_edges(access: GraphAccess, wanted: list[str]) -> Iterator[EdgeRow]:
    source = self_id(access)
    if source is None:
        return
    question = """MATCH (m:Memory) WHERE $about IN m.tag_keys AND m.id <> $source
                  AND ($all OR m.id IN $wanted)"""
    listed = {"source": source, "wanted": wanted, "all": source in wanted}
    for target in access.column(question, "m.id", about=hash_key(ABOUT_SELF), **listed):
        yield build_implied_edge(source, target)


def edges_between(access: GraphAccess, ids: Sequence[str]) -> list[EdgeRow]:
    """Return the arrows between these memories."""
    question = """MATCH (m:Memory) WHERE m.id IN $ids WITH m MATCH (m)-[e:ARROW]->(t)
                  WHERE t.key IN $keys WITH m, e, t ORDER BY m.id, t.id, e.edge"""
    listed = {"ids": list(ids), "keys": [hash_key(each) for each in ids]}
    return [
        _edge_from_row(row) for row in access.rows(question, f"m.id, {ARROW_COLUMNS}", **listed)
    ]


def arrows(
    access: GraphAccess, ids: Sequence[str], each: int, incoming: bool = True
) -> list[EdgeRow]:
    """Return the strongest arrows that start at each of the ids, or also those that end there."""
    found = {edge_key(row): row for row in _read_starting(access, ids, each)}
    for row in _read_ending(access, ids, each) if incoming and ids else ():
        found[edge_key(row)] = row
    for row in _read_defining(access, ids, each if incoming else 0):
        found.setdefault(edge_key(row), row)
    return [found[key] for key in sorted(found)]


def _read_starting(access: GraphAccess, ids: Sequence[str], each: int) -> Iterator[EdgeRow]:
    """Yield the strongest arrows in the files of some memories. All of those of one stand in one
    file, so there are never very many."""
    question = """MATCH (m:Memory) WHERE m.id IN $ids
                  WITH m MATCH (m)-[e:ARROW]->(t)<-[:IS]-()"""
    rows = map(_edge_from_row, access.rows(question, f"m.id, {ARROW_COLUMNS}", ids=list(ids)))
    for _, its in groupby(sorted(rows, key=_strength_key), key=attrgetter("source")):
        yield from islice(its, each)


def _strength_key(row: EdgeRow) -> tuple[str, float, str]:
    return row.source, -row.connection.weight, row.connection.target


_MATCH_ENDING = f"""MATCH (o:Memory {{id: $id}}) WITH o MATCH (o)-[:IS]->(t) WITH t
    MATCH (t)<-[e:ARROW]-(m) WITH m, e, t LIMIT {MAX_EDGES_SCANNED}
    WITH m, e, t ORDER BY toFloat(e.weight) DESC, m.id LIMIT $each"""


def _read_ending(access: GraphAccess, ids: Sequence[str], each: int) -> Iterator[EdgeRow]:
    """Yield the strongest arrows that end at each of some memories. Seven digits of a weight
    are enough to choose by."""
    asked = [
        (_MATCH_ENDING, f"m.id, {ARROW_COLUMNS}", {"id": memory, "each": each}) for memory in ids
    ]
    for rows in access.several(*asked):
        yield from map(_edge_from_row, rows)


def _read_defining(access: GraphAccess, ids: Sequence[str], of_self: int) -> Iterator[EdgeRow]:
    """Yield the arrows that follow from a tag: those to the ids, and some of those from the self
    if it is among them."""
    myself = self_id(access)
    if myself is None:
        return
    about = {"about": hash_key(ABOUT_SELF), "myself": myself}
    question = """MATCH (m:Memory) WHERE m.id IN $ids
                  WITH m WHERE $about IN m.tag_keys AND m.id <> $myself"""
    targets = access.column(question, "m.id", ids=list(ids), **about)
    if of_self and myself in ids:
        question = f"""MATCH (m:Memory) WHERE $about IN m.tag_keys AND m.id <> $myself
            WITH m LIMIT {MAX_EDGES_SCANNED} WITH m ORDER BY m.node DESC LIMIT $each"""
        targets += access.column(question, "m.id", each=of_self, **about)
    yield from (build_implied_edge(myself, target) for target in targets)


def associations(access: GraphAccess) -> list[EdgeRow]:
    """Return what consolidation discovered, as far as both ends are there."""
    question = f"{_MATCH_BOTH_ENDS} WHERE {ASSOCIATIONS_SQL}"
    rows = access.rows(question, f"m.id, {ARROW_COLUMNS}")
    return [_edge_from_row(row) for row in sorted(rows, key=_drawn_key)]


def newest_edges(
    access: GraphAccess, wanted: Sequence[Edge], limit: int, but_by: str | None = None
) -> list[EdgeRow]:
    """Return arrows of some kinds whose both ends are there, the newest first, but those drawn
    `but_by`."""
    question = f"""{_MATCH_BOTH_ENDS} WHERE e.edge IN $kinds
                     AND ($but_by IS NULL OR e.by IS NULL OR e.by <> $but_by)
                   WITH m, e, t ORDER BY coalesce(e.at, $never) DESC, m.id, t.id LIMIT $limit"""
    rows = access.rows(
        question,
        f"m.id, {ARROW_COLUMNS}",
        kinds=[each.value for each in wanted],
        but_by=but_by,
        never=NO_TIME,
        limit=max(limit, 0),
    )
    return [_edge_from_row(row) for row in rows]


NO_TIME = -(2**62)  # before all times: what has none


def _drawn_key(row: GraphRow) -> tuple[int, str, str]:
    at = row[6]
    return NO_TIME if at is None else at, row[0], row[1]


def self_id(access: GraphAccess) -> str | None:
    """Return the self: the oldest of the memories whose source says so."""
    question = "MATCH (m:Memory {source_key: $key}) WITH m ORDER BY m.created, m.id LIMIT 1"
    found = access.column(question, "m.id", key=hash_key(SELF_SOURCE))
    return found[0] if found else None
