"""Proposals: changes that wait for a person or an agent.

A proposal carries its action as plain values, and approving it carries out just that action:
what was shown is what happens. It also carries what the memories said when it was made. One
whose memories changed since is not carried out; one that was decided, or waited too long, is
not made again as long as they say the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from madeleine.errors import (
    AlreadyDone,
    BeingDecided,
    MadeleineError,
    NoSuchProposal,
    OutdatedProposal,
)
from madeleine.index.log import EventLog
from madeleine.model.change import Change
from madeleine.model.digest import state_digest
from madeleine.model.event import Event, EventKind
from madeleine.model.memory import Memory
from madeleine.model.proposal import Proposal, ProposalStatus, ProposalType
from madeleine.write.actions import ActionFields, check_verb, plan_action, plan_refusal
from madeleine.write.change_file import (
    ChangeContext,
    CurrentFile,
    find_current,
    make_change_context,
    read_current,
)
from madeleine.write.commit import commit
from madeleine.write.diffs import render_diff
from madeleine.write.questions import (
    MAX_DECISIONS_READ,
    UNANSWERED_REASON,
    decision_event,
    proposal_body,
    withdraw_contrasts,
)
from madeleine.write.record import new_event, record_events
from madeleine.write.stores import Stores
from madeleine.write.undo import ENDED_OUTCOMES

FileReading = Callable[[str], CurrentFile]


@dataclass(frozen=True, slots=True)
class ProposalDecision:
    """A proposal after its decision, and the change that carried it out."""

    proposal: Proposal
    change: str | None = None


@dataclass(frozen=True, slots=True)
class ProposalPreview:
    """A proposal with what it would do to files; `problem` says why it cannot be done now, and
    `changed` is the memory that says something else by now, or is gone, if that is why."""

    proposal: Proposal
    difference: str = ""
    problem: str | None = None
    changed: str | None = None


# -- making --------------------------------------------------------------------------------


def propose(
    stores: Stores,
    proposal_type: ProposalType,
    nodes: tuple[str, ...],
    wording: str,
    action: ActionFields,
    reason: str | None = None,
) -> Proposal:
    """Write a proposal down and return it."""
    made = new_proposal(stores, proposal_type, nodes, wording, action, reason)
    record_proposals(stores, [made])
    return made


def new_proposal(
    stores: Stores,
    proposal_type: ProposalType,
    nodes: tuple[str, ...],
    wording: str,
    action: ActionFields,
    reason: str | None = None,
) -> Proposal:
    """Return a proposal that is not written down yet."""
    check_verb(action)
    return Proposal(
        id=stores.new_id(),
        type=proposal_type,
        source_nodes=nodes,
        proposed_action=wording,
        created=stores.clock.now(),
        reason=reason,
        action=tuple(sorted(action.items())),
    )


def record_proposals(stores: Stores, proposals: Sequence[Proposal]) -> None:
    """Write proposals down, all of them or none."""
    if proposals:
        events = [new_event(stores, EventKind.PROPOSED, proposal_body(each)) for each in proposals]
        record_events(stores, events, durable=True)


def add_states(action: ActionFields, memories: Sequence[Memory], key: str) -> dict[str, str]:
    """Return the action with what these memories say now, and the key of its question."""
    states = {each.id: state_digest(each) for each in memories}
    return {**action, "states": json.dumps(states), "key": key}


def expire_proposals(stores: Stores, before: datetime, by: str) -> int:
    """Let go of proposals that nobody decided since then, or whose memories say something else
    by now, or that are no question any more; return how many."""
    withdrawn = withdraw_contrasts(stores, by)
    pending = [
        each
        for each in stores.log.proposals(ProposalStatus.PENDING)
        if each.type is not ProposalType.REMEMBER  # nothing of it would be left
    ]
    known = stores.search.memories({memory for each in pending for memory in _read_states(each)})
    over = [each for each in pending if each.created < before or _is_outdated(each, known)]
    if over:
        status = ProposalStatus.EXPIRED
        reasons = [UNANSWERED_REASON if each.created < before else None for each in over]
        events = [
            decision_event(stores, each, status, by, None, reason)
            for each, reason in zip(over, reasons, strict=True)
        ]
        record_events(stores, events, durable=True)
    return withdrawn + len(over)


def _is_outdated(proposal: Proposal, known: Mapping[str, Memory]) -> bool:
    return any(
        memory not in known or state_digest(known[memory]) != state
        for memory, state in _read_states(proposal).items()
    )


def _read_states(proposal: Proposal) -> dict[str, str]:
    """Return what the memories said when a proposal was made."""
    return dict(json.loads(dict(proposal.action).get("states", "{}")))


# -- deciding ------------------------------------------------------------------------------


def decide_proposal(
    stores: Stores,
    wanted: str,
    status: ProposalStatus,
    by: str = "unknown",
    run: str | None = None,
) -> ProposalDecision:
    """Approve or reject a pending proposal; approving carries out exactly what it says. `run` is
    the id by which all that is decided at once can be taken back."""
    proposal = find_proposal(stores, wanted)
    with _hold_decision(stores, proposal.id):
        _check_pending(find_proposal(stores, proposal.id))
        change = None
        planned = _plan_decision(stores, proposal, status, by, run)
        if planned is not None and planned.edits:
            change = planned.id
            commit(stores, planned)
        decided = decision_event(stores, proposal, status, by, change, run=run)
        record_events(stores, [decided], durable=True)
    return ProposalDecision(find_proposal(stores, proposal.id), change)


@dataclass(frozen=True, slots=True)
class DecidedAtOnce:
    """What became of several proposals that were decided at once; `undo` with `run` takes all of
    it back: what was approved is undone, what was rejected waits again."""

    run: str
    decided: tuple[ProposalDecision, ...]
    refused: tuple[tuple[Proposal, MadeleineError], ...]


def decide_proposals(
    stores: Stores,
    proposals: Sequence[Proposal],
    status: ProposalStatus,
    by: str = "unknown",
    run: str | None = None,
) -> DecidedAtOnce:
    """Decide proposals one after the other; one that cannot be decided keeps none of the others.
    Stopping halfway is safe: what was decided can be taken back by the run."""
    run = run or stores.new_id()
    decided: list[ProposalDecision] = []
    refused: list[tuple[Proposal, MadeleineError]] = []
    for each in proposals:
        try:
            decided.append(decide_proposal(stores, each.id, status, by, run))
        except MadeleineError as error:
            refused.append((each, error))
    return DecidedAtOnce(run, tuple(decided), tuple(refused))


def find_proposals(
    stores: Stores,
    status: ProposalStatus | None,
    kind: ProposalType | None = None,
    run: str | None = None,
) -> list[Proposal]:
    """Return proposals, newest first: of one kind, and of the run or night whose id begins so."""
    wanted = (run or "").strip().lower()
    return [
        each
        for each in stores.log.proposals(status)
        if kind in (None, each.type)
        if not wanted
        or any(dict(each.action).get(key, "").startswith(wanted) for key in ("run", "night"))
    ]


def reopen_proposal(stores: Stores, wanted: str, by: str = "unknown") -> ProposalDecision:
    """Take a decision back: the proposal waits again. What approving it did is to be undone
    first, so that nothing is asked that was done."""
    proposal = find_proposal(stores, wanted)
    with _hold_decision(stores, proposal.id):
        _check_reopenable(stores, find_proposal(stores, proposal.id))
        pending = decision_event(stores, proposal, ProposalStatus.PENDING, by, None)
        record_events(stores, [pending], durable=True)
    return ProposalDecision(find_proposal(stores, proposal.id))


def _check_reopenable(stores: Stores, proposal: Proposal) -> None:
    if proposal.status in (ProposalStatus.PENDING, ProposalStatus.EXPIRED):
        raise AlreadyDone(f"proposal `{proposal.id[:8]}`", proposal.status.value)
    last = latest_decisions(stores.log).get(proposal.id)
    change = last.body.get("change") if last else None
    if change is not None and stores.log.outcome(str(change)) not in ENDED_OUTCOMES:
        raise AlreadyDone(f"proposal `{proposal.id[:8]}`", "carried out")


def latest_decisions(log: EventLog) -> dict[str, Event]:
    """Return the last decision about each proposal, by its id, among the newest ones."""
    newest = log.recent_events([EventKind.DECIDED.value], MAX_DECISIONS_READ)
    return {str(each.body.get("proposal")): each for each in reversed(newest)}


def preview_proposal(stores: Stores, wanted: str) -> ProposalPreview:
    """Return a proposal with the exact difference that approving it would make."""
    proposal = find_proposal(stores, wanted)
    if proposal.status is not ProposalStatus.PENDING:
        last = latest_decisions(stores.log).get(proposal.id)
        why = last.body.get("reason") if last else None
        said = f"it is {proposal.status.value}"
        return ProposalPreview(proposal, problem=f"{said}: {why}" if why else said)
    try:
        return ProposalPreview(
            proposal, render_diff(_plan_proposal(stores, proposal, "nobody", looking=True))
        )
    except OutdatedProposal as error:
        return ProposalPreview(proposal, problem=error.message, changed=error.memory_id)
    except MadeleineError as error:
        return ProposalPreview(proposal, problem=error.message)


def _plan_decision(
    stores: Stores, proposal: Proposal, status: ProposalStatus, by: str, run: str | None
) -> Change | None:
    """Return the change that a decision means, if it means any."""
    if status is ProposalStatus.APPROVED:
        return _plan_proposal(stores, proposal, by, run=run)
    hand = make_change_context(stores, by, proposal.reason, run)
    return plan_refusal(hand, dict(proposal.action))


def _plan_proposal(
    stores: Stores, proposal: Proposal, by: str, *, looking: bool = False, run: str | None = None
) -> Change:
    """Return the change that a proposal means. What it stamps is the time of the proposal, so
    that what is shown and what is done are the same bytes."""
    action = dict(proposal.action)
    reason = action.get("reason") or proposal.reason

    def read(memory_id: str) -> CurrentFile:
        found = find_current(stores, memory_id) if looking else read_current(stores, memory_id)
        if found is None:
            raise OutdatedProposal(proposal.id, memory_id)
        return found

    _check_states(proposal, read)
    return plan_action(ChangeContext(stores, read, proposal.created, by, reason, run), action)


def _check_states(proposal: Proposal, read: FileReading) -> None:
    for memory_id, state in _read_states(proposal).items():
        if state_digest(read(memory_id).memory) != state:
            raise OutdatedProposal(proposal.id, memory_id)


def _check_pending(proposal: Proposal) -> None:
    if proposal.status is not ProposalStatus.PENDING:
        raise AlreadyDone(f"proposal `{proposal.id[:8]}`", proposal.status.value)


@contextmanager
def _hold_decision(stores: Stores, proposal_id: str) -> Iterator[None]:
    """Let one decision about a proposal through at a time; nobody waits for its model."""
    with stores.writing:
        if proposal_id in stores.deciding:
            raise BeingDecided
        stores.deciding.add(proposal_id)
    try:
        yield
    finally:
        stores.deciding.discard(proposal_id)


def find_proposal(stores: Stores, wanted: str) -> Proposal:
    """Return the proposal that an id or an unambiguous prefix names."""
    prefix = wanted.strip().lower()
    found = [each for each in stores.log.proposals() if prefix and each.id.startswith(prefix)]
    if len(found) != 1:
        raise NoSuchProposal(wanted)
    return found[0]
