"""The core tier holds few memories: what is over the cap goes back to working."""

from __future__ import annotations

from dataclasses import replace

from madeleine.model.words import Tier
from madeleine.write.change_file import change_memory
from madeleine.write.stores import Stores


def enforce_core_cap(stores: Stores, spare: str | None = None) -> list[str]:
    """Demote the least important core memories over the cap; return their short ids.

    The self is never among them. Of equals, the one just written (`spare`) stays.
    """
    core = stores.index.core_by_importance()
    surplus = len(core) - stores.habits.core_cap
    if surplus <= 0:
        return []
    order = sorted(core, key=lambda each: (each[1], each[0] == spare))
    demoted = [memory_id for memory_id, _ in order[:surplus]]
    for memory_id in demoted:
        change_memory(
            stores,
            memory_id,
            lambda memory: replace(memory, tier=Tier.WORKING),
            verb="demote",
            by="core_cap",
            reason=f"core holds at most {stores.habits.core_cap}",
        )
    return [memory_id[:8] for memory_id in demoted]
