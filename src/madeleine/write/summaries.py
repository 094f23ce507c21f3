"""Summaries that nobody wants: who forgets one, takes one back or rejects one has said no to a
summary of mostly these memories.

Such a no outlives the summary, also when that is purged: it names the members and nothing else,
each by itself, so that a member that is purged leaves the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from madeleine.model.event import Event, Kind
from madeleine.model.memory import Memory
from madeleine.model.proposal import Proposal, ProposalStatus, ProposalType
from madeleine.model.words import META_SOURCE, Edge
from madeleine.write.questions import MEMBER, question_key, refusals
from madeleine.write.stores import Stores


def linked_members(memory: Memory) -> list[str]:
    """Return whom a summary names."""
    return [each.target for each in memory.connections if each.edge is Edge.SUMMARIZES]


def members_of(stores: Stores, memory: Memory) -> list[str]:
    """Return whom a summary sums up: those that it names, and those that it named when it was
    written, though somebody took the connection away."""
    written = (
        _members_in(each, memory.id)
        for each in stores.index.history(memory.id)
        if each.kind is Kind.CHANGED
    )
    last = next((each for each in written if each), [])
    return list(dict.fromkeys([*linked_members(memory), *last]))


def _members_in(change: Event, memory_id: str) -> list[str]:
    details = change.body.get("details")
    done = details.get("deeds") if isinstance(details, Mapping) else None
    for each in done if isinstance(done, list) else ():
        if isinstance(each, Mapping) and each.get("summary") == memory_id:
            found = each.get("members")
            return [str(one) for one in found] if isinstance(found, list) else []
    return []


def no_to_a_summary(
    members: Sequence[str], key: str | None = None, memory_id: str | None = None
) -> dict[str, object]:
    """Return the deed of writing a summary of these: who takes it back says no to it. Nothing
    in it tells what they say."""
    return {
        "type": ProposalType.CONSOLIDATE.value,
        "nodes": [],
        "wording": f"write a summary of {len(members)} memories",
        "key": key or question_key(" ".join(("summary", *sorted(members))), []),
        "members": list(members),
        **({"summary": memory_id} if memory_id else {}),
    }


def said_no(stores: Stores, forgotten: Memory, by: str) -> list[Event]:
    """Return what to note when somebody forgets a memory: a no, if it is a summary."""
    if forgotten.source != META_SOURCE:
        return []
    members = members_of(stores, forgotten)
    return refusals(stores, [no_to_a_summary(members)], by) if members else []


def refused_summaries(stores: Stores) -> list[set[str]]:
    """Return the members of each summary that somebody said no to."""
    rejected = stores.index.proposals(ProposalStatus.REJECTED)
    wanted = (each for each in rejected if each.type is ProposalType.CONSOLIDATE)
    found = (_refused(each) for each in wanted)
    return [each for each in found if each]


def _refused(proposal: Proposal) -> set[str]:
    action = dict(proposal.action)
    if action.get("verb") == "summarise":
        return set(proposal.source_nodes[1:])  # the first is the summary
    return {each for each, what in action.items() if what == MEMBER}
