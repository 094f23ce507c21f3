"""Notes that link to each other, as Obsidian, basic-memory and Claude Code keep them.

A folder of them is looked through once for what the notes are called, and once for what they say,
since a link may come before the note that it means. What a note is known by and what becomes of it
is each format's own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from madeleine.errors import FileUnreadable
from madeleine.ingest.importing import values
from madeleine.ingest.importing.notes import (
    LinkTargets,
    MarkdownNote,
    NoteLink,
    UniqueTexts,
    read_note,
)
from madeleine.ingest.importing.sources import SourceFile
from madeleine.ingest.importing.values import (
    DanglingLinks,
    ImportItem,
    ImportProblem,
    Json,
    NotThatFormat,
    ReaderOutput,
)
from madeleine.ingest.importing.words import build_connection


class LinkedNotes(ABC):
    """The notes of one folder."""

    worded = True
    """Whether the word before a link on a line of its own says what the link is."""

    def __init__(self, sources: Sequence[SourceFile]) -> None:
        self.places = LinkTargets()
        self.texts = UniqueTexts()
        self._sources = sources
        self._loose = DanglingLinks()
        self._unread: list[str] = []
        self._blank = 0

    @abstractmethod
    def id_of(self, note: MarkdownNote) -> str:
        """Return a note's id: two folders of one name may each have a note of that name."""

    @abstractmethod
    def text_of(self, note: MarkdownNote) -> str:
        """Return what a note says; a blank one is left out."""

    @abstractmethod
    def add_names(self, note: MarkdownNote) -> None:
        """Note in `places` what links call a note."""

    @abstractmethod
    def values_of(self, note: MarkdownNote) -> Json:
        """Return the memory that a note becomes."""

    def links_of(self, note: MarkdownNote) -> Iterator[NoteLink]:
        """Give the links of a note that count."""
        return note.links()

    def found(self) -> Iterator[ReaderOutput]:
        for source in self._sources:
            self._look_at(source)
        for source in self._sources:
            try:
                yield from self._read(read_note(source))
            except (NotThatFormat, FileUnreadable) as error:
                yield ImportProblem(source.name, error.message.removeprefix(f"{source.name}: "))
        yield from self._loose.told()
        yield from self._left_out()

    def _left_out(self) -> Iterator[ReaderOutput]:
        """Say what could not be read, and what had nothing to read."""
        if self._unread:
            count = len(self._unread)
            were = "1 property was" if count == 1 else f"{count:,} properties were"
            yield values.ImportNote(
                f"{were} left out, being no YAML: {values.render_places(self._unread)}"
            )
        if self._blank:
            were = "1 empty note was" if self._blank == 1 else f"{self._blank:,} empty notes were"
            yield values.ImportNote(f"{were} left out")

    def _look_at(self, source: SourceFile) -> None:
        try:
            note = read_note(source)
        except (NotThatFormat, FileUnreadable):
            return  # told when it is its turn
        self.texts.add(self.text_of(note))
        self.add_names(note)

    def _read(self, note: MarkdownNote) -> Iterator[ImportItem]:
        self._unread += [f"`{each}` in {note.name}" for each in note.unread]
        if self.text_of(note).strip():
            yield ImportItem(self.values_of(note), note.name)
        else:
            self._blank += 1

    def connections_of(self, note: MarkdownNote) -> Iterator[Json]:
        """Give the connections that a note's links mean. A bare link to what another one of them
        leads to already says nothing new."""
        own, reached = self.id_of(note), set[str]()
        for link in self.links_of(note):
            target = self.places.find(link.target)
            if target is None:
                self._loose.add(note.name, link.target)
            elif target != own and (link.word or link.why or target not in reached):
                reached.add(target)
                yield build_connection(target, link.word if self.worded else "", why=link.why)
