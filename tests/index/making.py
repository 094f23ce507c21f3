"""Small memories, vectors and events for index tests."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from madeleine.index.port import Batch, Index, Put
from madeleine.model.event import Event, Kind
from madeleine.model.memory import Memory
from madeleine.model.stored import Fingerprint, Stored
from madeleine.model.vector import Vector

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
DIMENSION = 4


def memory_id(number: int) -> str:
    return str(uuid.UUID(int=number << 96))


def memory(number: int, content: str = "a thing worth knowing", **fields: Any) -> Memory:
    created = fields.pop("created", NOON - timedelta(days=100) + timedelta(minutes=number))
    return Memory(memory_id(number), content, created, created, **fields)


def stored(made: Memory, path: str | None = None) -> Stored:
    return Stored(made, path or f"{made.id}.md", Fingerprint(len(made.content), len(made.content)))


def put(made: Memory, vector: Vector | None = None, path: str | None = None) -> Put:
    return Put(stored(made, path), vector)


def keep(index: Index, *memories: Memory) -> None:
    """Put memories without vectors."""
    index.write(Batch(puts=[put(each) for each in memories]))


def unit(*numbers: float) -> Vector:
    vector = np.array(numbers, np.float32)
    return vector / np.linalg.norm(vector)


def event(kind: Kind, number: int, minutes: float = 0, /, **body: Any) -> Event:
    return Event(f"event-{number:04}", NOON + timedelta(minutes=minutes), kind, "desk", body)


def ids(found: list[Any]) -> list[str]:
    return [each.id for each in found]
