"""The core tier holds few memories: what is over the cap goes back to working."""

from __future__ import annotations

from dataclasses import replace

from madeleine.errors import MadeleineError
from madeleine.model.memory import Memory
from madeleine.model.words import Tier
from madeleine.write.change_file import change_memory
from madeleine.write.stores import Stores


def enforce_core_cap(stores: Stores, memory: Memory) -> tuple[str, ...]:
    """Demote the least important core memories over the cap, after `memory` was written;
    return what to say about it.

    The self is never among them. Of equals, the one just written stays. One that cannot be
    changed now is passed over: the next in order goes instead.
    """
    if memory.tier is not Tier.CORE:
        return ()
    core = stores.index.core_by_importance()
    order = sorted(core, key=lambda each: (each[1], each[0] == memory.id))
    surplus = len(core) - stores.habits.core_cap
    demoted: list[str] = []
    for memory_id, _ in order:
        if len(demoted) >= surplus:
            break
        if _demote(stores, memory_id):
            demoted.append(memory_id[:8])
    return (f"core is full: moved {', '.join(demoted)} to working",) if demoted else ()


def _demote(stores: Stores, memory_id: str) -> bool:
    reason = f"core holds at most {stores.habits.core_cap}"
    try:
        change_memory(
            stores,
            memory_id,
            lambda memory: replace(memory, tier=Tier.WORKING),
            verb="demote",
            by="core_cap",
            reason=reason,
        )
    except MadeleineError:
        return False
    return True
