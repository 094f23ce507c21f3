"""Whom a change concerns beside those whose files it writes: it stands in their history too.

A connection that is drawn or taken away concerns the memory at its other end, a successor the
memory that it replaces, and a merge the memory that stays, even if its file stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from madeleine.errors import FileUnreadable
from madeleine.model.change import Change, FileEdit
from madeleine.model.fingerprint import Fingerprint
from madeleine.vault.markdown import read_memory

CONCERNS = "concerns"  # where the details of a change name them
MERGED = ("kept", "removed")  # how the details of a merge name both

_NOWHERE = Fingerprint(0, 0)
_MARK = (b"target:", b"superseded_by:")


def with_concerned(change: Change) -> Change:
    """Return the change with those named in its details that it concerns."""
    written = {edit.memory_id for edit in change.edits}
    ends = {end for edit in change.edits for end in _other_ends(edit)}
    named = {*ends, *concerned_in(change.details)} - written
    if not named:
        return change
    return replace(change, details={**change.details, CONCERNS: sorted(named)})


def concerned_in(details: Mapping[str, object]) -> set[str]:
    """Return whom the details of a change name."""
    listed = details.get(CONCERNS)
    named: Iterable[object] = listed if isinstance(listed, list) else ()
    merged = (details.get(each) for each in MERGED)
    return {each for each in (*named, *merged) if isinstance(each, str)}


def _other_ends(edit: FileEdit) -> set[str]:
    """Return the memories that an edit points to for the first time, or no longer."""
    if edit.before == edit.after:
        return set()
    before, after = _pointers(edit.before), _pointers(edit.after)
    return {end for end, _ in before ^ after}


def _pointers(data: bytes | None) -> set[tuple[str, str]]:
    if data is None or not any(each in data for each in _MARK):
        return set()
    try:
        memory = read_memory("", data, _NOWHERE).memory
    except FileUnreadable:
        return set()
    found = {(each.target, each.edge.value) for each in memory.connections}
    return found | ({(memory.superseded_by, "")} if memory.superseded_by else set())
