"""What exported conversations have in common: one message is one memory, as it was said.

Messages are kept word for word in the archive tier: they are found when asked for and never
whispered unasked. Each knows its conversation, its turn and who spoke.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from madeleine.ingest.importing.json_files import read_elements
from madeleine.ingest.importing.sources import SourceFile, files_of
from madeleine.ingest.importing.values import (
    ImportItem,
    ImportProblem,
    Json,
    NotThatFormat,
    ReaderOutput,
    drop_empty,
    given_id,
)

PIECE_CHARS = 200_000  # a longer message is kept in pieces: one memory has its bound


@dataclass(frozen=True, slots=True)
class ImportedMessage:
    """One message of a conversation."""

    id: str
    speaker: str
    text: str
    at: str | None


@dataclass(frozen=True, slots=True)
class ImportedConversation:
    """One conversation, in order."""

    id: str
    title: str
    uri: str
    messages: tuple[ImportedMessage, ...]


@contextmanager
def conversation_files(path: Path, *more: str) -> Iterator[list[SourceFile]]:
    """Give the files of an export: `conversations.json`, one of several, and those in `more`."""
    with files_of(path, ".json") as sources:
        alone = path.is_file() and len(sources) == 1
        wanted = [each for each in sources if alone or _is_wanted(each.name, more)]
        if not wanted:
            raise NotThatFormat(path, "holds no conversations.json")
        yield wanted


def _is_wanted(name: str, more: tuple[str, ...]) -> bool:
    file = PurePosixPath(name).name
    return file.startswith("conversations") or file in more


def conversations_in(source: SourceFile) -> Iterator[tuple[str, object]]:
    """Give each conversation of a file with its place; what breaks the file off is raised."""
    with source.opened() as stream:
        for number, said in enumerate(read_elements(stream, source.name), start=1):
            yield f"{source.name}: conversation {number}", said


def items_of(form: str, conversation: ImportedConversation, place: str) -> Iterator[ReaderOutput]:
    """Give the messages of one conversation."""
    said = [each for each in conversation.messages if each.text.strip()]
    turn = 0
    for message in said:
        for number, piece in enumerate(split_into_pieces(message.text)):
            values = _memory_values(form, conversation, message, piece, turn, number)
            yield ImportItem(values, f"{place}, message {turn + 1}")
            turn += 1


def _memory_values(
    form: str,
    conversation: ImportedConversation,
    message: ImportedMessage,
    text: str,
    turn: int,
    number: int,
) -> Json:
    again = () if number == 0 else (str(number),)
    own = given_id(form, message.id, conversation.id, *again)
    return drop_empty(
        id=own if number == 0 else given_id(form, f"{message.id}#{number}", conversation.id),
        content=text,
        type="event",
        tier="archival",
        tags=[form],
        created=message.at,
        source=f"import:{form}",
        origin=drop_empty(
            session=f"{form}:{conversation.id}"[:300],
            speaker=message.speaker,
            uri=conversation.uri,
        )
        | {"turn": turn},
    )


def split_into_pieces(text: str) -> Iterable[str]:
    """Cut a very long message at its paragraphs."""
    if len(text) <= PIECE_CHARS:
        return [text]
    found, piece = [], ""
    for paragraph in text.split("\n\n"):
        while len(paragraph) > PIECE_CHARS:
            found += [piece] if piece else []
            found.append(paragraph[:PIECE_CHARS])
            piece, paragraph = "", paragraph[PIECE_CHARS:]
        if piece and len(piece) + len(paragraph) > PIECE_CHARS:
            found.append(piece)
            piece = ""
        piece = f"{piece}\n\n{paragraph}" if piece else paragraph
    return [each for each in (*found, piece) if each.strip()]


def build_problem(place: str, error: Exception) -> ImportProblem:
    return ImportProblem(place, f"is not as expected: {error}")
