"""What the jobs go by: how memories stand, who is near whom, and what was looked at before."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from itertools import chain, count, groupby, islice
from operator import itemgetter
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from madeleine.index.common.matrix import NONE, Matrix, MatrixSnapshot
from madeleine.index.common.neighbours import NearestById, NeighbourQuery, build_hits
from madeleine.index.common.passages import TIER_CODES, TYPE_CODES
from madeleine.index.common.rows import ColumnValue, PlacedMemory
from madeleine.index.common.times import from_micros
from madeleine.index.graph import CrossSpaceEdge
from madeleine.index.search import IndexHit, MemoryColumns, PauseCallback, no_pause
from madeleine.index.sqlite import graph, vectors
from madeleine.index.sqlite.filters import build_condition
from madeleine.model.digest import text_digest
from madeleine.model.memory import DEFAULT_IMPORTANCE, DEFAULT_STABILITY_DAYS
from madeleine.model.query import Filter
from madeleine.model.verdict import Verdict, verdict_from_json
from madeleine.model.words import ABOUT_SELF, MACHINE_AUTHORS, Edge
from madeleine.rules.forgetting import PROTECTED_TAG
from madeleine.rules.usage import MemoryUse, select_counting_uses

_IN_LIST = "(SELECT value FROM json_each(?))"
_MACHINES_SQL = ", ".join(f"'{each}'" for each in sorted(MACHINE_AUTHORS))
_IS_BY_HAND = f"(e.by IS NULL OR e.by NOT IN ({_MACHINES_SQL}))"

# Each of these walks a table or an index from end to end, in the order in which it lies on the
# disk. Looking things up for one memory after the other takes three times as long, and more the
# larger the store is.
_SELECT_NODES = "SELECT node, id, space, source, type, tier, created, confidence FROM nodes"
_SELECT_USAGE = "SELECT memory, last_accessed, access_count, stability, importance FROM usage"
_SELECT_SCORES = "SELECT memory, importance, relevance, relevance_at FROM scores"
_COUNT_INCOMING = f"SELECT e.target, count(*) FROM edges e WHERE {_IS_BY_HAND} GROUP BY e.target"
_COUNT_OUTGOING = f"""
    SELECT e.source, count(*) FROM edges e
    WHERE {_IS_BY_HAND} AND e.target NOT IN (SELECT target FROM edges EXCEPT SELECT id FROM nodes)
    GROUP BY e.source
"""
# The same for a few memories: each is looked up.
_COUNT_FEW_INCOMING = f"""SELECT e.target, count(*) FROM edges e
    WHERE {_IS_BY_HAND} AND e.target IN {_IN_LIST} GROUP BY e.target"""
_COUNT_FEW_OUTGOING = f"""SELECT e.source, count(*) FROM edges e
    WHERE {_IS_BY_HAND} AND e.source IN (SELECT node FROM nodes WHERE id IN {_IN_LIST})
    AND e.target IN (SELECT id FROM nodes) GROUP BY e.source"""
_DEFAULT_USAGE = (None, 0, DEFAULT_STABILITY_DAYS, None)
_DEFAULT_SCORES = (None, None, None)
_ROWS_PER_BATCH = 1_000  # rows that are made into columns at a time: some milliseconds

_flatten = chain.from_iterable
SelectedRow = tuple[Any, ...]


_FROM_ARROWS = "FROM edges e JOIN nodes s ON s.node = e.source JOIN nodes t ON t.id = e.target"
_SELECT_ACROSS = f"""
    SELECT s.id, s.source, t.id, t.space, e.edge, e.by {_FROM_ARROWS}
    WHERE s.space IS NULL AND t.space IS NOT NULL
    UNION ALL
    SELECT t.id, t.source, s.id, s.space, e.edge, e.by {_FROM_ARROWS}
    WHERE t.space IS NULL AND s.space IS NOT NULL
    ORDER BY 1, 3, 5
"""


# --- writing ------------------------------------------------------------------------------


def note_digests(
    connection: apsw.Connection, placed: Iterable[PlacedMemory], gone: Iterable[int]
) -> None:
    """Note what the memories just put say, and forget what those say that are gone."""
    connection.executemany("DELETE FROM digests WHERE node = ?", ((node,) for node in gone))
    rows = ((each.node, bytes.fromhex(text_digest(each.memory))) for each in placed)
    connection.executemany("INSERT OR REPLACE INTO digests VALUES (?, ?)", rows)


# --- how memories stand -------------------------------------------------------------------


def standings(
    connection: apsw.Connection, ids: Sequence[str] | None = None, between: PauseCallback = no_pause
) -> MemoryColumns:
    """Return the columns of all memories, or of these."""
    ask = _BatchedReader(connection, ids, between)
    columns = _collect_columns(ask.about(_SELECT_NODES, "id"), 8)
    journal = _JournalColumns(ask, columns[1], columns[0])
    return _sort_by_id(_build_standings(columns, journal, _SelfAndProtection(connection, columns)))


def _collect_columns(parts: Iterator[list[SelectedRow]], width: int) -> list[list[Any]]:
    """Return the columns of the rows. Rows do not outlive their portion: keeping them all takes
    longer than reading them."""
    columns: list[list[Any]] = [[] for _ in range(width)]
    for some in parts:
        for column, values in zip(columns, zip(*some, strict=True), strict=True):
            column.extend(values)
    return columns


def read_in_batches(
    rows: Iterator[SelectedRow], between: PauseCallback
) -> Iterator[list[SelectedRow]]:
    """Yield some rows at a time: others have a word in between."""
    while some := list(islice(rows, _ROWS_PER_BATCH)):
        between()
        yield some


class _BatchedReader:
    """Asks about all memories, or about a few; answers come in portions."""

    def __init__(
        self, connection: apsw.Connection, ids: Sequence[str] | None, between: PauseCallback
    ) -> None:
        self._connection = connection
        self._listed = None if ids is None else json.dumps(list(ids))
        self._between = between

    def about(self, sql: str, column: str) -> Iterator[list[SelectedRow]]:
        """Return the rows whose column names one of them."""
        return self.either(sql, f"{sql} WHERE {column} IN {_IN_LIST}")

    def either(self, of_all: str, of_few: str) -> Iterator[list[SelectedRow]]:
        """Return the rows of the one statement or the other."""
        if self._listed is None:
            return read_in_batches(self._connection.execute(of_all), self._between)
        return read_in_batches(self._connection.execute(of_few, (self._listed,)), self._between)


class _JournalColumns:
    """What is known of memories besides their files, as columns in the order that is given."""

    def __init__(self, ask: _BatchedReader, ids: Sequence[str], nodes: Sequence[int]) -> None:
        places = dict(zip(ids, count(), strict=False))
        self.usage = _fill_columns(ask.about(_SELECT_USAGE, "memory"), places, _DEFAULT_USAGE)
        self.scores = _fill_columns(ask.about(_SELECT_SCORES, "memory"), places, _DEFAULT_SCORES)
        (incoming,) = _fill_columns(ask.either(_COUNT_INCOMING, _COUNT_FEW_INCOMING), places, (0,))
        outgoing: dict[int, int] = dict(_flatten(ask.either(_COUNT_OUTGOING, _COUNT_FEW_OUTGOING)))
        from_it = np.array([outgoing.get(each, 0) for each in nodes], np.int64)
        self.arrows = incoming.astype(np.int64) + from_it


class _SelfAndProtection:
    """Which memories are the self, about the self, or protected."""

    def __init__(self, connection: apsw.Connection, columns: Sequence[Sequence[Any]]) -> None:
        nodes = np.array(columns[0], np.int64)
        the_self = graph.self_id(connection)
        self.is_self = np.array([each == the_self for each in columns[1]], np.bool_)
        self.about = np.isin(nodes, _read_tagged(connection, ABOUT_SELF))
        self.protected = np.isin(nodes, _read_tagged(connection, PROTECTED_TAG))
        # The self defines what is tagged so: an arrow that stands in no file and counts like
        # others.
        self.defined = self.about & ~self.is_self & (the_self is not None)


def _build_standings(
    columns: Sequence[Sequence[Any]], journal: _JournalColumns, marks: _SelfAndProtection
) -> MemoryColumns:
    created = np.array(columns[6], np.int64)
    accessed, uses, stability, weighed = journal.usage
    importance, relevance, scored = journal.scores
    return MemoryColumns(
        ids=columns[1],
        spaces=_share_equal_values(columns[2]),
        sources=_share_equal_values(columns[3]),
        types=np.array([TYPE_CODES[each] for each in columns[4]], np.uint8),
        tiers=np.array([TIER_CODES[each] for each in columns[5]], np.uint8),
        created=created,
        last_accessed=np.where(np.isnan(accessed), created, accessed).astype(np.int64),
        uses=uses.astype(np.int64),
        stability=stability,
        confidence=np.array(columns[7], np.float64),
        importance=_first_not_nan(importance, weighed, DEFAULT_IMPORTANCE),
        relevance=relevance,
        relevance_at=np.where(np.isnan(relevance), 0, scored).astype(np.int64),
        connections=journal.arrows + marks.defined,
        about_self=marks.about | marks.is_self,
        is_self=marks.is_self,
        protected=marks.protected,
    )


def _share_equal_values(values: Iterable[Any]) -> list[Any]:
    """Return the values, equal ones as one object."""
    seen: dict[Any, Any] = {}
    return [seen.setdefault(each, each) for each in values]


def _fill_columns(
    parts: Iterator[list[SelectedRow]], places: Mapping[str, int], unknown: Sequence[float | None]
) -> list[NDArray[np.float64]]:
    """Return the columns of a table, each number at the place of the memory that its row begins
    with; nothing is not a number."""
    columns = [np.full(len(places) + 1, each, np.float64) for each in unknown]
    for some in parts:
        ids, *values = zip(*some, strict=True)
        # Rows about what is gone go to a place behind the last.
        at = np.array([places.get(each, len(places)) for each in ids], np.int64)
        for column, each in zip(columns, values, strict=True):
            column[at] = each
    return [column[:-1] for column in columns]


def _read_tagged(connection: apsw.Connection, tag: str) -> NDArray[np.int64]:
    rows = connection.execute("SELECT node FROM node_tags WHERE tag = ?", (tag,))
    return np.array([node for (node,) in rows], np.int64)


def _first_not_nan(
    one: NDArray[np.float64], other: NDArray[np.float64], neither: float
) -> NDArray[np.float64]:
    either = np.where(np.isnan(one), other, one)
    return np.where(np.isnan(either), neither, either)


def _sort_by_id(known: MemoryColumns) -> MemoryColumns:
    """Return the places in the order of the ids. The ids are made anew from one block, so that
    they lie in that order too: who goes through them later waits far less for the memory."""
    names = np.array(known.ids, np.str_)
    order = np.argsort(names)
    places = order.tolist()
    _, *columns = (getattr(known, each.name) for each in fields(MemoryColumns))
    ordered: Iterator[Any] = (
        each[order] if isinstance(each, np.ndarray) else [each[place] for place in places]
        for each in columns
    )
    return MemoryColumns(names[order].tolist(), *ordered)


def across_spaces(connection: apsw.Connection) -> list[CrossSpaceEdge]:
    """Return the arrows between memories without a space and those with one."""
    return [
        CrossSpaceEdge(memory, source, other, space, Edge(edge), by)
        for memory, source, other, space, edge, by in connection.execute(_SELECT_ACROSS)
    ]


def uses(connection: apsw.Connection, ids: Sequence[str]) -> dict[str, list[MemoryUse]]:
    """Return the uses of memories, each session and day once, oldest first."""
    sql = f"SELECT memory, at, session, n FROM uses WHERE memory IN {_IN_LIST} ORDER BY memory"
    rows = connection.execute(sql, (json.dumps(list(ids)),))
    return {
        memory: select_counting_uses(MemoryUse(from_micros(row[1]), *row[2:]) for row in its)
        for memory, its in groupby(rows, key=itemgetter(0))
    }


def unseen(
    connection: apsw.Connection,
    job: str,
    judge: str,
    chosen: Filter,
    now: datetime,
    limit: int,
    also: Sequence[str] = (),
) -> list[str]:
    """Return memories that say something else than when they were last looked at."""
    passing = build_condition(chosen, now)
    sql = f"""SELECT n.id FROM nodes n JOIN digests d ON d.node = n.node
              LEFT JOIN seen s ON s.job = ? AND s.judge = ? AND s.memory = n.id
              WHERE (s.digest IS NOT d.digest OR n.id IN {_IN_LIST})
              AND n.embedded AND {passing.sql}
              ORDER BY n.created, n.id LIMIT ?"""
    anyway = json.dumps(list(also))
    bindings = (job, judge, anyway, *passing.bindings, max(limit, 0))
    return [memory_id for (memory_id,) in connection.execute(sql, bindings)]


def verdicts(
    connection: apsw.Connection, pairs: Sequence[tuple[str, str]], judge: str
) -> dict[tuple[str, str], Verdict]:
    """Return the verdicts about pairs of which neither side has changed."""
    sql = """SELECT v.older, v.newer, v.verdict
             FROM json_each(?) p
             JOIN verdicts v ON v.older = p.value ->> 0 AND v.newer = p.value ->> 1 AND v.judge = ?
             JOIN nodes o ON o.id = v.older JOIN digests od ON od.node = o.node
             JOIN nodes n ON n.id = v.newer JOIN digests nd ON nd.node = n.node
             WHERE od.digest = v.older_digest AND nd.digest = v.newer_digest"""
    return _read_verdicts(connection.execute(sql, (json.dumps(list(pairs)), judge)))


def verdicts_on_older(
    connection: apsw.Connection, ids: Sequence[str], judge: str
) -> dict[tuple[str, str], Verdict]:
    """Return the verdicts about pairs whose older memory is one of these, where neither side has
    changed."""
    sql = """SELECT v.older, v.newer, v.verdict
             FROM json_each(?) p CROSS JOIN verdicts v ON v.older = p.value AND v.judge = ?
             CROSS JOIN nodes o ON o.id = v.older CROSS JOIN digests od ON od.node = o.node
             CROSS JOIN nodes n ON n.id = v.newer CROSS JOIN digests nd ON nd.node = n.node
             WHERE od.digest = v.older_digest AND nd.digest = v.newer_digest"""
    return _read_verdicts(connection.execute(sql, (json.dumps(list(ids)), judge)))


def _read_verdicts(rows: Iterable[tuple[ColumnValue, ...]]) -> dict[tuple[str, str], Verdict]:
    found = {}
    for older, newer, text in rows:
        verdict = verdict_from_json(json.loads(str(text)))
        if verdict is not None:
            found[str(older), str(newer)] = verdict
    return found


def prepare_neighbour_query(
    connection: apsw.Connection, matrix: Matrix, ids: Sequence[str], chosen: Filter, now: datetime
) -> NeighbourQuery:
    """Return what working out neighbours needs of the file."""
    snapshot = matrix.snapshot
    rows = _find_first_rows(connection, snapshot, ids)
    mask = vectors.mask_allowed(connection, matrix, snapshot, chosen, now) & snapshot.column(
        "embedded"
    )
    return NeighbourQuery(snapshot, rows, mask)


def name_neighbours(
    connection: apsw.Connection, near: NearestById, k: int
) -> dict[str, list[IndexHit]]:
    """Return neighbours by their ids, best first, ties by id."""
    nodes = {node for found in near.values() for node, _ in found}
    names = vectors.read_ids(connection, list(nodes))
    return {each: build_hits(found, names, k) for each, found in near.items()}


def _find_first_rows(
    connection: apsw.Connection, snapshot: MatrixSnapshot, ids: Sequence[str]
) -> dict[str, int]:
    """Return the row of the first passage of each id that has a vector."""
    sql = f"SELECT id, node FROM nodes WHERE id IN {_IN_LIST} AND embedded"
    found = dict(connection.execute(sql, (json.dumps(list(ids)),)))
    wanted = [each for each in dict.fromkeys(ids) if each in found]
    rows = snapshot.rows_of(np.array([found[each] for each in wanted], np.int64))
    embedded = snapshot.column("embedded")
    return {
        each: row
        for each, row in zip(wanted, rows.tolist(), strict=True)
        if row != NONE and embedded[row]
    }
