"""Link and unlink: connections between memories, each (source, target, edge) once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from madeleine.errors import NoSuchConnection, NoSuchMemory, SelfLink
from madeleine.model.change import Change
from madeleine.model.memory import Connection, Memory
from madeleine.model.words import ABOUT_SELF, SELF_SOURCE, Edge
from madeleine.rules.associations import is_contrast
from madeleine.write.change_file import ChangeContext, ChangeResult, change_memory
from madeleine.write.resolve import get_memory, resolve_id
from madeleine.write.stores import Stores


def link(
    stores: Stores, source: str, connection: Connection, by: str = "unknown", run: str | None = None
) -> ChangeResult:
    """Connect two memories; linking the same two the same way again only changes the weight
    and the reason."""
    source_id = resolve_id(stores, source)
    target_id = resolve_id(stores, connection.target)
    wanted = replace(
        connection,
        target=target_id,
        by=connection.by or by,
        at=connection.at or stores.clock.now(),
    )
    return change_memory(
        stores,
        source_id,
        lambda memory: add_connection(memory, wanted),
        verb="link",
        by=by,
        reason=connection.reason,
        run=run,
    )


def plan_links(hand: ChangeContext, source: str, connections: Iterable[Connection]) -> Change:
    """Return the change that connects one memory to others."""
    current = hand.read(source)
    memory = current.memory
    for each in connections:
        wanted = replace(each, by=each.by or hand.by, at=each.at or hand.at)
        memory = add_connection(memory, wanted)
    return hand.change("link", [current.edit(memory)])


def plan_unlink(hand: ChangeContext, source: str, target: str, edge: Edge) -> Change:
    """Return the change that takes a connection away."""
    current = hand.read(source)
    kept = drop_connections(current.memory.connections, target, edge)
    return hand.change("unlink", [current.edit(replace(current.memory, connections=kept))])


def unlink(
    stores: Stores, source: str, target: str, edge: Edge | None = None, by: str = "unknown"
) -> ChangeResult:
    """Take away the connections from one memory to another: all, or those of one edge."""
    memory = get_memory(stores, source)
    target_id = _resolve_end(stores, memory, target)
    kept = drop_connections(memory.connections, target_id, edge)
    if kept == memory.connections:
        return _unlink_identity(stores, memory, target_id, edge, by)
    return change_memory(
        stores,
        memory.id,
        lambda now: replace(now, connections=drop_connections(now.connections, target_id, edge)),
        verb="unlink",
        by=by,
    )


def _resolve_end(stores: Stores, memory: Memory, target: str) -> str:
    """Return the id that `target` names, also of a memory that is gone and still pointed to."""
    try:
        return resolve_id(stores, target)
    except NoSuchMemory:
        prefix = target.strip().strip("`").lower()
        ends = {each.target for each in memory.connections if each.target.startswith(prefix)}
        if not prefix or len(ends) != 1:
            raise
        return ends.pop()


def _unlink_identity(
    stores: Stores, source: Memory, target_id: str, edge: Edge | None, by: str
) -> ChangeResult:
    """The self's `defines` edges follow from the tag about_self: take that away instead."""
    target = get_memory(stores, target_id)
    implied = source.source == SELF_SOURCE and ABOUT_SELF in target.tags
    if not implied or edge not in (None, Edge.DEFINES):
        raise NoSuchConnection(source.short_id, target.short_id, edge.value if edge else "")
    return change_memory(
        stores,
        target_id,
        lambda memory: replace(memory, tags=tuple(t for t in memory.tags if t != ABOUT_SELF)),
        verb="unlink",
        by=by,
    )


def add_connection(memory: Memory, connection: Connection) -> Memory:
    """Return the memory with this connection in it, once."""
    if connection.target == memory.id:
        raise SelfLink(memory.id)
    same = (connection.target, connection.edge)
    for place, known in enumerate(memory.connections):
        if (known.target, known.edge) == same:
            updated = _merge_connection(known, connection)
            connections = (*memory.connections[:place], updated, *memory.connections[place + 1 :])
            return replace(memory, connections=connections)
    return replace(memory, connections=(*memory.connections, connection))


def _merge_connection(known: Connection, wanted: Connection) -> Connection:
    """Keep the date of a connection that says the same; otherwise take the new one. A contrast
    does not say what a person or a judge says who draws the same arrow."""
    if is_contrast(known) and not is_contrast(wanted):
        return wanted
    says = (wanted.weight, wanted.reason or known.reason, wanted.kind or known.kind)
    if (known.weight, known.reason or None, known.kind) == says:
        return known
    return replace(wanted, reason=says[1], kind=says[2])


def drop_connections(
    connections: tuple[Connection, ...], target: str, edge: Edge | None
) -> tuple[Connection, ...]:
    """Return the connections less those to `target` (of one edge, if named)."""
    return tuple(
        each
        for each in connections
        if each.target != target or (edge is not None and each.edge is not edge)
    )
