"""One way for every change: journal, files, index.

1. The change, with each file as it was, is written to the journal and fsync'd.
2. The files are changed, each durably and atomically.
3. The index follows in one transaction, and the change is marked as done.

A kill between these steps leaves a change without a mark, which `recover` finishes or takes
back at the next start (I4). A disk that refuses one of them is answered honestly: what can be
taken back is, with an error; what is already safe in journal and files is done, with a note;
and what is left over is a debt that `heal` pays before the next write.
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
from madeleine.model.fingerprint import Fingerprint
from madeleine.model.memory import Memory
from madeleine.model.stored import StoredMemory
from madeleine.vault.journal import change_to_event
from madeleine.vault.markdown import read_memory
from madeleine.vault.vault import is_in_trash
from madeleine.write.bell import TOLD_AT_MOST, Happening, done
from madeleine.write.concerned import with_concerned
from madeleine.write.embedding import Traces, read_memories
from madeleine.write.heal import heal
from madeleine.write.record import event, outcomes_with, record, settle
from madeleine.write.stores import Stores

UNSEEN = Fingerprint(0, 0)  # where only the text of a file matters


def commit(stores: Stores, change: Change, also: Sequence[Event] = ()) -> tuple[Cause, ...]:
    """Carry out a change whole, or not at all; events that belong to it are noted with it.

    Texts that change are read by the model first, before the lock is taken; returns a note if
    the index follows later, or if the model did not read them. Never call it with the lock held.
    """
    heal(stores)
    traces, notes = read_new(stores, change)
    return carry_out(stores, change, traces, also) or notes


def carry_out(
    stores: Stores, change: Change, traces: Mapping[str, Traces], also: Sequence[Event] = ()
) -> tuple[Cause, ...]:
    """Carry out a change whose new texts were read already, for who had to take the lock to
    know what it is. Returns a note if the index follows later."""
    change = with_concerned(change)
    with stores.writing:
        _check_unchanged(stores, change)
        begun = change_to_event(change, stores.new_id(), stores.clock.now(), stores.journal.device)
        record(stores, [begun, *also], durable=True)
        prints = _write_files(stores, change)
        outcomes = {change.id: "done", **outcomes_with(change.details)}
        try:
            settle(stores, outcomes, _batch(change, prints, traces))
        except MadeleineError as error:
            # The journal and the files have it: it is done, and the index is owed.
            _owe(stores, change.edits)
            stores.debts.changes = True
            why = f"the index follows later: {error.message}"
            return (Cause(NoteKind.INDEX_FOLLOWS, {"why": why}),)
        stores.bell.ring([_told(change, begun)])
    return ()


def _told(change: Change, begun: Event) -> Happening:
    touched = list(dict.fromkeys(edit.memory_id for edit in change.edits))
    more = {"run": change.run} if change.run else {}
    body = {"change": change.id, "by": change.by, "memories": touched[:TOLD_AT_MOST], **more}
    return done(change.verb, begun.at, body)


def _check_unchanged(stores: Stores, change: Change) -> None:
    """Refuse a change made for files that somebody changed, or already changed like this."""
    for edit in change.edits:
        if stores.vault.bytes_or_none(edit.path_before) != edit.before:
            raise FileChanged(edit.path_before or edit.memory_id)


class New(NamedTuple):
    """A memory that gets its first file, by a change that does only that."""

    memory: Memory
    change: Change
    traces: Traces

    @property
    def edit(self) -> FileEdit:
        return self.change.edits[0]


def commit_new(stores: Stores, new: New) -> None:
    """Carry out a change that only adds one file.

    Such a file is whole or absent by itself, so nothing has to be written to the journal
    before it; the note afterwards is for history and need not be waited for.
    """
    refused = commit_all_new(stores, [new])
    if refused:
        raise refused[new.change.id]


def commit_all_new(stores: Stores, new: Sequence[New]) -> dict[str, MadeleineError]:
    """Carry out changes that each add one file, waiting for the disk once for all of them.

    Each file is whole or absent by itself. Returns, by the change's id, what was refused.
    """
    with stores.writing:
        files = [(str(each.edit.path_after), each.edit.after or b"") for each in new]
        pairs = list(zip(new, stores.vault.create(files), strict=True))
        refused = {n.change.id: found for n, found in pairs if isinstance(found, MadeleineError)}
        done = [(n, found) for n, found in pairs if not isinstance(found, MadeleineError)]
        try:
            _note_new(stores, done)
        except MadeleineError as error:
            _take_back(stores, [each.edit for each, _ in done])
            refused |= {each.change.id: error for each, _ in done}
    return refused


def _note_new(stores: Stores, done: Sequence[tuple[New, Fingerprint]]) -> None:
    events = [note for each, _ in done for note in remembered_events(stores, each.change)]
    puts = [
        MemoryPut(StoredMemory(each.memory, str(each.edit.path_after), found), each.traces)
        for each, found in done
    ]
    if events:
        record(stores, events, durable=False, batch=IndexBatch(puts=puts))


def remembered_events(stores: Stores, change: Change) -> list[Event]:
    """Return the notes that new files were written."""
    return [
        event(
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
        failing.callback(_drop, stores, change)
        done = stores.vault.apply_all(change.edits)
        failing.pop_all()
    return done


def _drop(stores: Stores, change: Change) -> None:
    """Take back a change of which any part may have been done."""
    if _take_back(stores, change.edits):
        settle(stores, {change.id: "dropped"})


def _take_back(stores: Stores, edits: Sequence[FileEdit]) -> bool:
    """Put files back as they were; what cannot be is left to `heal`."""
    whole = True
    for edit in reversed(edits):
        try:
            whole = stores.vault.revert(edit) and whole
        except MadeleineError:
            whole = False
    _owe(stores, edits)
    stores.debts.changes = stores.debts.changes or not whole
    return whole


def _owe(stores: Stores, edits: Sequence[FileEdit]) -> None:
    """Have these files looked at again before the next write."""
    paths = {path for edit in edits for path in (edit.path_before, edit.path_after)}
    stores.debts.paths |= {path for path in paths if path and not is_in_trash(path)}


def _batch(
    change: Change,
    prints: Sequence[Fingerprint | None],
    traces: Mapping[str, Traces],
) -> IndexBatch:
    """Return what the index has to follow."""
    puts: list[MemoryPut] = []
    drops: list[str] = []
    for edit, found in zip(change.edits, prints, strict=True):
        after = _memory_after(edit, found)
        if after is None:
            drops.append(edit.memory_id)
            continue
        made = traces.get(edit.memory_id, ())
        puts.append(MemoryPut(after, made, keep_traces=edit.memory_id not in traces))
    return IndexBatch(puts=puts, drops=drops)


def _memory_after(edit: FileEdit, found: Fingerprint | None) -> StoredMemory | None:
    """Return the live memory an edit leaves behind; nothing when it goes or is in the trash."""
    if (
        edit.path_after is None
        or edit.after is None
        or found is None
        or is_in_trash(edit.path_after)
    ):
        return None
    return read_memory(edit.path_after, edit.after, found)


def read_new(stores: Stores, change: Change) -> tuple[dict[str, Traces], tuple[Cause, ...]]:
    """Read what the index has no fitting traces for: new texts, and files that come back. Returns
    a note if the model cannot answer."""
    after = [each.memory for edit in change.edits if (each := _memory_after(edit, UNSEEN))]
    known = stores.search.memories([each.id for each in after])
    new = [each for each in after if each.id not in known or _differ(each, known[each.id])]
    if not new:
        return {}, ()
    traces, notes = read_memories(stores, new)
    return dict(zip((each.id for each in new), traces, strict=True)), notes


def _differ(one: Memory, other: Memory) -> bool:
    """Whether a model would read something else."""
    return split_passages(one) != split_passages(other)
