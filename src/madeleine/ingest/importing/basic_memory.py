"""basic-memory: a folder of notes with observations and relations.

    ---
    title: Coffee
    type: note
    tags: [drinks]
    permalink: notes/coffee
    ---
    - [method] Pour over brings out more #brewing (tried twice)
    - requires [[Grinder]] (a good one)

One note is one memory, its text as it stands; observations give it tags and, when they agree, its
type. Relations are connections. A note is known by its permalink, so that it may be moved within
its folder.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from madeleine.ingest.importing.linked_notes import LinkedNotes
from madeleine.ingest.importing.notes import MarkdownNote, root_of
from madeleine.ingest.importing.sources import SourceFile, notes_of
from madeleine.ingest.importing.values import ImportTotal, Json, ReaderOutput, drop_empty, stable_id
from madeleine.ingest.importing.words import map_type
from madeleine.language.late_pattern import compile_late

FORM = "basic-memory"
_OBSERVATION = compile_late(r"^[ \t]*[-*][ \t]+\[([^\[\]()\n]{2,40})\](?!\()[ \t]+\S", re.MULTILINE)
_PLAIN = ("", "note")


def read(path: Path) -> Iterator[ReaderOutput]:
    """Give every note."""
    with notes_of(path) as sources:
        yield ImportTotal(len(sources))
        yield from _BasicMemoryNotes(root_of(path), sources).found()


class _BasicMemoryNotes(LinkedNotes):
    """The notes of one folder."""

    def __init__(self, root: str, sources: list[SourceFile]) -> None:
        super().__init__(sources)
        self._root = root

    def id_of(self, note: MarkdownNote) -> str:
        return stable_id(FORM, self._root, note.text("permalink") or note.name)

    def text_of(self, note: MarkdownNote) -> str:
        return note.body if note.body.strip() else note.text("title")

    def add_names(self, note: MarkdownNote) -> None:
        names = (note.text("permalink"), note.text("title"), note.name, note.stem)
        self.places.add(self.id_of(note), *names)

    def values_of(self, note: MarkdownNote) -> Json:
        permalink, content = note.text("permalink") or note.name, self.text_of(note)
        return drop_empty(
            id=self.id_of(note),
            content=content,
            title=note.text("title") or note.stem,
            type=_note_type(note),
            tags=note.tags(),
            created=note.created(),
            updated=note.updated(),
            source=f"import:{FORM}",
            origin={"uri": f"memory://{permalink}"},
            connections=list(self.connections_of(note)),
            plain=self.texts.is_once(content),
        )


def _note_type(note: MarkdownNote) -> str:
    """Return the note's own type, or the one that most of its observations have."""
    own = note.text("type")
    if own.lower() not in _PLAIN:
        return map_type(own)
    categories = Counter(map_type(each) for each in _OBSERVATION.findall(note.spoken))
    return categories.most_common(1)[0][0] if categories else map_type("fact")
