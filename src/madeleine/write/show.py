"""Reading one memory whole: its connections both ways, its neighbours, its history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from madeleine.errors import NoSuchMemory
from madeleine.index.graph import EdgeRow
from madeleine.model.event import Event
from madeleine.model.memory import Memory
from madeleine.model.stored_memory import StoredMemory
from madeleine.write.resolve import get_stored
from madeleine.write.stores import Stores

MAX_NEIGHBOURS = 10


@dataclass(frozen=True, slots=True)
class MemoryView:
    """A memory, the arrows at it, and the memories at their other ends."""

    stored: StoredMemory
    edges: tuple[EdgeRow, ...]
    neighbours: tuple[Memory, ...]


def show(stores: Stores, wanted: str) -> MemoryView:
    """Return a memory whole; strongest connections first."""
    stored = get_stored(stores, wanted)
    rows = sorted(stores.graph.edges([stored.memory.id]), key=lambda row: -row.connection.weight)
    ends = dict.fromkeys(_other_end(row, stored.memory.id) for row in rows)
    found = stores.search.memories(list(ends)[:MAX_NEIGHBOURS])
    return MemoryView(stored, tuple(rows), tuple(found[each] for each in ends if each in found))


def read_history(stores: Stores, wanted: str, limit: int = 100) -> tuple[str, list[Event]]:
    """Return what happened to a memory, newest first, also when it was forgotten since."""
    memory_id = find_anywhere(stores, wanted)[0].memory.id
    return memory_id, stores.log.history(memory_id, limit)


def wrote_file(event: Event, memory_id: str) -> bool:
    """Whether an event of a memory's history wrote its file; others only concern it, as a link
    does that another memory got to it."""
    edits = event.body.get("edits")
    if not isinstance(edits, Sequence) or isinstance(edits, str):
        return event.body.get("memory") == memory_id
    return any(isinstance(each, Mapping) and each.get("memory") == memory_id for each in edits)


def find_anywhere(stores: Stores, wanted: str) -> tuple[StoredMemory, bool]:
    """Return a memory and whether it lies in the trash. One on its way there or back is in
    neither place for a moment; it is looked for again when whoever moves it is done."""
    try:
        return _find_once(stores, wanted)
    except NoSuchMemory:
        with stores.writing:
            return _find_once(stores, wanted)


def _find_once(stores: Stores, wanted: str) -> tuple[StoredMemory, bool]:
    try:
        return get_stored(stores, wanted), False
    except NoSuchMemory:
        trashed = stores.vault.find_trashed(wanted.strip())
        if len({each.memory.id for each in trashed}) != 1:
            raise
        return trashed[-1], True


def _other_end(row: EdgeRow, memory_id: str) -> str:
    return row.connection.target if row.source == memory_id else row.source
