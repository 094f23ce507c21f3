"""Revise and retire: change what a memory says, or mark it as no longer true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from madeleine.errors import FileChanged, InvalidValue, Rejected
from madeleine.model.change import Change, FileEdit
from madeleine.model.memory import Connection, Memory
from madeleine.model.revision import Revision
from madeleine.model.words import SELF_SOURCE, Edge, Tier
from madeleine.write.change_file import (
    ChangeContext,
    ChangeResult,
    add_usage,
    change_memory,
    make_change_context,
    read_current,
    refuse_other_version,
    retry_on_conflict,
)
from madeleine.write.claims import SUPERSEDED_WEIGHT, end_validity, is_restated, settle_claim
from madeleine.write.commit import apply_change, commit, embed_new_texts
from madeleine.write.connections import add_connection
from madeleine.write.core_cap import enforce_core_cap
from madeleine.write.identity import ensure_self
from madeleine.write.pending_repairs import run_pending_repairs
from madeleine.write.questions import archiving_refusals
from madeleine.write.record import record_events
from madeleine.write.resolve import get_memory, resolve_id
from madeleine.write.stores import Stores

CLAIM_FIELDS = frozenset({"claim", "space"})  # what decides which claims meet


def revise(stores: Stores, wanted: str, revision: Revision, by: str = "unknown") -> ChangeResult:
    """Make a memory say something else; its file changes only where its meaning does."""
    memory_id = resolve_id(stores, wanted)
    make = resolve_revision(stores, memory_id, revision, by)
    if revision.about_self:
        ensure_self(stores)
    was_archival = "tier" in revision.values and _is_archival(stores, memory_id)
    if revision.values.keys() & CLAIM_FIELDS:
        changed = retry_on_conflict(lambda: _revise_claim(stores, memory_id, make, by))
    else:
        changed = change_memory(stores, memory_id, make, verb="revise", by=by)
    if was_archival and changed.memory.tier is not Tier.ARCHIVAL:
        record_events(stores, archiving_refusals(stores, changed.memory, by), durable=False)
    notes = changed.notes + enforce_core_cap(stores, changed.memory)
    return replace(changed, notes=notes)


def resolve_revision(
    stores: Stores, memory_id: str, revision: Revision, by: str
) -> Callable[[Memory], Memory]:
    """Return what makes a memory say what a revision wants, with all whom it names resolved."""
    links = _resolve_links(stores, memory_id, revision, by)
    revision = _resolve_successor(stores, memory_id, revision)

    def make(memory: Memory) -> Memory:
        _check_revision(memory, revision)
        revised = revision.applied_to(memory)
        for link in links:
            revised = add_connection(revised, link)
        return memory if revised == memory else replace(revised, updated=stores.clock.now())

    return make


def plan_revision(hand: ChangeContext, wanted: Memory) -> Change:
    """Return the change that makes a memory's file say `wanted`, with what its claim ends."""
    current = hand.read(wanted.id)
    since = wanted.updated if is_restated(current.memory, wanted) else None
    settled = settle_claim(hand.stores, wanted, since)
    return hand.change("revise", [current.edit(settled.memory), *settled.edits])


def _is_archival(stores: Stores, memory_id: str) -> bool:
    return get_memory(stores, memory_id).tier is Tier.ARCHIVAL


def _revise_claim(
    stores: Stores, memory_id: str, make: Callable[[Memory], Memory], by: str
) -> ChangeResult:
    """Revise a memory together with those whose claim it replaces, as one change.

    A value that is changed holds from now on; a claim that is added to a memory holds since
    the memory was made.
    """
    run_pending_repairs(stores)
    current = read_current(stores, memory_id)
    wanted = make(current.memory)
    if wanted == current.memory:
        return ChangeResult(add_usage(stores, current.memory), None)
    since = wanted.updated if is_restated(current.memory, wanted) else None
    change = Change(stores.new_id(), "revise", (current.edit(wanted),), by)
    traces, unread = embed_new_texts(stores, change)
    with stores.writing:
        settled = settle_claim(stores, wanted, since)
        change = replace(change, edits=(current.edit(settled.memory), *settled.edits))
        late = apply_change(stores, change, {**traces, **settled.traces})
    notes = (late or unread) + settled.notes
    return ChangeResult(add_usage(stores, settled.memory), change.id, notes)


def retire(
    stores: Stores,
    wanted: str,
    reason: str | None = None,
    superseded_by: str | None = None,
    by: str = "unknown",
    run: str | None = None,
) -> ChangeResult:
    """Mark a memory as no longer true from now on; it is kept, dated and linked.

    What replaces it gets an `evolved_from` connection to it, newer to older, in the same
    change.
    """
    memory_id = resolve_id(stores, wanted)
    successor = resolve_id(stores, superseded_by) if superseded_by else None
    change = plan_retire(make_change_context(stores, by, reason, run), memory_id, successor)
    notes = commit(stores, change)
    return ChangeResult(get_memory(stores, memory_id), change.id, notes)


def plan_retire(hand: ChangeContext, memory_id: str, successor: str | None = None) -> Change:
    """Return the change that marks a memory as no longer true from now on."""
    if successor is None:
        return hand.change("retire", [_plan_end(hand, memory_id, hand.at, None)])
    reason = hand.reason or "replaced it"
    link = Connection(memory_id, Edge.EVOLVED_FROM, SUPERSEDED_WEIGHT, reason, hand.by, hand.at)
    return plan_supersede(hand, memory_id, successor, link, hand.at)


def plan_supersede(
    hand: ChangeContext, older: str, newer: str, link: Connection, ends: datetime | None = None
) -> Change:
    """Return the change that lets one memory replace another: the older one is no longer true
    from `ends` on, or from when the newer one came, and the newer one names it."""
    if older == newer:
        raise Rejected(f"`{older}` cannot be superseded by itself", hint="name another memory")
    successor = hand.read(newer)
    wanted = replace(link, target=older, by=link.by or hand.by, at=link.at or hand.at)
    named = successor.edit(add_connection(successor.memory, wanted))
    ended = _plan_end(hand, older, ends or successor.memory.created, newer)
    return hand.change("retire", [ended, named])


def _plan_end(
    hand: ChangeContext, memory_id: str, ends: datetime, successor: str | None
) -> FileEdit:
    current = hand.read(memory_id)
    _refuse_self(current.memory, "retired")
    return current.edit(end_validity(current.memory, ends, successor, hand.at))


def plan_tier(hand: ChangeContext, memory_id: str, tier: Tier) -> Change:
    """Return the change that moves a memory to another tier. It says what it said before, so
    its `updated` stays."""
    return _plan_move(hand, memory_id, tier=tier)


def plan_space(hand: ChangeContext, memory_id: str, space: str | None) -> Change:
    """Return the change that moves a memory to another space."""
    return _plan_move(hand, memory_id, space=space)


def _plan_move(hand: ChangeContext, memory_id: str, **place: Any) -> Change:
    current = hand.read(memory_id)
    _refuse_self(current.memory, "moved")
    return hand.change("revise", [current.edit(replace(current.memory, **place))])


def _check_revision(memory: Memory, revision: Revision) -> None:
    if revision.if_updated is not None and revision.if_updated != memory.updated:
        raise FileChanged(f"`{memory.short_id}`")
    refuse_other_version(memory, revision.if_version)
    if memory.source == SELF_SOURCE and revision.values.keys() & {
        "type",
        "tier",
        "source",
        "space",
    }:
        raise Rejected(
            "the self keeps its type, tier, source and space", hint="revise its title or content"
        )
    if revision.values.get("source") == SELF_SOURCE:
        raise InvalidValue("source", f"{SELF_SOURCE!r} belongs to the self")


def _resolve_successor(stores: Stores, memory_id: str, revision: Revision) -> Revision:
    wanted = revision.values.get("superseded_by")
    if not isinstance(wanted, str):
        return revision
    successor = resolve_id(stores, wanted)
    if successor == memory_id:
        raise Rejected("a memory cannot be superseded by itself", hint="name another memory")
    return replace(revision, values={**revision.values, "superseded_by": successor})


def _resolve_links(stores: Stores, memory_id: str, revision: Revision, by: str) -> list[Connection]:
    now = stores.clock.now()
    return [
        replace(link, target=resolve_id(stores, link.target), by=link.by or by, at=link.at or now)
        for link in revision.add_connections
    ]


def _refuse_self(memory: Memory, what: str) -> None:
    if memory.source == SELF_SOURCE:
        raise Rejected(f"the self cannot be {what}", hint="revise it instead")
