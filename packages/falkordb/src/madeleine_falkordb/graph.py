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

from madeleine.index.common.edges import ASSOCIATIONS_SQL, LOOKED_AT, connection_of, implied
from madeleine.index.common.edges import key_of as place_of
from madeleine.index.common.times import maybe_micros
from madeleine.index.graph import EdgeRow
from madeleine.model.memory import Connection
from madeleine.model.words import ABOUT_SELF, SELF_SOURCE, Edge
from madeleine_falkordb.adapting import exact, key_of, number_of
from madeleine_falkordb.connection import Access, Row
from madeleine_falkordb.writing import Writing

ARROW = "t.id, e.edge, e.weight, e.reason, e.by, e.at, e.kind, e.confidence"
_WEIGHT, _CONFIDENCE = 2, 7  # places in `ARROW`
_THERE = "WITH m, e, t OPTIONAL MATCH (t)<-[:IS]-(o)"
_BOTH = "MATCH (m:Memory)-[e:ARROW]->(t)<-[:IS]-()"


def know(writing: Writing, ids: Iterable[str]) -> None:
    """Let there be something that an id stands for."""
    rows = [(key_of(each), each) for each in dict.fromkeys(ids)]
    writing.statement.each(rows, "MERGE (k:Known {key: r[0]}) ON CREATE SET k.id = r[1]")


def draw(writing: Writing, sources: Iterable[tuple[int, Sequence[Connection]]]) -> None:
    """Draw the outgoing arrows of memories that have none. Of two alike the first counts."""
    first: dict[tuple[int, str, Edge], dict[str, object]] = {}
    for node, connections in sources:
        for position, each in enumerate(connections):
            first.setdefault((node, each.target, each.edge), _arrow(position, each))
    know(writing, (target for _, target, _ in first))
    rows = [(str(node), key_of(target), arrow) for (node, target, _), arrow in first.items()]
    writing.statement.each(
        rows,
        """MATCH (m:Memory {at: r[0]}) MATCH (k:Known {key: r[1]})
           CREATE (m)-[e:ARROW]->(k) SET e = r[2]""",
    )


def _arrow(position: int, each: Connection) -> dict[str, object]:
    return {
        "edge": each.edge.value,
        "position": position,
        "weight": exact(each.weight),
        "reason": each.reason,
        "by": each.by,
        "at": maybe_micros(each.at),
        "kind": each.kind,
        "confidence": exact(each.confidence),
    }


def arrow_of(values: Sequence[Any]) -> list[Any]:
    """Return the columns of an arrow, with its numbers as they were."""
    columns = list(values)
    columns[_WEIGHT] = float(columns[_WEIGHT])
    columns[_CONFIDENCE] = number_of(columns[_CONFIDENCE])
    return columns


def _edge(row: Row) -> EdgeRow:
    source, *values = row
    return EdgeRow(source, connection_of(arrow_of(values)))


def edges(access: Access, ids: Sequence[str], but_by: str | None = None) -> list[EdgeRow]:
    """Return the arrows that start or end at any of the ids, but those drawn `but_by`."""
    wanted = list(ids)
    found = {place_of(row): row for row in _stored_edges(access, wanted, but_by)}
    for row in _implied_edges(access, wanted):
        found.setdefault(place_of(row), row)
    return [found[key] for key in sorted(found)]


def _stored_edges(access: Access, wanted: list[str], but_by: str | None) -> Iterator[EdgeRow]:
    others = "($but_by IS NULL OR e.by IS NULL OR e.by <> $but_by)"
    outgoing = "MATCH (m:Memory) WHERE m.id IN $wanted WITH m MATCH (m)-[e:ARROW]->(t)"
    incoming = "MATCH (t:Known) WHERE t.key IN $wanted WITH t MATCH (t)<-[e:ARROW]-(m)"
    for question, listed in ((outgoing, wanted), (incoming, [key_of(each) for each in wanted])):
        rows = access.rows(
            f"{question} WHERE {others} {_THERE} WITH m, e, t, o IS NOT NULL AS there",
            f"there, m.id, {ARROW}",
            wanted=listed,
            but_by=but_by,
        )
        for there, source, *values in rows:
            yield EdgeRow(source, connection_of(arrow_of(values)), resolved=there)


def _implied_edges(access: Access, wanted: list[str]) -> Iterator[EdgeRow]:
    source = self_id(access)
    if source is None:
        return
    question = """MATCH (m:Memory) WHERE $about IN m.tag_keys AND m.id <> $source
                  AND ($all OR m.id IN $wanted)"""
    listed = {"source": source, "wanted": wanted, "all": source in wanted}
    for target in access.column(question, "m.id", about=key_of(ABOUT_SELF), **listed):
        yield implied(source, target)


def edges_between(access: Access, ids: Sequence[str]) -> list[EdgeRow]:
    """Return the arrows between these memories."""
    question = """MATCH (m:Memory) WHERE m.id IN $ids WITH m MATCH (m)-[e:ARROW]->(t)
                  WHERE t.key IN $keys WITH m, e, t ORDER BY m.id, t.id, e.edge"""
    listed = {"ids": list(ids), "keys": [key_of(each) for each in ids]}
    return [_edge(row) for row in access.rows(question, f"m.id, {ARROW}", **listed)]


def arrows(access: Access, ids: Sequence[str], each: int, incoming: bool = True) -> list[EdgeRow]:
    """Return the strongest arrows that start at each of the ids, or also those that end there."""
    found = {place_of(row): row for row in _starting(access, ids, each)}
    for row in _ending(access, ids, each) if incoming and ids else ():
        found[place_of(row)] = row
    for row in _defining(access, ids, each if incoming else 0):
        found.setdefault(place_of(row), row)
    return [found[key] for key in sorted(found)]


def _starting(access: Access, ids: Sequence[str], each: int) -> Iterator[EdgeRow]:
    """Yield the strongest arrows in the files of some memories. All of those of one stand in one
    file, so there are never very many."""
    question = """MATCH (m:Memory) WHERE m.id IN $ids
                  WITH m MATCH (m)-[e:ARROW]->(t)<-[:IS]-()"""
    rows = map(_edge, access.rows(question, f"m.id, {ARROW}", ids=list(ids)))
    for _, its in groupby(sorted(rows, key=_strength), key=attrgetter("source")):
        yield from islice(its, each)


def _strength(row: EdgeRow) -> tuple[str, float, str]:
    return row.source, -row.connection.weight, row.connection.target


_ENDING = f"""MATCH (o:Memory {{id: $id}}) WITH o MATCH (o)-[:IS]->(t) WITH t
    MATCH (t)<-[e:ARROW]-(m) WITH m, e, t LIMIT {LOOKED_AT}
    WITH m, e, t ORDER BY toFloat(e.weight) DESC, m.id LIMIT $each"""


def _ending(access: Access, ids: Sequence[str], each: int) -> Iterator[EdgeRow]:
    """Yield the strongest arrows that end at each of some memories. Seven digits of a weight
    are enough to choose by."""
    asked = [(_ENDING, f"m.id, {ARROW}", {"id": memory, "each": each}) for memory in ids]
    for rows in access.several(*asked):
        yield from map(_edge, rows)


def _defining(access: Access, ids: Sequence[str], of_self: int) -> Iterator[EdgeRow]:
    """Yield the arrows that follow from a tag: those to the ids, and some of those from the self
    if it is among them."""
    myself = self_id(access)
    if myself is None:
        return
    about = {"about": key_of(ABOUT_SELF), "myself": myself}
    question = """MATCH (m:Memory) WHERE m.id IN $ids
                  WITH m WHERE $about IN m.tag_keys AND m.id <> $myself"""
    targets = access.column(question, "m.id", ids=list(ids), **about)
    if of_self and myself in ids:
        question = f"""MATCH (m:Memory) WHERE $about IN m.tag_keys AND m.id <> $myself
            WITH m LIMIT {LOOKED_AT} WITH m ORDER BY m.node DESC LIMIT $each"""
        targets += access.column(question, "m.id", each=of_self, **about)
    yield from (implied(myself, target) for target in targets)


def associations(access: Access) -> list[EdgeRow]:
    """Return what consolidation discovered, as far as both ends are there."""
    question = f"{_BOTH} WHERE {ASSOCIATIONS_SQL}"
    rows = access.rows(question, f"m.id, {ARROW}")
    return [_edge(row) for row in sorted(rows, key=_drawn)]


def newest_edges(
    access: Access, wanted: Sequence[Edge], limit: int, but_by: str | None = None
) -> list[EdgeRow]:
    """Return arrows of some kinds whose both ends are there, the newest first, but those drawn
    `but_by`."""
    question = f"""{_BOTH} WHERE e.edge IN $kinds
                     AND ($but_by IS NULL OR e.by IS NULL OR e.by <> $but_by)
                   WITH m, e, t ORDER BY coalesce(e.at, $never) DESC, m.id, t.id LIMIT $limit"""
    rows = access.rows(
        question,
        f"m.id, {ARROW}",
        kinds=[each.value for each in wanted],
        but_by=but_by,
        never=NEVER,
        limit=max(limit, 0),
    )
    return [_edge(row) for row in rows]


NEVER = -(2**62)  # before all times: what has none


def _drawn(row: Row) -> tuple[int, str, str]:
    at = row[6]
    return NEVER if at is None else at, row[0], row[1]


def self_id(access: Access) -> str | None:
    """Return the self: the oldest of the memories whose source says so."""
    question = "MATCH (m:Memory {source_key: $key}) WITH m ORDER BY m.created, m.id LIMIT 1"
    found = access.column(question, "m.id", key=key_of(SELF_SOURCE))
    return found[0] if found else None
