"""Making a closed month of the journal smaller without changing what it says.

A line may go when the rest of its file says all that it says:

- a blank line, or a line that is there twice;
- a `used` on an occasion (memory, session, UTC day) whose first use stands in the file;
- a `scored`, `state` or `judged` each of whose values has a later one in the file. Another
  device may hold a later one still; that one wins with or without ours.

A broken line is moved to `<name>.damaged` and never thrown away. Lines of a newer release
stay as they are, and so does everything else: decisions, changes and reports are history.

The new file is written beside the old one and renamed over it, so a kill leaves either the
one or the other. Broken lines are safe in their new place before they leave the old one.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Container, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path

from madeleine.model.event import Event, EventKind
from madeleine.model.scored_events import read_scores
from madeleine.rules.usage import MemoryUse, precedes, read_use, use_occasion
from madeleine.vault.files import flush_to_disk, fsync_folder, open_private, write_all
from madeleine.vault.journal_lines import BrokenLine, NewerLine, parse_line

DAMAGED_SUFFIX = ".damaged"
TEMPORARY_SUFFIX = ".compact.tmp"
COPY_BYTES = 1024 * 1024

UseOccasion = tuple[str, str | None, date]
ValueKey = tuple[str, ...]


@dataclass(slots=True)
class CompactionReport:
    """What a compaction did."""

    files: list[str] = field(default_factory=list)
    """Files that were written anew."""
    busy: list[str] = field(default_factory=list)
    """Files that grew meanwhile; the next compaction looks at them again."""
    dropped: list[str] = field(default_factory=list)
    """Ids of events that are gone; no answer depends on them."""
    damaged: int = 0
    """Broken lines that were moved to a `.damaged` file."""
    bytes_saved: int = 0


def compact_file(
    path: Path, still: AbstractContextManager[object], report: CompactionReport
) -> None:
    """Compact one file that nobody is expected to write to.

    `still` is held for the rename only, to keep writers out; a file that grew since it was
    read stays as it is.
    """
    before = file_identity(path)
    plan = CompactionPlan()
    with path.open("rb") as file:
        for number, line in enumerate(file):
            plan.look(number, line)
    drop = plan.dropped()
    if not drop and plan.ends_whole:
        return
    _save_damaged_lines(path, plan.broken)
    with temporary_file(path) as new:
        _copy_kept_lines(path, new, drop)
        with still:
            if file_identity(path) != before:
                report.busy.append(path.name)
                return
            new.replace(path)
            fsync_folder(path.parent)
    report.files.append(path.name)
    report.dropped.extend(drop[number] for number in sorted(drop) if drop[number])
    report.damaged += len(plan.broken)
    report.bytes_saved += before[0] - path.stat().st_size


def clear_leftovers(folder: Path, device: str) -> None:
    """Remove the new files of compactions that were interrupted; the old ones are all there."""
    month = "[0-9][0-9][0-9][0-9]-[0-9][0-9]"
    for path in folder.glob(f".{device}-{month}.*{TEMPORARY_SUFFIX}"):
        path.unlink(missing_ok=True)


class CompactionPlan:
    """Decides which lines of a file may go. Holds no text but that of broken lines."""

    def __init__(self) -> None:
        self.broken: list[bytes] = []
        self.ends_whole = True
        self._gone: dict[int, str] = {}
        self._seen: dict[str, bytes] = {}
        self._pinned: set[str] = set()
        self._uses: dict[UseOccasion, tuple[MemoryUse, int, str]] = {}
        self._values = _NewestValues()

    def look(self, number: int, line: bytes) -> None:
        """Take one line into account."""
        self.ends_whole = line.endswith(b"\n")
        match parse_line(line):
            case BrokenLine():
                self._gone[number] = ""
                if line.strip():
                    self.broken.append(line.rstrip(b"\r\n"))
            case Event() as event:
                self._look_at(number, event, line.rstrip(b"\r\n"))
            case NewerLine():
                pass

    def dropped(self) -> dict[int, str]:
        """Return the lines that may go: number to the id of the event that goes with it."""
        gone = {**self._gone, **self._values.superseded()}
        return {
            number: event_id for number, event_id in gone.items() if event_id not in self._pinned
        }

    def _look_at(self, number: int, event: Event, line: bytes) -> None:
        digest = hashlib.blake2b(line, digest_size=16).digest()
        first = self._seen.setdefault(event.id, digest)
        if first is not digest:
            if first == digest:
                self._gone[number] = ""
            else:
                # One id with two contents: whoever reads takes the first, so it has to stay.
                self._pinned.add(event.id)
        elif event.kind is EventKind.USED:
            self._look_at_use(number, event)
        elif event.kind in (EventKind.SCORED, EventKind.STATE, EventKind.JUDGED):
            self._values.add(number, event)

    def _look_at_use(self, number: int, event: Event) -> None:
        memory, use = event.body.get("memory"), read_use(event)
        if not isinstance(memory, str) or use is None:
            return
        place = (memory, *use_occasion(use))
        held = self._uses.get(place)
        if held is not None and not precedes(use, held[0]):
            self._gone[number] = event.id
            return
        if held is not None:
            self._gone[held[1]] = held[2]
        self._uses[place] = (use, number, event.id)


class _NewestValues:
    """Which lines hold the newest of any value. Of two that are equally new, both do."""

    def __init__(self) -> None:
        self._holders: dict[ValueKey, tuple[datetime, list[int]]] = {}
        self._held: dict[int, int] = {}
        self._ids: dict[int, str] = {}

    def add(self, number: int, event: Event) -> None:
        values = _value_keys(event)
        if not values:
            return
        self._ids[number] = event.id
        self._held[number] = 0
        for value in values:
            newest, holders = self._holders.get(value, (event.at, []))
            if event.at < newest:
                continue
            if event.at > newest:
                for holder in holders:
                    self._held[holder] -= 1
                holders = []
            self._held[number] += 1
            self._holders[value] = (event.at, [*holders, number])

    def superseded(self) -> dict[int, str]:
        return {number: self._ids[number] for number, held in self._held.items() if held == 0}


def _value_keys(event: Event) -> list[ValueKey]:
    """Return the names of the values an event sets; none if its shape is not the usual one."""
    if event.kind is EventKind.STATE:
        key = event.body.get("key")
        return [("state", key)] if isinstance(key, str) else []
    if event.kind is EventKind.JUDGED:
        return _judged_value_keys(event)
    scores = event.body.get("scores")
    if not isinstance(scores, dict) or not all(isinstance(each, dict) for each in scores.values()):
        return []
    found = read_scores(scores)
    values = [("scored", memory, name) for name, each in found.items() for memory in each]
    whole = len(values) == sum(map(len, scores.values()))  # else a newer release said more
    return list(values) if whole else []


def _judged_value_keys(event: Event) -> list[ValueKey]:
    """Return what a job or a judge said something about."""
    judge, job, seen, pair = (event.body.get(key) for key in ("judge", "job", "seen", "pair"))
    if isinstance(seen, dict) and isinstance(job, str) and isinstance(judge, str):
        return [] if pair is not None else [("seen", job, judge, memory) for memory in seen]
    if isinstance(pair, list) and isinstance(judge, str) and seen is None:
        return [("judged", judge, *map(str, pair))]
    return []


def file_identity(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_size, found.st_ino, found.st_mtime_ns


def _save_damaged_lines(path: Path, broken: list[bytes]) -> None:
    """Put broken lines into the file for them, those that are not there from an earlier try."""
    if not broken:
        return
    place = path.with_name(path.name + DAMAGED_SUFFIX)
    with open_private(place, os.O_RDWR | os.O_CREAT | os.O_APPEND) as fd:
        there = place.read_bytes()
        known = set(there.split(b"\n"))
        missing = [line for line in broken if line not in known]
        start = b"" if there.endswith(b"\n") or not there else b"\n"
        if missing:
            write_all(fd, start + b"\n".join(missing) + b"\n")
        flush_to_disk(fd)
    fsync_folder(place.parent)


@contextmanager
def temporary_file(path: Path) -> Iterator[Path]:
    new = path.with_name(f".{path.name}.{secrets.token_hex(8)}{TEMPORARY_SUFFIX}")
    try:
        yield new
    finally:
        new.unlink(missing_ok=True)


def _copy_kept_lines(path: Path, new: Path, drop: Container[int]) -> None:
    """Write the lines that stay, each with its line feed, and wait until they are on disk."""
    pending = bytearray()
    with path.open("rb") as file, open_private(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as fd:
        for number, line in enumerate(file):
            if number in drop:
                continue
            pending += line if line.endswith(b"\n") else line + b"\n"
            if len(pending) >= COPY_BYTES:
                write_all(fd, pending)
                pending.clear()
        write_all(fd, pending)
        flush_to_disk(fd)
