"""The journal as rows: the same lines in files of the same names, one row for each line.

A line is numbered in its file in the order in which it was written; a position is the number of
the last line that was read, with a hash of it. All servers write as one device: what one of them
began another goes on with. A line that cannot be read can only have come from files.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from madeleine.database.transactions import DatabaseTenant, TenantAccess
from madeleine.errors import JournalTorn
from madeleine.model.event import Event, EventKind, JournalCursor
from madeleine.model.memory import Memory
from madeleine.vault.compaction import DAMAGED_SUFFIX, CompactionPlan, CompactionReport
from madeleine.vault.journal_changes import RecordedChange, event_to_change
from madeleine.vault.journal_lines import (
    JOURNAL_SUFFIX,
    MAX_CHUNK_BYTES,
    MAX_CHUNK_LINES,
    JournalChunk,
    NewerLine,
    journal_file_name,
    month_of_file,
    parse_device,
    parse_line,
    parse_month,
    render_line,
)
from madeleine.vault.purged_memories import PurgedMemories, describe_purged
from madeleine.vault.redaction import (
    RedactionReport,
    find_former_texts,
    is_summary_of,
    parse_former_memory,
    redact_line,
)

PAGE_LINES = 500  # lines that are fetched at once
_CHANGE_KINDS = (EventKind.CHANGED, EventKind.SCORED)

_APPEND_LINES = """
    INSERT INTO journal (truth, name, number, change, line)
    SELECT :truth, %s, last.number + given.number, given.change, given.line
    FROM (SELECT coalesce(max(number), 0) AS number FROM journal
          WHERE truth = :truth AND name = %s) last,
         unnest(%s::text[], %s::bytea[]) WITH ORDINALITY AS given (change, line, number)
    RETURNING number
"""
_SELECT_PAGE = f"""
    SELECT number, line FROM journal WHERE truth = :truth AND name = %s AND number > %s
    ORDER BY number LIMIT {PAGE_LINES}
"""
_SELECT_LINE = "SELECT line FROM journal WHERE truth = :truth AND name = %s AND number = %s"
_SELECT_NAMES = f"""
    WITH RECURSIVE names AS (
        (SELECT name FROM journal WHERE truth = :truth ORDER BY name LIMIT 1)
        UNION ALL
        SELECT (SELECT name FROM journal WHERE truth = :truth AND name > names.name
                ORDER BY name LIMIT 1) FROM names WHERE names.name IS NOT NULL
    )
    SELECT name FROM names WHERE name LIKE '%{JOURNAL_SUFFIX}'
"""
_SELECT_LINES_OF_CHANGE = (
    "SELECT line FROM journal WHERE truth = :truth AND change = %s ORDER BY name, number"
)
_DELETE_LINES = (
    "DELETE FROM journal WHERE truth = :truth AND name = %s AND number = ANY(%s::bigint[])"
)
_UPDATE_LINE = "UPDATE journal SET line = %s WHERE truth = :truth AND name = %s AND number = %s"
_SELECT_FORMER_FILES = f"""
    SELECT path, version, data FROM former_files
    WHERE truth = :truth AND (path, version) > (%s, %s) ORDER BY path, version LIMIT {PAGE_LINES}
"""
_DELETE_FORMER_FILE = "DELETE FROM former_files WHERE truth = :truth AND path = %s AND version = %s"


class DatabaseJournal:
    """A tenant's journal in a database."""

    def __init__(self, rows: DatabaseTenant, device: str) -> None:
        self.device = parse_device(device)
        self.unflushed = threading.Event()
        self._rows = rows

    # -- writing ---------------------------------------------------------------------------

    def append(self, events: Sequence[Event], durable: bool) -> dict[str, JournalCursor]:
        files: dict[str, list[tuple[str | None, bytes]]] = {}
        for event in events:
            name = journal_file_name(self.device, event.at)
            files.setdefault(name, []).append((_change_id(event), render_line(event, self.device)))
        if not files:
            return {}
        with self._rows.writing() as access:
            return {name: _append_lines(access, name, lines) for name, lines in files.items()}

    def bring_in(self, name: str, lines: Iterable[bytes]) -> int:
        """Add lines as they stand in a journal file elsewhere; returns how many."""
        given = [(_change_id_of_line(line), line) for line in lines]
        if given:
            with self._rows.writing() as access:
                _append_lines(access, name, given)
        return len(given)

    def flush(self) -> None:
        """Nothing waits: what was written is safe once its transaction is."""

    def compact(self, before_month: str) -> CompactionReport:
        parse_month("before_month", before_month)
        report = CompactionReport()
        for name in self.names():
            month = month_of_file(name, self.device)
            if month is not None and month < before_month:
                with self._rows.writing() as access:
                    _compact_name(access, name, report)
        return report

    def redact(self, ids: Collection[str], memories: Sequence[Memory] = ()) -> RedactionReport:
        found = RedactionReport()
        with self._rows.writing() as access:
            names = _read_names(access)
            texts = [
                each
                for name in names
                for each in find_former_texts(_read_lines(access, name), PurgedMemories(ids))
            ]
            former = [each for text in texts if (each := parse_former_memory(text)) is not None]
            told = describe_purged(ids, [*memories, *former])
            for name in names:
                _redact_name(access, name, told, found)
            _forget_former(access, told)
        return found

    # -- reading ---------------------------------------------------------------------------

    def read(self, since: Mapping[str, JournalCursor]) -> Iterator[JournalChunk]:
        for name in self.names():
            start = self._start(name, since.get(name))
            while (chunk := self._read_chunk(name, start)) is not None:
                yield chunk
                start = chunk.position.offset

    def lines(self, name: str) -> Iterator[bytes]:
        """Yield the lines of a file, as they stand there."""
        with self._rows.reading() as access:
            yield from _read_lines(access, name)

    def find_change(self, change_id: str, device: str, at: datetime) -> RecordedChange | None:
        found = self._find(EventKind.CHANGED, change_id)
        return None if found is None else event_to_change(found)

    def find_scores(self, change_id: str, device: str, at: datetime) -> Event | None:
        return self._find(EventKind.SCORED, change_id)

    def shrunk_files(self, since: Mapping[str, JournalCursor]) -> list[str]:
        return [
            name
            for name, known in since.items()
            if known.offset and self._start(name, known) != known.offset
        ]

    def names(self) -> list[str]:
        with self._rows.reading() as access:
            return _read_names(access)

    def _find(self, kind: EventKind, change_id: str) -> Event | None:
        with self._rows.reading() as access:
            lines = access.column(_SELECT_LINES_OF_CHANGE, change_id)
        events = (parse_line(line) for line in lines)
        return next((e for e in events if isinstance(e, Event) and e.kind is kind), None)

    def _start(self, name: str, known: JournalCursor | None) -> int:
        """Return the line after which to read on; 0 if the file is not the one that was read."""
        if known is None or not known.offset:
            return 0
        with self._rows.reading() as access:
            row = access.row(_SELECT_LINE, name, known.offset)
        return known.offset if row is not None and _hash_line(row[0]) == known.check else 0

    def _read_chunk(self, name: str, start: int) -> JournalChunk | None:
        """Return what stands after a line, as much as fits; nothing at the end."""
        with self._rows.reading() as access:
            lines = _take_chunk(_read_numbered_lines(access, name, start))
        if not lines:
            return None
        events, problems, newer = list[Event](), list[JournalTorn](), dict[str, int]()
        for number, line in lines:
            found = parse_line(line)
            if isinstance(found, Event):
                events.append(found)
            elif isinstance(found, NewerLine):
                newer[found.kind] = newer.get(found.kind, 0) + 1
            elif line.strip():
                problems.append(JournalTorn(name, number, found.problem))
        number, line = lines[-1]
        return JournalChunk(
            name, events, JournalCursor(number, _hash_line(line)), problems, newer, start
        )


def _append_lines(
    access: TenantAccess, name: str, lines: Sequence[tuple[str | None, bytes]]
) -> JournalCursor:
    changes, data = [change for change, _ in lines], [line for _, line in lines]
    numbers = access.column(_APPEND_LINES, name, name, changes, data)
    return JournalCursor(max(numbers), _hash_line(data[-1]))


def _change_id(event: Event) -> str | None:
    change = event.body.get("change") if event.kind in _CHANGE_KINDS else None
    return change if isinstance(change, str) else None


def _change_id_of_line(line: bytes) -> str | None:
    event = parse_line(line)
    return _change_id(event) if isinstance(event, Event) else None


def _hash_line(line: bytes) -> str:
    return hashlib.blake2b(line, digest_size=16).hexdigest()


def _read_names(access: TenantAccess) -> list[str]:
    return access.column(_SELECT_NAMES)


def _read_numbered_lines(
    access: TenantAccess, name: str, after: int = 0
) -> Iterator[tuple[int, bytes]]:
    while page := access.rows(_SELECT_PAGE, name, after):
        yield from ((number, bytes(line)) for number, line in page)
        after = page[-1][0]


def _read_lines(access: TenantAccess, name: str) -> Iterator[bytes]:
    return (line for _, line in _read_numbered_lines(access, name))


def _take_chunk(lines: Iterable[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    some, size = list[tuple[int, bytes]](), 0
    for number, line in lines:
        some.append((number, line))
        size += len(line)
        if len(some) >= MAX_CHUNK_LINES or size >= MAX_CHUNK_BYTES:
            break
    return some


def _compact_name(access: TenantAccess, name: str, report: CompactionReport) -> None:
    plan, numbers, size = CompactionPlan(), list[int](), dict[int, int]()
    for at, (number, line) in enumerate(_read_numbered_lines(access, name)):
        plan.look(at, line)
        numbers.append(number)
        size[at] = len(line)
    drop = plan.dropped()
    if not drop:
        return
    if plan.broken:
        damaged = [(None, line + b"\n") for line in plan.broken]
        _append_lines(access, name + DAMAGED_SUFFIX, damaged)
    access.run(_DELETE_LINES, name, [numbers[at] for at in drop])
    report.files.append(name)
    report.dropped.extend(drop[at] for at in sorted(drop) if drop[at])
    report.damaged += len(plan.broken)
    report.bytes_saved += sum(size[at] for at in drop)


def _redact_name(
    access: TenantAccess, name: str, told: PurgedMemories, found: RedactionReport
) -> None:
    """Take what a file says about memories out of it."""
    lines = list(_read_numbered_lines(access, name))
    kept = [(number, line, redact_line(line, told, found)) for number, line in lines]
    gone_lines = [number for number, _, after in kept if not after]
    changed = [(after, name, number) for number, line, after in kept if after and after is not line]
    if gone_lines:
        access.run(_DELETE_LINES, name, gone_lines)
    access.run_many(_UPDATE_LINE, changed)


def _forget_former(access: TenantAccess, told: PurgedMemories) -> None:
    """Forget what files of these memories said, and summaries that were made of them."""
    after: tuple[str, int] = ("", 0)
    while page := access.rows(_SELECT_FORMER_FILES, *after):
        read = [(path, version, parse_former_memory(bytes(data))) for path, version, data in page]
        going = [
            (path, version) for path, version, memory in read if _is_about_purged(memory, told)
        ]
        access.run_many(_DELETE_FORMER_FILE, going)
        after = page[-1][:2]


def _is_about_purged(memory: Memory | None, told: PurgedMemories) -> bool:
    return memory is not None and (memory.id in told.ids or is_summary_of(memory, told))
