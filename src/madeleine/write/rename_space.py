"""Rename a space, or merge one into another: one change over all of its files, with one undo."""

from __future__ import annotations

from dataclasses import dataclass, replace

from madeleine.errors import Missing, Rejected
from madeleine.model.cause import Cause
from madeleine.model.query import Filter
from madeleine.write.change_file import make_change_context
from madeleine.write.commit import commit
from madeleine.write.stores import Stores

MAX_MEMORIES = 100_000  # of a space that can be renamed in one change


class NoSuchSpace(Missing):
    """No memory is in a space of this name."""

    kind = "no_such_space"

    def __init__(self, space: str) -> None:
        super().__init__(
            f"there is no memory in `{space}`", hint="`madeleine space list`", space=space
        )


class SpaceTaken(Rejected):
    """A space is to be called as another one is called already."""

    kind = "space_taken"

    def __init__(self, old: str, new: str) -> None:
        super().__init__(
            f"there are memories in `{new}` already",
            hint=f"`madeleine space merge {old} {new}` makes one of both",
            space=new,
        )


@dataclass(frozen=True, slots=True)
class MovedSpace:
    """How many memories are now in another space, and the change that did it."""

    memories: int
    change: str
    notes: tuple[Cause, ...] = ()


def rename_space(stores: Stores, old: str, new: str, by: str = "unknown") -> MovedSpace:
    """Give all memories of a space another one, in which there is nothing yet."""
    if _has_memories(stores, new):
        raise SpaceTaken(old, new)
    return merge_spaces(stores, old, new, by)


def merge_spaces(stores: Stores, source: str, target: str, by: str = "unknown") -> MovedSpace:
    """Put all memories of one space into another."""
    if source == target:
        raise Rejected(f"both are `{source}`", hint="name two spaces")
    chosen = Filter(spaces=(source,), outdated=True)
    found = stores.search.listing(chosen, stores.clock.now(), MAX_MEMORIES)
    if not found:
        raise NoSuchSpace(source)
    hand = make_change_context(stores, by, f"space {source} became {target}")
    edits = []
    for each in found:
        current = hand.read(each.id)
        moved = replace(current.memory, space=target, updated=hand.at)
        edits.append(current.edit(moved))
    change = hand.change("revise", edits)
    notes = commit(stores, change)
    stores.known_spaces.read_at = None
    return MovedSpace(len(change.edits), change.id, notes)


def _has_memories(stores: Stores, space: str) -> bool:
    chosen = Filter(spaces=(space,), outdated=True)
    return bool(stores.search.listing(chosen, stores.clock.now(), 1))
