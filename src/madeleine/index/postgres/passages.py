"""Passages of memories: written with their memory, or read by a model later.

A passage repeats the columns of its memory that filters look at. Whoever speaks, and in which
conversation, is kept as a number that is given out when a name comes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from madeleine.database.adapters import HalfVector
from madeleine.database.transactions import TenantAccess
from madeleine.index.common.matrix import NONE, to_half_vectors
from madeleine.index.common.passages import (
    MAX_TURN,
    ModelDimensions,
    check_embeddings,
    passage_stems,
    passage_traits,
)
from madeleine.index.common.rows import PlacedMemory
from madeleine.index.common.times import to_micros, to_micros_or_none
from madeleine.index.postgres.writing import PostgresWrite
from madeleine.language.passages import find_speaker, split_passages
from madeleine.model.embedding import PassageEmbedding
from madeleine.model.memory import Memory

CellValues = tuple[object, ...]

_SHARED_COLUMNS = (
    *("type", "tier", "space", "created", "valid_until", "superseded_by", "session", "turn"),
    *("speaker", "version"),
)
_OWN_COLUMNS = (
    *("node", "part", "traits", "capitals", "words", "wide", "vector", "stems", "tokens"),
)
_INSERT_PASSAGE = f"""
    INSERT INTO passages (tenant, {", ".join((*_OWN_COLUMNS, *_SHARED_COLUMNS))})
    VALUES (:tenant, {", ".join(["%s"] * (len(_OWN_COLUMNS) + len(_SHARED_COLUMNS)))})
"""
_UPDATE_SHARED = f"""
    UPDATE passages SET ({", ".join(_SHARED_COLUMNS)})
    = ROW ({", ".join(["%s"] * len(_SHARED_COLUMNS))})
    WHERE tenant = :tenant AND node = %s
"""
_UPDATE_EMBEDDING = """
    UPDATE passages SET wide = %s, vector = %s, tokens = %s, version = %s
    WHERE tenant = :tenant AND node = %s AND part = %s
"""


class ConversationNumbers:
    """The numbers of those who speak, and of conversations, in some memories."""

    def __init__(self, access: TenantAccess, memories: Iterable[Memory]) -> None:
        listed = list(memories)
        self._speakers = _number_speakers(access, filter(None, map(_speaker_key, listed)))
        self._sessions = _number_sessions(access, filter(None, map(_session_key, listed)))

    def cells(self, memory: Memory, version: int) -> CellValues:
        """Return the columns that all passages of a memory share."""
        turn = memory.origin.turn if memory.origin else None
        return (
            memory.type.value,
            memory.tier.value,
            memory.space,
            to_micros(memory.created),
            to_micros_or_none(memory.valid_until),
            memory.superseded_by,
            self._sessions.get(_session_key(memory)),
            NONE if turn is None else max(NONE, min(turn, MAX_TURN)),
            self._speakers.get(_speaker_key(memory)),
            version,
        )


def _speaker_key(memory: Memory) -> str | None:
    name = find_speaker(memory)
    return None if name is None else name.casefold()


def _session_key(memory: Memory) -> tuple[str | None, str] | None:
    session = memory.origin.session if memory.origin else None
    return None if session is None else (memory.space, session)


def _number_speakers(access: TenantAccess, names: Iterable[str]) -> dict[str | None, int]:
    wanted = list(dict.fromkeys(names))
    if not wanted:
        return {}
    sql = """INSERT INTO speakers (tenant, name) SELECT :tenant, * FROM unnest(%s::text[])
             ON CONFLICT DO NOTHING"""
    access.run(sql, wanted)
    sql = "SELECT name, speaker FROM speakers WHERE tenant = :tenant AND name = ANY(%s::text[])"
    return dict(access.rows(sql, wanted))


def _number_sessions(
    access: TenantAccess, names: Iterable[tuple[str | None, str]]
) -> dict[tuple[str | None, str] | None, int]:
    wanted = list(dict.fromkeys(names))
    if not wanted:
        return {}
    spaces, sessions = [space for space, _ in wanted], [name for _, name in wanted]
    sql = """INSERT INTO sessions (tenant, space, name)
             SELECT :tenant, * FROM unnest(%s::text[], %s::text[]) ON CONFLICT DO NOTHING"""
    access.run(sql, spaces, sessions)
    sql = """SELECT space, name, session FROM sessions
             WHERE tenant = :tenant AND name = ANY(%s::text[])"""
    return {(space, name): session for space, name, session in access.rows(sql, sessions)}


def put_passages(
    writing: PostgresWrite, wide: ModelDimensions, placed: Sequence[PlacedMemory]
) -> None:
    """Store what is kept of the passages of memories just put, and drop what no longer fits."""
    if not placed:
        return
    access = writing.access
    named = ConversationNumbers(access, (each.memory for each in placed))
    replaced = [each.node for each in placed if each.known is not None and not each.keeps_traces]
    if replaced:
        sql = "DELETE FROM passages WHERE tenant = :tenant AND node = ANY(%s::bigint[])"
        access.run(sql, replaced)
    kept, fresh = list[CellValues](), list[CellValues]()
    for each in placed:
        cells = named.cells(each.memory, access.version)
        if each.keeps_traces:
            kept.append((*cells, each.node))
        else:
            fresh += [(*own, *cells) for own in _build_own_cells(writing, wide, each)]
    access.run_many(_UPDATE_SHARED, kept)
    access.run_many(_INSERT_PASSAGE, fresh)


def _build_own_cells(
    writing: PostgresWrite, wide: ModelDimensions, placed: PlacedMemory
) -> list[CellValues]:
    """Return what each passage of a memory has for itself, with its trace if there is one."""
    memory, passages = placed.memory, split_passages(placed.memory)
    traces = check_embeddings(placed.put.traces, len(passages), wide)
    halves = to_half_vectors([each.vector for each in traces], wide.vector)
    stemmer = writing.cutter.stemmer
    return [
        (
            placed.node,
            part,
            *passage_traits(memory.content[passage.start : passage.end]),
            wide.vector if traces else 0,
            HalfVector(halves[part]) if traces else None,
            passage_stems(stemmer, memory, passage, part),
            traces[part].tokens.tobytes() if traces else b"",
        )
        for part, passage in enumerate(passages)
    ]


def set_traces(
    access: TenantAccess, wide: ModelDimensions, given: Mapping[str, Sequence[PassageEmbedding]]
) -> None:
    """Give traces to the nodes that are there and have as many passages."""
    sql = """SELECT n.id, n.node, count(*) FROM nodes n
             JOIN passages p ON p.tenant = :tenant AND p.node = n.node
             WHERE n.tenant = :tenant AND n.id = ANY(%s::text[]) GROUP BY n.id, n.node"""
    rows = access.rows(sql, list(given))
    fitting = [(node, given[each]) for each, node, count in rows if count == len(given[each])]
    traces = [trace for _, its in fitting for trace in its]
    check_embeddings(traces, len(traces), wide)
    halves = iter(to_half_vectors([each.vector for each in traces], wide.vector))
    access.run_many(
        _UPDATE_EMBEDDING,
        (
            (
                wide.vector,
                HalfVector(next(halves)),
                trace.tokens.tobytes(),
                access.version,
                node,
                part,
            )
            for node, its in fitting
            for part, trace in enumerate(its)
        ),
    )
    sql = "UPDATE nodes SET embedded = TRUE WHERE tenant = :tenant AND node = ANY(%s::bigint[])"
    access.run(sql, [node for node, _ in fitting])
