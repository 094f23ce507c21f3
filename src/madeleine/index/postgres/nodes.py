"""Memories as rows and back.

Each table is written once for the whole batch. A node keeps its number when its memory is put
again; numbers are never given out twice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from madeleine.database.connection import DatabaseRow
from madeleine.database.transactions import TenantAccess
from madeleine.index.common.passages import passage_traits
from madeleine.index.common.postings import MemoryPostings
from madeleine.index.common.rows import (
    LAST_LETTER,
    EffectivePuts,
    ExistingNode,
    PlacedMemory,
    encode_json_columns,
    place_memory,
    shorten_text_key,
    stored_from_row,
    sum_by_column,
)
from madeleine.index.common.times import from_micros, to_micros, to_micros_or_none
from madeleine.index.log import ParseProblem
from madeleine.index.port import MemoryPut
from madeleine.index.postgres import graph, sums, words
from madeleine.index.postgres.filters import IS_EXCHANGE_SQL, OUTDATED_SQL, build_condition
from madeleine.index.postgres.writing import PostgresWrite
from madeleine.index.search import IndexCounts, RankingRecord
from madeleine.language.claims import claim_address, claim_value_key
from madeleine.language.lookup_keys import lookup_keys
from madeleine.language.passages import split_passages
from madeleine.language.text_keys import same_text_key
from madeleine.model.digest import text_digest
from madeleine.model.fingerprint import Fingerprint
from madeleine.model.memory import DEFAULT_IMPORTANCE, DEFAULT_STABILITY_DAYS, Memory
from madeleine.model.query import Filter
from madeleine.model.stored_memory import StoredMemory
from madeleine.model.words import GLOBAL

_ANY_LISTED = "ANY(%s::text[])"
_IS_CURRENT = f"NOT {OUTDATED_SQL}".replace("@", "nodes")
FROM_JOINED = """nodes n LEFT JOIN usage u ON u.tenant = :tenant AND u.memory = n.id
             LEFT JOIN scores s ON s.tenant = :tenant AND s.memory = n.id"""
IMPORTANCE_SQL = f"coalesce(s.importance, u.importance, {DEFAULT_IMPORTANCE})"

_SELECT_MEMORY = f"""
    SELECT n.node, n.id, n.path, n.mtime_ns, n.size, n.ctime_ns, n.type, n.tier, n.space,
           n.source, n.confidence, n.created, n.updated, n.valid_until, n.superseded_by,
           n.idempotency_key, t.title, t.tags, t.origin, t.claim, t.extra, t.content,
           coalesce(u.access_count, 0), u.last_accessed, u.last_review,
           coalesce(u.stability, {DEFAULT_STABILITY_DAYS}), {IMPORTANCE_SQL}, s.relevance
    FROM {FROM_JOINED} JOIN texts t ON t.tenant = :tenant AND t.node = n.node
    WHERE n.tenant = :tenant
"""

_NODE_COLUMNS = (
    *("node", "id", "path", "mtime_ns", "size", "ctime_ns", "type", "tier", "space", "source"),
    *("confidence", "created", "updated", "valid_until", "superseded_by", "idempotency_key"),
    *("text_key", "embedded", "address", "stated", "lot", "words", "length", "digest"),
)
_TEXT_COLUMNS = (
    *("node", "title", "content", "tags", "title_grams", "grams", "said"),
    *("origin", "claim", "extra"),
)


def upsert_sql(table: str, columns: Sequence[str]) -> str:
    """Return the statement that writes a row of a node, there already or not."""
    marks = ", ".join(["%s"] * len(columns))
    new = ", ".join(f"{each} = excluded.{each}" for each in columns[1:])
    return f"""INSERT INTO {table} (tenant, {", ".join(columns)}) VALUES (:tenant, {marks})
               ON CONFLICT (tenant, {columns[0]}) DO UPDATE SET {new}"""


# --- writing ------------------------------------------------------------------------------


def put_nodes(writing: PostgresWrite, puts: Sequence[MemoryPut]) -> list[PlacedMemory]:
    """Write memories; return where they went. Others that were at their paths make room."""
    if not puts:
        return []
    access, winners = writing.access, EffectivePuts.of(puts)
    drop_nodes(writing, [*winners.displaced, *_find_others_at_paths(access, winners)])
    known = _read_existing(access, list(winners.by_id))
    numbers = _take_numbers(access, len(winners.by_id) - len(known))
    placed = [place_memory(put, known.get(each), numbers) for each, put in winners.by_id.items()]
    _forget_old(writing, [each for each in placed if each.known is not None])
    _write_rows(writing, placed)
    graph.insert_edges(access, [(each.node, each.memory.connections) for each in placed])
    _forget_unreadable(access, [each.put.stored.path for each in placed])
    return placed


def drop_nodes(writing: PostgresWrite, ids: Sequence[str]) -> None:
    """Remove memories and what hangs on their rows.

    What the journal says about them stays, in case their files come back.
    """
    access = writing.access
    known = _read_existing(access, ids)
    if not known:
        return
    nodes = [each.node for each in known.values()]
    sums.adjust_sums(writing, nodes, -1)
    _forget_texts(writing, list(known.values()))
    graph.delete_edges(access, nodes)
    sql = "SELECT path FROM nodes WHERE tenant = :tenant AND node = ANY(%s::bigint[])"
    _forget_unreadable(access, access.column(sql, nodes))
    for table in ("texts", "node_triggers", "nodes", "passages"):
        access.run(
            f"DELETE FROM {table} WHERE tenant = :tenant AND node = ANY(%s::bigint[])", nodes
        )


def _take_numbers(access: TenantAccess, count: int) -> Iterator[int]:
    if not count:
        return iter(())
    sql = "SELECT nextval('node_numbers') FROM generate_series(1, %s)"
    return iter(access.column(sql, count))


def _find_others_at_paths(access: TenantAccess, winners: EffectivePuts) -> list[str]:
    """Return other memories that were last seen at the paths of these."""
    paths = [put.stored.path for put in winners.by_id.values()]
    found = access.column(
        f"SELECT id FROM nodes WHERE tenant = :tenant AND path = {_ANY_LISTED}", paths
    )
    return [memory_id for memory_id in found if memory_id not in winners.by_id]


def _read_existing(access: TenantAccess, ids: Sequence[str]) -> dict[str, ExistingNode]:
    if not ids:
        return {}
    sql = f"""SELECT n.id, n.node, n.created, n.embedded, t.title, t.content, t.tags,
                     t.title_grams, t.grams, t.said
              FROM nodes n JOIN texts t ON t.tenant = :tenant AND t.node = n.node
              WHERE n.tenant = :tenant AND n.id = {_ANY_LISTED}"""
    return {
        memory_id: ExistingNode(node, created, embedded, tuple(texts))
        for memory_id, node, created, embedded, *texts in access.rows(sql, list(ids))
    }


def _forget_old(writing: PostgresWrite, placed: Sequence[PlacedMemory]) -> None:
    sums.adjust_sums(writing, [each.node for each in placed], -1)
    changed = [each.known for each in placed if each.known and not each.same_texts]
    _forget_texts(writing, changed)
    graph.delete_edges(writing.access, [each.node for each in placed])


def _forget_texts(writing: PostgresWrite, known: Sequence[ExistingNode]) -> None:
    """Remove words and tags, as they were written."""
    access = writing.access
    posted = ((each.node, writing.cutter.build_postings(each.texts)) for each in known)
    words.drop_postings(access, posted)
    tags = [(tag, each.node) for each in known for tag in json.loads(each.texts[2])]
    access.run_many("DELETE FROM node_tags WHERE tenant = :tenant AND tag = %s AND node = %s", tags)


def _forget_unreadable(access: TenantAccess, paths: Sequence[str]) -> None:
    if paths:
        access.run(
            f"DELETE FROM unreadable WHERE tenant = :tenant AND path = {_ANY_LISTED}", list(paths)
        )


def _write_rows(writing: PostgresWrite, placed: Sequence[PlacedMemory]) -> None:
    access = writing.access
    posted = {each.node: writing.cutter.build_postings(each.texts) for each in placed}
    rows = [_node_values(each, posted[each.node]) for each in placed]
    access.run_many(upsert_sql("nodes", _NODE_COLUMNS), rows)
    texts = ((each.node, *each.texts, *encode_json_columns(each.memory)) for each in placed)
    access.run_many(upsert_sql("texts", _TEXT_COLUMNS), texts)
    fresh = [each for each in placed if not each.same_texts]
    words.put_postings(access, ((each.node, posted[each.node]) for each in fresh))
    tags = ((tag, each.node) for each in fresh for tag in each.memory.tags)
    access.run_many("INSERT INTO node_tags VALUES (:tenant, %s, %s) ON CONFLICT DO NOTHING", tags)
    _write_triggers(access, placed)


def _write_triggers(access: TenantAccess, placed: Sequence[PlacedMemory]) -> None:
    before = [each.node for each in placed if each.known is not None]
    if before:
        access.run(
            "DELETE FROM node_triggers WHERE tenant = :tenant AND node = ANY(%s::bigint[])", before
        )
    rows = ((key, each.node) for each in placed for key in lookup_keys(each.memory))
    access.run_many(
        "INSERT INTO node_triggers VALUES (:tenant, %s, %s) ON CONFLICT DO NOTHING", rows
    )


def _node_values(placed: PlacedMemory, posted: MemoryPostings) -> tuple[object, ...]:
    stored, memory = placed.put.stored, placed.memory
    first = split_passages(memory)[0]
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
        shorten_text_key(same_text_key(memory.content)),
        bool(placed.put.traces) or placed.keeps_traces,
        claim_address(memory.claim) if memory.claim else None,
        claim_value_key(memory.claim) if memory.claim else None,
        _compute_lot(memory.id),
        passage_traits(memory.content[first.start : first.end]).words,
        posted.length,
        bytes.fromhex(text_digest(memory)),
    )


def _compute_lot(memory_id: str) -> int:
    """Return a number by which memories stand in an order that says nothing about them."""
    raw = memory_id.encode("utf-8", "replace")
    return int.from_bytes(hashlib.blake2b(raw, digest_size=8).digest(), signed=True)


def note_unreadable(
    access: TenantAccess, found: Mapping[str, tuple[int, str]], over: Sequence[str]
) -> None:
    """Note files that do not parse, and forget those whose problem is over."""
    _forget_unreadable(access, over)
    rows = ((path, line, problem) for path, (line, problem) in found.items())
    access.run_many(upsert_sql("unreadable", ("path", "line", "problem")), rows)


# --- reading ------------------------------------------------------------------------------


def get(access: TenantAccess, memory_id: str) -> StoredMemory | None:
    """Return one memory, joined with its usage, and its file."""
    return next(_read_stored(access, "n.id = %s", memory_id), None)


def path_of(access: TenantAccess, memory_id: str) -> str | None:
    """Return the file that a memory stands in."""
    sql = "SELECT path FROM nodes WHERE tenant = :tenant AND id = %s"
    found: list[str] = access.column(sql, memory_id)
    return found[0] if found else None


def memories(access: TenantAccess, ids: Iterable[str]) -> dict[str, Memory]:
    """Return those of the ids that are there, in the order asked for."""
    wanted = list(dict.fromkeys(ids))
    rows = _read_stored(access, f"n.id = {_ANY_LISTED}", wanted)
    found = {stored.memory.id: stored.memory for stored in rows}
    return {each: found[each] for each in wanted if each in found}


def scores(access: TenantAccess, ids: Iterable[str]) -> dict[str, Mapping[str, float | None]]:
    """Return the scores of memories that are there."""
    sql = f"""SELECT n.id, {IMPORTANCE_SQL}, s.relevance FROM {FROM_JOINED}
              WHERE n.tenant = :tenant AND n.id = {_ANY_LISTED}"""
    return {
        memory: {"importance": importance, "relevance": relevance}
        for memory, importance, relevance in access.rows(sql, list(ids))
    }


def records(access: TenantAccess, nodes: Sequence[int]) -> dict[int, RankingRecord]:
    """Return how nodes stand, without their texts."""
    sql = f"""SELECT n.node, n.id, n.created, n.confidence, coalesce(u.access_count, 0),
                     coalesce(u.last_accessed, n.created), {IMPORTANCE_SQL}, s.relevance
              FROM {FROM_JOINED} WHERE n.tenant = :tenant AND n.node = ANY(%s::bigint[])"""
    return {
        node: RankingRecord(
            memory_id, from_micros(created), confidence, uses, from_micros(used), *scores
        )
        for node, memory_id, created, confidence, uses, used, *scores in access.rows(
            sql, list(nodes)
        )
    }


def read_ids(access: TenantAccess, nodes: Sequence[int]) -> dict[int, str]:
    """Return the ids of nodes that are there."""
    sql = "SELECT node, id FROM nodes WHERE tenant = :tenant AND node = ANY(%s::bigint[])"
    return dict(access.rows(sql, list(nodes)))


def listing(
    access: TenantAccess, chosen: Filter, now: datetime, limit: int, offset: int = 0
) -> list[Memory]:
    """Return memories newest first."""
    passing = build_condition(chosen, now)
    sql = f"""SELECT n.id FROM nodes n WHERE n.tenant = :tenant AND {passing.sql}
              ORDER BY n.created DESC, n.id DESC LIMIT %s OFFSET %s"""
    ids = access.column(sql, *passing.bindings, max(limit, 0), max(offset, 0))
    return list(memories(access, ids).values())


def triggered_memories(
    access: TenantAccess, keys: Sequence[str], chosen: Filter, now: datetime, limit: int
) -> list[str]:
    """Return memories that stand under any of the keys, newest first."""
    passing = build_condition(chosen, now)
    sql = f"""SELECT n.id FROM nodes n WHERE n.tenant = :tenant AND n.node IN
              (SELECT node FROM node_triggers WHERE tenant = :tenant AND key = ANY(%s::text[]))
              AND {passing.sql} ORDER BY n.created DESC, n.id DESC LIMIT %s"""
    return access.column(sql, list(keys), *passing.bindings, max(limit, 0))


def count(access: TenantAccess, chosen: Filter, now: datetime) -> int:
    passing = build_condition(chosen, now)
    sql = f"SELECT count(*) FROM nodes n WHERE n.tenant = :tenant AND {passing.sql}"
    return int(access.value(sql, *passing.bindings))


def first_known(access: TenantAccess) -> datetime | None:
    """Return when the oldest memory was created."""
    found = access.value("SELECT min(created) FROM nodes WHERE tenant = :tenant")
    return None if found is None else from_micros(found)


def select_allowed(
    access: TenantAccess, ids: Iterable[str], chosen: Filter, now: datetime
) -> set[str]:
    """Return those of the ids that pass the filter."""
    passing = build_condition(chosen, now)
    sql = f"""SELECT n.id FROM nodes n
              WHERE n.tenant = :tenant AND n.id = {_ANY_LISTED} AND {passing.sql}"""
    return set(access.column(sql, list(ids), *passing.bindings))


def ids_with_prefix(access: TenantAccess, prefix: str, limit: int = 10) -> list[str]:
    """Return ids that begin with the prefix. A range and no pattern: nothing is special."""
    first = prefix.lower()
    if not first or not first.isascii():
        return []
    return select_ids(
        access, "id >= %s AND id < %s ORDER BY id LIMIT %s", first, first + "\x7f", limit
    )


def same_text(
    access: TenantAccess, space: str | None, key: str, now: datetime, limit: int = 64
) -> list[str]:
    """Return the current memories of a space that say the same, oldest first."""
    where = f"""text_key = %s AND space IS NOT DISTINCT FROM %s AND {_IS_CURRENT}
                ORDER BY created, id LIMIT %s"""
    return select_ids(access, where, shorten_text_key(key), space, to_micros(now), limit)


def claims(access: TenantAccess, address: str, now: datetime, but: str | None = None) -> list[str]:
    """Return the current memories at an address, oldest first."""
    where = f"""md5(address) = md5(%s) AND address = %s AND stated IS DISTINCT FROM %s
                AND {_IS_CURRENT} ORDER BY created, id"""
    return select_ids(access, where, address, address, but, to_micros(now))


def contested_addresses(access: TenantAccess, now: datetime, limit: int) -> list[str]:
    """Return addresses with several values: one of them global, or two of one space."""
    sql = f"""SELECT address FROM nodes
              WHERE tenant = :tenant AND address IS NOT NULL AND {_IS_CURRENT}
              GROUP BY address HAVING min(stated) < max(stated) AND (count(space) < count(*) OR
                  count(DISTINCT space || chr(10) || stated) > count(DISTINCT space))
              ORDER BY address LIMIT %s"""
    return access.column(sql, to_micros(now), max(limit, 0))


def id_at(access: TenantAccess, path: str) -> str | None:
    """Return the oldest memory that stands in a file."""
    return next(iter(select_ids(access, "path = %s ORDER BY created, id LIMIT 1", path)), None)


def with_idempotency_key(access: TenantAccess, key: str) -> str | None:
    """Return the oldest memory that was written under a key."""
    where = "idempotency_key = %s ORDER BY created, id LIMIT 1"
    return next(iter(select_ids(access, where, key)), None)


def ids_after(access: TenantAccess, after_id: str, limit: int) -> list[str]:
    """Return the next ids in their order."""
    return select_ids(access, "id > %s ORDER BY id LIMIT %s", after_id, max(limit, 0))


def unembedded_ids(access: TenantAccess, limit: int) -> list[str]:
    """Return memories that no model has read."""
    return select_ids(access, "NOT embedded ORDER BY node LIMIT %s", max(limit, 0))


def superseded_by(access: TenantAccess, memory_id: str) -> list[str]:
    """Return the memories that another took the place of."""
    return select_ids(access, "superseded_by = %s ORDER BY id", memory_id)


def select_ids(access: TenantAccess, where: str, *bindings: object) -> list[str]:
    return access.column(f"SELECT id FROM nodes WHERE tenant = :tenant AND {where}", *bindings)


def tags(access: TenantAccess, beginning: str, limit: int) -> list[tuple[str, int]]:
    """Return the most used tags that begin so: a stretch of the table's own order."""
    sql = """SELECT tag, count(*) FROM node_tags
             WHERE tenant = :tenant AND tag >= %s AND tag < %s
             GROUP BY tag ORDER BY 2 DESC, 1 LIMIT %s"""
    rows = access.rows(sql, beginning, beginning + LAST_LETTER, max(limit, 0))
    return [(tag, many) for tag, many in rows]


def core_by_importance(access: TenantAccess) -> list[tuple[str, float]]:
    """Return the core memories but the self, least important first."""
    sql = f"""SELECT n.id, {IMPORTANCE_SQL} AS importance FROM {FROM_JOINED}
              WHERE n.tenant = :tenant AND n.tier = 'core' AND n.id IS DISTINCT FROM %s::text
              ORDER BY 2, n.id"""
    return [(memory, worth) for memory, worth in access.rows(sql, graph.self_id(access))]


def counts(access: TenantAccess) -> IndexCounts:
    """Return how much there is of everything; edges are those that stand in files."""
    exchange = IS_EXCHANGE_SQL.replace("@", "n")
    groups = access.rows(
        f"""SELECT type, tier, coalesce(space, '{GLOBAL}'), count(*) FROM nodes n
            WHERE tenant = :tenant AND NOT {exchange} GROUP BY 1, 2, 3"""
    )
    return IndexCounts(
        memories=sum(group[3] for group in groups),
        edges=_count_rows(access, "edges"),
        unembedded=_count_rows(access, "nodes", "NOT embedded"),
        unreadable=_count_rows(access, "unreadable"),
        events=_count_rows(access, "audit_log"),
        exchanges=_count_rows(access, "nodes", IS_EXCHANGE_SQL.replace("@.", "")),
        by_type=sum_by_column(groups, 0),
        by_tier=sum_by_column(groups, 1),
        by_space=sum_by_column(groups, 2),
    )


def _count_rows(access: TenantAccess, table: str, where: str = "TRUE") -> int:
    return int(access.value(f"SELECT count(*) FROM {table} WHERE tenant = :tenant AND {where}"))


def fingerprints(access: TenantAccess) -> dict[str, Fingerprint]:
    """Return how each file looked when it was read, but for those that do not parse now."""
    sql = """SELECT path, mtime_ns, size, ctime_ns FROM nodes n
             WHERE tenant = :tenant AND NOT EXISTS
                 (SELECT 1 FROM unreadable u WHERE u.tenant = :tenant AND u.path = n.path)"""
    return {path: Fingerprint(*looks) for path, *looks in access.rows(sql)}


def unreadable(access: TenantAccess) -> list[ParseProblem]:
    """Return the files that do not parse, by path."""
    sql = "SELECT path, line, problem FROM unreadable WHERE tenant = :tenant ORDER BY path"
    return [ParseProblem(*row) for row in access.rows(sql)]


def _read_stored(access: TenantAccess, where: str, *bindings: object) -> Iterator[StoredMemory]:
    rows: list[DatabaseRow] = access.rows(f"{_SELECT_MEMORY} AND {where}", *bindings)
    connections = graph.read_connections(access, [row[0] for row in rows])
    return (stored_from_row(row, connections.get(row[0], ())) for row in rows)
