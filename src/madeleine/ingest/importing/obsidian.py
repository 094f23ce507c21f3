"""An Obsidian vault: a folder of notes, or a zip of one. One note is one memory.

Its title is the file's name, its tags are those of its properties and its text, and each link to
another note is a connection. What our own export to Obsidian wrote comes back with its id, type,
tier, space and the rest.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from pathlib import Path

from madeleine.errors import FileUnreadable
from madeleine.ingest.importing.notes import Note as Written
from madeleine.ingest.importing.notes import Places, Texts, read_note, root_of
from madeleine.ingest.importing.sources import Source, notes_of
from madeleine.ingest.importing.values import (
    Broken,
    Found,
    Item,
    Json,
    LooseEnds,
    Note,
    NotThatFormat,
    Total,
    filled,
    stable_id,
)
from madeleine.ingest.importing.words import connection, type_of
from madeleine.model.times import format_time
from madeleine.model.words import Tier

FORM = "obsidian"
MARK = "<!-- madeleine:connections -->"
"""What our export writes above its list of connections: a person may have such a heading too."""
CONNECTIONS = f"{MARK}\n## Connections"
_OURS = re.compile(rf"\n\n{CONNECTIONS}(?:\n- [^\n]*)*(?P<rest>\n.*)?\Z", re.DOTALL)


def read(path: Path) -> Iterator[Found]:
    """Give every note of a vault."""
    with notes_of(path) as sources:
        yield Total(len(sources))
        notes = _Notes(path, sources)
        yield from notes.found()


class _Notes:
    """The notes of a vault, looked through once for their names and once for what they say."""

    def __init__(self, path: Path, sources: list[Source]) -> None:
        self._vault = path.resolve().stem
        self._root = root_of(path)
        self._sources = sources
        self._places = Places()
        self._texts = Texts()
        self._loose = LooseEnds()
        self._blank = 0

    def found(self) -> Iterator[Found]:
        for source in self._sources:
            self._note_names(source)
        for source in self._sources:
            try:
                yield from self._read(source)
            except (NotThatFormat, FileUnreadable) as error:
                yield Broken(source.name, error.message.removeprefix(f"{source.name}: "))
        yield from self._loose.told()
        if self._blank:
            yield Note(f"{self._blank:,} empty notes were left out")

    def _note_names(self, source: Source) -> None:
        try:
            note = read_note(source)
        except (NotThatFormat, FileUnreadable):
            return  # told when it is its turn
        memory_id = self._id(note)
        self._texts.add(text_of(note))
        self._places.add(memory_id, note.name, note.stem)
        self._places.add_others(memory_id, note.text("title"), *note.texts("aliases"))

    def _id(self, note: Written) -> str:
        """Return a note's id: two vaults of one name may each have a note of that name."""
        return note.text("id") if _is_ours(note) else stable_id(FORM, self._root, note.name)

    def _read(self, source: Source) -> Iterator[Found]:
        note = read_note(source)
        content = text_of(note)
        if not content.strip():
            self._blank += 1
            return
        yield Item(self._values(note, content), source.name)

    def _values(self, note: Written, content: str) -> Json:
        said: Json = {
            "id": self._id(note),
            "content": content,
            "type": type_of(note.text("type")),
            "title": note.text("title") or note.stem,
            "tags": note.tags(),
            "created": note.created(),
            "updated": note.updated(),
            "source": f"import:{FORM}",
            "origin": {"uri": f"obsidian:{self._vault}/{note.name}"},
            "connections": list(self._connections(note)),
            "plain": self._texts.is_once(content) and not _is_ours(note),
        }
        return filled(**{**said, **(kept_values(note) if _is_ours(note) else {})})

    def _connections(self, note: Written) -> Iterator[Json]:
        own = self._id(note)
        for link in note.links():
            target = self._places.find(link.target)
            if target is None:
                self._loose.add(note.name, link.target)
            elif target != own:
                yield connection(target, link.word, why=link.why)


def _is_ours(note: Written) -> bool:
    """Whether our own export wrote it: then it says which memory it is."""
    try:
        return str(uuid.UUID(note.text("id"))) == note.text("id")
    except ValueError:
        return False


def text_of(note: Written) -> str:
    """Return what a note says, without the list of connections that our export put there."""
    if not _is_ours(note):
        return note.body
    begun = note.body.rfind(f"\n\n{CONNECTIONS}")
    found = _OURS.match(note.body, begun) if begun >= 0 else None
    if found is None:
        return note.body
    rest = (found["rest"] or "").strip("\n")  # what was written below it since
    return note.body[:begun] + (f"\n\n{rest}" if rest else "")


def kept_values(note: Written) -> Json:
    """Return what our own export wrote; a memory without a title has none."""
    tier = note.text("tier")
    return {
        "updated": format_time(note.modified),  # who edits it does not edit its properties
        "tier": tier if tier in {each.value for each in Tier} else None,
        "space": note.text("space"),
        "source": note.text("source") or None,
        "title": note.text("title"),
        "origin": filled(uri=note.text("origin")),
        "valid_until": note.time("valid_until"),
    }
