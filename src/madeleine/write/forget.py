"""Forget and restore: to the trash and back, byte for byte."""

from __future__ import annotations

from dataclasses import dataclass

from madeleine.errors import AmbiguousId, MemoryChoice, NotInTrash, Rejected
from madeleine.model.change import Change, FileEdit
from madeleine.model.event import Event
from madeleine.model.memory import Memory
from madeleine.model.proposal import ProposalType
from madeleine.model.words import SELF_SOURCE
from madeleine.write.change_file import ChangeContext, ChangeResult, add_usage, make_change_context
from madeleine.write.commit import commit
from madeleine.write.questions import FORGET_QUESTION, question_key, refusal_events
from madeleine.write.resolve import resolve_id
from madeleine.write.stores import Stores
from madeleine.write.summaries import summary_refusals


@dataclass(frozen=True, slots=True)
class ForgetResult:
    """What was forgotten, and where its file is now."""

    memory: Memory
    change: str
    trash_path: str


def forget(
    stores: Stores, wanted: str, by: str = "unknown", reason: str | None = None
) -> ForgetResult:
    """Move a memory's file to the trash. Connections that point to it wait for its return.
    Who forgets a summary does not want one of these memories."""
    memory_id = resolve_id(stores, wanted)
    hand = make_change_context(stores, by, reason)
    memory = hand.read(memory_id).memory
    change = plan_forget(hand, memory_id)
    commit(stores, change, summary_refusals(stores, memory, by))
    return ForgetResult(memory, change.id, str(change.edits[0].path_after))


def plan_forget(hand: ChangeContext, memory_id: str) -> Change:
    """Return the change that moves a memory's file to the trash."""
    current = hand.read(memory_id)
    if current.memory.source == SELF_SOURCE:
        raise Rejected("the self cannot be forgotten", hint="revise it instead")
    path = hand.stores.vault.trash_path(current.path)
    return hand.change(
        "forget", [FileEdit(memory_id, current.path, current.data, path, current.data)]
    )


def _refuse_forgetting_again(stores: Stores, memory: Memory, by: str) -> list[Event]:
    """Return the events that keep a job from forgetting a memory again that somebody brought
    back, as long as it says the same."""
    wording = f"move `{memory.short_id}` ({memory.headline}) to the trash"
    key = question_key(FORGET_QUESTION, [memory])
    deed = {"type": ProposalType.DECAY.value, "nodes": [memory.id], "wording": wording, "key": key}
    return refusal_events(stores, [deed], by)


def restore(stores: Stores, wanted: str, by: str = "unknown") -> ChangeResult:
    """Bring a forgotten memory back as it was, where it was if that name is still free."""
    found = list(stores.vault.find_trashed(wanted))
    if not found:
        raise NotInTrash(wanted)
    if len({each.memory.id for each in found}) > 1:
        raise AmbiguousId(
            wanted, [MemoryChoice(each.memory.id, each.memory.headline) for each in found]
        )
    stored = found[-1]
    if stores.search.get(stored.memory.id) is not None:
        raise Rejected(
            f"`{stored.memory.short_id}` is in the vault again already",
            hint=f"look at `madeleine show {stored.memory.short_id}`",
        )
    data = stores.vault.read_bytes(stored.path)
    path = stores.vault.untrash_path(stored)
    edit = FileEdit(stored.memory.id, stored.path, data, path, data)
    change = Change(stores.new_id(), "restore", (edit,), by)
    notes = commit(stores, change, _refuse_forgetting_again(stores, stored.memory, by))
    return ChangeResult(add_usage(stores, stored.memory), change.id, notes)
