"""Proposals: changes that wait for a person or an agent.

A proposal carries its action as plain values, and approving it carries out just that action:
what was shown is what happens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from madeleine.errors import AlreadyDone, NoSuchProposal, Rejected
from madeleine.model.event import Kind
from madeleine.model.memory import Connection
from madeleine.model.proposal import Proposal, ProposalStatus, ProposalType
from madeleine.model.times import format_time
from madeleine.model.words import Edge
from madeleine.write.connections import link
from madeleine.write.forget import forget
from madeleine.write.merge import merge
from madeleine.write.record import event, record
from madeleine.write.revise import retire
from madeleine.write.stores import Stores

Action = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Decided:
    """A proposal after its decision, and the change that carried it out."""

    proposal: Proposal
    change: str | None = None


def propose(
    stores: Stores,
    proposal_type: ProposalType,
    nodes: tuple[str, ...],
    wording: str,
    action: Action,
    reason: str | None = None,
) -> Proposal:
    """Write a proposal down and return it."""
    if action.get("verb") not in ACTIONS:
        raise Rejected(f"no action {action.get('verb')!r}", hint=f"one of: {', '.join(ACTIONS)}")
    now = stores.clock.now()
    proposal = Proposal(
        id=stores.new_id(),
        type=proposal_type,
        source_nodes=nodes,
        proposed_action=wording,
        created=now,
        reason=reason,
        action=tuple(sorted(action.items())),
    )
    body = {
        "proposal": proposal.id,
        "type": proposal_type.value,
        "nodes": list(nodes),
        "wording": wording,
        "reason": reason,
        "created": format_time(now),
        "action": dict(action),
    }
    record(stores, [event(stores, Kind.PROPOSED, body)], durable=True)
    return proposal


def decide(stores: Stores, wanted: str, status: ProposalStatus, by: str = "unknown") -> Decided:
    """Approve or reject a pending proposal; approving carries out exactly what it says."""
    proposal = find_proposal(stores, wanted)
    with _deciding(stores, proposal.id):
        _check_pending(find_proposal(stores, proposal.id))
        change = None
        if status is ProposalStatus.APPROVED:
            action = dict(proposal.action)
            change = ACTIONS[action["verb"]](stores, action, by)
        body = {"proposal": proposal.id, "status": status.value, "by": by, "change": change}
        record(stores, [event(stores, Kind.DECIDED, body)], durable=True)
    return Decided(find_proposal(stores, proposal.id), change)


def _check_pending(proposal: Proposal) -> None:
    if proposal.status is not ProposalStatus.PENDING:
        raise AlreadyDone(f"proposal `{proposal.id[:8]}`", proposal.status.value)


@contextmanager
def _deciding(stores: Stores, proposal_id: str) -> Iterator[None]:
    """Let one decision about a proposal through at a time; nobody waits for its model."""
    with stores.writing:
        if proposal_id in stores.deciding:
            raise AlreadyDone(f"proposal `{proposal_id[:8]}`", "being decided")
        stores.deciding.add(proposal_id)
    try:
        yield
    finally:
        stores.deciding.discard(proposal_id)


def find_proposal(stores: Stores, wanted: str) -> Proposal:
    """Return the proposal that an id or an unambiguous prefix names."""
    prefix = wanted.strip().lower()
    found = [each for each in stores.index.proposals() if prefix and each.id.startswith(prefix)]
    if len(found) != 1:
        raise NoSuchProposal(wanted)
    return found[0]


def _merge(stores: Stores, action: Action, by: str) -> str | None:
    title, content = action.get("title"), action.get("content")
    return merge(stores, action["keep"], action["drop"], title, content, by=by).change


def _link(stores: Stores, action: Action, by: str) -> str | None:
    connection = Connection(
        target=action["target"],
        edge=Edge(action["edge"]),
        weight=float(action.get("weight", "0.5")),
        reason=action.get("reason"),
    )
    return link(stores, action["source"], connection, by=by).change


def _retire(stores: Stores, action: Action, by: str) -> str | None:
    successor, reason = action.get("superseded_by"), action.get("reason")
    return retire(stores, action["memory"], reason, successor, by=by).change


def _forget(stores: Stores, action: Action, by: str) -> str | None:
    return forget(stores, action["memory"], by=by, reason=action.get("reason")).change


ACTIONS: Mapping[str, Callable[[Stores, Action, str], str | None]] = {
    "merge": _merge,
    "link": _link,
    "retire": _retire,
    "forget": _forget,
}
