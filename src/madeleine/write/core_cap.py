"""The core tier holds few memories: what is over the cap goes back to working.

The least important ones go. The self counts and never goes. What a person put back into core
after it went, by taking the change back or by editing the file once more, stays there: the next
one in order goes instead. Each demotion is a change of its own, in the history of its memory.

The cap is held when a verb writes a core memory, and after files were looked through for edits
by hand; never while something is only read (I3).
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from madeleine.errors import MadeleineError
from madeleine.model.cause import Cause, NoteKind
from madeleine.model.change import Change
from madeleine.model.memory import Memory
from madeleine.model.words import Tier
from madeleine.write.change_file import CurrentFile, read_current
from madeleine.write.commit import commit
from madeleine.write.questions import CORE_CAP, core_demotion_deed, rejected_keys
from madeleine.write.stores import Stores


def enforce_core_cap(stores: Stores, memory: Memory) -> tuple[Cause, ...]:
    """Hold the cap after `memory` was written; return what to say about it."""
    return describe_demotions(hold_core_cap(stores)) if memory.tier is Tier.CORE else ()


def hold_core_cap(stores: Stores, run: str | None = None) -> list[str]:
    """Demote the least important core memories over the cap; return their ids. Who does it in a
    run names it, so that the run can be taken back whole.

    Of equals, the one goes whose file has been as it is for longest: what was just written, by a
    verb or by hand, stays. One that cannot be changed now is passed over: the next in order goes
    instead. Nobody else writes meanwhile: two that counted the same surplus would both take it
    away.
    """
    with stores.writing:
        surplus = count_over_cap(stores)
        return _demote_least(stores, surplus, run) if surplus else []


def _demote_least(stores: Stores, surplus: int, run: str | None) -> list[str]:
    core = stores.search.core_by_importance()
    rejected = rejected_keys(stores)
    demoted: list[str] = []
    for memory_id, _ in sorted(core, key=lambda each: (each[1], _file_mtime(stores, each[0]))):
        if len(demoted) >= surplus:
            break
        if _demote_memory(stores, memory_id, rejected, run):
            demoted.append(memory_id)
    return demoted


def count_over_cap(stores: Stores) -> int:
    """Return how many memories there are in core beyond its cap; the self is one of them."""
    self_id = stores.graph.self_id()
    known = stores.search.memories([self_id]) if self_id is not None else {}
    selves = sum(each.tier is Tier.CORE for each in known.values())
    return max(len(stores.search.core_by_importance()) + selves - stores.config.write.core_cap, 0)


def describe_demotions(demoted: Sequence[str]) -> tuple[Cause, ...]:
    """Return the note about memories that the cap moved."""
    return (Cause(NoteKind.CORE_FULL, {"memories": list(demoted)}),) if demoted else ()


def _file_mtime(stores: Stores, memory_id: str) -> int:
    stored = stores.search.get(memory_id)
    return stored.fingerprint.mtime_ns if stored else 0


def _demote_memory(
    stores: Stores, memory_id: str, rejected: Container[str], run: str | None
) -> bool:
    try:
        current = read_current(stores, memory_id)
        deed = core_demotion_deed(current.memory)
        if current.memory.tier is not Tier.CORE or deed["key"] in rejected:
            return False
        commit(stores, _plan_demotion(stores, current, deed, run))
    except MadeleineError:
        return False
    return True


def _plan_demotion(
    stores: Stores, current: CurrentFile, deed: dict[str, object], run: str | None
) -> Change:
    return Change(
        stores.new_id(),
        "demote",
        (current.edit(replace(current.memory, tier=Tier.WORKING)),),
        by=CORE_CAP,
        reason=f"core holds at most {stores.config.write.core_cap}",
        run=run,
        details={"deeds": [deed]},
    )
