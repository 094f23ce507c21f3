"""Memories as rows and back.

Putting many memories is what a rebuild does all day, so each table is written once for the
whole batch. A node keeps its number when its memory is put again; numbers of dropped nodes
are not given out again while the index is open, because the matrix knows rows by them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

import apsw

from madeleine.index.common.rows import (
    LAST_LETTER,
    ColumnValue,
    EffectivePuts,
    ExistingNode,
    NodeRow,
    PlacedMemory,
    encode_json_columns,
    memory_from_row,
    passage_number_range,
    place_memory,
    shorten_text_key,
    stored_from_row,
    sum_by_column,
)
from madeleine.index.common.times import from_micros, to_micros, to_micros_or_none
from madeleine.index.log import ParseProblem
from madeleine.index.port import MemoryPut
from madeleine.index.search import IndexCounts, RankingRecord
from madeleine.index.sqlite import graph
from madeleine.index.sqlite.filters import CURRENT_SQL, IS_EXCHANGE_SQL, build_condition
from madeleine.language.claims import claim_address, claim_value_key
from madeleine.language.lookup_keys import lookup_keys
from madeleine.language.passages import find_speaker
from madeleine.language.text_keys import same_text_key
from madeleine.model.fingerprint import Fingerprint
from madeleine.model.memory import (
    DEFAULT_IMPORTANCE,
    DEFAULT_STABILITY_DAYS,
    Connection,
    Memory,
)
from madeleine.model.query import Filter
from madeleine.model.stored_memory import StoredMemory
from madeleine.model.words import GLOBAL

_IN_LIST = "(SELECT value FROM json_each(?))"

_SELECT_MEMORY = f"""
    SELECT n.node, n.id, n.path, n.mtime_ns, n.size, n.ctime_ns, n.type, n.tier, n.space,
           n.source, n.confidence, n.created, n.updated, n.valid_until, n.superseded_by,
           n.idempotency_key, t.title, t.tags, t.origin, t.claim, t.extra, t.content,
           ifnull(u.access_count, 0), u.last_accessed, u.last_review,
           ifnull(u.stability, {DEFAULT_STABILITY_DAYS}),
           coalesce(s.importance, u.importance, {DEFAULT_IMPORTANCE}), s.relevance
    FROM nodes n JOIN texts t ON t.node = n.node
    LEFT JOIN usage u ON u.memory = n.id LEFT JOIN scores s ON s.memory = n.id
"""


# --- writing ------------------------------------------------------------------------------


def put_nodes(
    connection: apsw.Connection, puts: Sequence[MemoryPut], numbers: Iterator[int]
) -> tuple[list[PlacedMemory], list[int]]:
    """Write memories; return where they went and the nodes that had to make room."""
    if not puts:
        return [], []
    winners = EffectivePuts.of(puts)
    gone = drop_nodes(connection, [*winners.displaced, *_find_others_at_paths(connection, winners)])
    known = _read_existing(connection, list(winners.by_id))
    placed = [
        place_memory(put, known.get(memory_id), numbers) for memory_id, put in winners.by_id.items()
    ]
    _forget_old(connection, [each for each in placed if each.known is not None])
    _write_rows(connection, placed)
    graph.insert_edges(connection, [(each.node, each.memory.connections) for each in placed])
    paths = ((each.put.stored.path,) for each in placed)
    connection.executemany("DELETE FROM unreadable WHERE path = ?", paths)
    return placed, gone


def drop_nodes(connection: apsw.Connection, ids: Sequence[str]) -> list[int]:
    """Remove memories and what hangs on their rows; return the numbers of their nodes.

    What the journal says about them stays, in case their files come back.
    """
    known = _read_existing(connection, ids)
    if not known:
        return []
    nodes = [(each.node,) for each in known.values()]
    _forget_texts(connection, known.values())
    _forget_tags(connection, known.values())
    graph.delete_edges(connection, [each.node for each in known.values()])
    connection.executemany(
        "DELETE FROM unreadable WHERE path = (SELECT path FROM nodes WHERE node = ?)", nodes
    )
    for table in ("texts", "node_triggers", "nodes"):
        connection.executemany(f"DELETE FROM {table} WHERE node = ?", nodes)
    forget_passages(connection, [node for (node,) in nodes])
    return [node for (node,) in nodes]


def forget_passages(connection: apsw.Connection, nodes: Iterable[int]) -> None:
    """Remove what was kept of the passages of these nodes."""
    ranges = [passage_number_range(node) for node in nodes]
    for table in ("passages", "vectors"):
        sql = f"DELETE FROM {table} WHERE number BETWEEN ? AND ?"
        connection.executemany(sql, ranges)


def _find_others_at_paths(connection: apsw.Connection, winners: EffectivePuts) -> list[str]:
    """Return other memories that were last seen at the paths of these."""
    paths = json.dumps([put.stored.path for put in winners.by_id.values()])
    rows = connection.execute(f"SELECT id FROM nodes WHERE path IN {_IN_LIST}", (paths,))
    return [memory_id for (memory_id,) in rows if memory_id not in winners.by_id]


def _read_existing(connection: apsw.Connection, ids: Sequence[str]) -> dict[str, ExistingNode]:
    if not ids:
        return {}
    sql = f"""SELECT n.id, n.node, n.created, n.embedded, t.title, t.content, t.tags,
                     t.title_grams, t.grams, t.said
              FROM nodes n JOIN texts t ON t.node = n.node WHERE n.id IN {_IN_LIST}"""
    return {
        memory_id: ExistingNode(node, created, bool(embedded), tuple(texts))
        for memory_id, node, created, embedded, *texts in connection.execute(
            sql, (json.dumps(ids),)
        )
    }


def _forget_old(connection: apsw.Connection, placed: Sequence[PlacedMemory]) -> None:
    changed = [each.known for each in placed if each.known and not each.same_texts]
    _forget_texts(connection, changed)
    _forget_tags(connection, changed)
    graph.delete_edges(connection, [each.node for each in placed])


def _forget_texts(connection: apsw.Connection, known: Iterable[ExistingNode]) -> None:
    connection.executemany(
        "INSERT INTO fts (fts, rowid, title, content, tags, title_grams, grams, said) "
        "VALUES ('delete', ?, ?, ?, ?, ?, ?, ?)",
        ((each.node, *each.texts) for each in known),
    )


def _forget_tags(connection: apsw.Connection, known: Iterable[ExistingNode]) -> None:
    connection.executemany(
        "DELETE FROM node_tags WHERE tag = ? AND node = ?",
        ((tag, each.node) for each in known for tag in json.loads(each.texts[2])),
    )


def _write_rows(connection: apsw.Connection, placed: Sequence[PlacedMemory]) -> None:
    connection.executemany(
        f"INSERT OR REPLACE INTO nodes VALUES ({placeholders(23)})",
        map(_node_values, placed),
    )
    connection.executemany(
        "INSERT OR REPLACE INTO texts (node, title, content, tags, title_grams, grams, said, "
        f"origin, claim, extra) VALUES ({placeholders(10)})",
        ((each.node, *each.texts, *encode_json_columns(each.memory)) for each in placed),
    )
    fresh = [each for each in placed if not each.same_texts]
    connection.executemany(
        "INSERT INTO fts (rowid, title, content, tags, title_grams, grams, said) "
        f"VALUES ({placeholders(7)})",
        ((each.node, *each.texts) for each in fresh),
    )
    connection.executemany(
        "INSERT OR IGNORE INTO node_tags VALUES (?, ?)",
        ((tag, each.node) for each in fresh for tag in each.memory.tags),
    )
    connection.executemany(
        "DELETE FROM node_triggers WHERE node = ?",
        ((each.node,) for each in placed if each.known is not None),
    )
    connection.executemany(
        "INSERT OR IGNORE INTO node_triggers VALUES (?, ?)",
        ((key, each.node) for each in placed for key in _lookup_keys(each)),
    )


def _lookup_keys(placed: PlacedMemory) -> Sequence[str]:
    analysis = placed.put.analysis
    return lookup_keys(placed.memory) if analysis is None else analysis.lookup_keys


def _node_values(placed: PlacedMemory) -> tuple[ColumnValue, ...]:
    stored, memory, analysis = placed.put.stored, placed.memory, placed.put.analysis
    text_key = same_text_key(memory.content) if analysis is None else analysis.text_key
    return (
        placed.node,
        memory.id,
        stored.path,
        *stored.fingerprint,
        memory.type.value,
        memory.tier.value,
        memory.space,
        memory.source,
        memory.confidence,
        to_micros(memory.created),
        to_micros(memory.updated),
        to_micros_or_none(memory.valid_until),
        memory.superseded_by,
        memory.idempotency_key,
        shorten_text_key(text_key),
        bool(placed.put.traces) or placed.keeps_traces,
        memory.origin.session if memory.origin else None,
        memory.origin.turn if memory.origin else None,
        find_speaker(memory),
        claim_address(memory.claim) if memory.claim else None,
        claim_value_key(memory.claim) if memory.claim else None,
    )


def placeholders(count: int) -> str:
    return ",".join("?" * count)


def note_unreadable(
    connection: apsw.Connection, found: Mapping[str, tuple[int, str]], over: Sequence[str]
) -> None:
    """Note files that do not parse, and forget those whose problem is over."""
    connection.executemany("DELETE FROM unreadable WHERE path = ?", ((path,) for path in over))
    rows = ((path, line, problem) for path, (line, problem) in found.items())
    connection.executemany("INSERT OR REPLACE INTO unreadable VALUES (?, ?, ?)", rows)


# --- reading ------------------------------------------------------------------------------


def get(connection: apsw.Connection, memory_id: str) -> StoredMemory | None:
    """Return one memory, joined with its usage, and its file."""
    return next(_read_stored(connection, "n.id = ?", (memory_id,)), None)


def path_of(connection: apsw.Connection, memory_id: str) -> str | None:
    """Return the file that a memory stands in."""
    path: str | None = connection.execute("SELECT path FROM nodes WHERE id = ?", (memory_id,)).get
    return path


def memories(connection: apsw.Connection, ids: Iterable[str]) -> dict[str, Memory]:
    """Return those of the ids that are there, in the order asked for."""
    wanted = list(dict.fromkeys(ids))
    rows, connections = _read_rows(connection, f"n.id IN {_IN_LIST}", (json.dumps(wanted),))
    found = {row[1]: memory_from_row(row, connections.get(row[0], ())) for row in rows}
    return {each: found[each] for each in wanted if each in found}


def scores(
    connection: apsw.Connection, ids: Iterable[str]
) -> dict[str, Mapping[str, float | None]]:
    """Return the scores of memories that are there."""
    sql = f"""SELECT n.id, coalesce(s.importance, u.importance, {DEFAULT_IMPORTANCE}), s.relevance
              FROM nodes n LEFT JOIN usage u ON u.memory = n.id
              LEFT JOIN scores s ON s.memory = n.id WHERE n.id IN {_IN_LIST}"""
    return {
        memory: {"importance": importance, "relevance": relevance}
        for memory, importance, relevance in connection.execute(sql, (json.dumps(list(ids)),))
    }


def records(connection: apsw.Connection, nodes: Sequence[int]) -> dict[int, RankingRecord]:
    """Return how nodes stand, without their texts."""
    sql = f"""SELECT n.node, n.id, n.created, n.confidence, ifnull(u.access_count, 0),
                     ifnull(u.last_accessed, n.created),
                     coalesce(s.importance, u.importance, {DEFAULT_IMPORTANCE}), s.relevance
              FROM nodes n LEFT JOIN usage u ON u.memory = n.id
              LEFT JOIN scores s ON s.memory = n.id WHERE n.node IN {_IN_LIST}"""
    rows = connection.execute(sql, (json.dumps(list(nodes)),))
    return {
        node: RankingRecord(
            memory_id, from_micros(created), confidence, uses, from_micros(used), *scores
        )
        for node, memory_id, created, confidence, uses, used, *scores in rows
    }


def listing(
    connection: apsw.Connection, chosen: Filter, now: datetime, limit: int, offset: int = 0
) -> list[Memory]:
    """Return memories newest first."""
    passing = build_condition(chosen, now, by_space=True)
    sql = f"""SELECT n.id FROM nodes n WHERE {passing.sql}
              ORDER BY n.created DESC, n.id DESC LIMIT ? OFFSET ?"""
    bindings = (*passing.bindings, max(limit, 0), max(offset, 0))
    ids = [memory_id for (memory_id,) in connection.execute(sql, bindings)]
    return list(memories(connection, ids).values())


def triggered_memories(
    connection: apsw.Connection, keys: Sequence[str], chosen: Filter, now: datetime, limit: int
) -> list[str]:
    """Return memories that stand under any of the keys, newest first."""
    passing = build_condition(chosen, now)
    sql = f"""SELECT n.id FROM nodes n
              WHERE n.node IN (SELECT node FROM node_triggers WHERE key IN {_IN_LIST})
              AND {passing.sql} ORDER BY n.created DESC, n.id DESC LIMIT ?"""
    bindings = (json.dumps(list(keys)), *passing.bindings, max(limit, 0))
    return [memory_id for (memory_id,) in connection.execute(sql, bindings)]


def count(connection: apsw.Connection, chosen: Filter, now: datetime) -> int:
    """Count memories. Those of a space are a stretch of its index, unless tags narrow it more."""
    passing = build_condition(chosen, now, by_space=not chosen.tags)
    sql = f"SELECT count(*) FROM nodes n WHERE {passing.sql}"
    return int(connection.execute(sql, passing.bindings).get)


def first_known(connection: apsw.Connection) -> datetime | None:
    """Return when the oldest memory was created."""
    found = connection.execute("SELECT min(created) FROM nodes").get
    return None if found is None else from_micros(found)


def select_allowed(
    connection: apsw.Connection, ids: Iterable[str], chosen: Filter, now: datetime
) -> set[str]:
    """Return those of the ids that pass the filter."""
    passing = build_condition(chosen, now)
    sql = f"SELECT n.id FROM nodes n WHERE n.id IN {_IN_LIST} AND {passing.sql}"
    rows = connection.execute(sql, (json.dumps(list(ids)), *passing.bindings))
    return {memory_id for (memory_id,) in rows}


def ids_with_prefix(connection: apsw.Connection, prefix: str, limit: int = 10) -> list[str]:
    """Return ids that begin with the prefix. A range and no pattern: nothing is special."""
    first = prefix.lower()
    if not first or not first.isascii():
        return []
    sql = "SELECT id FROM nodes WHERE id >= ? AND id < ? ORDER BY id LIMIT ?"
    rows = connection.execute(sql, (first, first + "\x7f", max(limit, 0)))
    return [memory_id for (memory_id,) in rows]


def same_text(
    connection: apsw.Connection, space: str | None, key: str, now: datetime, limit: int = 64
) -> list[str]:
    """Return the current memories of a space that say the same, oldest first. The `+` keeps
    SQLite from going through the space in its order instead of looking up the few of the key."""
    sql = f"""SELECT id FROM nodes n WHERE text_key = ? AND +space IS ? AND {CURRENT_SQL}
              ORDER BY created, id LIMIT ?"""
    found = connection.execute(sql, (shorten_text_key(key), space, to_micros(now), limit))
    return [memory_id for (memory_id,) in found]


def claims(
    connection: apsw.Connection, address: str, now: datetime, but: str | None = None
) -> list[str]:
    """Return the current memories at an address, oldest first."""
    sql = f"""SELECT id FROM nodes n WHERE address = ? AND stated IS NOT ? AND {CURRENT_SQL}
              ORDER BY created, id"""
    return [memory_id for (memory_id,) in connection.execute(sql, (address, but, to_micros(now)))]


def contested_addresses(connection: apsw.Connection, now: datetime, limit: int) -> list[str]:
    """Return addresses with several values: one of them global, or two of one space."""
    sql = f"""SELECT address FROM nodes n WHERE address IS NOT NULL AND {CURRENT_SQL}
              GROUP BY address HAVING min(stated) < max(stated) AND (count(space) < count(*) OR
                  count(DISTINCT space || char(10) || stated) > count(DISTINCT space))
              ORDER BY address LIMIT ?"""
    return [each for (each,) in connection.execute(sql, (to_micros(now), max(limit, 0)))]


def id_at(connection: apsw.Connection, path: str) -> str | None:
    """Return the oldest memory that stands in a file."""
    return next(iter(_select_ids(connection, "path = ? ORDER BY created, id LIMIT 1", path)), None)


def with_idempotency_key(connection: apsw.Connection, key: str) -> str | None:
    """Return the oldest memory that was written under a key."""
    where = "idempotency_key = ? ORDER BY created, id LIMIT 1"
    return next(iter(_select_ids(connection, where, key)), None)


def ids_after(connection: apsw.Connection, after_id: str, limit: int) -> list[str]:
    """Return the next ids in their order."""
    return _select_ids(connection, "id > ? ORDER BY id LIMIT ?", after_id, max(limit, 0))


def unembedded_ids(connection: apsw.Connection, limit: int) -> list[str]:
    """Return memories that no model has read."""
    return _select_ids(connection, "embedded = 0 ORDER BY node LIMIT ?", max(limit, 0))


def superseded_by(connection: apsw.Connection, memory_id: str) -> list[str]:
    """Return the memories that another took the place of."""
    return _select_ids(connection, "superseded_by = ? ORDER BY id", memory_id)


def _select_ids(connection: apsw.Connection, where: str, *bindings: ColumnValue) -> list[str]:
    sql = f"SELECT id FROM nodes n WHERE {where}"
    return [memory_id for (memory_id,) in connection.execute(sql, bindings)]


def core_by_importance(connection: apsw.Connection) -> list[tuple[str, float]]:
    """Return the core memories but the self, least important first."""
    sql = f"""SELECT n.id, coalesce(s.importance, u.importance, {DEFAULT_IMPORTANCE}) AS importance
              FROM nodes n LEFT JOIN usage u ON u.memory = n.id
              LEFT JOIN scores s ON s.memory = n.id
              WHERE n.tier = 'core' AND n.id IS NOT ? ORDER BY importance, n.id"""
    return list(connection.execute(sql, (graph.self_id(connection),)))


def counts(connection: apsw.Connection) -> IndexCounts:
    """Return how much there is of everything; edges are those that stand in files."""
    groups = list(
        connection.execute(
            f"""SELECT type, tier, ifnull(space, '{GLOBAL}'), count(*) FROM nodes n
                WHERE NOT {IS_EXCHANGE_SQL} GROUP BY 1, 2, 3"""
        )
    )
    return IndexCounts(
        memories=sum(group[3] for group in groups),
        edges=connection.execute("SELECT count(*) FROM edges").get,
        unembedded=connection.execute("SELECT count(*) FROM nodes WHERE embedded = 0").get,
        unreadable=connection.execute("SELECT count(*) FROM unreadable").get,
        events=connection.execute("SELECT count(*) FROM audit_log").get,
        exchanges=connection.execute(f"SELECT count(*) FROM nodes n WHERE {IS_EXCHANGE_SQL}").get,
        by_type=sum_by_column(groups, 0),
        by_tier=sum_by_column(groups, 1),
        by_space=sum_by_column(groups, 2),
    )


def tags(connection: apsw.Connection, beginning: str, limit: int) -> list[tuple[str, int]]:
    """Return the most used tags that begin so: a stretch of the table's own order."""
    sql = """SELECT tag, count(*) FROM node_tags WHERE tag >= ? AND tag < ?
             GROUP BY tag ORDER BY 2 DESC, 1 LIMIT ?"""
    rows = connection.execute(sql, (beginning, beginning + LAST_LETTER, max(limit, 0)))
    return [(tag, many) for tag, many in rows]


def fingerprints(connection: apsw.Connection) -> dict[str, Fingerprint]:
    """Return how each file looked when it was read, but for those that do not parse now."""
    sql = """SELECT path, mtime_ns, size, ctime_ns FROM nodes
             WHERE path NOT IN (SELECT path FROM unreadable)"""
    return {path: Fingerprint(*looks) for path, *looks in connection.execute(sql)}


def unreadable(connection: apsw.Connection) -> list[ParseProblem]:
    """Return the files that do not parse, by path."""
    return [
        ParseProblem(*row) for row in connection.execute("SELECT * FROM unreadable ORDER BY path")
    ]


def _read_stored(
    connection: apsw.Connection, where: str, bindings: tuple[ColumnValue, ...]
) -> Iterator[StoredMemory]:
    rows, connections = _read_rows(connection, where, bindings)
    return (stored_from_row(row, connections.get(row[0], ())) for row in rows)


def _read_rows(
    connection: apsw.Connection, where: str, bindings: tuple[ColumnValue, ...]
) -> tuple[list[NodeRow], dict[int, list[Connection]]]:
    """Return the rows of memories, and the connections of each node."""
    rows = list(connection.execute(f"{_SELECT_MEMORY} WHERE {where}", bindings))
    return rows, graph.read_connections(connection, [row[0] for row in rows])
