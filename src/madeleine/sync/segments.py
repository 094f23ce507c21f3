"""Segments: the files that machines leave for each other at the meeting place.

    <place>/<device>/00000012-5f0c….log

Each machine writes only into its own folder, and a segment is never changed once it is there: so
no two machines ever write the same file, and whatever carries files can carry these. The name has
the hash of all bytes, by which a file that has come only in part is told and left for later. Each
line is `<bytes> <hash> <record>`, the record being one JSON object. Lines may come in any order and
more than once; a kind that a reader does not know is passed over.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

FORMAT = 1
HASH_BYTES = 16
LINE_HASH_BYTES = 8
MAX_SEGMENT_BYTES = 128 * 1024 * 1024  # what a file of a stranger may have at most
WANTED_SEGMENT_BYTES = 4 * 1024 * 1024  # sync programs carry many files of that size well
SEGMENT_NAME = re.compile(
    r"(?P<device>[A-Za-z0-9_][A-Za-z0-9._-]{0,119})/(?P<number>\d{8})-(?P<hash>[0-9a-f]{32})\.log"
)

Record = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Segment:
    """A file to be left at the place."""

    name: str
    data: bytes


@dataclass(slots=True)
class SegmentContent:
    """What a segment says. `newer`: a later release wrote records that are not known here."""

    records: list[Record] = field(default_factory=list)
    bad: int = 0
    newer: bool = False


def build_segment(device: str, number: int, lines: Iterable[bytes]) -> Segment:
    """Return the segment with these lines, under the name that follows from them."""
    data = b"".join([render_record({"kind": "segment", "v": FORMAT, "device": device}), *lines])
    found = hashlib.blake2b(data, digest_size=HASH_BYTES).hexdigest()
    return Segment(f"{device}/{number:08d}-{found}.log", data)


def render_record(record: Record) -> bytes:
    """Return the line of a record."""
    # Half a surrogate pair has no UTF-8; JSON in ASCII can spell out everything.
    told = json.dumps(record, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()
    return b"%d %s %s\n" % (len(told), _hash_line(told).encode(), told)


def is_whole(name: str, data: bytes) -> bool:
    """Whether a file has all of its bytes."""
    match = SEGMENT_NAME.fullmatch(name)
    found = hashlib.blake2b(data, digest_size=HASH_BYTES).hexdigest()
    return match is not None and match["hash"] == found


def read_segment(data: bytes) -> SegmentContent:
    """Return the records of a whole segment; lines that are none are counted."""
    content = SegmentContent()
    for line in data.split(b"\n"):
        if not line:
            continue
        record = _parse_record(line)
        if record is None:
            content.bad += 1
        elif record.get("kind") == "segment":
            version = record.get("v")
            content.newer = content.newer or not isinstance(version, int) or version > FORMAT
        else:
            content.records.append(record)
    return content


def split_lines(data: bytes) -> Iterator[bytes]:
    """Give the lines of a segment of ours but its first."""
    yield from data.splitlines(keepends=True)[1:]


def parse_line(line: bytes) -> Record | None:
    """Return the record of a line, nothing if it is none."""
    return _parse_record(line.rstrip(b"\n"))


def _parse_record(line: bytes) -> Record | None:
    length, _, rest = line.partition(b" ")
    told, _, text = rest.partition(b" ")
    if not length.isdigit() or len(length) > 12 or int(length) != len(text):
        return None
    if told != _hash_line(text).encode():
        return None
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _hash_line(text: bytes) -> str:
    return hashlib.blake2b(text, digest_size=LINE_HASH_BYTES).hexdigest()
