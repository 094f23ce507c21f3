"""An Obsidian vault: a folder of notes, or a zip of one. One note is one memory.

Its title is the file's name, its tags are those of its properties and its text, and each link to
another note is a connection. What our own export to Obsidian wrote comes back with its id, type,
tier, space and the rest; a link in its text that means no note of the export (two vaults may each
have a note of that name) is named under `not_linked`, and stays a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from madeleine.ingest.importing.linked_notes import LinkedNotes
from madeleine.ingest.importing.notes import MarkdownNote, NoteLink, root_of
from madeleine.ingest.importing.sources import SourceFile, notes_of
from madeleine.ingest.importing.values import ImportTotal, Json, ReaderOutput, drop_empty, stable_id
from madeleine.ingest.importing.words import map_type
from madeleine.language.late_pattern import compile_late
from madeleine.model.times import format_time
from madeleine.model.words import Tier

FORM = "obsidian"
MARK = "<!-- madeleine:connections -->"
"""What our export writes above its list of connections: a person may have such a heading too."""
CONNECTIONS = f"{MARK}\n## Connections"
NOT_LINKED = "not_linked"
"""The property under which our export names links that lead to another note than they mean."""
_OURS = compile_late(rf"\n\n{CONNECTIONS}(?:\n- [^\n]*)*(?P<rest>\n.*)?\Z", re.DOTALL)


def read(path: Path) -> Iterator[ReaderOutput]:
    """Give every note of a vault."""
    with notes_of(path) as sources:
        yield ImportTotal(len(sources))
        yield from _ObsidianNotes(path, sources).found()


class _ObsidianNotes(LinkedNotes):
    """The notes of one vault."""

    def __init__(self, path: Path, sources: list[SourceFile]) -> None:
        super().__init__(sources)
        self._vault = path.resolve().stem
        self._root = root_of(path)

    def id_of(self, note: MarkdownNote) -> str:
        return note.text("id") if note.has_id() else stable_id(FORM, self._root, note.name)

    def text_of(self, note: MarkdownNote) -> str:
        return text_of(note)

    def add_names(self, note: MarkdownNote) -> None:
        memory_id = self.id_of(note)
        self.places.add(memory_id, note.name, note.stem)
        self.places.add_others(memory_id, note.text("title"), *note.texts("aliases"))

    def links_of(self, note: MarkdownNote) -> Iterator[NoteLink]:
        passed = {each.lower() for each in note.texts(NOT_LINKED)} if note.has_id() else set()
        return (each for each in note.links() if each.target.lower() not in passed)

    def values_of(self, note: MarkdownNote) -> Json:
        content, ours = text_of(note), note.has_id()  # our own export says which memory it is
        said: Json = {
            "id": self.id_of(note),
            "content": content,
            "type": map_type(note.text("type")),
            "title": note.text("title") or note.stem,
            "tags": note.tags(),
            "created": note.created(),
            "updated": note.updated(),
            "source": f"import:{FORM}",
            "origin": {"uri": f"obsidian:{self._vault}/{note.name}"},
            "connections": list(self.connections_of(note)),
            "plain": self.texts.is_once(content) and not ours,
        }
        return drop_empty(**{**said, **(exported_values(note) if ours else {})})


def text_of(note: MarkdownNote) -> str:
    """Return what a note says, without the list of connections that our export put there."""
    if not note.has_id():
        return note.body
    begun = note.body.rfind(f"\n\n{CONNECTIONS}")
    found = _OURS.match(note.body, begun) if begun >= 0 else None
    if found is None:
        return note.body
    rest = (found["rest"] or "").strip("\n")  # what was written below it since
    return note.body[:begun] + (f"\n\n{rest}" if rest else "")


def exported_values(note: MarkdownNote) -> Json:
    """Return what our own export wrote; a memory without a title has none."""
    tier = note.text("tier")
    return {
        "updated": format_time(note.modified),  # who edits it does not edit its properties
        "tier": tier if tier in {each.value for each in Tier} else None,
        "space": note.text("space"),
        "source": note.text("source") or None,
        "title": note.text("title"),
        "origin": drop_empty(uri=note.text("origin")),
        "valid_until": note.time("valid_until"),
    }
