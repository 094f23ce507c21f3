"""Merge: two memories become one.

The documented semantics: one of the two is kept, its title or text rewritten if the caller
gives a merged one; what points to the other is made to point to the keeper; the other goes to
the trash. All of it is one change, so one undo brings every file back byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from madeleine.errors import NoFile, NoSuchMemory, Rejected
from madeleine.model.cause import Cause
from madeleine.model.change import Change, FileEdit
from madeleine.model.memory import Connection, Memory
from madeleine.model.words import SELF_SOURCE
from madeleine.write.change_file import (
    ChangeContext,
    CurrentFile,
    make_change_context,
    refuse_other_version,
)
from madeleine.write.commit import commit
from madeleine.write.resolve import get_memory, resolve_id
from madeleine.write.stores import Stores


@dataclass(frozen=True, slots=True)
class MergeResult:
    """The keeper, what was merged into it, and the change that did it."""

    memory: Memory
    removed: str
    change: str
    neighbours: int
    notes: tuple[Cause, ...] = ()


@dataclass(frozen=True, slots=True)
class SeenVersions:
    """The versions of both that somebody looked at who merges them; None asks for none."""

    keep: str | None = None
    drop: str | None = None


ANY_VERSIONS = SeenVersions()


def merge(
    stores: Stores,
    keep: str,
    drop: str,
    title: str | None = None,
    content: str | None = None,
    by: str = "unknown",
    reason: str | None = None,
    run: str | None = None,
    seen: SeenVersions = ANY_VERSIONS,
) -> MergeResult:
    """Merge `drop` into `keep`, if both still say what was seen of them."""
    keep_id, drop_id = resolve_id(stores, keep), resolve_id(stores, drop)
    hand = make_change_context(stores, by, reason, run)
    change = plan_merge(hand, keep_id, drop_id, title, content, seen)
    notes = commit(stores, change)
    others = sum(1 for edit in change.edits if edit.memory_id not in (keep_id, drop_id))
    kept = get_memory(stores, keep_id)
    return MergeResult(kept, drop_id, change.id, others, notes)


def plan_merge(
    hand: ChangeContext,
    keep_id: str,
    drop_id: str,
    title: str | None = None,
    content: str | None = None,
    seen: SeenVersions = ANY_VERSIONS,
) -> Change:
    """Return the change that merges one memory into another."""
    if keep_id == drop_id:
        raise Rejected("a memory cannot be merged with itself", hint="name two memories")
    kept, dropped = hand.read(keep_id), hand.read(drop_id)
    refuse_other_version(kept.memory, seen.keep)
    refuse_other_version(dropped.memory, seen.drop)
    if dropped.memory.source == SELF_SOURCE:
        raise Rejected("the self cannot be merged away", hint="name it first, as the one to keep")
    keeper = _build_keeper(hand, kept.memory, dropped.memory, title, content)
    others = [
        _redirect_file(each, drop_id, keep_id) for each in _find_pointing(hand, drop_id, keep_id)
    ]
    trash = hand.stores.vault.trash_path(dropped.path)
    removal = FileEdit(drop_id, dropped.path, dropped.data, trash, dropped.data)
    details = {"kept": keep_id, "removed": drop_id}
    return hand.change("merge", (kept.edit(keeper), *others, removal), details)


def _build_keeper(
    hand: ChangeContext, kept: Memory, dropped: Memory, title: str | None, content: str | None
) -> Memory:
    connections = _unite_connections(kept, dropped)
    merged = replace(
        kept,
        title=title if title is not None else kept.title,
        content=content if content is not None else kept.content,
        tags=tuple(dict.fromkeys((*kept.tags, *dropped.tags))),
        claim=kept.claim or dropped.claim,
        connections=connections,
        superseded_by=None if kept.superseded_by == dropped.id else kept.superseded_by,
    )
    return merged if merged == kept else replace(merged, updated=hand.at)


def _unite_connections(kept: Memory, dropped: Memory) -> tuple[Connection, ...]:
    """The keeper's connections and the other's, each (target, edge) once, none to the pair."""
    own = {kept.id, dropped.id}
    united: dict[tuple[str, str], Connection] = {}
    for each in (*kept.connections, *dropped.connections):
        if each.target not in own:
            united.setdefault((each.target, each.edge.value), each)
    return tuple(united.values())


def _find_pointing(hand: ChangeContext, drop_id: str, keep_id: str) -> list[CurrentFile]:
    """Return every other memory that names the one to be removed."""
    stores = hand.stores
    rows = stores.graph.edges([drop_id])
    sources = {row.source for row in rows if row.connection.target == drop_id and not row.implied}
    sources |= set(stores.graph.superseded_by(drop_id))
    found = (_read_if_present(hand, each) for each in sorted(sources - {drop_id, keep_id}))
    return [each for each in found if each is not None]


def _read_if_present(hand: ChangeContext, memory_id: str) -> CurrentFile | None:
    """Read a neighbour; one whose file a hand took away a moment ago points nowhere any more."""
    try:
        return hand.read(memory_id)
    except (NoSuchMemory, NoFile):
        return None


def _redirect_file(other: CurrentFile, old: str, new: str) -> FileEdit:
    memory = other.memory
    return other.edit(
        replace(
            memory,
            connections=_redirect_connections(memory.connections, old, new),
            superseded_by=new if memory.superseded_by == old else memory.superseded_by,
        )
    )


def _redirect_connections(
    connections: Iterable[Connection], old: str, new: str
) -> tuple[Connection, ...]:
    """Point what points to `old` to `new`; where both were pointed to, the stronger stays."""
    result: dict[tuple[str, str], Connection] = {}
    for each in connections:
        moved = replace(each, target=new) if each.target == old else each
        key = (moved.target, moved.edge.value)
        if key not in result or result[key].weight < moved.weight:
            result[key] = moved
    return tuple(result.values())
