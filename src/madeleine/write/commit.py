"""One way for every change: journal, files, index.

1. The change, with each file as it was, is written to the journal and fsync'd.
2. The files are changed, each durably and atomically.
3. The index follows in one transaction, and the change is marked as done.

A kill between these steps leaves a change without a mark. `recover` then completes the mark
when every file already has its new state, and otherwise puts back what was written, so that
a change is always there whole or not at all (I4).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from madeleine.errors import MadeleineError
from madeleine.index.port import Put
from madeleine.model.change import Change, Edit
from madeleine.model.event import Event, Kind
from madeleine.model.stored import Fingerprint, Stored
from madeleine.model.vector import Vector
from madeleine.vault.journal import RecordedChange, RecordedEdit, change_to_event
from madeleine.vault.markdown import read_memory
from madeleine.vault.vault import in_trash
from madeleine.write.embedding import embed_texts, text_of
from madeleine.write.record import event, record
from madeleine.write.stores import Stores

UNSEEN = Fingerprint(0, 0)  # where only the text of a file matters


def commit(stores: Stores, change: Change) -> str | None:
    """Carry out a change whole, or not at all.

    Texts that change are embedded first, before the lock is taken; returns why there is no
    new vector when the model could not answer. Never call it with the lock held.
    """
    vectors, problem = _new_vectors(stores, change)
    with stores.writing:
        begun = change_to_event(change, stores.new_id(), stores.clock.now(), stores.journal.device)
        record(stores, [begun], durable=True)
        prints = _write_files(stores, change)
        puts, drops = _index_part(change, prints, vectors)
        outcomes = {change.id: "done", **_outcomes_with(change.details)}
        settle(stores, outcomes, puts=puts, drops=drops)
    return problem


def commit_new(stores: Stores, change: Change, vectors: Mapping[str, Vector | None]) -> None:
    """Carry out a change that only adds one file.

    Such a file is whole or absent by itself, so nothing has to be written to the journal
    before it; the note afterwards is for history and need not be waited for.
    """
    with stores.writing:
        prints = [stores.vault.apply(edit) for edit in change.edits]
        puts, drops = _index_part(change, prints, vectors)
        record(stores, remembered_events(stores, change), durable=False, puts=puts, drops=drops)


def commit_all_new(
    stores: Stores, changes: Sequence[Change], vectors: Mapping[str, Vector | None]
) -> dict[str, MadeleineError]:
    """Carry out changes that each add one file, waiting for the disk once for all of them.

    Each file is whole or absent by itself. Returns, by the change's id, what was refused.
    """
    edits = [change.edits[0] for change in changes]
    with stores.writing:
        found = stores.vault.create([(str(e.path_after), e.after or b"") for e in edits])
        done: list[tuple[Change, Fingerprint]] = []
        refused: dict[str, MadeleineError] = {}
        for change, each in zip(changes, found, strict=True):
            if isinstance(each, MadeleineError):
                refused[change.id] = each
            else:
                done.append((change, each))
        puts = [put for change, each in done for put in _index_part(change, [each], vectors)[0]]
        events = [each for change, _ in done for each in remembered_events(stores, change)]
        if events:
            record(stores, events, durable=False, puts=puts)
    return refused


def remembered_events(stores: Stores, change: Change) -> list[Event]:
    """Return the notes that new files were written."""
    return [
        event(
            stores,
            Kind.REMEMBERED,
            {
                "memory": edit.memory_id,
                "change": change.id,
                "verb": change.verb,
                "by": change.by,
                **({"run": change.run} if change.run else {}),
                "path": edit.path_after,
            },
        )
        for edit in change.edits
    ]


def settle(
    stores: Stores,
    outcomes: Mapping[str, str],
    *,
    puts: list[Put] | None = None,
    drops: list[str] | None = None,
) -> None:
    """Note what became of changes, all of them together."""
    marks = [
        event(stores, Kind.SETTLED, {"change": change_id, "outcome": outcome})
        for change_id, outcome in outcomes.items()
    ]
    record(stores, marks, durable=False, puts=puts or (), drops=drops or ())


def _outcomes_with(details: Mapping[str, object]) -> dict[str, str]:
    """Return what a change says about other changes once it is done, as an undo does."""
    given = details.get("outcomes")
    return {str(k): str(v) for k, v in given.items()} if isinstance(given, Mapping) else {}


def _write_files(stores: Stores, change: Change) -> list[Fingerprint | None]:
    """Apply every edit; when one cannot be applied, take back those before it."""
    done: list[Fingerprint | None] = []
    try:
        for edit in change.edits:
            done.append(stores.vault.apply(edit))  # noqa: PERF401  # a failure must know how far
    except MadeleineError:
        for edit in reversed(change.edits[: len(done)]):
            stores.vault.revert(edit)
        settle(stores, {change.id: "dropped"})
        raise
    return done


def _index_part(
    change: Change,
    prints: Sequence[Fingerprint | None],
    vectors: Mapping[str, Vector | None],
) -> tuple[list[Put], list[str]]:
    puts: list[Put] = []
    drops: list[str] = []
    for edit, found in zip(change.edits, prints, strict=True):
        after = _memory_after(edit, found)
        if after is None:
            drops.append(edit.memory_id)
            continue
        vector = vectors.get(edit.memory_id)
        puts.append(Put(after, vector, keep_vector=edit.memory_id not in vectors))
    return puts, drops


def _memory_after(edit: Edit, found: Fingerprint | None) -> Stored | None:
    """Return the live memory an edit leaves behind; nothing when it goes or is in the trash."""
    if edit.path_after is None or edit.after is None or found is None or in_trash(edit.path_after):
        return None
    return read_memory(edit.path_after, edit.after, found)


def _new_vectors(stores: Stores, change: Change) -> tuple[dict[str, Vector | None], str | None]:
    """Embed what the index has no fitting vector for: changed texts, and files that come back."""
    texts: dict[str, str] = {}
    for edit in change.edits:
        after = _memory_after(edit, UNSEEN)
        if after is None:
            continue
        text = text_of(after.memory)
        if _text_before(edit) != text:
            texts[edit.memory_id] = text
    if not texts:
        return {}, None
    vectors, problem = embed_texts(stores, list(texts.values()))
    return dict(zip(texts, vectors, strict=True)), problem


def _text_before(edit: Edit) -> str | None:
    if edit.path_before is None or edit.before is None or in_trash(edit.path_before):
        return None
    return text_of(read_memory(edit.path_before, edit.before, UNSEEN).memory)


# -- after a kill --------------------------------------------------------------------------


def recover(stores: Stores) -> list[str]:
    """Finish or take back every change that was interrupted; return what was done, in words.

    Only this device's: another device that shares the journal may have finished a change
    whose mark has not arrived here yet.
    """
    own = [each for each in stores.index.unsettled() if _is_ours(stores, each)]
    return [_recover_one(stores, begun) for begun in own]


def _is_ours(stores: Stores, begun: Event) -> bool:
    """Whether this machine began a change; its name may have changed, the mark in it not."""
    return begun.device.rpartition("-")[2] == stores.journal.device.rpartition("-")[2]


def _recover_one(stores: Stores, begun: Event) -> str:
    change_id = str(begun.body["change"])
    recorded = stores.journal.find_change(change_id, begun.device, begun.at)
    if recorded is None:
        settle(stores, {change_id: "lost"})
        return f"change {change_id[:8]} was interrupted and its record is gone"
    states = [_state(stores, edit) for edit in recorded.edits]
    if "before" not in states:
        settle(stores, {change_id: "done", **_outcomes_with(recorded.details)})
        return f"change {change_id[:8]} ({recorded.verb}) was complete"
    _roll_back(stores, recorded, states)
    settle(stores, {change_id: "dropped"})
    return f"change {change_id[:8]} ({recorded.verb}) was interrupted and taken back"


def _state(stores: Stores, edit: RecordedEdit) -> str:
    """Whether a file is as the change left it, as it was before, or neither."""
    if digest(stores.vault.bytes_or_none(edit.path_after)) == edit.after_sha256 and (
        edit.path_before in (None, edit.path_after)
        or stores.vault.bytes_or_none(edit.path_before) is None
    ):
        return "after"
    if stores.vault.bytes_or_none(edit.path_before) == edit.before:
        return "before"
    return "other"


def _roll_back(stores: Stores, recorded: RecordedChange, states: list[str]) -> None:
    for edit, state in reversed(list(zip(recorded.edits, states, strict=True))):
        current = stores.vault.bytes_or_none(edit.path_after)
        if state == "after":
            stores.vault.apply(
                Edit(edit.memory_id, edit.path_after, current, edit.path_before, edit.before)
            )
        elif edit.path_after != edit.path_before and digest(current) == edit.after_sha256:
            # Written in its new place and not yet removed from its old one.
            stores.vault.apply(Edit(edit.memory_id, edit.path_after, current, None, None))


def digest(data: bytes | None) -> str | None:
    """Return the SHA-256 of a file's bytes; a file that is not there has none."""
    return None if data is None else hashlib.sha256(data).hexdigest()
