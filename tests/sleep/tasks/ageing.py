"""Stores in which memories are as old, as used and as important as a test wants them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from madeleine.index.port import IndexBatch, MemoryPut
from madeleine.model.event import EventKind
from madeleine.model.fingerprint import Fingerprint
from madeleine.model.memory import Connection, Memory
from madeleine.model.stored_memory import StoredMemory
from madeleine.model.words import Edge
from madeleine.sleep.config import SleepConfig
from madeleine.write.record import new_event, record_events
from madeleine.write.record_use import record_use
from madeleine.write.stores import Stores
from tests.fakes import NOON, keep
from tests.sleep.nights import CONFIG, as_now


def set_to(**wanted: object) -> SleepConfig:
    """Return the usual config with other numbers for the tasks."""
    tasks = replace(CONFIG.consolidation, **wanted)  # type: ignore[arg-type]  # real fields
    return replace(CONFIG, consolidation=tasks)


def wait(stores: Stores, **length: float) -> None:
    stores.clock.pass_by(**length)  # type: ignore[attr-defined]  # the fake clock


def aged(stores: Stores, content: str, days: float, **fields: object) -> Memory:
    """Remember something that is so many days old."""
    return keep(stores, content, created=NOON - timedelta(days=days), **fields)


def weigh(stores: Stores, memory: Memory, importance: float) -> None:
    body = {"scores": {"importance": {memory.id: importance}}}
    record_events(stores, [new_event(stores, EventKind.SCORED, body)], durable=False)


def use(stores: Stores, memory: Memory, session: str = "s") -> None:
    assert record_use(stores, [memory.id], "recalled", session) == ()


def relevance(stores: Stores, memory: Memory) -> float | None:
    return as_now(stores, memory).relevance


def fill(stores: Stores, count: int, hub: int = 0, days: float = 200.0) -> list[str]:
    """Put so many memories into the index alone, quickly; all of them are `days` old. The first
    `hub` of the others point to the first."""
    born = NOON - timedelta(days=days)
    ids = [f"{number:08x}-0000-4000-8000-000000000000" for number in range(count)]
    arrow = (Connection(ids[0], Edge.SUPPORTS, by="agent:me"),)
    memories = [
        Memory(each, f"note {place}", born, born, connections=arrow if 0 < place <= hub else ())
        for place, each in enumerate(ids)
    ]
    for start in range(0, count, 5_000):
        _put(stores, memories[start : start + 5_000])
    return ids


def _put(stores: Stores, some: Sequence[Memory]) -> None:
    looks = Fingerprint(0, 0)
    puts = [MemoryPut(StoredMemory(each, f"{each.id}.md", looks)) for each in some]
    stores.index.write(IndexBatch(puts=puts))
