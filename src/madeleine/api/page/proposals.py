"""Proposals: what waits for a decision, and what was decided, by whom and whether that can be
taken back.

What a person never saw is left out of what was decided: taking back what a job did is kept as a
rejection, too, and stands where the run stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from madeleine.api.contract.memories import proposal_to_json
from madeleine.api.contract.page_responses import (
    JudgedProposal,
    ProposalDetail,
    ProposalLine,
    ProposalLines,
    ProposedMemory,
)
from madeleine.api.contract.responses import NamedMemory
from madeleine.api.page.brief import brief, named
from madeleine.errors import UnknownWord
from madeleine.index.log import EventLog
from madeleine.index.search import MemorySearch
from madeleine.model.event import Event
from madeleine.model.proposal import Proposal, ProposalStatus, ProposalType
from madeleine.model.reading import RequestReader
from madeleine.write.proposals import latest_decisions, preview_proposal
from madeleine.write.undo import ENDED_OUTCOMES

if TYPE_CHECKING:
    from madeleine.api.call import Call
    from madeleine.bootstrap import HomeContext

PROPOSALS = 100
PROPOSALS_AT_MOST = 500
MEMORIES = 12  # of one proposal that are shown whole
TEXT_CHARS = 20_000  # of one text; a longer one is cut
DECIDED = "decided"  # approved or rejected
STATUSES = {
    **{each.value: (each,) for each in ProposalStatus},
    DECIDED: (ProposalStatus.APPROVED, ProposalStatus.REJECTED),
}
DECISION = ("by", "change", "undoable")


@dataclass(frozen=True, slots=True)
class Asked:
    """Which proposals are listed: how they stand, of which type, and which page of them."""

    status: str
    type: str | None
    limit: int
    offset: int


def read_asked(call: Call) -> Asked:
    """Return what a call asks for."""
    reader = RequestReader(call.query)
    asked = Asked(
        reader.text("status") or ProposalStatus.PENDING.value,
        reader.text("type"),
        reader.whole("limit", PROPOSALS, 1, PROPOSALS_AT_MOST),
        reader.whole("offset", 0, 0, 1_000_000),
    )
    reader.done()
    if asked.status not in STATUSES:
        raise UnknownWord("status", asked.status, list(STATUSES))
    if asked.type is not None and asked.type not in list(ProposalType):
        raise UnknownWord("type", asked.type, [each.value for each in ProposalType])
    return asked


def proposals(context: HomeContext, call: Call) -> ProposalLines:
    """Return a page of what waits for a decision, or was decided, newest first."""
    return listed([context.stores.log], read_asked(call))


def listed(logs: Iterable[EventLog], asked: Asked) -> ProposalLines:
    """Return a page of the proposals of all these together."""
    every = [(log, each) for log in logs for each in _standing(log, asked.status)]
    those = [pair for pair in every if asked.type in (None, pair[1].type.value)]
    those.sort(key=lambda pair: _when(pair[1]), reverse=True)
    page = those[asked.offset : asked.offset + asked.limit]
    return ProposalLines(
        proposals=_lines(page),
        total=len(those),
        types=dict(Counter(each.type.value for _, each in every).most_common()),
    )


def _standing(log: EventLog, status: str) -> list[Proposal]:
    found = [each for one in STATUSES[status] for each in log.proposals(one)]
    return [each for each in found if status != DECIDED or _was_asked(each)]


def _when(proposal: Proposal) -> datetime:
    """Return when it was decided, or else asked; one that waits again waits where it was."""
    waits = proposal.status is ProposalStatus.PENDING
    return proposal.created if waits else proposal.resolved or proposal.created


def _was_asked(proposal: Proposal) -> bool:
    return "verb" in dict(proposal.action)


def _lines(page: Sequence[tuple[EventLog, Proposal]]) -> list[ProposalLine]:
    """Return the lines of a list; the journal is asked who decided only if it was decided."""
    known: dict[int, Mapping[str, Event]] = {}
    lines = []
    for log, each in page:
        if each.status is not ProposalStatus.PENDING and id(log) not in known:
            known[id(log)] = latest_decisions(log)
        values: dict[str, Any] = proposal_to_json(each)
        del values["action"]
        lines.append(ProposalLine(**values, **_decision(log, each, known.get(id(log), {}))))
    return lines


def _decision(log: EventLog, proposal: Proposal, known: Mapping[str, Event]) -> dict[str, Any]:
    """Return who decided, the change that still holds because of it, and whether the decision
    can be taken back; of what was decided too long ago nobody knows."""
    event = known.get(proposal.id)
    if proposal.status is ProposalStatus.PENDING or event is None:
        return dict.fromkeys(DECISION)
    change = event.body.get("change")
    held = change if change and log.outcome(str(change)) not in ENDED_OUTCOMES else None
    undoable = proposal.status is not ProposalStatus.EXPIRED and _was_asked(proposal)
    return dict(zip(DECISION, (event.body.get("by"), held, undoable), strict=True))


# -- one of them ---------------------------------------------------------------------------


def proposal(context: HomeContext, call: Call) -> ProposalDetail:
    """Return a proposal with its memories, whole, and what approving it would change."""
    RequestReader(call.query).done()
    stores = context.stores
    now = stores.clock.now()
    seen = preview_proposal(stores, call.named)
    known = stores.search.memories(seen.proposal.source_nodes[:MEMORIES])
    pending = seen.proposal.status is ProposalStatus.PENDING
    decision = _decision(stores.log, seen.proposal, {} if pending else latest_decisions(stores.log))
    shown: dict[str, Any] = proposal_to_json(seen.proposal)
    return ProposalDetail(
        proposal=JudgedProposal(**shown, **decision),
        memories=[
            ProposedMemory(
                **vars(brief(known[each], now)), content=known[each].content[:TEXT_CHARS]
            )
            for each in _in_order(seen.proposal)
            if each in known
        ],
        memories_total=len(seen.proposal.source_nodes),
        difference=seen.difference[: 10 * TEXT_CHARS],
        problem=named(stores.search, seen.problem) if seen.problem else None,
        changed=_changed(stores.search, seen.changed) if seen.changed else None,
    )


def _changed(search: MemorySearch, memory_id: str) -> NamedMemory:
    """Return what a memory that changed is called; nothing, if it is gone."""
    memory = search.memories([memory_id]).get(memory_id)
    return NamedMemory(id=memory_id, title=memory.headline if memory else None)


def _in_order(proposal: Proposal) -> list[str]:
    """Return the ids with what stays, or is newer, last: right of what goes."""
    last = dict(proposal.action).get("keep") or dict(proposal.action).get("newer")
    return sorted(proposal.source_nodes, key=lambda each: each == last)
