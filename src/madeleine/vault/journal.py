"""The journal: an append-only record of use and learning, and the truth about both.

Each device writes its own files, one a month, `<device>-2026-11.jsonl`, so that two devices
which share a folder never write to the same one. Everybody reads all of them, with the
copies that sync programs make of them: an event is the same event wherever it stands, by its
id. What a line looks like is in `journal_lines`, a change in `journal_changes`, and how old
months are made smaller in `compaction`.

What is kept true:

- A line is acknowledged whole or not at all. When the disk refuses part of a write, the file
  is cut back to where it was; after a kill, the torn line is closed by the next append and
  means nothing.
- A durable append is on disk before it returns (I4). The others wait for `flush`.
- Reading changes nothing, and a line that cannot be read costs only itself.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

from madeleine.errors import StoreUnwritable, Unavailable
from madeleine.model.event import Event, EventKind, JournalCursor
from madeleine.model.memory import Memory
from madeleine.vault.compaction import CompactionReport, clear_leftovers, compact_file
from madeleine.vault.files import (
    flush_to_disk,
    fsync_folder,
    make_private_folder,
    open_private,
    write_all,
)
from madeleine.vault.journal_changes import (
    RecordedChange,
    RecordedEdit,
    bytes_from_json,
    bytes_to_json,
    change_to_event,
    event_to_change,
    without_file_texts,
)
from madeleine.vault.journal_lines import (
    JOURNAL_SUFFIX,
    JournalChunk,
    cursor_at,
    find_start,
    journal_file_name,
    list_journal_files,
    month_of_file,
    parse_device,
    parse_line,
    parse_month,
    read_chunks,
    render_line,
    unreadable_file_error,
)
from madeleine.vault.purged_memories import PurgedMemories, describe_purged
from madeleine.vault.redaction import (
    RedactionReport,
    parse_former_memory,
    read_former_texts,
    redact_file,
)

__all__ = [
    "CompactionReport",
    "FileJournal",
    "JournalChunk",
    "JournalCursor",
    "RecordedChange",
    "RecordedEdit",
    "RedactionReport",
    "bytes_from_json",
    "bytes_to_json",
    "change_to_event",
    "event_to_change",
    "without_file_texts",
]

APPEND_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND


class FileJournal:
    """The journal of one device, and of the devices whose files lie beside its own.

    Any thread may call any method. One process at a time may append; holding the home is
    what sees to that.
    """

    def __init__(self, folder: Path, device: str) -> None:
        self.device = parse_device(device)
        self._folder = folder
        self._lock = threading.Lock()
        self._compacting = threading.Lock()
        self.unflushed = threading.Event()
        self.unflushed.set()
        self._unsynced: set[str] = set()
        # A process before us may have made a file and died before its name was on disk.
        self._folder_unsynced = True
        self._folder_ours = False

    # -- writing ---------------------------------------------------------------------------

    def append(self, events: Sequence[Event], durable: bool) -> dict[str, JournalCursor]:
        """Write the events; return, for each file written to, the position after them.

        All of them are written or none. A position also covers whatever stood before it: it
        may be recorded only by someone who has applied all that.
        """
        lines = self._build_lines(events)
        if not lines:
            return {}
        with self._lock:
            try:
                self._make_folder()
                return self._write(lines, durable)
            except OSError as error:
                raise StoreUnwritable(self._folder, error.strerror or str(error)) from error

    def flush(self) -> None:
        """Wait until all that was appended is on disk."""
        with self._lock:
            self.unflushed.clear()
            waiting, self._unsynced = self._unsynced, set()
        try:
            for name in sorted(waiting):
                self._sync_file(name)
            with self._lock:
                self._sync_folder()
        except OSError as error:
            with self._lock:
                self._unsynced |= waiting
                self.unflushed.set()
            raise StoreUnwritable(self._folder, error.strerror or str(error)) from error

    def compact(self, before_month: str) -> CompactionReport:
        """Make this device's files of the months before `before_month` smaller.

        Replaying them gives the same as before. Stopping halfway is safe; each file is
        replaced in one step, and the next run carries on.
        """
        parse_month("before_month", before_month)
        report = CompactionReport()
        with self._compacting:
            try:
                clear_leftovers(self._folder, self.device)
                for path in self._list_files():
                    month = month_of_file(path.name, self.device)
                    if month is not None and month < before_month:
                        compact_file(path, self._lock, report)
            except OSError as error:
                raise StoreUnwritable(self._folder, error.strerror or str(error)) from error
        return report

    def redact(self, ids: Collection[str], memories: Sequence[Memory] = ()) -> RedactionReport:
        """Take what every file says about these memories out of it, whichever device wrote it.
        `memories` are what they said last; what quotes that goes too.

        Stopping halfway is safe; each file is replaced in one step, and the next run carries on.
        """
        found = RedactionReport()
        told = self._told_by(ids, memories)
        with self._compacting:
            try:
                for path in self._list_files():
                    redact_file(path, told, self._lock, found)
            except OSError as error:
                raise StoreUnwritable(self._folder, error.strerror or str(error)) from error
        return found

    def _told_by(self, ids: Collection[str], memories: Sequence[Memory]) -> PurgedMemories:
        """Return what tells these memories, by all that they ever said."""
        try:
            texts = [
                each
                for path in self._list_files()
                for each in read_former_texts(path, PurgedMemories(ids))
            ]
        except OSError as error:
            raise StoreUnwritable(self._folder, error.strerror or str(error)) from error
        former = [each for text in texts if (each := parse_former_memory(text)) is not None]
        return describe_purged(ids, [*memories, *former])

    # -- reading ---------------------------------------------------------------------------

    def read(self, since: Mapping[str, JournalCursor]) -> Iterator[JournalChunk]:
        """Yield what is new in every file since the given positions, in bounded chunks.

        A file that is not the one the position speaks of, because it was compacted or synced
        anew, is read from its start: events are known by their ids. A file that cannot be
        opened is a problem of its chunk, and its position stays.
        """
        for path in self._list_files():
            yield from self._read_file(path, since.get(path.name))

    def find_change(self, change_id: str, device: str, at: datetime) -> RecordedChange | None:
        """Return a change with the files as they were before it, wherever it is recorded."""
        found = self._find(EventKind.CHANGED, change_id, device, at)
        return None if found is None else event_to_change(found)

    def _find(self, kind: EventKind, change_id: str, device: str, at: datetime) -> Event | None:
        likely = journal_file_name(device, at).removesuffix(JOURNAL_SUFFIX)
        files = sorted(
            self._list_files(),
            key=lambda path: (
                not path.name.startswith(likely),
                not path.name.startswith(f"{device}-"),
            ),
        )
        for path in files:
            found = self._find_in(path, kind, change_id)
            if found is not None:
                return found
        return None

    def find_scores(self, change_id: str, device: str, at: datetime) -> Event | None:
        """Return the whole `scored` event of a change; nothing once compaction dropped it
        because every score in it has a later one."""
        return self._find(EventKind.SCORED, change_id, device, at)

    def shrunk_files(self, since: Mapping[str, JournalCursor]) -> list[str]:
        """Return the files that no longer hold what was read of them: gone, cut or replaced."""
        return [
            name
            for name, known in since.items()
            if known.offset and not self._still_holds(name, known)
        ]

    def _still_holds(self, name: str, known: JournalCursor) -> bool:
        try:
            with open_private(self._folder / name, os.O_RDONLY) as fd:
                return find_start(fd, os.fstat(fd).st_size, known) == known.offset
        except FileNotFoundError:
            return False

    def names(self) -> list[str]:
        """Return the names of all journal files that are there now."""
        return [path.name for path in self._list_files()]

    def lines(self, name: str) -> Iterator[bytes]:
        """Yield the lines of a file, as they stand there."""
        with (self._folder / name).open("rb") as file:
            yield from file

    # -- inside ----------------------------------------------------------------------------

    def _build_lines(self, events: Sequence[Event]) -> dict[str, bytes]:
        lines: dict[str, list[bytes]] = {}
        for event in events:
            name = journal_file_name(self.device, event.at)
            lines.setdefault(name, []).append(render_line(event, self.device))
        return {name: b"".join(each) for name, each in lines.items()}

    def _make_folder(self) -> None:
        if not self._folder_ours or not self._folder.is_dir():
            make_private_folder(self._folder)
            self._folder_ours = True

    def _write(self, lines: Mapping[str, bytes], durable: bool) -> dict[str, JournalCursor]:
        """Write to each file, and cut all of them back if one refuses."""
        starts: dict[int, int] = {}
        positions: dict[str, JournalCursor] = {}
        with ExitStack() as stack:
            try:
                for name, data in lines.items():
                    fd = stack.enter_context(open_private(self._folder / name, APPEND_FLAGS))
                    starts[fd] = os.fstat(fd).st_size
                    positions[name] = self._append_to(name, fd, starts[fd], data, durable)
                if durable:
                    self._sync_folder()
            except OSError:
                for fd, size in starts.items():
                    _truncate_to(fd, size)
                raise
        return positions

    def _append_to(
        self, name: str, fd: int, size: int, data: bytes, durable: bool
    ) -> JournalCursor:
        if size == 0:
            self._folder_unsynced = True
        elif os.pread(fd, 1, size - 1) != b"\n":
            data = b"\n" + data  # what a kill left unfinished ends here
        self._unsynced.add(name)
        write_all(fd, data)
        if durable:
            flush_to_disk(fd)
            self._unsynced.discard(name)
        else:
            self.unflushed.set()
        return cursor_at(fd, size + len(data))

    def _sync_file(self, name: str) -> None:
        try:
            with open_private(self._folder / name, os.O_RDONLY) as fd:
                flush_to_disk(fd)
        except FileNotFoundError:
            return  # somebody took the file away: there is nothing left to wait for

    def _sync_folder(self) -> None:
        if self._folder_unsynced and self._folder.is_dir():
            fsync_folder(self._folder)
            self._folder_unsynced = False

    def _list_files(self) -> list[Path]:
        try:
            return list_journal_files(self._folder)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._unreadable_error(self._folder, error) from error

    def _read_file(self, path: Path, known: JournalCursor | None) -> Iterator[JournalChunk]:
        position = known
        try:
            with path.open("rb") as file:
                with self._lock:  # a write under way is acknowledged whole or taken back
                    size = os.fstat(file.fileno()).st_size
                start = find_start(file.fileno(), size, known)
                for chunk in read_chunks(file, path.name, start, size):
                    if chunk.position != position or chunk.problems:
                        yield chunk
                    position = chunk.position
        except FileNotFoundError:
            return  # gone since the folder was listed
        except OSError as error:
            problem = unreadable_file_error(path, error)
            yield JournalChunk(path.name, (), position or JournalCursor(0, ""), (problem,))

    def _find_in(self, path: Path, kind: EventKind, change_id: str) -> Event | None:
        needle = change_id.encode("utf-8")
        try:
            with path.open("rb") as file:
                for line in file:
                    event = parse_line(line) if needle in line else None
                    if isinstance(event, Event) and _is_event_of_change(event, kind, change_id):
                        return event
        except FileNotFoundError:
            return None  # gone since the folder was listed
        except OSError as error:
            raise self._unreadable_error(path, error) from error
        return None

    def _unreadable_error(self, path: Path, error: OSError) -> Unavailable:
        return Unavailable(f"cannot read {path}: {error.strerror}", hint="make it readable")


def _is_event_of_change(event: Event, kind: EventKind, change_id: str) -> bool:
    return event.kind is kind and event.body.get("change") == change_id


def _truncate_to(fd: int, size: int) -> None:
    try:
        os.ftruncate(fd, size)
    except OSError:
        # The disk takes nothing any more, and the caller is about to be told so. What stays
        # is a torn line, as after a kill: the next append closes it and readers report it.
        return
