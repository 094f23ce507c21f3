"""A transcript as lines, and how far it is taken in.

The cursor is a journal `state` event. `offset` is the place up to which every line was looked at;
`check` is a hash of the bytes before it, by which a file that was cut, rewritten or replaced is
recognised. `waits` is where the first exchange begins that is not taken in yet: it is not over, or
there was no room for it; `held` counts the latter. `begun` stands there while a run writes: where
one was killed, the next counts what that one kept. A last line without its end is still being
written, and is no line yet.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from madeleine.errors import Rejected, Unavailable
from madeleine.model.codec import Json
from madeleine.model.event import JournalCursor
from madeleine.write.stores import Stores

LINE_BYTES = 4_194_304  # a longer line holds a tool's output, not what somebody typed


class NoTranscript(Rejected):
    """What is named as a transcript cannot be read as one."""

    kind = "no_transcript"

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(
            f"{path} {problem}",
            hint="name a .jsonl file of a host's sessions",
            path=path,
            problem=problem,
        )


class TranscriptLine(NamedTuple):
    """One whole line and where it stands; one that is too long comes empty."""

    start: int
    end: int
    data: bytes


class WaitingPosition(NamedTuple):
    """Where the first exchange begins that is not taken in yet, and the turns before it."""

    offset: int
    turn: int


@dataclass(frozen=True, slots=True)
class TranscriptCursor:
    """How far a transcript is taken in."""

    position: JournalCursor | None = None
    turn: int = 0
    kept: int = 0
    """How many memories it has added."""
    waits: WaitingPosition | None = None
    held: int = 0
    """How many exchanges wait because there was no room for them."""
    begun: bool = False
    """Whether a run began to write; one that ended says otherwise, and has counted."""

    def to_json(self) -> Json:
        position = self.position or JournalCursor(0, "")
        value: Json = {"offset": position.offset, "check": position.check, "turn": self.turn}
        if self.kept:
            value["kept"] = self.kept
        if self.waits is not None:
            value["waits"] = list(self.waits)
        if self.held:
            value["held"] = self.held
        if self.begun:
            value["begun"] = True
        return value


def cursor_key(stores: Stores, path: Path) -> str:
    """Return under which name the cursor is kept: the same path elsewhere is another file."""
    told = os.fsencode(path)
    return f"transcript:{stores.journal.device}:{hashlib.sha256(told).hexdigest()[:32]}"


def read_cursor(stores: Stores, key: str) -> TranscriptCursor:
    """Return how far a transcript is taken in; what makes no sense is no cursor."""
    value = stores.log.state(key)
    if not isinstance(value, Mapping):
        return TranscriptCursor()
    offset, check, turn = value.get("offset"), value.get("check"), value.get("turn")
    if not isinstance(offset, int) or not isinstance(check, str) or not isinstance(turn, int):
        return TranscriptCursor()
    position = JournalCursor(offset, check) if check else None
    waits, begun = _read_waiting_position(value.get("waits"), offset), value.get("begun") is True
    return TranscriptCursor(
        position, turn, _read_count(value, "kept"), waits, _read_count(value, "held"), begun
    )


def _read_count(value: Mapping[str, object], name: str) -> int:
    found = value.get(name)
    return found if isinstance(found, int) else 0


def _read_waiting_position(value: object, offset: int) -> WaitingPosition | None:
    match value:
        case [int(start), int(turn)] if 0 <= start <= offset:
            return WaitingPosition(start, turn)
        case _:
            return None


@contextmanager
def open_transcript(path: Path) -> Iterator[BinaryIO]:
    """Open a transcript; a pipe or a folder by that name must not hold anybody up."""
    if not path.is_absolute() or path.suffix != ".jsonl":
        raise NoTranscript(path, "is no absolute path of a .jsonl file")
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise NoTranscript(path, "is not there") from error
    except OSError as error:
        raise Unavailable(f"cannot read {path}: {error.strerror}", "make it readable") from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise NoTranscript(path, "is no file")
    with os.fdopen(handle, "rb") as file:
        yield file


def read_lines(file: BinaryIO, start: int, until: int | None = None) -> Iterator[TranscriptLine]:
    """Give each whole line from `start` on, up to `until` if that is given."""
    file.seek(start)
    begins = ends = start
    while (until is None or begins < until) and (data := file.readline(LINE_BYTES)):
        ends += len(data)
        fits = data.endswith(b"\n")
        while data and not data.endswith(b"\n"):
            data = file.readline(LINE_BYTES)
            ends += len(data)
        if not data:
            return
        yield TranscriptLine(begins, ends, data if fits else b"")
        begins = ends
