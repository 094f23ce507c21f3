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
    Changed,
    Hand,
    a_hand,
    change_memory,
    joined,
    persistently,
    read_current,
    refuse_other_version,
)
from madeleine.write.claims import SUPERSEDED_WEIGHT, ended, restated, settle
from madeleine.write.commit import carry_out, commit, read_new
from madeleine.write.connections import with_connection
from madeleine.write.core import enforce_core_cap
from madeleine.write.heal import heal
from madeleine.write.identity import ensure_self
from madeleine.write.questions import no_to_archiving
from madeleine.write.record import record
from madeleine.write.resolve import get_memory, resolve
from madeleine.write.stores import Stores

SELF_KEEPS = frozenset({"type", "tier", "source", "space"})
CLAIMING = frozenset({"claim", "space"})  # what decides which claims meet


def revise(stores: Stores, wanted: str, revision: Revision, by: str = "unknown") -> Changed:
    """Make a memory say something else; its file changes only where its meaning does."""
    memory_id = resolve(stores, wanted)
    links = _links(stores, memory_id, revision, by)
    revision = _whole_ids(stores, memory_id, revision)
    if revision.about_self:
        ensure_self(stores)
    was_archival = "tier" in revision.values and _is_archival(stores, memory_id)

    def make(memory: Memory) -> Memory:
        _check(memory, revision)
        revised = revision.applied_to(memory)
        for link in links:
            revised = with_connection(revised, link)
        return memory if revised == memory else replace(revised, updated=stores.clock.now())

    if revision.values.keys() & CLAIMING:
        changed = persistently(lambda: _revise_claim(stores, memory_id, make, by))
    else:
        changed = change_memory(stores, memory_id, make, verb="revise", by=by)
    if was_archival and changed.memory.tier is not Tier.ARCHIVAL:
        record(stores, no_to_archiving(stores, changed.memory, by), durable=False)
    notes = changed.notes + enforce_core_cap(stores, changed.memory)
    return replace(changed, notes=notes)


def _is_archival(stores: Stores, memory_id: str) -> bool:
    return get_memory(stores, memory_id).tier is Tier.ARCHIVAL


def _revise_claim(
    stores: Stores, memory_id: str, make: Callable[[Memory], Memory], by: str
) -> Changed:
    """Revise a memory together with those whose claim it replaces, as one change.

    A value that is changed holds from now on; a claim that is added to a memory holds since
    the memory was made.
    """
    heal(stores)
    current = read_current(stores, memory_id)
    wanted = make(current.memory)
    if wanted == current.memory:
        return Changed(joined(stores, current.memory), None)
    since = wanted.updated if restated(current.memory, wanted) else None
    change = Change(stores.new_id(), "revise", (current.edit(wanted),), by)
    traces, unread = read_new(stores, change)
    with stores.writing:
        settled = settle(stores, wanted, since)
        change = replace(change, edits=(current.edit(settled.memory), *settled.edits))
        late = carry_out(stores, change, {**traces, **settled.traces})
    notes = (late or unread) + settled.notes
    return Changed(joined(stores, settled.memory), change.id, notes)


def retire(
    stores: Stores,
    wanted: str,
    reason: str | None = None,
    superseded_by: str | None = None,
    by: str = "unknown",
    run: str | None = None,
) -> Changed:
    """Mark a memory as no longer true from now on; it is kept, dated and linked.

    What replaces it gets an `evolved_from` connection to it, newer to older, in the same
    change.
    """
    memory_id = resolve(stores, wanted)
    successor = resolve(stores, superseded_by) if superseded_by else None
    change = plan_retire(a_hand(stores, by, reason, run), memory_id, successor)
    notes = commit(stores, change)
    return Changed(get_memory(stores, memory_id), change.id, notes)


def plan_retire(hand: Hand, memory_id: str, successor: str | None = None) -> Change:
    """Return the change that marks a memory as no longer true from now on."""
    if successor is None:
        return hand.change("retire", [_ended(hand, memory_id, hand.at, None)])
    reason = hand.reason or "replaced it"
    link = Connection(memory_id, Edge.EVOLVED_FROM, SUPERSEDED_WEIGHT, reason, hand.by, hand.at)
    return plan_supersede(hand, memory_id, successor, link, hand.at)


def plan_supersede(
    hand: Hand, older: str, newer: str, link: Connection, ends: datetime | None = None
) -> Change:
    """Return the change that lets one memory replace another: the older one is no longer true
    from `ends` on, or from when the newer one came, and the newer one names it."""
    if older == newer:
        raise Rejected(f"`{older}` cannot be superseded by itself", hint="name another memory")
    successor = hand.read(newer)
    wanted = replace(link, target=older, by=link.by or hand.by, at=link.at or hand.at)
    named = successor.edit(with_connection(successor.memory, wanted))
    ended = _ended(hand, older, ends or successor.memory.created, newer)
    return hand.change("retire", [ended, named])


def _ended(hand: Hand, memory_id: str, ends: datetime, successor: str | None) -> FileEdit:
    current = hand.read(memory_id)
    _refuse_self(current.memory, "retired")
    return current.edit(ended(current.memory, ends, successor, hand.at))


def plan_tier(hand: Hand, memory_id: str, tier: Tier) -> Change:
    """Return the change that moves a memory to another tier. It says what it said before, so
    its `updated` stays."""
    return _plan_place(hand, memory_id, tier=tier)


def plan_space(hand: Hand, memory_id: str, space: str | None) -> Change:
    """Return the change that moves a memory to another space."""
    return _plan_place(hand, memory_id, space=space)


def _plan_place(hand: Hand, memory_id: str, **place: Any) -> Change:
    current = hand.read(memory_id)
    _refuse_self(current.memory, "moved")
    return hand.change("revise", [current.edit(replace(current.memory, **place))])


def _check(memory: Memory, revision: Revision) -> None:
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


def _whole_ids(stores: Stores, memory_id: str, revision: Revision) -> Revision:
    wanted = revision.values.get("superseded_by")
    if not isinstance(wanted, str):
        return revision
    successor = resolve(stores, wanted)
    if successor == memory_id:
        raise Rejected("a memory cannot be superseded by itself", hint="name another memory")
    return replace(revision, values={**revision.values, "superseded_by": successor})


def _links(stores: Stores, memory_id: str, revision: Revision, by: str) -> list[Connection]:
    now = stores.clock.now()
    return [
        replace(link, target=resolve(stores, link.target), by=link.by or by, at=link.at or now)
        for link in revision.add_connections
    ]


def _refuse_self(memory: Memory, what: str) -> None:
    if memory.source == SELF_SOURCE:
        raise Rejected(f"the self cannot be {what}", hint="revise it instead")
