"""Rename a space, or merge one into another: one change over all of its files, with one undo."""

from __future__ import annotations

from dataclasses import dataclass, replace

from madeleine.errors import Rejected, SpaceIsEmpty, SpaceTaken
from madeleine.model.cause import Cause
from madeleine.model.query import Filter
from madeleine.model.spaces import BRANCH_MARK
from madeleine.write.change_file import make_change_context
from madeleine.write.commit import commit
from madeleine.write.stores import Stores

MAX_MEMORIES = 100_000  # of a space that can be renamed in one change


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
    """Put all memories of one space into another; what holds on branches of one holds on branches
    of the other then."""
    if source == target:
        raise Rejected(f"both are `{source}`", hint="name two spaces")
    beside = f"{source}{BRANCH_MARK}"
    known = stores.search.counts().by_space
    branches = sorted(each for each in known if each.startswith(beside))
    chosen = Filter(spaces=(source, *branches), outdated=True)
    found = stores.search.listing(chosen, stores.clock.now(), MAX_MEMORIES)
    if not found:
        raise SpaceIsEmpty(source)
    hand = make_change_context(stores, by, f"space {source} became {target}")
    edits = []
    for each in found:
        current = hand.read(each.id)
        branch = (current.memory.space or "").removeprefix(source)
        moved = replace(current.memory, space=f"{target}{branch}", updated=hand.at)
        edits.append(current.edit(moved))
    change = hand.change("revise", edits)
    notes = commit(stores, change)
    stores.known_spaces.read_at = None
    return MovedSpace(len(change.edits), change.id, notes)


def _has_memories(stores: Stores, space: str) -> bool:
    chosen = Filter(spaces=(space,), outdated=True)
    return bool(stores.search.listing(chosen, stores.clock.now(), 1))
