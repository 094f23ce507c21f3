"""Passages of memories: written with their memory, or read by a model later.

A passage repeats the columns of its memory that filters look at. Whoever speaks, and in which
conversation, is kept as a number that is given out when a name comes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from madeleine.database.access import Access
from madeleine.database.adapting import Half
from madeleine.index.common.matrix import NONE, to_halves
from madeleine.index.common.passages import WIDEST_TURN, Spaces, checked, passage_traits, stems_of
from madeleine.index.common.rows import Placed
from madeleine.index.common.times import maybe_micros, micros
from madeleine.index.postgres.writing import Writing
from madeleine.language.passages import find_speaker, split_passages
from madeleine.model.memory import Memory
from madeleine.model.trace import PassageEmbedding

Cells = tuple[object, ...]

_CELLS = (
    *("type", "tier", "space", "created", "valid_until", "superseded_by", "session", "turn"),
    *("speaker", "version"),
)
_OWN = (*("node", "part", "traits", "capitals", "words", "wide", "vector", "stems", "tokens"),)
_INSERT = f"""
    INSERT INTO passages (tenant, {", ".join((*_OWN, *_CELLS))})
    VALUES (:tenant, {", ".join(["%s"] * (len(_OWN) + len(_CELLS)))})
"""
_UPDATE = f"""
    UPDATE passages SET ({", ".join(_CELLS)}) = ROW ({", ".join(["%s"] * len(_CELLS))})
    WHERE tenant = :tenant AND node = %s
"""
_GIVEN = """
    UPDATE passages SET wide = %s, vector = %s, tokens = %s, version = %s
    WHERE tenant = :tenant AND node = %s AND part = %s
"""


class Named:
    """The numbers of those who speak, and of conversations, in some memories."""

    def __init__(self, access: Access, memories: Iterable[Memory]) -> None:
        listed = list(memories)
        self._speakers = _speakers(access, filter(None, map(_speaker, listed)))
        self._sessions = _sessions(access, filter(None, map(_session, listed)))

    def cells(self, memory: Memory, version: int) -> Cells:
        """Return the columns that all passages of a memory share."""
        turn = memory.origin.turn if memory.origin else None
        return (
            memory.type.value,
            memory.tier.value,
            memory.space,
            micros(memory.created),
            maybe_micros(memory.valid_until),
            memory.superseded_by,
            self._sessions.get(_session(memory)),
            NONE if turn is None else max(NONE, min(turn, WIDEST_TURN)),
            self._speakers.get(_speaker(memory)),
            version,
        )


def _speaker(memory: Memory) -> str | None:
    name = find_speaker(memory)
    return None if name is None else name.casefold()


def _session(memory: Memory) -> tuple[str | None, str] | None:
    session = memory.origin.session if memory.origin else None
    return None if session is None else (memory.space, session)


def _speakers(access: Access, names: Iterable[str]) -> dict[str | None, int]:
    wanted = list(dict.fromkeys(names))
    if not wanted:
        return {}
    sql = """INSERT INTO speakers (tenant, name) SELECT :tenant, * FROM unnest(%s::text[])
             ON CONFLICT DO NOTHING"""
    access.run(sql, wanted)
    sql = "SELECT name, speaker FROM speakers WHERE tenant = :tenant AND name = ANY(%s::text[])"
    return dict(access.rows(sql, wanted))


def _sessions(
    access: Access, names: Iterable[tuple[str | None, str]]
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


def put_passages(writing: Writing, wide: Spaces, placed: Sequence[Placed]) -> None:
    """Store what is kept of the passages of memories just put, and drop what no longer fits."""
    if not placed:
        return
    access = writing.access
    named = Named(access, (each.memory for each in placed))
    replaced = [each.node for each in placed if each.known is not None and not each.keeps_traces]
    if replaced:
        sql = "DELETE FROM passages WHERE tenant = :tenant AND node = ANY(%s::bigint[])"
        access.run(sql, replaced)
    kept, fresh = list[Cells](), list[Cells]()
    for each in placed:
        cells = named.cells(each.memory, access.version)
        if each.keeps_traces:
            kept.append((*cells, each.node))
        else:
            fresh += [(*own, *cells) for own in _own_cells(writing, wide, each)]
    access.run_many(_UPDATE, kept)
    access.run_many(_INSERT, fresh)


def _own_cells(writing: Writing, wide: Spaces, placed: Placed) -> list[Cells]:
    """Return what each passage of a memory has for itself, with its trace if there is one."""
    memory, passages = placed.memory, split_passages(placed.memory)
    traces = checked(placed.put.traces, len(passages), wide)
    halves = to_halves([each.vector for each in traces], wide.vector)
    stemmer = writing.cutter.stemmer
    return [
        (
            placed.node,
            part,
            *passage_traits(memory.content[passage.start : passage.end]),
            wide.vector if traces else 0,
            Half(halves[part]) if traces else None,
            stems_of(stemmer, memory, passage, part),
            traces[part].tokens.tobytes() if traces else b"",
        )
        for part, passage in enumerate(passages)
    ]


def set_traces(
    access: Access, wide: Spaces, given: Mapping[str, Sequence[PassageEmbedding]]
) -> None:
    """Give traces to the nodes that are there and have as many passages."""
    sql = """SELECT n.id, n.node, count(*) FROM nodes n
             JOIN passages p ON p.tenant = :tenant AND p.node = n.node
             WHERE n.tenant = :tenant AND n.id = ANY(%s::text[]) GROUP BY n.id, n.node"""
    rows = access.rows(sql, list(given))
    fitting = [(node, given[each]) for each, node, count in rows if count == len(given[each])]
    traces = [trace for _, its in fitting for trace in its]
    checked(traces, len(traces), wide)
    halves = iter(to_halves([each.vector for each in traces], wide.vector))
    access.run_many(
        _GIVEN,
        (
            (wide.vector, Half(next(halves)), trace.tokens.tobytes(), access.version, node, part)
            for node, its in fitting
            for part, trace in enumerate(its)
        ),
    )
    sql = "UPDATE nodes SET embedded = TRUE WHERE tenant = :tenant AND node = ANY(%s::bigint[])"
    access.run(sql, [node for node, _ in fitting])
