"""JSON as exports write it: a long array element by element, a file whole, or one object a line."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import BinaryIO

from madeleine.ingest.importing.sources import SourceFile
from madeleine.ingest.importing.values import NotThatFormat

READ_CHARS = 1 << 20
ELEMENT_CHARS = 64_000_000  # one conversation; what is longer is broken JSON read to its end
WHOLE_BYTES = 512 * 1024 * 1024  # of a file that is read at once
LINE_BYTES = 32 * 1024 * 1024
_BETWEEN = " \t\r\n,"


def read_elements(stream: BinaryIO, name: str) -> Iterator[object]:
    """Give the elements of the array in a file, one at a time: an export may be gigabytes."""
    text = io.TextIOWrapper(stream, encoding="utf-8-sig")
    try:
        yield from _ArrayReader(text, name).elements()
    except UnicodeDecodeError as error:
        raise NotThatFormat(name, "is not UTF-8") from error
    finally:
        text.detach()


class _ArrayReader:
    """An array being read: what is in memory of it, and how far that is read."""

    def __init__(self, text: io.TextIOWrapper, name: str) -> None:
        self._text = text
        self._name = name
        self._buffer = ""
        self._at = 0
        self._decoder = json.JSONDecoder()

    def elements(self) -> Iterator[object]:
        if self._next_sign() != "[":
            raise NotThatFormat(self._name, "is not a JSON array")
        self._at += 1
        while self._next_sign() != "]":
            yield self._read_element()

    def _next_sign(self) -> str:
        """Go to the next character that says something, and return it."""
        while True:
            while self._at < len(self._buffer) and self._buffer[self._at] in _BETWEEN:
                self._at += 1
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._read_more(READ_CHARS):
                raise NotThatFormat(self._name, "ends before its array does")

    def _read_element(self) -> object:
        size = READ_CHARS
        while True:
            try:
                value, self._at = self._decoder.raw_decode(self._buffer, self._at)
            except (ValueError, RecursionError) as error:
                if len(self._buffer) - self._at > ELEMENT_CHARS or not self._read_more(size):
                    raise NotThatFormat(self._name, f"is not JSON: {error}") from error
                size *= 2  # an element is not begun anew more often than its size doubles
            else:
                return value

    def _read_more(self, size: int) -> bool:
        read = self._text.read(size)
        self._buffer, self._at = self._buffer[self._at :] + read, 0
        return bool(read)


def read_whole(source: SourceFile) -> object:
    """Return what a JSON file says."""
    if source.size > WHOLE_BYTES:
        raise NotThatFormat(source.name, f"is {source.size:,} bytes; at most {WHOLE_BYTES:,}")
    with source.opened() as stream:
        return parse_json(source.name, stream.read(WHOLE_BYTES + 1))


def parse_json(name: str, data: bytes) -> object:
    """Return what JSON bytes say."""
    try:
        return json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise NotThatFormat(name, f"is not JSON: {error}") from error


def read_lines(stream: BinaryIO) -> Iterator[tuple[int, object | ValueError]]:
    """Give each line's number and what it says, or what is wrong with it; blank ones are left
    out. A line without an end is as good as one with."""
    number = 0
    while line := stream.readline(LINE_BYTES):
        number += 1
        if line.strip():
            yield number, _parse_line(line)


def _parse_line(line: bytes) -> object | ValueError:
    try:
        value: object = json.loads(line.decode("utf-8-sig"))
    except ValueError as error:
        return error
    except RecursionError:
        return ValueError("nested too deeply")
    return value
