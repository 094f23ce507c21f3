"""Ormah's memory folder: `nodes/*.md`, as real Ormah writes them, or the folder of them itself.

They are read as our own vault reads them, with ids, dates, tiers and connections. Counters that
stand in the front matter are taken over into the journal once and leave the file. Its self becomes
ours. What it deleted, in `deleted/`, is left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from madeleine.errors import FileUnreadable, NoFile
from madeleine.ingest.importing.notes import read_note
from madeleine.ingest.importing.sources import SourceFile, notes_of
from madeleine.ingest.importing.values import (
    ImportItem,
    ImportNote,
    ImportProblem,
    ImportTotal,
    Json,
    NotThatFormat,
    ReaderOutput,
    drop_empty,
    read_foreign_time,
)
from madeleine.ingest.memory_fields import memory_fields
from madeleine.model.fingerprint import Fingerprint
from madeleine.model.memory import Connection, Memory
from madeleine.model.stored_memory import StoredMemory
from madeleine.model.words import SELF_SOURCE, Edge
from madeleine.vault.markdown import read_memory
from madeleine.write.identity import SELF_ID

FORM = "ormah"
NODES = "nodes"
DELETED = "deleted"
MISSING = "holds no memories of Ormah: no .md file in it says its `id` and `type`, as Ormah's do"


def read(path: Path) -> Iterator[ReaderOutput]:
    """Give every memory of the folder."""
    if not path.exists():
        raise NoFile(path)
    folder = path / NODES if (path / NODES).is_dir() else path
    with notes_of(folder, "memories of Ormah") as sources:
        kept = [each for each in sources if not each.name.startswith((f"{DELETED}/", "trash/"))]
        if not any(map(_is_ormah_note, kept)):
            raise NotThatFormat(path, MISSING, "name Ormah's memory folder, the one with nodes/")
        yield ImportTotal(len(kept))
        its_self = _find_self_id(kept)
        for source in kept:
            yield _read(source, its_self)
        if len(kept) < len(sources):
            yield ImportNote(f"{len(sources) - len(kept):,} deleted memories were left out")


def _is_ormah_note(source: SourceFile) -> bool:
    """Whether a file says what Ormah writes above every memory; other notes do not."""
    try:
        note = read_note(source)
    except (NotThatFormat, FileUnreadable):
        return False
    return note.has_id() and bool(note.text("type"))


def _find_self_id(sources: list[SourceFile]) -> str | None:
    """Return the id of its self, which its files may point to."""
    for source in sources:
        if source.name.rpartition("/")[2].startswith("person_"):
            found = _read_stored(source)
            if isinstance(found, StoredMemory) and found.memory.source == SELF_SOURCE:
                return found.memory.id
    return None


def _read(source: SourceFile, its_self: str | None) -> ReaderOutput:
    found = _read_stored(source)
    if isinstance(found, ImportProblem):
        return found
    memory = with_our_self(found.memory, its_self)
    return ImportItem(
        {**memory_fields(memory), "usage": usage_counters(found), "whole": True}, source.name
    )


def _read_stored(source: SourceFile) -> StoredMemory | ImportProblem:
    looks = Fingerprint(int(source.modified.timestamp() * 1e9), source.size)
    try:
        return read_memory(source.name, source.text().encode("utf-8"), looks)
    except FileUnreadable as error:
        return ImportProblem(f"{source.name}:{error.line}", error.problem)
    except NotThatFormat as error:
        return ImportProblem(source.name, error.message.removeprefix(f"{source.name}: "))


def with_our_self(memory: Memory, its_self: str | None) -> Memory:
    """Return the memory with connections to our self in the place of another."""
    if its_self is None or its_self == SELF_ID:
        return memory
    return replace(
        memory,
        id=SELF_ID if memory.id == its_self else memory.id,
        connections=tuple(_redirect_connections(memory.connections, its_self)),
    )


def _redirect_connections(
    connections: tuple[Connection, ...], its_self: str
) -> Iterator[Connection]:
    for each in connections:
        if each.edge is Edge.DEFINES and each.target == its_self:
            continue
        target = SELF_ID if each.target == its_self else each.target
        yield Connection(target, each.edge, each.weight, each.reason, each.by, each.at, each.kind)


def usage_counters(found: StoredMemory) -> Json:
    """Return the counters of a file, as far as they make sense."""
    said = found.counters
    usage: Json = {}
    for name in ("access_count", "stability", "importance"):
        if name in said:
            usage[name] = said[name]
    for name in ("last_accessed", "last_review"):
        usage[name] = read_foreign_time(said.get(name))
    return drop_empty(**usage)
