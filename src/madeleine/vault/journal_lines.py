"""One event, one line of the journal; and how far a journal file has been read.

    {"v":1,"id":"…","at":"2026-11-15T18:04:00Z","kind":"used","device":"…","body":{…}}

Lines end with a line feed and with nothing else: U+2028 and its like may stand in a text. A
line that cannot be understood is a value here (`BrokenLine`, `NewerLine`), because the lines around
it still count; `journal.py` decides what becomes of it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from madeleine.errors import InvalidValue, JournalTorn
from madeleine.model.event import Event, EventKind, JournalCursor
from madeleine.model.times import as_utc, format_time, parse_time

JOURNAL_VERSION = 1
JOURNAL_SUFFIX = ".jsonl"
MAX_CHUNK_LINES = 2_000  # a batch that the index takes in well under a second
MAX_CHUNK_BYTES = 8 * 1024 * 1024  # `changed` lines hold whole files; this bounds what is in memory
COUNTING_BYTES = 1024 * 1024

# The check must cover whole lines with their ids. The last few bytes of two `used` lines are
# often the same, and then a file that lost a line would look like one that only grew.
CHECK_BYTES = 1024

_UTF8_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_ASCII_ENCODER = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"))
_KIND_BY_WORD = {kind.value: kind for kind in EventKind}
_MONTH_PATTERN = re.compile(r"\d{4}-(0[1-9]|1[0-2])")
_DEVICE_PATTERN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True)
class NewerLine:
    """A line of a newer release. It is kept in its file and means nothing to this one."""

    kind: str


@dataclass(frozen=True, slots=True)
class BrokenLine:
    """A line that is no event."""

    problem: str


@dataclass(frozen=True, slots=True)
class JournalChunk:
    """Part of a journal file, and the position from which to read on once it is applied."""

    name: str
    events: Sequence[Event]
    position: JournalCursor
    problems: Sequence[JournalTorn] = ()
    newer: Mapping[str, int] = field(default_factory=dict)
    """How many lines of a newer release were passed over, by kind."""
    start: int = 0
    """Where in the file it begins; 0 when the file is new, or was replaced."""
    waits: bool = False
    """Whether the last problem is a last line that may yet be completed and is read again."""
    unfinished: bool = False
    """Whether that line has no line feed yet: somebody may just be writing it."""


# -- names ---------------------------------------------------------------------------------


def list_journal_files(folder: Path) -> list[Path]:
    """Return the journal files of every device, in their order."""
    return [
        path
        for path in sorted(folder.iterdir())
        if path.suffix == JOURNAL_SUFFIX and not path.name.startswith(".") and path.is_file()
    ]


def parse_device(device: str) -> str:
    """Return `device` if it can stand in a file name on every system."""
    if not _DEVICE_PATTERN.fullmatch(device):
        raise InvalidValue("device", f"is {device!r}", hint="letters, digits, `-`, `_` and `.`")
    return device


def parse_month(field_name: str, month: str) -> str:
    """Return `month` if it is one, such as 2026-11."""
    if not _MONTH_PATTERN.fullmatch(month):
        raise InvalidValue(field_name, f"is {month!r}, not a month", hint="such as 2026-11")
    return month


def journal_file_name(device: str, at: datetime) -> str:
    """Return the journal file in which an event of this device and instant stands."""
    moment = as_utc(at)
    return f"{device}-{moment.year:04}-{moment.month:02}{JOURNAL_SUFFIX}"


def month_of_file(name: str, device: str) -> str | None:
    """Return the month of a file of just this device; a copy made by a sync program has none."""
    month = name.removeprefix(f"{device}-").removesuffix(JOURNAL_SUFFIX)
    return (
        month
        if name == f"{device}-{month}{JOURNAL_SUFFIX}" and _MONTH_PATTERN.fullmatch(month)
        else None
    )


# -- lines ---------------------------------------------------------------------------------


def render_line(event: Event, device: str) -> bytes:
    """Return the line of an event; one that names no device is of `device`."""
    fields = {
        "v": JOURNAL_VERSION,
        "id": event.id,
        "at": format_time(as_utc(event.at)),
        "kind": event.kind.value,
        "device": event.device or device,
        "body": event.body,
    }
    try:
        return _UTF8_ENCODER.encode(fields).encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        # Half a surrogate pair has no UTF-8, but JSON can spell it out.
        return _ASCII_ENCODER.encode(fields).encode("ascii") + b"\n"


def parse_line(line: bytes) -> Event | NewerLine | BrokenLine:
    """Return what a line says."""
    try:
        fields = json.loads(line.decode("utf-8"))
    except json.JSONDecodeError as error:
        problem = error.msg.removesuffix(" at")  # some of them end so, some do not
        return BrokenLine(f"is not JSON: {problem} at column {error.colno}")
    except (ValueError, RecursionError) as error:
        return BrokenLine(f"cannot be read: {error}")
    return _parse_event(fields) if isinstance(fields, dict) else BrokenLine("is not a JSON object")


def _parse_event(fields: Mapping[str, object]) -> Event | NewerLine | BrokenLine:
    version, kind, event_id = fields.get("v"), fields.get("kind"), fields.get("id")
    if not isinstance(version, int) or not isinstance(kind, str):
        return BrokenLine("has no `v` or no `kind`")
    known = _KIND_BY_WORD.get(kind)
    if known is None or version > JOURNAL_VERSION:
        return NewerLine(kind)
    device, body = fields.get("device"), fields.get("body")
    if not (isinstance(event_id, str) and event_id):
        return BrokenLine("has no `id`")
    if not isinstance(device, str) or not isinstance(body, dict):
        return BrokenLine("has no `device` or no `body`")
    try:
        at = parse_time("at", fields.get("at"))
    except InvalidValue as error:
        return BrokenLine(error.message)
    return Event(id=event_id, at=at, kind=known, device=device, body=body)


# -- positions and chunks ------------------------------------------------------------------


def cursor_at(fd: int, offset: int) -> JournalCursor:
    """Return the position at `offset` of an open file."""
    start = max(0, offset - CHECK_BYTES)
    before = os.pread(fd, offset - start, start)
    return JournalCursor(offset, hashlib.blake2b(before, digest_size=16).hexdigest())


def find_start(fd: int, size: int, known: JournalCursor | None) -> int:
    """Return where to read on: after what is known, or at 0 if the file was replaced."""
    if known is None or known.offset > size:
        return 0
    return known.offset if cursor_at(fd, known.offset).check == known.check else 0


def read_chunks(file: BinaryIO, name: str, start: int, size: int) -> Iterator[JournalChunk]:
    """Yield what stands between two offsets of a file, in pieces that fit into memory.

    A broken line is passed over and reported; the last one only reported, and read again
    next time, because a program that syncs the folder may be about to complete it. A whole
    event that merely lacks its line feed is taken: nothing can follow it in its line.
    """
    file.seek(start)
    filling = _ChunkBuilder(file.fileno(), name, start)
    while line := file.readline(size - filling.offset):
        if not filling.take(line, last=filling.offset + len(line) >= size):
            break
        if filling.full():
            yield filling.chunk()
    yield filling.chunk()


def find_damaged_lines(path: Path) -> Iterator[JournalTorn]:
    """Yield the lines of a file that are no event, while others write to it.

    What has no line feed yet may be an append under way, and is no damage.
    """
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            for chunk in read_chunks(file, path.name, 0, size):
                yield from chunk.problems[:-1] if chunk.unfinished else chunk.problems
    except FileNotFoundError:
        return  # gone since the folder was listed
    except OSError as error:
        yield unreadable_file_error(path, error)


def unreadable_file_error(path: Path, error: OSError) -> JournalTorn:
    """Return what is wrong with a file that cannot be opened or read."""
    return JournalTorn(path.name, 1, f"cannot be read: {error.strerror}")


class _ChunkBuilder:
    """The chunk being read."""

    def __init__(self, fd: int, name: str, start: int) -> None:
        self._fd = fd
        self._name = name
        self._numbers = _LineNumbers(fd, start)
        self.offset = start
        self._begin()

    def _begin(self) -> None:
        self._start = self.offset
        self._lines = 0
        self._events: list[Event] = []
        self._problems: list[JournalTorn] = []
        self._newer: dict[str, int] = {}
        self._waits = False
        self._unfinished = False

    def take(self, line: bytes, *, last: bool) -> bool:
        """Take one line in; return whether it is done with."""
        found = parse_line(line)
        if isinstance(found, Event):
            self._events.append(found)
        elif isinstance(found, NewerLine):
            self._newer[found.kind] = self._newer.get(found.kind, 0) + 1
        elif line.strip():
            number = self._numbers.current()
            self._problems.append(JournalTorn(self._name, number, found.problem))
            if last:
                self._waits = True
                self._unfinished = not line.endswith(b"\n")
                return False
        self.offset += len(line)
        self._lines += 1
        self._numbers.passed += 1
        return True

    def full(self) -> bool:
        return self._lines >= MAX_CHUNK_LINES or self.offset - self._start >= MAX_CHUNK_BYTES

    def chunk(self) -> JournalChunk:
        """Return what was taken in, and begin anew."""
        position = cursor_at(self._fd, self.offset)
        chunk = JournalChunk(
            self._name,
            self._events,
            position,
            self._problems,
            self._newer,
            self._start,
            self._waits,
            self._unfinished,
        )
        self._begin()
        return chunk


class _LineNumbers:
    """Numbers the lines of a file read from its middle; looks back only when asked."""

    def __init__(self, fd: int, start: int) -> None:
        self._fd = fd
        self._start = start
        self._before: int | None = None
        self.passed = 0

    def current(self) -> int:
        if self._before is None:
            self._before = sum(
                os.pread(self._fd, min(COUNTING_BYTES, self._start - at), at).count(b"\n")
                for at in range(0, self._start, COUNTING_BYTES)
            )
        return self._before + self.passed + 1
