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

from madeleine.errors import FileUnreadable
from madeleine.ingest.importing.notes import Note, Places, Texts, read_note, root_of
from madeleine.ingest.importing.sources import Source, notes_of
from madeleine.ingest.importing.values import (
    Broken,
    Found,
    Item,
    Json,
    LooseEnds,
    NotThatFormat,
    Total,
    filled,
    stable_id,
)
from madeleine.ingest.importing.words import connection, type_of

FORM = "basic-memory"
_OBSERVATION = re.compile(r"^[ \t]*[-*][ \t]+\[([^\[\]()\n]{2,40})\](?!\()[ \t]+\S", re.MULTILINE)
_PLAIN = ("", "note")


def read(path: Path) -> Iterator[Found]:
    """Give every note."""
    with notes_of(path) as sources:
        yield Total(len(sources))
        yield from _Notes(root_of(path), sources).found()


class _Notes:
    """The notes, looked through once for their names and once for what they say."""

    def __init__(self, root: str, sources: list[Source]) -> None:
        self._root = root
        self._sources = sources
        self._places = Places()
        self._texts = Texts()
        self._loose = LooseEnds()

    def found(self) -> Iterator[Found]:
        for source in self._sources:
            self._note_names(source)
        for source in self._sources:
            try:
                note = read_note(source)
            except (NotThatFormat, FileUnreadable) as error:
                yield Broken(source.name, error.message.removeprefix(f"{source.name}: "))
                continue
            if _content(note):
                yield Item(self._values(note), source.name)
        yield from self._loose.told()

    def _note_names(self, source: Source) -> None:
        try:
            note = read_note(source)
        except (NotThatFormat, FileUnreadable):
            return  # told when it is its turn
        names = (note.text("permalink"), note.text("title"), note.name, note.stem)
        self._texts.add(_content(note))
        self._places.add(self._id(note), *names)

    def _id(self, note: Note) -> str:
        """Return a note's id: two folders may each have a note with that permalink."""
        return stable_id(FORM, self._root, note.text("permalink") or note.name)

    def _values(self, note: Note) -> Json:
        permalink = note.text("permalink") or note.name
        return filled(
            id=self._id(note),
            content=_content(note),
            title=note.text("title") or note.stem,
            type=_type(note),
            tags=note.tags(),
            created=note.created(),
            updated=note.updated(),
            source=f"import:{FORM}",
            origin={"uri": f"memory://{permalink}"},
            connections=list(self._connections(note)),
            plain=self._texts.is_once(_content(note)),
        )

    def _connections(self, note: Note) -> Iterator[Json]:
        for link in note.links():
            target = self._places.find(link.target)
            if target is None:
                self._loose.add(note.name, link.target)
            elif target != self._id(note):
                yield connection(target, link.word, why=link.why)


def _content(note: Note) -> str:
    return note.body if note.body.strip() else note.text("title")


def _type(note: Note) -> str:
    """Return the note's own type, or the one that most of its observations have."""
    own = note.text("type")
    if own.lower() not in _PLAIN:
        return type_of(own)
    categories = Counter(type_of(each) for each in _OBSERVATION.findall(note.spoken))
    return categories.most_common(1)[0][0] if categories else type_of("fact")
