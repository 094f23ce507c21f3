"""Approval: what an agent remembers waits until a person says yes.

With `write.approval = "agents"` a draft of an agent becomes a proposal that carries the whole file.
The memory does not exist until somebody approves it, so nothing can recall, whisper or brief it.
Approving writes the file, with the connections it started with, and what it replaces ends then.
Rejecting puts the file into the trash, from which it can be restored for as long as the trash is
kept. Either is a change that can be undone. What an agent wants a memory to say from now on waits
in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator

from madeleine.language.text_keys import same_text_key
from madeleine.model.cause import Cause, NoteKind
from madeleine.model.draft import Draft
from madeleine.model.fingerprint import NO_FINGERPRINT
from madeleine.model.memory import Memory
from madeleine.model.proposal import Proposal, ProposalStatus, ProposalType
from madeleine.model.revision import Revision
from madeleine.vault.markdown import read_memory
from madeleine.write.actions import REMEMBER, remember_action, revise_action
from madeleine.write.agent_writes import (
    refuse_excluded_draft,
    refuse_excluded_revision,
    waits_for_approval,
)
from madeleine.write.change_file import ChangeResult, add_usage, read_current
from madeleine.write.embedding import embed_memory
from madeleine.write.identity import ensure_self
from madeleine.write.pending_repairs import run_pending_repairs
from madeleine.write.proposals import add_states, propose
from madeleine.write.questions import question_key
from madeleine.write.remember import (
    RememberResult,
    SimilarNeighbour,
    build_memory,
    connect_memory,
    find_known,
    read_similar,
    remember,
    settle_known,
)
from madeleine.write.resolve import resolve_id
from madeleine.write.revise import resolve_revision, revise
from madeleine.write.stores import Stores

_WAITING_FILE = "waiting.md"  # where a memory that has no file yet is said to stand


def remember_as(stores: Stores, draft: Draft, by: str) -> RememberResult:
    """Remember a draft for somebody: of an agent only what is not kept out, and where a person is
    to say yes to it, once they did."""
    refuse_excluded_draft(stores.config, draft, by)
    if waits_for_approval(stores.config, by):
        return hold_draft(stores, draft, by)
    return remember(stores, draft)


def revise_as(
    stores: Stores, wanted: str, revision: Revision, by: str, author: str
) -> ChangeResult:
    """Revise a memory for its `author`, as `remember_as` remembers: what an agent wants it to say
    waits where a person is to say yes. The change is noted as made `by` whoever asked."""
    refuse_excluded_revision(stores.config, revision, author)
    if waits_for_approval(stores.config, author):
        return _hold_revision(stores, wanted, revision, author)
    return revise(stores, wanted, revision, by)


def _hold_revision(stores: Stores, wanted: str, revision: Revision, by: str) -> ChangeResult:
    """Ask whether a memory is to say something else, and return it as it is."""
    memory_id = resolve_id(stores, wanted)
    memory = read_current(stores, memory_id).memory
    revised = resolve_revision(stores, memory_id, revision, by)(memory)
    if revised == memory:
        return ChangeResult(add_usage(stores, memory), None)
    action = {**revise_action(revised), "by": by}
    proposal = propose(
        stores,
        ProposalType.REMEMBER,
        (memory_id,),
        f"let `{memory.short_id}` ({memory.headline}) say something else",
        add_states(action, [memory], question_key(action["memory"], [memory])),
        f"{by} asked for it",
    )
    note = Cause(NoteKind.WAITS_FOR_YES, {"memory": memory_id, "proposal": proposal.id})
    return ChangeResult(add_usage(stores, memory), None, (note,))


def hold_draft(stores: Stores, draft: Draft, by: str) -> RememberResult:
    """Ask whether a draft is to be remembered, and return the memory that it would become. One
    that is known, or waits already, is not asked about again."""
    run_pending_repairs(stores)
    known = find_known(stores, draft)
    if known is not None:
        return settle_known(stores, draft, known)
    waiting = _find_waiting(stores, draft)
    if waiting is not None:
        return _build_result(*waiting, existing=True)
    memory = build_memory(stores, draft)
    traces, _ = embed_memory(stores, memory)
    connected = connect_memory(stores, draft, memory, traces, {})
    if draft.about_self:
        ensure_self(stores)
    with stores.writing:
        waiting = _find_waiting(stores, draft)
        if waiting is not None:
            return _build_result(*waiting, existing=True)
        proposal = propose(
            stores,
            ProposalType.REMEMBER,
            (memory.id,),
            f"remember `{memory.short_id}` ({memory.headline})",
            {**remember_action(connected.memory, connected.replaced), "by": by},
            f"{by} asked to keep it",
        )
    similar = read_similar(stores, connected.similar, frozenset(connected.replaced))
    return _build_result(proposal, connected.memory, similar=similar)


def read_proposed_memory(proposal: Proposal) -> Memory:
    """Return the memory that a proposal of this kind would write."""
    text = dict(proposal.action)["memory"].encode("utf-8")
    return read_memory(_WAITING_FILE, text, NO_FINGERPRINT).memory


def _find_waiting(stores: Stores, draft: Draft) -> tuple[Proposal, Memory] | None:
    """Return what waits already and says the same, or has the id that the draft asks for."""
    key = same_text_key(draft.content)
    for proposal, memory in _read_waiting(stores):
        is_same = same_text_key(memory.content) == key and memory.space == draft.space
        if memory.id == draft.id or is_same:
            return proposal, memory
    return None


def _read_waiting(stores: Stores) -> Iterator[tuple[Proposal, Memory]]:
    for each in stores.log.proposals(ProposalStatus.PENDING):
        if each.type is ProposalType.REMEMBER and dict(each.action)["verb"] == REMEMBER:
            yield each, read_proposed_memory(each)


def _build_result(
    proposal: Proposal,
    memory: Memory,
    existing: bool = False,
    similar: tuple[SimilarNeighbour, ...] = (),
) -> RememberResult:
    note = Cause(NoteKind.WAITS_FOR_YES, {"memory": memory.id, "proposal": proposal.id})
    return RememberResult(
        memory, existing=existing, notes=(note,), similar=similar, proposal=proposal.id
    )
