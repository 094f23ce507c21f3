"""Revise and retire: change what a memory says, or mark it as no longer true."""

from __future__ import annotations

from dataclasses import replace

from madeleine.errors import FileChanged, InvalidValue, Rejected
from madeleine.model.change import Change
from madeleine.model.memory import Connection, Memory
from madeleine.model.revision import Revision
from madeleine.model.words import SELF_SOURCE, Edge
from madeleine.write.change_file import (
    Changed,
    change_memory,
    joined,
    read_current,
    vector_note,
)
from madeleine.write.commit import commit
from madeleine.write.connections import with_connection
from madeleine.write.core import enforce_core_cap
from madeleine.write.identity import ensure_self
from madeleine.write.resolve import resolve
from madeleine.write.stores import Stores

SELF_KEEPS = frozenset({"type", "tier", "source", "space"})
SUPERSEDED_WEIGHT = 0.9  # the documented weight of an evolution


def revise(stores: Stores, wanted: str, revision: Revision, by: str = "unknown") -> Changed:
    """Make a memory say something else; its file changes only where its meaning does."""
    memory_id = resolve(stores, wanted)
    links = _links(stores, memory_id, revision, by)
    revision = _whole_ids(stores, memory_id, revision)
    if revision.about_self:
        ensure_self(stores)

    def make(memory: Memory) -> Memory:
        _check(memory, revision)
        revised = revision.applied_to(memory)
        for link in links:
            revised = with_connection(revised, link)
        return memory if revised == memory else replace(revised, updated=stores.clock.now())

    changed = change_memory(stores, memory_id, make, verb="revise", by=by)
    notes = changed.notes + enforce_core_cap(stores, changed.memory)
    return replace(changed, notes=notes)


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
    if successor == memory_id:
        raise Rejected(f"`{wanted}` cannot be superseded by itself", hint="name another memory")
    old = read_current(stores, memory_id)
    _refuse_self(old.memory, "retired")
    now = stores.clock.now()
    ends = min(old.memory.valid_until or now, now)
    retired = replace(old.memory, valid_until=ends, updated=now)
    retired = replace(retired, superseded_by=successor or retired.superseded_by)
    edits = [old.edit(retired)]
    if successor:
        new = read_current(stores, successor)
        link = Connection(
            memory_id, Edge.EVOLVED_FROM, SUPERSEDED_WEIGHT, reason or "replaced it", by, now
        )
        edits.append(new.edit(with_connection(new.memory, link)))
    change = Change(stores.new_id(), "retire", tuple(edits), by, reason, run)
    problem = commit(stores, change)
    return Changed(joined(stores, retired), change.id, vector_note(problem))


def _check(memory: Memory, revision: Revision) -> None:
    if revision.if_updated is not None and revision.if_updated != memory.updated:
        raise FileChanged(f"`{memory.short_id}`")
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
