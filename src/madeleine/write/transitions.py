"""What a memory said before: read back from the changes that the journal keeps.

A recorded change holds every file as it was before it, and the hash of what it left. So what a
file said after a change is what the next one found; where the hash is another, somebody edited
the file by hand in between, and what stood there is not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from madeleine.errors import FileUnreadable, NoSuchChange
from madeleine.model.event import Event, EventKind
from madeleine.model.fingerprint import NO_FINGERPRINT
from madeleine.model.memory import Memory
from madeleine.vault.journal_changes import RecordedEdit
from madeleine.vault.markdown import read_memory
from madeleine.write.record import file_sha256
from madeleine.write.show import read_history, wrote_file
from madeleine.write.stores import Stores

MAX_EVENTS_READ = 1_000  # of one memory; what lies further back is not looked for
_FILE_KINDS = (EventKind.CHANGED, EventKind.REMEMBERED)


@dataclass(frozen=True, slots=True)
class MemoryTransition:
    """A memory before and after a change. None before: it was new. None after: not known."""

    before: Memory | None
    after: Memory | None
    moved: bool
    """Whether its file only went elsewhere: to the trash, or back."""


def read_transition(stores: Stores, wanted: str, change: str) -> MemoryTransition:
    """Return what a change made of a memory."""
    memory_id, events = _find_writing_events(stores, wanted)
    at = next((n for n, each in enumerate(events) if each.body.get("change") == change), None)
    if at is None:
        return _read_untouched(stores, memory_id, change)
    edit = _find_recorded_edit(stores, events[at], memory_id)
    left = _bytes_before_next(stores, events[:at], memory_id)
    fits = edit is None or edit.after_sha256 in (None, file_sha256(left))
    before = edit.before if edit else None
    moved = edit is not None and file_sha256(before) == edit.after_sha256
    return MemoryTransition(
        parse_memory_or_none(before), parse_memory_or_none(left) if fits else None, moved
    )


def _read_untouched(stores: Stores, memory_id: str, change: str) -> MemoryTransition:
    """Return a memory beside a change that concerned it and left its file alone."""
    _, events = read_history(stores, memory_id, MAX_EVENTS_READ)
    found = next((each for each in events if each.body.get("change") == change), None)
    if found is None:
        raise NoSuchChange(change)
    memory = read_memory_as_of(stores, memory_id, found.at)
    return MemoryTransition(memory, memory, False)


def read_memory_as_of(stores: Stores, wanted: str, at: datetime) -> Memory | None:
    """Return a memory as its file was at that moment, as far as the journal tells; nothing if it
    was not there yet."""
    memory_id, events = _find_writing_events(stores, wanted)
    later = [each for each in events if each.at > at]
    return parse_memory_or_none(_bytes_before_next(stores, later, memory_id))


def _find_writing_events(stores: Stores, wanted: str) -> tuple[str, list[Event]]:
    """Return what wrote the memory's file, newest first, without what came to nothing."""
    memory_id, events = read_history(stores, wanted, MAX_EVENTS_READ)
    return memory_id, _select_writing_events(stores, events, memory_id)


def _select_writing_events(stores: Stores, events: Sequence[Event], memory_id: str) -> list[Event]:
    wrote = [each for each in events if each.kind in _FILE_KINDS and wrote_file(each, memory_id)]
    return [each for each in wrote if _took_effect(stores, each)]


def _took_effect(stores: Stores, event: Event) -> bool:
    return stores.log.outcome(str(event.body.get("change"))) != "dropped"


def _bytes_before_next(stores: Stores, later: Sequence[Event], memory_id: str) -> bytes | None:
    """Return the file as the first of these later changes found it, or as it is now."""
    if not later:
        return _current_bytes(stores, memory_id)
    edit = _find_recorded_edit(stores, later[-1], memory_id)
    return edit.before if edit else None


def _current_bytes(stores: Stores, memory_id: str) -> bytes | None:
    stored = stores.search.get(memory_id)
    if stored is not None:
        return stores.vault.bytes_or_none(stored.path)
    trashed = stores.vault.find_trashed(memory_id)
    return stores.vault.bytes_or_none(trashed[-1].path) if trashed else None


def _find_recorded_edit(stores: Stores, event: Event, memory_id: str) -> RecordedEdit | None:
    """Return a memory's part of a change; a new memory has none."""
    if event.kind is EventKind.REMEMBERED:
        return None
    found = stores.journal.find_change(str(event.body["change"]), event.device, event.at)
    edits = found.edits if found else ()
    return next((each for each in edits if each.memory_id == memory_id), None)


def parse_memory_or_none(data: bytes | None) -> Memory | None:
    """Return the memory that the bytes of a file hold, if they hold one."""
    if data is None:
        return None
    try:
        return read_memory("", data, NO_FINGERPRINT).memory
    except FileUnreadable:
        return None


# -- all files of a change -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FileTransition:
    """A file before and after a change. Not `known`: somebody wrote over what it left by hand."""

    memory_id: str
    path_before: str | None
    path_after: str | None
    before: bytes | None
    after: bytes | None
    known: bool = True


def read_file_transitions(stores: Stores, event: Event) -> list[FileTransition]:
    """Return what a change made of each of its files, byte for byte."""
    found = stores.journal.find_change(str(event.body["change"]), event.device, event.at)
    return [_read_file_transition(stores, event, each) for each in (found.edits if found else ())]


def _read_file_transition(stores: Stores, event: Event, edit: RecordedEdit) -> FileTransition:
    after = edit.before
    if file_sha256(after) != edit.after_sha256:
        events = stores.log.history(edit.memory_id, MAX_EVENTS_READ)
        written = _select_writing_events(stores, events, edit.memory_id)
        at = next((n for n, each in enumerate(written) if each.id == event.id), 0)
        after = _bytes_before_next(stores, written[:at], edit.memory_id)
    known = file_sha256(after) == edit.after_sha256
    paths = edit.path_before, edit.path_after
    return FileTransition(edit.memory_id, *paths, edit.before, after if known else None, known)
