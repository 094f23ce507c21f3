"""Summaries that nobody wants: who forgets one, takes one back, rejects one or deletes its file has
said no to a summary of mostly these memories.

Such a no outlives the summary, also when that is purged: it names the members and nothing else,
each by itself, so that a member that is purged leaves the others. A file that somebody deleted is
noticed by what the journal says and the vault lacks, so a file that was renamed, or comes back, is
none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from madeleine.model.event import Event, EventKind
from madeleine.model.memory import Memory
from madeleine.model.proposal import Proposal, ProposalStatus, ProposalType
from madeleine.model.words import META_SOURCE, Edge
from madeleine.vault.vault import is_in_trash
from madeleine.write.questions import MEMBER_MARK, question_key, refusal_events
from madeleine.write.show import wrote_file
from madeleine.write.stores import Stores

SUMMARY_JOB = META_SOURCE.removeprefix("job:")  # the task that writes summaries
MAX_RUNS_READ = 1_000  # its newest runs among which it is looked what it wrote


def linked_members(memory: Memory) -> list[str]:
    """Return the memories that a summary names."""
    return [each.target for each in memory.connections if each.edge is Edge.SUMMARIZES]


def summary_members(stores: Stores, memory: Memory) -> list[str]:
    """Return the memories that a summary sums up: those that it names, and those that it named
    when it was written, though somebody took the connection away."""
    written = (
        _members_in_change(each, memory.id)
        for each in stores.log.history(memory.id)
        if each.kind is EventKind.CHANGED
    )
    last = next((each for each in written if each), [])
    return list(dict.fromkeys([*linked_members(memory), *last]))


def _members_in_change(change: Event, memory_id: str) -> list[str]:
    return _summaries_in(change).get(memory_id, [])


def summary_deed(
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


def summary_refusals(stores: Stores, forgotten: Memory, by: str) -> list[Event]:
    """Return what to note when somebody forgets a memory: a no, if it is a summary."""
    if forgotten.source != META_SOURCE:
        return []
    members = summary_members(stores, forgotten)
    return refusal_events(stores, [summary_deed(members)], by) if members else []


def refused_summaries(stores: Stores) -> list[set[str]]:
    """Return the members of each summary that somebody said no to."""
    rejected = stores.log.proposals(ProposalStatus.REJECTED)
    wanted = (each for each in rejected if each.type is ProposalType.CONSOLIDATE)
    found = (_refused_members(each) for each in wanted)
    return [each for each in (*found, *_find_deleted_by_hand(stores)) if each]


def _refused_members(proposal: Proposal) -> set[str]:
    if _is_summary_proposal(proposal):
        return set(proposal.source_nodes[1:])  # the first is the summary
    return {each for each, what in proposal.action if what == MEMBER_MARK}


def _is_summary_proposal(proposal: Proposal) -> bool:
    return ("verb", "summarise") in proposal.action


# -- files that somebody deleted -----------------------------------------------------------


def _find_deleted_by_hand(stores: Stores) -> list[set[str]]:
    """Return the members of each summary that was written, and whose file is gone without any
    change of ours."""
    written = {**_approved_summaries(stores), **_written_summaries(stores)}
    there = stores.search.memories(written)
    lost = (each for each in written if each not in there and _is_file_missing(stores, each))
    return [written[each] for each in lost]


def _approved_summaries(stores: Stores) -> dict[str, set[str]]:
    """Return the summaries that somebody was asked about and wanted, with their members."""
    approved = stores.log.proposals(ProposalStatus.APPROVED)
    named = (each.source_nodes for each in approved if _is_summary_proposal(each))
    return {summary: set(members) for summary, *members in named}


def _written_summaries(stores: Stores) -> dict[str, set[str]]:
    """Return the summaries that runs wrote, with their members as they were last."""
    runs = stores.log.recent_events([EventKind.RUN.value], MAX_RUNS_READ, [SUMMARY_JOB])
    return {
        summary: set(members)
        for run in reversed(runs)
        for change in stores.log.changes(str(run.body.get("run")))
        for summary, members in _summaries_in(change).items()
    }


def _summaries_in(change: Event) -> dict[str, list[str]]:
    """Return the summaries that a change wrote, each with those that it sums up."""
    details = change.body.get("details")
    done = details.get("deeds") if isinstance(details, Mapping) else None
    named = [each for each in done if isinstance(each, Mapping)] if isinstance(done, list) else []
    return {
        str(each["summary"]): [str(one) for one in each["members"]]
        for each in named
        if "summary" in each and isinstance(each.get("members"), list)
    }


def _is_file_missing(stores: Stores, memory_id: str) -> bool:
    """Whether the last change of ours left a memory's file in the vault, where it is no more."""
    changes = (
        each
        for each in stores.log.history(memory_id)
        if each.kind is EventKind.CHANGED and wrote_file(each, memory_id)
    )
    edits = next((each.body.get("edits") for each in changes), None)
    left = [
        each.get("path_after")
        for each in (edits if isinstance(edits, list) else ())
        if isinstance(each, Mapping) and each.get("memory") == memory_id
    ]
    return any(
        isinstance(path, str) and not is_in_trash(path) and stores.vault.fingerprint(path) is None
        for path in left
    )
