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
type. Relations are connections. A note is known by its permalink, so that it may be moved.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from madeleine.errors import FileUnreadable
from madeleine.ingest.importing.notes import Note, Places, read_note
from madeleine.ingest.importing.sources import Source, files_of
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
    with files_of(path, ".md") as sources:
        yield Total(len(sources))
        yield from _Notes(sources).found()


class _Notes:
    """The notes, looked through once for their names and once for what they say."""

    def __init__(self, sources: list[Source]) -> None:
        self._sources = sources
        self._places = Places()
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
            if (note.body.strip() or note.text("title")) != "":
                yield Item(self._values(note), source.name)
        yield from self._loose.told()

    def _note_names(self, source: Source) -> None:
        try:
            note = read_note(source)
        except (NotThatFormat, FileUnreadable):
            return  # told when it is its turn
        names = (note.text("permalink"), note.text("title"), note.name, note.stem)
        self._places.add(_id(note), *names)

    def _values(self, note: Note) -> Json:
        permalink = note.text("permalink") or note.name
        return filled(
            id=_id(note),
            content=note.body if note.body.strip() else note.text("title"),
            title=note.text("title") or note.stem,
            type=_type(note),
            tags=note.tags(),
            created=note.created(),
            updated=note.updated(),
            source=f"import:{FORM}",
            origin={"uri": f"memory://{permalink}"},
            connections=list(self._connections(note)),
        )

    def _connections(self, note: Note) -> Iterator[Json]:
        for link in note.links():
            target = self._places.find(link.target)
            if target is None:
                self._loose.add(note.name, link.target)
            elif target != _id(note):
                yield connection(target, link.word, why=link.why)


def _id(note: Note) -> str:
    return stable_id(FORM, note.text("permalink") or note.name)


def _type(note: Note) -> str:
    """Return the note's own type, or the one that most of its observations have."""
    own = note.text("type")
    if own.lower() not in _PLAIN:
        return type_of(own)
    categories = Counter(type_of(each) for each in _OBSERVATION.findall(note.spoken))
    return categories.most_common(1)[0][0] if categories else type_of("fact")
