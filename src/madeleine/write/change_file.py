"""Changing what one memory's file says, and the pieces that multi-file changes share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple, TypeVar

from madeleine.errors import FileChanged, NoSuchMemory
from madeleine.model.cause import Cause
from madeleine.model.change import Change, FileEdit
from madeleine.model.digest import memory_version
from madeleine.model.fingerprint import NO_FINGERPRINT
from madeleine.model.memory import Memory
from madeleine.vault.markdown import read_memory, revise_file
from madeleine.write.commit import commit
from madeleine.write.reconcile import reconcile
from madeleine.write.stores import Stores

AttemptResult = TypeVar("AttemptResult")

MAX_ATTEMPTS = 5  # more than anybody can be in the way by chance


@dataclass(frozen=True, slots=True)
class ChangeResult:
    """What a verb did. No `change` id: the file already said so and nothing was written."""

    memory: Memory
    change: str | None
    notes: tuple[Cause, ...] = ()


@dataclass(frozen=True, slots=True)
class CurrentFile:
    """A memory as its file says it at this moment, which may be newer than the index."""

    memory: Memory
    path: str
    data: bytes

    def edit(self, memory: Memory) -> FileEdit:
        """Return the edit that makes the file say `memory`."""
        after = revise_file(self.data, memory, self.memory)
        return FileEdit(memory.id, self.path, self.data, self.path, after)


@dataclass(frozen=True, slots=True)
class ChangeContext:
    """Who changes something, when, why and in which run, and how files are looked at first.

    With it a verb's `plan_…` returns the change that it would commit, so that what is shown
    before, proposed, approved and done is one and the same. It looks and writes nothing.
    """

    stores: Stores
    read: Callable[[str], CurrentFile]
    at: datetime
    by: str = "unknown"
    reason: str | None = None
    run: str | None = None

    def change(
        self, verb: str, edits: Sequence[FileEdit], details: Mapping[str, object] | None = None
    ) -> Change:
        """Return a change of those edits that change something."""
        real = tuple(each for each in edits if _has_effect(each))
        return Change(
            self.stores.new_id(), verb, real, self.by, self.reason, self.run, dict(details or {})
        )


def make_change_context(
    stores: Stores, by: str = "unknown", reason: str | None = None, run: str | None = None
) -> ChangeContext:
    """Return the hand of somebody who changes something now."""
    return ChangeContext(
        stores, lambda each: read_current(stores, each), stores.clock.now(), by, reason, run
    )


def refuse_other_version(memory: Memory, seen: str | None) -> None:
    """Refuse what was decided by a look at a memory that says something else by now."""
    if seen is not None and seen != memory_version(memory):
        raise FileChanged(f"`{memory.short_id}`")


def _has_effect(edit: FileEdit) -> bool:
    return (edit.path_before, edit.before) != (edit.path_after, edit.after)


def read_current(stores: Stores, memory_id: str) -> CurrentFile:
    """Read a memory's file as it is now.

    The index may be behind a hand that renamed, swapped or edited files a moment ago: a file
    that says another id is not taken, the vault is looked through and the right one found.
    """
    current = find_current(stores, memory_id)
    if current is None:
        reconcile(stores)
        current = find_current(stores, memory_id)
    if current is None:
        raise NoSuchMemory(memory_id)
    return current


def find_current(stores: Stores, memory_id: str) -> CurrentFile | None:
    """Read a memory's file where the index knows it; nothing if it is not there."""
    path = stores.search.path_of(memory_id)
    data = stores.vault.bytes_or_none(path)
    if path is None or data is None:
        return None
    memory = read_memory(path, data, NO_FINGERPRINT).memory
    return CurrentFile(memory, path, data) if memory.id == memory_id else None


def change_memory(
    stores: Stores,
    memory_id: str,
    make: Callable[[Memory], Memory],
    *,
    verb: str,
    by: str,
    reason: str | None = None,
    run: str | None = None,
) -> ChangeResult:
    """Make one memory's file say what `make` returns, and commit that as one change.

    When somebody else changes the file at the same moment, it is read again and `make` asked
    anew, so that two who change one memory at once both get their way.
    """
    how = _ChangeMetadata(verb, by, reason, run)
    return retry_on_conflict(lambda: _change_once(stores, memory_id, make, how))


def retry_on_conflict(attempt: Callable[[], AttemptResult]) -> AttemptResult:
    """Try again what a file stood in the way of that somebody changed at the same moment."""
    for _ in range(MAX_ATTEMPTS - 1):
        try:
            return attempt()
        except FileChanged:
            continue
    return attempt()


class _ChangeMetadata(NamedTuple):
    """What the journal says about a change beside the files."""

    verb: str
    by: str
    reason: str | None
    run: str | None


def _change_once(
    stores: Stores, memory_id: str, make: Callable[[Memory], Memory], how: _ChangeMetadata
) -> ChangeResult:
    current = read_current(stores, memory_id)
    wanted = make(current.memory)
    if wanted == current.memory:
        return ChangeResult(add_usage(stores, current.memory), None)
    details: dict[str, object] = {"revived": True} if _is_revived(current.memory, wanted) else {}
    change = Change(stores.new_id(), how.verb, (current.edit(wanted),), *how[1:], details)
    notes = commit(stores, change)
    return ChangeResult(add_usage(stores, wanted), change.id, notes)


def _is_revived(before: Memory, after: Memory) -> bool:
    """Whether a change takes away the end of a memory that had ceased to hold."""
    until = before.valid_until
    over = before.superseded_by is not None or (until is not None and until <= after.updated)
    return over and after.valid_until is None and after.superseded_by is None


def add_usage(stores: Stores, memory: Memory) -> Memory:
    """Return the memory with its usage, which the index knows. What it says is taken from the
    file: an edit by hand may not have reached the index yet."""
    stored = stores.search.get(memory.id)
    return replace(memory, usage=stored.memory.usage) if stored else memory
