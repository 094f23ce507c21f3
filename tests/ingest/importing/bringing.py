"""Bringing things in, in tests: read as a format says, and written to real stores."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from madeleine.errors import MadeleineError
from madeleine.ingest.importing.formats import read
from madeleine.ingest.importing.values import ImportItem, ImportNote, ImportProblem, Json
from madeleine.model.incoming import ImportBatch, read_incoming
from madeleine.model.memory import Memory
from madeleine.write.import_memories import ImportedMemory, import_memories
from madeleine.write.stores import Stores


@dataclass(slots=True)
class Told:
    """What an import said."""

    fates: dict[str, str] = field(default_factory=dict)
    """By the place of each."""
    ids: dict[str, str] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    run: str = ""

    def count(self, fate: str) -> int:
        return list(self.fates.values()).count(fate)


def found(form: str, path: Path, space: str | None = None) -> tuple[list[ImportItem], Told]:
    """Read everything at a path."""
    items, told = [], Told()
    for each in read(form, path, space):
        match each:
            case ImportItem():
                items.append(each)
            case ImportProblem(place, problem):
                told.broken[place] = problem
            case ImportNote(text):
                told.notes.append(text)
            case _:
                assert each.count >= 0
    return items, told


def values(form: str, path: Path) -> dict[str, Json]:
    """Read everything at a path; the items by their titles, or by their places."""
    return {str(each.values.get("title", each.place)): each.values for each in found(form, path)[0]}


def imported(
    stores: Stores, form: str, path: Path, space: str | None = None, dry_run: bool = False
) -> Told:
    """Bring everything in that is at a path."""
    items, told = found(form, path, space)
    told.run = stores.new_id()
    how = ImportBatch(f"import:{form}", told.run, dry_run)
    limits = stores.config.limits
    incoming = [read_incoming(each.values, limits, None) for each in items]
    for item, outcome in zip(items, import_memories(stores, incoming, how), strict=True):
        if isinstance(outcome, MadeleineError):
            told.broken[item.place] = outcome.message
        else:
            _note(told, item, outcome)
    return told


def _note(told: Told, item: ImportItem, outcome: ImportedMemory) -> None:
    told.fates[item.place] = outcome.fate.value
    told.ids[item.place] = outcome.memory_id
    if outcome.note:
        told.notes.append(f"{item.place}: {outcome.note}")


def memories(stores: Stores) -> dict[str, Memory]:
    """Every memory but the self, by its title or its text."""
    ids = stores.search.standings().ids
    known = stores.search.memories(ids).values()
    return {each.title or each.content: each for each in known if each.source != "system:self"}


def in_order(stores: Stores) -> list[Memory]:
    """Every message, conversation by conversation."""

    def place(memory: Memory) -> tuple[str, int]:
        assert memory.origin is not None
        return memory.origin.session or "", memory.origin.turn or 0

    return sorted(memories(stores).values(), key=place)
