"""Small memories, vectors and events for index tests."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from madeleine.index.port import Index, IndexBatch, MemoryPut
from madeleine.language.passages import PASSAGE_CHARS
from madeleine.model.embedding import PassageEmbedding, Tokens
from madeleine.model.event import Event, EventKind
from madeleine.model.fingerprint import Fingerprint
from madeleine.model.memory import Memory, Origin
from madeleine.model.stored_memory import StoredMemory
from madeleine.model.vector import Vector

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
DIMENSION = 4
TOKEN_DIMENSION = 3


def memory_id(number: int) -> str:
    return str(uuid.UUID(int=number << 96))


def memory(number: int, content: str = "a thing worth knowing", **fields: Any) -> Memory:
    created = fields.pop("created", NOON - timedelta(days=100) + timedelta(minutes=number))
    return Memory(memory_id(number), content, created, created, **fields)


def said(
    number: int, turn: int | None, speaker: str | None = None, session: str = "s", **fields: Any
) -> Memory:
    """What somebody said in a conversation."""
    content = fields.pop("content", f"said as number {number}")
    return memory(number, content, origin=Origin(session, turn, speaker), **fields)


def long_text(*pieces: str) -> str:
    """A text that is cut into just these pieces, each filled up to a passage of its own."""
    filler = " and so it goes" * PASSAGE_CHARS
    return "\n\n".join((piece + filler)[: PASSAGE_CHARS - 50] for piece in pieces)


def stored(made: Memory, path: str | None = None) -> StoredMemory:
    return StoredMemory(
        made, path or f"{made.id}.md", Fingerprint(len(made.content), len(made.content))
    )


def tokens(*rows: tuple[int, int, int]) -> Tokens:
    return np.array(rows, np.int8).reshape(len(rows), TOKEN_DIMENSION)


def trace(vector: Vector, kept: Tokens | None = None) -> PassageEmbedding:
    """A trace, without tokens unless some are given."""
    none: NDArray[np.int8] = np.zeros((0, 0), np.int8)
    return PassageEmbedding(vector, none if kept is None else kept)


def put(made: Memory, *vectors: Vector | None, path: str | None = None) -> MemoryPut:
    """A put with a trace for each vector; None stands for no trace."""
    return MemoryPut(stored(made, path), [trace(each) for each in vectors if each is not None])


def keep(index: Index, *memories: Memory) -> None:
    """Put memories without vectors."""
    index.write(IndexBatch(puts=[put(each) for each in memories]))


def unit(*numbers: float) -> Vector:
    vector = np.array(numbers, np.float32)
    return vector / np.linalg.norm(vector)


def event(kind: EventKind, number: int, minutes: float = 0, /, **body: Any) -> Event:
    return Event(f"event-{number:04}", NOON + timedelta(minutes=minutes), kind, "desk", body)


def ids(found: list[Any]) -> list[str]:
    return [each.id for each in found]
