"""The memories that a change concerns beside those whose files it writes, for their history.

A connection that is drawn or taken away concerns the memory at its other end, a successor the
memory that it replaces, and a merge the memory that stays, even if its file stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from madeleine.errors import FileUnreadable
from madeleine.model.change import Change, FileEdit
from madeleine.model.fingerprint import NO_FINGERPRINT
from madeleine.vault.markdown import read_memory

CONCERNS_KEY = "concerns"  # where the details of a change name them
MERGE_KEYS = ("kept", "removed")  # how the details of a merge name both

_POINTER_KEYS = (b"target:", b"superseded_by:")


def add_concerned(change: Change) -> Change:
    """Return the change with those named in its details that it concerns."""
    written = {edit.memory_id for edit in change.edits}
    ends = {end for edit in change.edits for end in _find_changed_ends(edit)}
    named = {*ends, *read_concerned(change.details)} - written
    if not named:
        return change
    return replace(change, details={**change.details, CONCERNS_KEY: sorted(named)})


def read_concerned(details: Mapping[str, object]) -> set[str]:
    """Return the memories that the details of a change name."""
    listed = details.get(CONCERNS_KEY)
    named: Iterable[object] = listed if isinstance(listed, list) else ()
    merged = (details.get(each) for each in MERGE_KEYS)
    return {each for each in (*named, *merged) if isinstance(each, str)}


def _find_changed_ends(edit: FileEdit) -> set[str]:
    """Return the memories that an edit points to for the first time, or no longer."""
    if edit.before == edit.after:
        return set()
    before, after = _read_pointers(edit.before), _read_pointers(edit.after)
    return {end for end, _ in before ^ after}


def _read_pointers(data: bytes | None) -> set[tuple[str, str]]:
    if data is None or not any(each in data for each in _POINTER_KEYS):
        return set()
    try:
        memory = read_memory("", data, NO_FINGERPRINT).memory
    except FileUnreadable:
        return set()
    found = {(each.target, each.edge.value) for each in memory.connections}
    return found | ({(memory.superseded_by, "")} if memory.superseded_by else set())
