"""Remember: a draft becomes a memory.

The order of effects is the contract: the draft is checked, each of its passages read by the
model once, its neighbours looked up by the first; then, under the lock, one file is written
durably and the index follows in one transaction. The file comes first (I1): if the index cannot
follow, the memory is there all the same and the next reconcile finds it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

from madeleine.errors import IdTaken, KeyReused
from madeleine.index.search import IndexHit
from madeleine.language.text_keys import same_text_key
from madeleine.model.cause import Cause, NoteKind
from madeleine.model.change import Change, FileEdit
from madeleine.model.draft import Draft
from madeleine.model.memory import Connection, Memory, Origin, SharedFields
from madeleine.model.words import SELF_SOURCE
from madeleine.vault.markdown import render_memory
from madeleine.write.change_file import retry_on_conflict
from madeleine.write.claims import ClaimSettlement, settle_claim
from madeleine.write.commit import NewMemory, apply_change, commit_new_memory
from madeleine.write.core_cap import enforce_core_cap
from madeleine.write.embedding import PassageEmbeddings, embed_memory, neighbour_vector
from madeleine.write.identity import ensure_self
from madeleine.write.linking import PendingMemory, find_near, resolve_given_links
from madeleine.write.pending_repairs import run_pending_repairs
from madeleine.write.replacing import link_replaced, replace_by_known, settle_replaced
from madeleine.write.stores import Stores


@dataclass(frozen=True, slots=True)
class RememberResult:
    """What came of a draft. `existing` says that the text was known and nothing was written."""

    memory: Memory
    existing: bool = False
    linked: tuple[Connection, ...] = ()
    change: str | None = None
    notes: tuple[Cause, ...] = ()
    similar: tuple[SimilarNeighbour, ...] = ()
    """What the new memory is like, the most similar first: it may say the same, or end it."""
    proposal: str | None = None
    """The proposal that a person has to approve before the memory is written."""


@dataclass(frozen=True, slots=True)
class SimilarNeighbour:
    """A memory that is like a new one, and how similar the two are."""

    memory: Memory
    score: float


def remember(stores: Stores, draft: Draft) -> RememberResult:
    """Write one memory and return it; a text already known in its space is returned instead."""
    run_pending_repairs(stores)
    known = find_known(stores, draft) if _may_come_again(draft) else None
    if known is not None:
        return settle_known(stores, draft, known)
    memory = build_memory(stores, draft)
    traces, unread = embed_memory(stores, memory)
    return _write_draft(stores, draft, memory, traces, unread)


def _may_come_again(draft: Draft) -> bool:
    """Whether to look for the draft before anything else is asked of it.

    What a retried call names may be gone by now. A plain text is looked for once, under the
    lock; if it is known so is what the model made of it, and nothing is computed twice.
    """
    return bool(draft.connections or draft.replaces or draft.id or draft.idempotency_key)


def _write_draft(
    stores: Stores,
    draft: Draft,
    memory: Memory,
    traces: PassageEmbeddings,
    unread: tuple[Cause, ...],
) -> RememberResult:
    """Write the memory of a draft once the model has read it, or was noted not to have."""
    connected = connect_memory(stores, draft, memory, traces, {})
    if draft.about_self:
        ensure_self(stores)
    with stores.writing:
        known = find_known(stores, draft)
        if known is not None:
            return settle_known(stores, draft, known)
        new = retry_on_conflict(lambda: write_new(stores, connected, traces, draft.source))
    done = finish_remember(stores, new, unread)
    touched = frozenset(edit.memory_id for edit in new.change.edits)
    return replace(done, similar=read_similar(stores, connected.similar, touched))


def read_similar(
    stores: Stores, similar: Sequence[IndexHit], touched: frozenset[str]
) -> tuple[SimilarNeighbour, ...]:
    """Return what a new memory is like, without what it replaced."""
    near = {hit.id: hit.score for hit in similar if hit.id not in touched}
    known = stores.search.memories(near) if near else {}
    return tuple(SimilarNeighbour(known[each], near[each]) for each in near if each in known)


def settle_known(stores: Stores, draft: Draft, known: RememberResult) -> RememberResult:
    """Return what came of a draft whose text is known: it may replace others all the same."""
    done = replace_by_known(stores, known.memory, draft) if draft.replaces else None
    if done is None:
        return known
    change, note = done
    memory = stores.search.memories([known.memory.id]).get(known.memory.id, known.memory)
    return RememberResult(memory, existing=True, change=change, notes=(note,))


class NewMemoryWrite(NamedTuple):
    """A new memory, the change that wrote it, and what to say about others."""

    memory: Memory
    change: Change
    notes: tuple[Cause, ...] = ()


class ConnectedMemory(NamedTuple):
    """A memory with the connections it starts with, what it replaces, and what it is like."""

    memory: Memory
    replaced: tuple[str, ...] = ()
    similar: tuple[IndexHit, ...] = ()


def write_new(
    stores: Stores, connected: ConnectedMemory, traces: PassageEmbeddings, by: str
) -> NewMemoryWrite:
    """Write a new memory, and in the same change whatever it replaces. Hold the lock."""
    memory = connected.memory
    settled = settle_replaced(stores, settle_claim(stores, memory), connected.replaced)
    change = plan_new_file(stores, settled, by)
    late: tuple[Cause, ...] = ()
    if settled.edits:
        late = apply_change(stores, change, {memory.id: traces, **settled.traces})
    else:
        commit_new_memory(stores, NewMemory(settled.memory, change, traces))
    return NewMemoryWrite(settled.memory, change, settled.notes + late)


def plan_new_file(stores: Stores, settled: ClaimSettlement, by: str) -> Change:
    """Return the change that writes a new memory's file, and others that its claim concerns."""
    memory = settled.memory
    edit = FileEdit(memory.id, None, None, stores.vault.path_for(memory), render_memory(memory))
    return Change(stores.new_id(), "remember", (edit, *settled.edits), by=by)


def finish_remember(
    stores: Stores, new: NewMemoryWrite, unread: tuple[Cause, ...]
) -> RememberResult:
    """Return what came of a draft that was written, once the core tier is within its cap."""
    memory = new.memory
    notes = unread + new.notes + enforce_core_cap(stores, memory)
    return RememberResult(memory, linked=memory.connections, change=new.change.id, notes=notes)


def find_known(stores: Stores, draft: Draft) -> RememberResult | None:
    """Return the memory that makes this draft unnecessary, if there is one.

    A draft that brings its own id, another place in a conversation or another claim is a thing
    of its own even when somebody said the same words before.
    """
    if draft.idempotency_key is not None:
        found = stores.search.with_idempotency_key(draft.idempotency_key)
        if found is not None:
            return _match_known(stores, draft, found, KeyReused(draft.idempotency_key, found))
    if draft.id is not None:
        if stores.search.get(draft.id) is None:
            return None
        return _match_known(stores, draft, draft.id, IdTaken(draft.id))
    key, now = same_text_key(draft.content), stores.clock.now()
    same = stores.search.memories(stores.search.same_text(draft.space, key, now))
    alike = (each for each in same.values() if draft.claim in (None, each.claim))
    here = (each for each in alike if not _is_from_elsewhere(draft.origin, each.origin))
    oldest = min(here, key=lambda each: (each.created, each.id), default=None)
    return None if oldest is None else _existing_result(oldest)


def _match_known(
    stores: Stores, draft: Draft, found: str, refusal: KeyReused | IdTaken
) -> RememberResult | None:
    memory = stores.search.memories([found]).get(found)
    if memory is None:
        return None
    if same_text_key(memory.content) != same_text_key(draft.content):
        raise refusal
    return _existing_result(memory)


def _existing_result(memory: Memory) -> RememberResult:
    note = Cause(NoteKind.ALREADY_KNOWN, {"memory": memory.id})
    return RememberResult(memory, existing=True, notes=(note,))


def _is_from_elsewhere(one: Origin | None, other: Origin | None) -> bool:
    """Whether two origins name two different places in conversations."""
    if one is None or one.turn is None:
        return False
    return other is None or (one.session, one.turn) != (other.session, other.turn)


def build_memory(stores: Stores, draft: Draft) -> Memory:
    """Return the memory that a draft becomes, not yet connected.

    Its id and its date are settled here, before the model reads it: the date is part of what
    is read, and a rebuild has to find the same passages in the file.
    """
    created = draft.created or stores.clock.now()
    shared = {each.name: getattr(draft, each.name) for each in fields(SharedFields)}
    shared["connections"] = ()
    if draft.source == SELF_SOURCE:
        del shared["source"]
    return Memory(draft.id or stores.new_id(), draft.content, created, created, **shared)


def connect_memory(
    stores: Stores,
    draft: Draft,
    memory: Memory,
    traces: PassageEmbeddings,
    coming: Mapping[str, str],
    beside: Sequence[PendingMemory] = (),
) -> ConnectedMemory:
    """Return the memory with the connections it starts with."""
    replacing = link_replaced(stores, draft, memory.id, coming)
    given = resolve_given_links(stores, draft, memory.id, coming) + replacing
    near = find_near(stores, memory, neighbour_vector(traces), given, beside)
    return ConnectedMemory(
        replace(memory, connections=given + near.links),
        tuple(each.target for each in replacing),
        near.similar,
    )
