"""What a person said no to is left alone, as long as the memories say the same.

No is said by rejecting a proposal, by taking back what a job did, or by putting a memory back to
where a job took it from. It holds whoever judges, however sure, asked or unasked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from madeleine.sleep.deeds import deeds, question_of
from madeleine.sleep.values import Link, Patch, Score
from madeleine.write.questions import pending_keys, rejected_keys
from madeleine.write.stores import Stores


def without_refused(stores: Stores, patches: Iterable[Patch]) -> list[Patch]:
    """Return the patches that nobody said no to, and about which nobody is being asked. Of
    several connections those go that were refused one by one."""
    refused = rejected_keys(stores) | pending_keys(stores)
    if not refused:
        return list(patches)
    left = (_left(each, refused) for each in patches)
    return [each for each in left if each is not None]


def _left(patch: Patch, refused: set[str]) -> Patch | None:
    action = patch.action
    if isinstance(action, Score):
        return patch
    if question_of(action) in refused:
        return None
    if isinstance(action, Link):
        kept = tuple(
            connection
            for connection, deed in zip(action.connections, deeds(action), strict=True)
            if deed["key"] not in refused
        )
        return replace(patch, action=replace(action, connections=kept)) if kept else None
    return patch
