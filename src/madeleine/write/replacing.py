"""Replacing: whoever writes a memory says which older ones are no longer true because of it.

Those are retired exactly as `retire` would do it, in the change that writes the new memory, so
that one undo takes both back. If the text is known already, the known memory replaces them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from madeleine.errors import NoSuchMemory, Rejected
from madeleine.model.cause import Cause, NoteKind
from madeleine.model.change import Change, FileEdit
from madeleine.model.draft import Draft
from madeleine.model.memory import Connection, Memory
from madeleine.model.words import SELF_SOURCE, Edge
from madeleine.write.change_file import CurrentFile, find_current
from madeleine.write.claims import (
    SUPERSEDED_WEIGHT,
    ClaimSettlement,
    clear_stale_embeddings,
    end_validity,
)
from madeleine.write.commit import apply_change
from madeleine.write.connections import add_connection
from madeleine.write.resolve import resolve_id
from madeleine.write.stores import Stores

REPLACED_REASON = "replaced it"


def link_replaced(
    stores: Stores, draft: Draft, memory_id: str, coming: Mapping[str, str]
) -> tuple[Connection, ...]:
    """Return a connection to each memory that a draft replaces, newer to older. `coming` names
    ids that are being written in the same batch."""
    named = (coming.get(each.lower()) or resolve_id(stores, each) for each in draft.replaces)
    return tuple(
        _build_link(_refuse_itself(each, memory_id), draft.source, stores)
        for each in dict.fromkeys(named)
    )


def settle_replaced(
    stores: Stores, settled: ClaimSettlement, replaced: Sequence[str]
) -> ClaimSettlement:
    """Return what becomes of a memory about to be written and of others, with those that it
    replaces no longer true. Hold the lock."""
    done = {edit.memory_id for edit in settled.edits}
    left = [_read_replaced(stores, each) for each in replaced if each not in done]
    if not left:
        return settled
    return replace(
        settled,
        edits=(*settled.edits, *(_end_memory(each, settled.memory, stores) for each in left)),
        traces={**settled.traces, **clear_stale_embeddings(stores, left)},
        notes=(*settled.notes, _build_note(left)),
    )


def replace_by_known(stores: Stores, known: Memory, draft: Draft) -> tuple[str, Cause] | None:
    """Let a memory that is known already replace what a draft with its text replaces; return the
    change and a note, or nothing if it has replaced all of that. The lock may be held."""
    ids = dict.fromkeys(resolve_id(stores, each) for each in draft.replaces)
    with stores.writing:
        current = _read_replaced(stores, known.id)
        files = [_read_replaced(stores, _refuse_itself(each, known.id)) for each in ids]
        files = [each for each in files if each.memory.superseded_by != known.id]
        if not files:
            return None
        successor = current.memory
        for each in files:
            link = _build_link(each.memory.id, draft.source, stores)
            successor = add_connection(successor, link)
        edits = (*(_end_memory(each, successor, stores) for each in files), current.edit(successor))
        change = Change(stores.new_id(), "retire", edits, draft.source, REPLACED_REASON)
        apply_change(stores, change, clear_stale_embeddings(stores, [*files, current]))
    return change.id, _build_note(files)


def _read_replaced(stores: Stores, memory_id: str) -> CurrentFile:
    found = find_current(stores, memory_id)
    if found is None:
        raise NoSuchMemory(memory_id)
    if found.memory.source == SELF_SOURCE:
        raise Rejected("the self cannot be replaced", hint="revise it instead")
    return found


def _refuse_itself(older: str, newer: str) -> str:
    if older == newer:
        raise Rejected(f"`{older}` cannot be superseded by itself", hint="name another memory")
    return older


def _end_memory(older: CurrentFile, newer: Memory, stores: Stores) -> FileEdit:
    """Return the edit that ends a memory when the newer one became known."""
    ends = max(newer.created, older.memory.created)
    return older.edit(end_validity(older.memory, ends, newer.id, stores.clock.now()))


def _build_link(older: str, by: str, stores: Stores) -> Connection:
    at = stores.clock.now()
    return Connection(older, Edge.EVOLVED_FROM, SUPERSEDED_WEIGHT, REPLACED_REASON, by, at)


def _build_note(files: Sequence[CurrentFile]) -> Cause:
    return Cause(NoteKind.REPLACES, {"memories": [each.memory.id for each in files]})
