"""Synthesis: a new memory says what several others say, and they go to the archive.

Nothing is lost by it: the others keep their text, their file and their connections, and the
new memory names each of them with `derived_from`. All of it is one change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from madeleine.errors import IdTaken, Rejected
from madeleine.model.change import Change, FileEdit
from madeleine.model.memory import Memory
from madeleine.model.words import SELF_SOURCE, Edge, Tier
from madeleine.vault.markdown import render_memory
from madeleine.write.change_file import ChangeContext


def plan_synthesis(hand: ChangeContext, memory: Memory, members: Sequence[str]) -> Change:
    """Return the change that writes a new memory and archives those that it was made from."""
    _check_members(memory, members)
    if hand.stores.search.get(memory.id) is not None:
        raise IdTaken(memory.id)
    path = hand.stores.vault.path_for(memory)
    new = FileEdit(memory.id, None, None, path, render_memory(memory))
    archived = [_plan_archiving(hand, each) for each in members]
    return hand.change("synthesise", [new, *archived], {"members": list(members)})


def plan_summary(hand: ChangeContext, memory: Memory) -> Change:
    """Return the change that writes a summary, or makes its file say this. What it sums up is
    left as it is."""
    if hand.stores.search.get(memory.id) is None:
        path = hand.stores.vault.path_for(memory)
        return hand.change(
            "summarise", [FileEdit(memory.id, None, None, path, render_memory(memory))]
        )
    return hand.change("summarise", [hand.read(memory.id).edit(memory)])


def _check_members(memory: Memory, members: Sequence[str]) -> None:
    named = {each.target for each in memory.connections if each.edge is Edge.DERIVED_FROM}
    if not members or named != set(members):
        raise Rejected(
            f"`{memory.short_id}` does not name just those it was made from",
            hint="give it a derived_from connection to each of them",
        )


def _plan_archiving(hand: ChangeContext, memory_id: str) -> FileEdit:
    current = hand.read(memory_id)
    if current.memory.source == SELF_SOURCE:
        raise Rejected("the self cannot be archived", hint="leave it out")
    return current.edit(replace(current.memory, tier=Tier.ARCHIVAL))
