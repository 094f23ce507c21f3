"""Passages of memories, who speaks in them and in which conversation.

A passage names the number of its vector. The vector stands by itself, in the graph or elsewhere,
and is never changed: another reading is another number. A conversation keeps its turns as one
packed table in their order (turn, time, node, speaker), so that what stands beside a memory is
found without a walk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from madeleine.index.common.matrix import NONE, speakers_by_word, to_half_vectors
from madeleine.index.common.passages import (
    MAX_TURN,
    ModelDimensions,
    check_embeddings,
    passage_stems,
    passage_traits,
)
from madeleine.index.common.rows import PlacedMemory
from madeleine.index.common.times import to_micros
from madeleine.index.search import CollectionStatistics
from madeleine.language.passages import MOST_PASSAGES, find_speaker, split_passages
from madeleine.model.embedding import PassageEmbedding
from madeleine.model.memory import Memory
from madeleine_falkordb.connection import GraphAccess
from madeleine_falkordb.encoding import decode_table, encode_table, hash_key, number_keys
from madeleine_falkordb.statement import merge_step
from madeleine_falkordb.writing import FalkorWrite

if TYPE_CHECKING:
    from madeleine_falkordb.existing_memory import ExistingMemory

TURN_COLUMN_COUNT = 4  # turn, created, node, speaker
_NODE, _SPEAKER = 2, 3

Numbers = NDArray[np.int64]


@dataclass(slots=True)
class _Conversation:
    key: str
    number: int
    turns: Numbers

    def without(self, nodes: Iterable[int]) -> None:
        self.turns = self.turns[~np.isin(self.turns[:, _NODE], list(nodes))]

    def add(self, turns: Sequence[tuple[int, ...]]) -> None:
        both = np.concatenate(
            [self.turns, np.array(turns, np.int64).reshape(-1, TURN_COLUMN_COUNT)]
        )
        order = np.lexsort((both[:, _NODE], both[:, 1], both[:, 0]))
        self.turns = both[order]

    @property
    def row(self) -> dict[str, object]:
        named = {"key": self.key, "at": str(self.number), "number": self.number}
        return {**named, "turns": encode_table(self.turns)}


class ConversationUpdate:
    """Who speaks in memories that come and go, and in which conversation."""

    def __init__(
        self, writing: FalkorWrite, old: Sequence[ExistingMemory], memories: Sequence[Memory]
    ) -> None:
        self._writing = writing
        self._speakers = self._count_speakers(old, memories)
        self._sessions = self._read_conversations(old, memories)
        self._turns: dict[str, list[tuple[int, ...]]] = {}

    def _count_speakers(
        self, old: Sequence[ExistingMemory], memories: Sequence[Memory]
    ) -> dict[str, int]:
        """Count who speaks more or less than before; return their numbers by name."""
        names = [name for name in map(_speaker_key, memories) if name is not None]
        gone = [each.speaker for each in old if each.speaker is not None]
        if not names and not gone:
            return {}
        question = "MATCH (s:Speaker) WHERE s.key IN $keys OR s.at IN $gone"
        keys = [hash_key(each) for each in dict.fromkeys(names)]
        rows = self._writing.access.rows(
            question, "s.name, s.number, s.said", keys=keys, gone=number_keys(set(gone))
        )
        numbers = {name: number for name, number, _ in rows}
        said = Counter({number: times for _, number, times in rows})
        new = count(self._writing.access.value("MATCH (s:Speaker)", "count(s)"))
        for name in names:
            said[numbers[name] if name in numbers else numbers.setdefault(name, next(new))] += 1
        said.subtract(gone)
        changed = [
            {
                "key": hash_key(name),
                "at": str(number),
                "name": name,
                "number": number,
                "said": said[number],
            }
            for name, number in numbers.items()
        ]
        self._writing.statement.each(changed, merge_step("Speaker", "key"))
        return numbers

    def _read_conversations(
        self, old: Sequence[ExistingMemory], memories: Sequence[Memory]
    ) -> dict[str, _Conversation]:
        """Return the conversations that change, by their keys, without those who leave them."""
        left = {each.session for each in old if each.session is not None}
        keys = list(dict.fromkeys(key for key in map(_session_key, memories) if key is not None))
        if not left and not keys:
            return {}
        rows = self._writing.access.rows(
            "MATCH (s:Session) WHERE s.key IN $keys OR s.at IN $left",
            "s.key, s.number, s.turns",
            keys=keys,
            left=number_keys(left),
        )
        found = {
            key: _Conversation(key, number, decode_table(turns, TURN_COLUMN_COUNT))
            for key, number, turns in rows
        }
        for each in found.values():
            each.without(one.known.node for one in old)
        for key in keys:
            if key not in found:
                turns = np.empty((0, TURN_COLUMN_COUNT), np.int64)
                found[key] = _Conversation(key, self._writing.number(), turns)
        return found

    def of(self, placed: PlacedMemory) -> dict[str, int | None]:
        """Return what a memory's row says about this, and note its turn."""
        memory, key = placed.memory, _session_key(placed.memory)
        origin = memory.origin.turn if memory.origin else None
        turn = NONE if origin is None else max(NONE, min(origin, MAX_TURN))
        name = _speaker_key(memory)
        speaker = None if name is None else self._speakers[name]
        if key is not None:
            said = (
                turn,
                to_micros(memory.created),
                placed.node,
                NONE if speaker is None else speaker,
            )
            self._turns.setdefault(key, []).append(said)
        session = None if key is None else self._sessions[key].number
        return {"session": session, "turn": turn, "speaker": speaker}

    def settle(self) -> None:
        """Write the conversations that changed."""
        for key, turns in self._turns.items():
            self._sessions[key].add(turns)
        rows = [each.row for each in self._sessions.values()]
        self._writing.statement.each(rows, merge_step("Session", "key"))


def _speaker_key(memory: Memory) -> str | None:
    name = find_speaker(memory)
    return None if name is None else name.casefold()


def _session_key(memory: Memory) -> str | None:
    session = memory.origin.session if memory.origin else None
    return None if session is None else hash_key(memory.space, session)


# --- writing ------------------------------------------------------------------------------


def forget_passages(writing: FalkorWrite, old: Sequence[ExistingMemory]) -> None:
    """Remove the passages of these memories; their vectors are of no use any more."""
    for each in old:
        writing.gone += each.points
    nodes = number_keys(each.known.node for each in old)
    writing.statement.each(nodes, "MATCH (p:Passage {of: r}) DELETE p")


def put_passages(
    writing: FalkorWrite, wide: ModelDimensions, placed: Sequence[PlacedMemory]
) -> None:
    """Write the passages of memories just put, unless those that are there still fit."""
    rows = [
        row
        for each in placed
        if not each.keeps_traces
        for row in _build_passage_rows(writing, wide, each)
    ]
    writing.statement.each(
        rows, "MATCH (m:Memory {at: r.of}) CREATE (m)-[:PART]->(p:Passage) SET p = r"
    )


def _build_passage_rows(
    writing: FalkorWrite, wide: ModelDimensions, placed: PlacedMemory
) -> list[dict[str, Any]]:
    """Return what is kept of each passage of a memory, with its trace if there is one."""
    memory, passages = placed.memory, split_passages(placed.memory)
    traces = check_embeddings(placed.put.traces, len(passages), wide)
    points = _number_vectors(writing, wide, traces) or [None] * len(passages)
    stemmer = writing.cutter.stemmer
    found = []
    for part, passage in enumerate(passages):
        traits = passage_traits(memory.content[passage.start : passage.end])
        found.append(
            {
                "at": str(placed.node * MOST_PASSAGES + part),
                "of": str(placed.node),
                "number": placed.node * MOST_PASSAGES + part,
                "part": part,
                "traits": traits[0],
                "capitals": traits[1],
                "words": traits[2],
                "point": points[part],
                "trace": None if points[part] is None else str(points[part]),
                "version": writing.version,
                "stems": passage_stems(stemmer, memory, passage, part),
                "tokens": traces[part].tokens.tobytes() if traces else b"",
            }
        )
    return found


def _number_vectors(
    writing: FalkorWrite, wide: ModelDimensions, traces: Sequence[PassageEmbedding]
) -> list[int | None]:
    """Give vectors their numbers."""
    points: list[int | None] = []
    for half in to_half_vectors([each.vector for each in traces], wide.vector):
        point = writing.number()
        writing.vectors[point] = half
        points.append(point)
    return points


def set_traces(
    writing: FalkorWrite, wide: ModelDimensions, given: Mapping[str, Sequence[PassageEmbedding]]
) -> None:
    """Give traces to the memories that are there and have as many passages."""
    question = """MATCH (m:Memory) WHERE m.id IN $ids WITH m MATCH (m)-[:PART]->(p)
                  WITH m, count(p) AS parts, collect(p.point) AS points"""
    found = writing.access.rows(question, "m.id, m.node, parts, points", ids=list(given))
    fitting = [row for row in found if row[2] == len(given[row[0]])]
    rows = []
    for memory, node, parts, points in fitting:
        traces = check_embeddings(given[memory], parts, wide)
        writing.gone += points
        rows += [
            {
                "at": str(node * MOST_PASSAGES + part),
                "point": point,
                "trace": str(point),
                "tokens": traces[part].tokens.tobytes(),
                "version": writing.version,
            }
            for part, point in enumerate(_number_vectors(writing, wide, traces))
        ]
    writing.statement.each(rows, "MATCH (p:Passage {at: r.at}) SET p += r")
    nodes = number_keys(row[1] for row in fitting)
    writing.statement.each(nodes, "MATCH (m:Memory {at: r}) SET m.embedded = true")


# --- reading ------------------------------------------------------------------------------


def read_conversations(access: GraphAccess, sessions: Sequence[int]) -> dict[int, Numbers]:
    """Return the turns of conversations, each in order."""
    if not sessions:
        return {}
    question = "MATCH (s:Session) WHERE s.at IN $sessions"
    rows = access.rows(question, "s.number, s.turns", sessions=number_keys(sessions))
    found = {number: decode_table(turns, TURN_COLUMN_COUNT) for number, turns in rows}
    return _order_ties_by_id(access, found)


def _order_ties_by_id(access: GraphAccess, found: dict[int, Numbers]) -> dict[int, Numbers]:
    """Order by their ids what stands at one turn and time of a conversation. The tables hold no
    ids; they are asked for only where they have to tell two apart."""
    tied = [node for turns in found.values() for node in turns[_mask_ties(turns), _NODE].tolist()]
    if not tied:
        return found
    question = "MATCH (m:Memory) WHERE m.at IN $nodes"
    ids = dict(access.rows(question, "m.node, m.id", nodes=number_keys(tied)))
    return {
        session: np.array(
            sorted(turns.tolist(), key=lambda row: (row[0], row[1], ids.get(row[_NODE], ""))),
            np.int64,
        ).reshape(-1, TURN_COLUMN_COUNT)
        for session, turns in found.items()
    }


def _mask_ties(turns: Numbers) -> NDArray[np.bool_]:
    """Return which rows of a conversation, in its order, share turn and time with another."""
    same = (turns[1:, :2] == turns[:-1, :2]).all(axis=1)
    tied: NDArray[np.bool_] = np.zeros(len(turns), np.bool_)
    tied[1:] |= same
    tied[:-1] |= same
    return tied


def extent(access: GraphAccess) -> CollectionStatistics:
    """Return how much there is to be found."""
    question = """MATCH (g:Head) OPTIONAL MATCH (s:Speaker) WHERE s.said > 0
                  WITH g, s ORDER BY s.number"""
    columns = "g.memories, g.words, s.name, s.number"
    rows = access.rows(question, columns)
    whole, short = speakers_by_word((name, number) for *_, name, number in rows if name is not None)
    memories, words = rows[0][:2] if rows else (0, 0)
    return CollectionStatistics(memories, words / max(memories, 1), whole, short)
