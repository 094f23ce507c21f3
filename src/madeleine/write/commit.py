"""One way for every change: journal, files, index.

1. The change, with each file as it was, is written to the journal and fsync'd.
2. The files are changed, each durably and atomically.
3. The index follows in one transaction, and the change is marked as done.

A kill between these steps leaves a change without a mark, which `recover` finishes or takes
back at the next start (I4). A disk that refuses one of them is answered honestly: what can be
taken back is, with an error; what is already safe in journal and files is done, with a note;
and what is left over is a pending repair, which `run_pending_repairs` makes before the next write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from madeleine.errors import FileChanged, MadeleineError
from madeleine.index.port import IndexBatch, MemoryPut
from madeleine.language.passages import split_passages
from madeleine.model.cause import Cause, NoteKind
from madeleine.model.change import Change, FileEdit
from madeleine.model.event import Event, EventKind
from madeleine.model.fingerprint import NO_FINGERPRINT, Fingerprint
from madeleine.model.memory import Memory
from madeleine.model.stored_memory import StoredMemory
from madeleine.vault.journal import change_to_event
from madeleine.vault.markdown import read_memory
from madeleine.vault.vault import is_in_trash
from madeleine.write.concerned_memories import add_concerned
from madeleine.write.embedding import PassageEmbeddings, embed_memories
from madeleine.write.event_bus import MAX_MEMORIES_NAMED, BusEvent, change_bus_event
from madeleine.write.pending_repairs import run_pending_repairs
from madeleine.write.record import new_event, read_outcomes, record_events, settle_changes
from madeleine.write.stores import Stores


def commit(stores: Stores, change: Change, also: Sequence[Event] = ()) -> tuple[Cause, ...]:
    """Carry out a change whole, or not at all; events that belong to it are noted with it.

    Texts that change are read by the model first, before the lock is taken; returns a note if
    the index follows later, or if the model did not read them. Never call it with the lock held.
    """
    run_pending_repairs(stores)
    traces, notes = embed_new_texts(stores, change)
    return apply_change(stores, change, traces, also) or notes


def apply_change(
    stores: Stores,
    change: Change,
    traces: Mapping[str, PassageEmbeddings],
    also: Sequence[Event] = (),
) -> tuple[Cause, ...]:
    """Carry out a change whose new texts the model has read already, for callers that had to take
    the lock to know what the change is. Returns a note if the index follows later."""
    change = add_concerned(change)
    with stores.writing:
        _check_unchanged(stores, change)
        begun = change_to_event(change, stores.new_id(), stores.clock.now(), stores.journal.device)
        record_events(stores, [begun, *also], durable=True)
        prints = _write_files(stores, change)
        outcomes = {change.id: "done", **read_outcomes(change.details)}
        try:
            settle_changes(stores, outcomes, _build_index_batch(change, prints, traces))
        except MadeleineError as error:
            # The journal and the files have it: it is done, and the index is owed.
            _note_pending_paths(stores, change.edits)
            stores.pending_repairs.changes = True
            why = f"the index follows later: {error.message}"
            return (Cause(NoteKind.INDEX_FOLLOWS, {"why": why}),)
        stores.event_bus.publish([_build_bus_event(change, begun)])
    return ()


def _build_bus_event(change: Change, begun: Event) -> BusEvent:
    touched = list(dict.fromkeys(edit.memory_id for edit in change.edits))
    more = {"run": change.run} if change.run else {}
    body = {"change": change.id, "by": change.by, "memories": touched[:MAX_MEMORIES_NAMED], **more}
    return change_bus_event(change.verb, begun.at, body)


def _check_unchanged(stores: Stores, change: Change) -> None:
    """Refuse a change made for files that somebody changed, or already changed like this."""
    for edit in change.edits:
        if stores.vault.bytes_or_none(edit.path_before) != edit.before:
            raise FileChanged(edit.path_before or edit.memory_id)


class NewMemory(NamedTuple):
    """A memory that gets its first file, by a change that does only that."""

    memory: Memory
    change: Change
    traces: PassageEmbeddings

    @property
    def edit(self) -> FileEdit:
        return self.change.edits[0]


def commit_new_memory(stores: Stores, new: NewMemory) -> None:
    """Carry out a change that only adds one file.

    Such a file is whole or absent by itself, so nothing has to be written to the journal
    before it; the note afterwards is for history and need not be waited for.
    """
    refused = commit_new_memories(stores, [new])
    if refused:
        raise refused[new.change.id]


def commit_new_memories(stores: Stores, new: Sequence[NewMemory]) -> dict[str, MadeleineError]:
    """Carry out changes that each add one file, waiting for the disk once for all of them.

    Each file is whole or absent by itself. Returns, by the change's id, what was refused.
    """
    with stores.writing:
        files = [(str(each.edit.path_after), each.edit.after or b"") for each in new]
        pairs = list(zip(new, stores.vault.create(files), strict=True))
        refused = {n.change.id: found for n, found in pairs if isinstance(found, MadeleineError)}
        done = [(n, found) for n, found in pairs if not isinstance(found, MadeleineError)]
        try:
            _record_new(stores, done)
        except MadeleineError as error:
            _revert_edits(stores, [each.edit for each, _ in done])
            refused |= {each.change.id: error for each, _ in done}
    return refused


def _record_new(stores: Stores, done: Sequence[tuple[NewMemory, Fingerprint]]) -> None:
    events = [note for each, _ in done for note in remembered_events(stores, each.change)]
    puts = [
        MemoryPut(StoredMemory(each.memory, str(each.edit.path_after), found), each.traces)
        for each, found in done
    ]
    if events:
        record_events(stores, events, durable=False, batch=IndexBatch(puts=puts))


def remembered_events(stores: Stores, change: Change) -> list[Event]:
    """Return the notes that new files were written."""
    return [
        new_event(
            stores,
            EventKind.REMEMBERED,
            {
                "memory": edit.memory_id,
                "change": change.id,
                "verb": change.verb,
                "by": change.by,
                **({"run": change.run} if change.run else {}),
                **({"details": change.details} if change.details else {}),
                "path": edit.path_after,
            },
        )
        for edit in change.edits
    ]


def _write_files(stores: Stores, change: Change) -> list[Fingerprint | None]:
    """Apply every edit; when one cannot be applied, take back what was done."""
    with ExitStack() as failing:
        failing.callback(_drop_change, stores, change)
        done = stores.vault.apply_all(change.edits)
        failing.pop_all()
    return done


def _drop_change(stores: Stores, change: Change) -> None:
    """Take back a change of which any part may have been done."""
    if _revert_edits(stores, change.edits):
        settle_changes(stores, {change.id: "dropped"})


def _revert_edits(stores: Stores, edits: Sequence[FileEdit]) -> bool:
    """Put files back as they were; what cannot be is left to `run_pending_repairs`."""
    whole = True
    for edit in reversed(edits):
        try:
            whole = stores.vault.revert(edit) and whole
        except MadeleineError:
            whole = False
    _note_pending_paths(stores, edits)
    stores.pending_repairs.changes = stores.pending_repairs.changes or not whole
    return whole


def _note_pending_paths(stores: Stores, edits: Sequence[FileEdit]) -> None:
    """Have these files looked at again before the next write."""
    paths = {path for edit in edits for path in (edit.path_before, edit.path_after)}
    stores.pending_repairs.paths |= {path for path in paths if path and not is_in_trash(path)}


def _build_index_batch(
    change: Change,
    prints: Sequence[Fingerprint | None],
    traces: Mapping[str, PassageEmbeddings],
) -> IndexBatch:
    """Return what the index has to follow."""
    puts: list[MemoryPut] = []
    drops: list[str] = []
    for edit, found in zip(change.edits, prints, strict=True):
        after = _stored_after(edit, found)
        if after is None or after.memory.id != edit.memory_id:  # undone: a copy stands back again
            drops.append(edit.memory_id)
            continue
        made = traces.get(edit.memory_id, ())
        puts.append(MemoryPut(after, made, keep_traces=edit.memory_id not in traces))
    return IndexBatch(puts=puts, drops=drops)


def _stored_after(edit: FileEdit, found: Fingerprint | None) -> StoredMemory | None:
    """Return the live memory an edit leaves behind; nothing when it goes or is in the trash."""
    if (
        edit.path_after is None
        or edit.after is None
        or found is None
        or is_in_trash(edit.path_after)
    ):
        return None
    return read_memory(edit.path_after, edit.after, found)


def embed_new_texts(
    stores: Stores, change: Change
) -> tuple[dict[str, PassageEmbeddings], tuple[Cause, ...]]:
    """Read what the index has no fitting traces for: new texts, and files that come back. Returns
    a note if the model cannot answer."""
    after = [each.memory for edit in change.edits if (each := _stored_after(edit, NO_FINGERPRINT))]
    known = stores.search.memories([each.id for each in after])
    new = [
        each for each in after if each.id not in known or _has_other_passages(each, known[each.id])
    ]
    if not new:
        return {}, ()
    traces, notes = embed_memories(stores, new)
    return dict(zip((each.id for each in new), traces, strict=True)), notes


def _has_other_passages(one: Memory, other: Memory) -> bool:
    """Whether a model would read something else."""
    return split_passages(one) != split_passages(other)
