"""Reading one memory whole: its connections both ways, its neighbours, its history."""

from __future__ import annotations

from dataclasses import dataclass

from madeleine.errors import NoSuchMemory
from madeleine.index.port import EdgeRow
from madeleine.model.event import Event
from madeleine.model.memory import Memory
from madeleine.model.stored import Stored
from madeleine.write.resolve import get, resolve
from madeleine.write.stores import Stores

NEIGHBOURS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Shown:
    """A memory, the arrows at it, and the memories at their other ends."""

    stored: Stored
    edges: tuple[EdgeRow, ...]
    neighbours: tuple[Memory, ...]


def show(stores: Stores, wanted: str) -> Shown:
    """Return a memory whole; strongest connections first."""
    stored = get(stores, wanted)
    rows = sorted(stores.index.edges([stored.memory.id]), key=lambda row: -row.connection.weight)
    ends = dict.fromkeys(_other_end(row, stored.memory.id) for row in rows)
    found = stores.index.memories(list(ends)[:NEIGHBOURS_SHOWN])
    return Shown(stored, tuple(rows), tuple(found[each] for each in ends if each in found))


def history(stores: Stores, wanted: str, limit: int = 100) -> tuple[str, list[Event]]:
    """Return what happened to a memory, newest first, also when it was forgotten since."""
    memory_id = _resolve_also_forgotten(stores, wanted)
    return memory_id, stores.index.history(memory_id, limit)


def _resolve_also_forgotten(stores: Stores, wanted: str) -> str:
    try:
        return resolve(stores, wanted)
    except NoSuchMemory:
        trashed = {each.memory.id for each in stores.vault.find_trashed(wanted.strip())}
        if len(trashed) != 1:
            raise
        return trashed.pop()


def _other_end(row: EdgeRow, memory_id: str) -> str:
    return row.connection.target if row.source == memory_id else row.source
