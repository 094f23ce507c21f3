"""Memories as nodes and back.

A memory keeps its number when it is put again; numbers are never given out twice. What is there
already is read first, and all that follows from a batch is worked out here, so that the query
that writes has only to look up and to write.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any

from madeleine.index.common.edges import connection_from_row
from madeleine.index.common.passages import ModelDimensions, passage_traits
from madeleine.index.common.rows import (
    EffectivePuts,
    PlacedMemory,
    encode_json_columns,
    place_memory,
    stored_from_row,
    sum_by_column,
)
from madeleine.index.common.times import from_micros, to_micros, to_micros_or_none
from madeleine.index.log import ParseProblem
from madeleine.index.port import IndexBatch
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
from madeleine.model.words import (
    DERIVED_EDGES,
    DERIVED_SOURCES,
    EXCHANGE_TAG,
    GLOBAL,
    SELF_SOURCE,
)
from madeleine_falkordb import consolidation, graph, passages, words
from madeleine_falkordb.connection import GraphAccess, GraphRow
from madeleine_falkordb.encoding import float_from_text, float_to_text, hash_key, number_keys
from madeleine_falkordb.existing_memory import ExistingMemory
from madeleine_falkordb.filters import IS_EXCHANGE_CYPHER, OUTDATED_CYPHER, build_condition
from madeleine_falkordb.statement import merge_step
from madeleine_falkordb.writing import FalkorWrite

LOT_RANGE = 2**52  # FalkorDB's indexes hold numbers with 53 digits of two

_IS_CURRENT = f"NOT {OUTDATED_CYPHER}"
_MATCH_KNOWN = "WITH m MATCH (m)-[:IS]->(k)"
_ORDER_BY_AGE = "WITH m ORDER BY m.created, m.id"

_MEMORY_COLUMNS = """m.node, m.id, m.path, m.mtime_ns, m.size, m.ctime_ns, m.type, m.tier, m.space,
             m.source, m.confidence, m.created, m.updated, m.valid_until, m.superseded_by,
             m.idempotency_key, m.title, m.tags_text, m.origin, m.claim, m.extra, m.content,
             coalesce(k.access_count, 0), k.last_accessed, k.last_review, k.stability,
             coalesce(k.importance, k.folded), k.relevance, arrows"""
_COLLECT_ARROWS = f"""{_MATCH_KNOWN} OPTIONAL MATCH (m)-[e:ARROW]->(t) WITH m, k,
    collect(CASE WHEN e IS NULL THEN null ELSE [e.position, {graph.ARROW_COLUMNS}] END) AS arrows"""
_CONFIDENCE, _STABILITY, _IMPORTANCE, _RELEVANCE = 10, 25, 26, 27  # places in `_MEMORY_COLUMNS`

_EXISTING_COLUMNS = """m.id, m.node, m.created, m.embedded, m.title, m.content, m.tags_text,
           m.title_grams, m.grams, m.said, m.path, m.words, m.length, m.session, m.speaker,
           points"""
_COLLECT_POINTS = "WITH m OPTIONAL MATCH (m)-[:PART]->(p) WITH m, collect(p.point) AS points"


# --- writing ------------------------------------------------------------------------------


def apply_puts_and_drops(
    writing: FalkorWrite, wide: ModelDimensions, batch: IndexBatch
) -> list[PlacedMemory]:
    """Let memories go and come; return where those went that came."""
    winners = EffectivePuts.of(batch.puts)
    seen = _read_existing(writing.access, winners, batch.drops)
    dropped = {*batch.drops, *winners.displaced, *_find_others_at_paths(winners, seen)}
    gone = [seen[each] for each in dropped if each in seen]
    known = {each: old for each, old in seen.items() if each not in dropped}
    placed = [
        place_memory(put, known[each].known if each in known else None, writing.numbers())
        for each, put in winners.by_id.items()
    ]
    again = [known[each.memory.id] for each in placed if each.known is not None]
    _adjust_sums(writing, [*gone, *again], -1)
    _forget_memories(writing, gone, placed, seen)
    spoken = passages.ConversationUpdate(writing, [*gone, *again], [each.memory for each in placed])
    _write_memories(writing, spoken, placed)
    passages.put_passages(writing, wide, placed)
    paths = [*(each.path for each in gone), *(each.put.stored.path for each in placed)]
    forget_unreadable(writing, paths)
    return placed


def _read_existing(
    access: GraphAccess, winners: EffectivePuts, drops: Sequence[str]
) -> dict[str, ExistingMemory]:
    """Return what is there of all that a batch speaks of, and of who stands at its paths."""
    ids = [*winners.by_id, *winners.displaced, *drops]
    paths = [hash_key(put.stored.path) for put in winners.by_id.values()]
    asked = [
        (
            f"MATCH (m:Memory) WHERE m.{column} IN $among {_COLLECT_POINTS}",
            _EXISTING_COLUMNS,
            {"among": among},
        )
        for column, among in (("id", ids), ("path_key", paths))
        if among
    ]
    found = access.several(*asked) if asked else []
    return {row[0]: ExistingMemory.of(row) for rows in found for row in rows}


def _find_others_at_paths(winners: EffectivePuts, seen: Mapping[str, ExistingMemory]) -> list[str]:
    """Return other memories that were last seen at the paths of these."""
    paths = {put.stored.path for put in winners.by_id.values()}
    return [each for each, old in seen.items() if old.path in paths and each not in winners.by_id]


def _adjust_sums(writing: FalkorWrite, old: Iterable[ExistingMemory], sign: int) -> None:
    for each in old:
        writing.memories += sign
        writing.words += sign * each.words
        writing.length += sign * each.length


def _forget_memories(
    writing: FalkorWrite,
    gone: Sequence[ExistingMemory],
    placed: Sequence[PlacedMemory],
    seen: Mapping[str, ExistingMemory],
) -> None:
    """Remove memories with all that hangs on them, and of others what no longer fits. What the
    journal says about them stays, in case their files come back."""
    statement, nodes = writing.statement, [each.known.node for each in gone]
    again = [each for each in placed if each.known is not None]
    replaced = [seen[each.memory.id] for each in again if not each.keeps_traces]
    passages.forget_passages(writing, [*gone, *replaced])
    statement.each(number_keys(nodes), "MATCH (m:Memory {at: r}) DELETE m")
    statement.each(
        number_keys(each.node for each in again), "MATCH (m:Memory {at: r})-[e:ARROW]->() DELETE e"
    )
    retold = [each.node for each in again if not each.same_texts]
    statement.each(number_keys(retold), "MATCH (m:Memory {at: r})-[e:HOLDS]->() DELETE e")


def _write_memories(
    writing: FalkorWrite, spoken: passages.ConversationUpdate, placed: Sequence[PlacedMemory]
) -> None:
    statement, posted = writing.statement, {}
    for each in placed:
        posted[each.node] = writing.cutter.build_postings(each.texts)
    rows = [_build_memory_row(each, posted[each.node].length, spoken) for each in placed]
    for row in rows:
        writing.memories += 1
        writing.words += row["words"]
        writing.length += row["length"]
    spoken.settle()
    statement.each(rows, merge_step("Memory", "at"))
    graph.merge_known(writing, [each.memory.id for each in placed])
    fresh = [(str(each.node), hash_key(each.memory.id)) for each in placed if each.known is None]
    statement.each(
        fresh,
        """MATCH (m:Memory {at: r[0]}) MATCH (k:Known {key: r[1]}) CREATE (m)-[:IS]->(k)""",
    )
    graph.create_arrows(writing, [(each.node, each.memory.connections) for each in placed])
    consolidation.draw_summaries(writing, placed)
    retold = [(each.node, posted[each.node]) for each in placed if not each.same_texts]
    words.put_postings(writing, retold)


def _build_memory_row(
    placed: PlacedMemory, length: int, spoken: passages.ConversationUpdate
) -> dict[str, Any]:
    stored, memory = placed.put.stored, placed.memory
    first = split_passages(memory)[0]
    mtime_ns, size, ctime_ns = stored.fingerprint
    origin, claim, extra = encode_json_columns(memory)
    title, content, tags_text, title_grams, grams, said = placed.texts
    return {
        "at": str(placed.node),
        "node": placed.node,
        "id": memory.id,
        "path": stored.path,
        "path_key": hash_key(stored.path),
        "mtime_ns": mtime_ns,
        "size": size,
        "ctime_ns": ctime_ns,
        "type": memory.type.value,
        "tier": memory.tier.value,
        "space": memory.space,
        "space_key": hash_key(memory.space),
        "source": memory.source,
        "source_key": hash_key(memory.source),
        "confidence": float_to_text(memory.confidence),
        "created": to_micros(memory.created),
        "updated": to_micros(memory.updated),
        "valid_until": to_micros_or_none(memory.valid_until),
        "superseded_by": memory.superseded_by,
        "idempotency_key": memory.idempotency_key,
        "asked_key": _hash_key_or_none(memory.idempotency_key),
        "text_key": hash_key(same_text_key(memory.content)),
        "embedded": bool(placed.put.traces) or placed.keeps_traces,
        "address": claim_address(memory.claim) if memory.claim else None,
        "address_key": hash_key(claim_address(memory.claim)) if memory.claim else None,
        "stated": claim_value_key(memory.claim) if memory.claim else None,
        "lot": _compute_lot(memory.id),
        "words": passage_traits(memory.content[first.start : first.end]).words,
        "length": length,
        "digest": text_digest(memory),
        "original": _is_original(memory),
        "tags": list(memory.tags),
        "tag_keys": [hash_key(each) for each in memory.tags],
        "trigger_keys": [hash_key(each) for each in lookup_keys(memory)],
        "title": title,
        "content": content,
        "tags_text": tags_text,
        "title_grams": title_grams,
        "grams": grams,
        "said": said,
        "origin": origin,
        "claim": claim,
        "extra": extra,
        **consolidation.pattern_fields(memory),
        **spoken.of(placed),
    }


def _hash_key_or_none(text: str | None) -> str | None:
    return None if text is None else hash_key(text)


def _compute_lot(memory_id: str) -> int:
    """Return a number by which memories stand in an order that says nothing about them."""
    raw = memory_id.encode("utf-8", "replace")
    return int.from_bytes(hashlib.blake2b(raw, digest_size=8).digest()) % LOT_RANGE


def _is_original(memory: Memory) -> bool:
    """Whether a memory is neither the self nor made of others."""
    made = any(each.edge in DERIVED_EDGES for each in memory.connections)
    return not made and memory.source not in (SELF_SOURCE, *DERIVED_SOURCES)


def note_unreadable(
    writing: FalkorWrite, found: Mapping[str, tuple[int, str]], over: Sequence[str]
) -> None:
    """Note files that do not parse, and forget those whose problem is over."""
    forget_unreadable(writing, over)
    rows = [
        {"key": hash_key(path), "path": path, "line": line, "problem": problem}
        for path, (line, problem) in found.items()
    ]
    writing.statement.each(rows, merge_step("Unreadable", "key"))


def forget_unreadable(writing: FalkorWrite, paths: Iterable[str]) -> None:
    keys = [hash_key(each) for each in dict.fromkeys(paths)]
    writing.statement.each(keys, "MATCH (x:Unreadable {key: r}) DELETE x")


# --- reading ------------------------------------------------------------------------------


def get(access: GraphAccess, memory_id: str) -> StoredMemory | None:
    """Return one memory, joined with its usage, and its file."""
    found = _read_stored(access, "MATCH (m:Memory) WHERE m.id IN $ids", ids=[memory_id])
    return found[0] if found else None


def path_of(access: GraphAccess, memory_id: str) -> str | None:
    """Return the file that a memory stands in."""
    found = access.column("MATCH (m:Memory {id: $id})", "m.path", id=memory_id)
    return found[0] if found else None


def memories(access: GraphAccess, ids: Iterable[str]) -> dict[str, Memory]:
    """Return those of the ids that are there, in the order asked for."""
    wanted = list(dict.fromkeys(ids))
    rows = _read_stored(access, "MATCH (m:Memory) WHERE m.id IN $ids", ids=wanted)
    found = {stored.memory.id: stored.memory for stored in rows}
    return {each: found[each] for each in wanted if each in found}


def _read_stored(access: GraphAccess, question: str, **parameters: object) -> list[StoredMemory]:
    return [
        _stored_from_row(row)
        for row in access.rows(f"{question} {_COLLECT_ARROWS}", _MEMORY_COLUMNS, **parameters)
    ]


def _stored_from_row(row: GraphRow) -> StoredMemory:
    *columns, arrows = row
    columns[_CONFIDENCE] = float(columns[_CONFIDENCE])
    columns[_STABILITY] = _parse_float_or(columns[_STABILITY], DEFAULT_STABILITY_DAYS)
    columns[_IMPORTANCE] = _parse_float_or(columns[_IMPORTANCE], DEFAULT_IMPORTANCE)
    columns[_RELEVANCE] = float_from_text(columns[_RELEVANCE])
    in_order = sorted(arrows, key=itemgetter(0))
    return stored_from_row(
        tuple(columns), [connection_from_row(graph.arrow_from_row(each[1:])) for each in in_order]
    )


def _parse_float_or(text: str | None, default: float) -> float:
    return default if text is None else float(text)


def scores(access: GraphAccess, ids: Iterable[str]) -> dict[str, Mapping[str, float | None]]:
    """Return the scores of memories that are there."""
    question = f"MATCH (m:Memory) WHERE m.id IN $ids {_MATCH_KNOWN}"
    columns = "m.id, coalesce(k.importance, k.folded), k.relevance"
    return {
        memory: {
            "importance": _parse_float_or(importance, DEFAULT_IMPORTANCE),
            "relevance": float_from_text(relevance),
        }
        for memory, importance, relevance in access.rows(question, columns, ids=list(ids))
    }


def records(access: GraphAccess, nodes: Sequence[int]) -> dict[int, RankingRecord]:
    """Return how nodes stand, without their texts."""
    question = f"MATCH (m:Memory) WHERE m.at IN $nodes {_MATCH_KNOWN}"
    columns = """m.node, m.id, m.created, m.confidence, coalesce(k.access_count, 0),
                 coalesce(k.last_accessed, m.created), coalesce(k.importance, k.folded),
                 k.relevance"""
    return {
        node: RankingRecord(
            memory_id,
            from_micros(created),
            float(confidence),
            uses,
            from_micros(used),
            _parse_float_or(importance, DEFAULT_IMPORTANCE),
            float_from_text(relevance),
        )
        for node, memory_id, created, confidence, uses, used, importance, relevance in access.rows(
            question, columns, nodes=number_keys(nodes)
        )
    }


def read_ids(access: GraphAccess, nodes: Sequence[int]) -> dict[int, str]:
    """Return the ids of nodes that are there."""
    if not nodes:
        return {}
    question = "MATCH (m:Memory) WHERE m.at IN $nodes"
    return dict(access.rows(question, "m.node, m.id", nodes=number_keys(nodes)))


def listing(
    access: GraphAccess, chosen: Filter, now: datetime, limit: int, offset: int = 0
) -> list[Memory]:
    """Return memories newest first."""
    passing = build_condition(chosen, now)
    question = f"""MATCH (m:Memory) WHERE {passing.cypher}
                   WITH m ORDER BY m.created DESC, m.id DESC SKIP $offset LIMIT $limit"""
    parameters = {**passing.parameters, "offset": max(offset, 0), "limit": max(limit, 0)}
    found = [each.memory for each in _read_stored(access, question, **parameters)]
    return sorted(found, key=lambda each: (each.created, each.id), reverse=True)


def triggered_memories(
    access: GraphAccess, keys: Sequence[str], chosen: Filter, now: datetime, limit: int
) -> list[str]:
    """Return memories that stand under any of the keys, newest first."""
    passing = build_condition(chosen, now)
    question = f"""UNWIND $keys AS key MATCH (m:Memory)
                   WHERE key IN m.trigger_keys AND {passing.cypher}
                   WITH DISTINCT m ORDER BY m.created DESC, m.id DESC LIMIT $limit"""
    wanted = {"keys": [hash_key(each) for each in keys], "limit": max(limit, 0)}
    return access.column(question, "m.id", **passing.parameters, **wanted)


def count(access: GraphAccess, chosen: Filter, now: datetime) -> int:
    passing = build_condition(chosen, now)
    question = f"MATCH (m:Memory) WHERE {passing.cypher}"
    return int(access.value(question, "count(m)", **passing.parameters))


def first_known(access: GraphAccess) -> datetime | None:
    """Return when the oldest memory was created."""
    found = access.value("MATCH (m:Memory)", "min(m.created)")
    return None if found is None else from_micros(found)


def tags(access: GraphAccess, beginning: str, limit: int) -> list[tuple[str, int]]:
    """Return the most used tags that begin so. They are counted where they are: indexes know
    whole tags only."""
    question = """MATCH (m:Memory) UNWIND m.tags AS tag
                  WITH m, tag WHERE $beginning = '' OR tag STARTS WITH $beginning
                  WITH tag, count(DISTINCT m) AS times ORDER BY times DESC, tag LIMIT $limit"""
    rows = access.rows(question, "tag, times", beginning=beginning, limit=max(limit, 0))
    return [(tag, times) for tag, times in rows]


def select_allowed(
    access: GraphAccess, ids: Iterable[str], chosen: Filter, now: datetime
) -> set[str]:
    """Return those of the ids that pass the filter."""
    passing = build_condition(chosen, now)
    question = f"MATCH (m:Memory) WHERE m.id IN $ids AND {passing.cypher}"
    return set(access.column(question, "m.id", ids=list(ids), **passing.parameters))


def ids_with_prefix(access: GraphAccess, prefix: str, limit: int = 10) -> list[str]:
    """Return ids that begin with the prefix. A range and no pattern: nothing is special."""
    first = prefix.lower()
    if not first or not first.isascii():
        return []
    question = """MATCH (m:Memory) WHERE m.id >= $first AND m.id < $last
                  WITH m ORDER BY m.id LIMIT $limit"""
    return access.column(question, "m.id", first=first, last=first + "\x7f", limit=max(limit, 0))


def ids_after(access: GraphAccess, after_id: str, limit: int) -> list[str]:
    """Return the next ids in their order."""
    question = "MATCH (m:Memory) WHERE m.id > $after WITH m ORDER BY m.id LIMIT $limit"
    return access.column(question, "m.id", after=after_id, limit=max(limit, 0))


def id_at(access: GraphAccess, path: str) -> str | None:
    """Return the oldest memory at a path."""
    return _select_first_id(
        access, f"MATCH (m:Memory {{path_key: $key}}) {_ORDER_BY_AGE}", key=hash_key(path)
    )


def with_idempotency_key(access: GraphAccess, key: str) -> str | None:
    return _select_first_id(
        access, f"MATCH (m:Memory {{asked_key: $key}}) {_ORDER_BY_AGE}", key=hash_key(key)
    )


def _select_first_id(access: GraphAccess, question: str, **parameters: object) -> str | None:
    found = access.column(f"{question} LIMIT 1", "m.id", **parameters)
    return found[0] if found else None


def same_text(
    access: GraphAccess, space: str | None, key: str, now: datetime, limit: int = 64
) -> list[str]:
    """Return the current memories of a space that say the same, oldest first."""
    question = f"""MATCH (m:Memory {{text_key: $key}}) WHERE m.space_key = $space AND {_IS_CURRENT}
                   {_ORDER_BY_AGE} LIMIT $limit"""
    values = {
        "key": hash_key(key),
        "space": hash_key(space),
        "moment": to_micros(now),
        "limit": limit,
    }
    return access.column(question, "m.id", **values)


def claims(access: GraphAccess, address: str, now: datetime, but: str | None = None) -> list[str]:
    """Return the current memories at an address, oldest first."""
    question = f"""MATCH (m:Memory {{address_key: $key}}) WHERE {_IS_CURRENT}
                   AND ($but IS NULL OR m.stated <> $but) {_ORDER_BY_AGE}"""
    return access.column(question, "m.id", key=hash_key(address), moment=to_micros(now), but=but)


def contested_addresses(access: GraphAccess, now: datetime, limit: int) -> list[str]:
    """Return addresses with several values: one of them global, or two of one space."""
    question = f"MATCH (m:Memory) WHERE m.address IS NOT NULL AND {_IS_CURRENT}"
    values: dict[str, set[tuple[str | None, str]]] = {}
    rows = access.rows(question, "m.address, m.space, m.stated", moment=to_micros(now))
    for where, space, value in rows:
        values.setdefault(where, set()).add((space, value))
    found = sorted(each for each, its in values.items() if _are_contested(its))
    return found[: max(limit, 0)]


def _are_contested(stated: set[tuple[str | None, str]]) -> bool:
    """Whether different values are claimed where all see them, or within one space."""
    spaces = {space for space, _ in stated}
    several = len({value for _, value in stated}) > 1
    return several and (None in spaces or len(stated) > len(spaces))


def superseded_by(access: GraphAccess, memory_id: str) -> list[str]:
    question = "MATCH (m:Memory {superseded_by: $id}) WITH m ORDER BY m.id"
    return access.column(question, "m.id", id=memory_id)


def core_by_importance(access: GraphAccess) -> list[tuple[str, float]]:
    """Return the core memories but the self, least important first."""
    columns = "m.id, coalesce(k.importance, k.folded)"
    rows = access.rows(f"MATCH (m:Memory {{tier: 'core'}}) {_MATCH_KNOWN}", columns)
    the_self = graph.self_id(access)
    found = [
        (each, _parse_float_or(worth, DEFAULT_IMPORTANCE))
        for each, worth in rows
        if each != the_self
    ]
    return sorted(found, key=lambda each: (each[1], each[0]))


def counts(access: GraphAccess) -> IndexCounts:
    """Return how much there is of everything; edges are those that stand in files."""
    groups = access.rows(
        f"""MATCH (m:Memory) WHERE NOT {IS_EXCHANGE_CYPHER}
            WITH m.type AS type, m.tier AS tier, coalesce(m.space, '{GLOBAL}') AS space,
                 count(m) AS times""",
        "type, tier, space, times",
        exchange_tag=hash_key(EXCHANGE_TAG),
    )
    rows = [tuple(each) for each in groups]
    return IndexCounts(
        memories=sum(group[3] for group in rows),
        edges=access.value("MATCH ()-[e:ARROW]->()", "count(e)"),
        unembedded=access.value("MATCH (m:Memory) WHERE NOT m.embedded", "count(m)"),
        unreadable=access.value("MATCH (x:Unreadable)", "count(x)"),
        events=access.value("MATCH (x:Event)", "count(x)"),
        exchanges=access.value(
            f"MATCH (m:Memory) WHERE {IS_EXCHANGE_CYPHER}",
            "count(m)",
            exchange_tag=hash_key(EXCHANGE_TAG),
        ),
        by_type=sum_by_column(rows, 0),
        by_tier=sum_by_column(rows, 1),
        by_space=sum_by_column(rows, 2),
    )


def fingerprints(access: GraphAccess) -> dict[str, Fingerprint]:
    """Return how each file looked when it was read, but for those that do not parse now."""
    problems = {each.path for each in unreadable(access)}
    rows = access.rows("MATCH (m:Memory)", "m.path, m.mtime_ns, m.size, m.ctime_ns")
    return {path: Fingerprint(*looks) for path, *looks in rows if path not in problems}


def unreadable(access: GraphAccess) -> list[ParseProblem]:
    """Return the files that do not parse, by path."""
    question = "MATCH (x:Unreadable) WITH x ORDER BY x.path"
    return [ParseProblem(*row) for row in access.rows(question, "x.path, x.line, x.problem")]


def unembedded_ids(access: GraphAccess, limit: int) -> list[str]:
    """Return memories without a vector, those that came first first."""
    question = "MATCH (m:Memory) WHERE NOT m.embedded WITH m ORDER BY m.node LIMIT $limit"
    return access.column(question, "m.id", limit=max(limit, 0))
