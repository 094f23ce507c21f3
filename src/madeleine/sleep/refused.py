"""What a person said no to is left alone, as long as the memories say the same.

No is said by rejecting a proposal, by taking back what a job did, or by putting a memory back to
where a job took it from. It holds whoever judges, however sure, asked or unasked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from madeleine.sleep.actions import action_question_key, build_deeds
from madeleine.sleep.values import AddConnections, Patch, Score
from madeleine.write.questions import pending_keys, rejected_keys
from madeleine.write.stores import Stores


def drop_refused(stores: Stores, patches: Iterable[Patch]) -> list[Patch]:
    """Return the patches that nobody said no to, and about which nobody is being asked. Of
    several connections those go that were refused one by one."""
    refused = rejected_keys(stores) | pending_keys(stores)
    if not refused:
        return list(patches)
    left = (_remove_refused(each, refused) for each in patches)
    return [each for each in left if each is not None]


def _remove_refused(patch: Patch, refused: set[str]) -> Patch | None:
    action = patch.action
    if isinstance(action, Score):
        return patch
    if action_question_key(action) in refused:
        return None
    if isinstance(action, AddConnections):
        kept = tuple(
            connection
            for connection, deed in zip(action.connections, build_deeds(action), strict=True)
            if deed["key"] not in refused
        )
        return replace(patch, action=replace(action, connections=kept)) if kept else None
    return patch
