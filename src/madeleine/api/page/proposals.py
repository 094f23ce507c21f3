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

from madeleine.api import reach
from madeleine.api.contract.memories import proposal_to_json
from madeleine.api.contract.page_responses import (
    JudgedProposal,
    ProposalDetail,
    ProposalLine,
    ProposalLines,
    ProposedMemory,
)
from madeleine.api.contract.requests import PageProposalsQuery
from madeleine.api.contract.responses import NamedMemory
from madeleine.api.operation import Operation, operation
from madeleine.api.page.brief import build_brief, replace_ids_with_titles
from madeleine.api.shared_behaviour import at_holder
from madeleine.errors import UnknownWord
from madeleine.index.log import EventLog
from madeleine.index.search import MemorySearch
from madeleine.model.event import Event
from madeleine.model.people import Role
from madeleine.model.proposal import Proposal, ProposalStatus, ProposalType
from madeleine.model.request_reader import RequestReader
from madeleine.write.proposals import latest_decisions, preview_proposal
from madeleine.write.undo import ENDED_OUTCOMES

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.api.reach import CallerReach
    from madeleine.bootstrap import HomeContext

DEFAULT_PROPOSALS = 100
MAX_PROPOSALS = 500
MAX_MEMORIES = 12  # of one proposal that are shown whole
MAX_TEXT_CHARS = 20_000  # of one text; a longer one is cut
DECIDED_FILTER = "decided"  # approved or rejected
STATUSES_BY_FILTER = {
    **{each.value: (each,) for each in ProposalStatus},
    DECIDED_FILTER: (ProposalStatus.APPROVED, ProposalStatus.REJECTED),
}
DECISION_FIELDS = ("by", "change", "undoable")


@dataclass(frozen=True, slots=True)
class ProposalSelection:
    """Which proposals are listed: how they stand, of which type, and which page of them."""

    status: str
    type: str | None
    limit: int
    offset: int


def _read_selection(call: OperationCall) -> ProposalSelection:
    """Return what a call asks for."""
    reader = RequestReader(call.query)
    asked = ProposalSelection(
        reader.text("status") or ProposalStatus.PENDING.value,
        reader.text("type"),
        reader.whole("limit", DEFAULT_PROPOSALS, 1, MAX_PROPOSALS),
        reader.whole("offset", 0, 0, 1_000_000_000),
    )
    reader.done()
    if asked.status not in STATUSES_BY_FILTER:
        raise UnknownWord("status", asked.status, list(STATUSES_BY_FILTER))
    if asked.type is not None and asked.type not in list(ProposalType):
        raise UnknownWord("type", asked.type, [each.value for each in ProposalType])
    return asked


def _list_everywhere(
    operation: Operation[ProposalLines], reached: CallerReach, call: OperationCall
) -> ProposalLines:
    """Return what waits for a decision in all places together, newest first."""
    reached.own.check(operation.name, operation.role)
    logs = [place.context.stores.log for place in reached.places()]
    return _list_selected(logs, _read_selection(call))


@operation(
    "page_proposals",
    "GET",
    "/ui/data/proposals",
    "what waits for a decision, or was decided, newest first",
    role=Role.READER,
    query=PageProposalsQuery,
    answer=ProposalLines,
    shared=_list_everywhere,
)
def list_proposals(context: HomeContext, call: OperationCall) -> ProposalLines:
    """Return a page of what waits for a decision, or was decided, newest first."""
    return _list_selected([context.stores.log], _read_selection(call))


def _list_selected(logs: Iterable[EventLog], asked: ProposalSelection) -> ProposalLines:
    """Return a page of the proposals of all these together."""
    every = [(log, each) for log in logs for each in _find_with_status(log, asked.status)]
    those = [pair for pair in every if asked.type in (None, pair[1].type.value)]
    those.sort(key=lambda pair: _sort_time(pair[1]), reverse=True)
    page = those[asked.offset : asked.offset + asked.limit]
    return ProposalLines(
        proposals=_build_lines(page),
        total=len(those),
        types=dict(Counter(each.type.value for _, each in every).most_common()),
    )


def _find_with_status(log: EventLog, status: str) -> list[Proposal]:
    found = [each for one in STATUSES_BY_FILTER[status] for each in log.proposals(one)]
    return [each for each in found if status != DECIDED_FILTER or _was_asked(each)]


def _sort_time(proposal: Proposal) -> datetime:
    """Return when it was decided, or else asked; one that waits again waits where it was."""
    waits = proposal.status is ProposalStatus.PENDING
    return proposal.created if waits else proposal.resolved or proposal.created


def _was_asked(proposal: Proposal) -> bool:
    return "verb" in dict(proposal.action)


def _build_lines(page: Sequence[tuple[EventLog, Proposal]]) -> list[ProposalLine]:
    """Return the lines of a list; the journal is asked who decided only if it was decided."""
    known: dict[int, Mapping[str, Event]] = {}
    lines = []
    for log, each in page:
        if each.status is not ProposalStatus.PENDING and id(log) not in known:
            known[id(log)] = latest_decisions(log)
        values: dict[str, Any] = proposal_to_json(each)
        del values["action"]
        lines.append(ProposalLine(**values, **_decision_fields(log, each, known.get(id(log), {}))))
    return lines


def _decision_fields(
    log: EventLog, proposal: Proposal, known: Mapping[str, Event]
) -> dict[str, Any]:
    """Return who decided, the change that still holds because of it, and whether the decision
    can be taken back; of what was decided too long ago nobody knows."""
    event = known.get(proposal.id)
    if proposal.status is ProposalStatus.PENDING or event is None:
        return dict.fromkeys(DECISION_FIELDS)
    change = event.body.get("change")
    held = change if change and log.outcome(str(change)) not in ENDED_OUTCOMES else None
    undoable = proposal.status is not ProposalStatus.EXPIRED and _was_asked(proposal)
    return dict(zip(DECISION_FIELDS, (event.body.get("by"), held, undoable), strict=True))


# -- one of them ---------------------------------------------------------------------------


@operation(
    "page_proposal",
    "GET",
    "/ui/data/proposals/{id}",
    "one proposal with its memories, and exactly what approving it would change",
    role=Role.READER,
    answer=ProposalDetail,
    shared=at_holder(reach.find_proposals),
)
def show_proposal_detail(context: HomeContext, call: OperationCall) -> ProposalDetail:
    """Return a proposal with its memories, whole, and what approving it would change."""
    RequestReader(call.query).done()
    stores = context.stores
    now = stores.clock.now()
    seen = preview_proposal(stores, call.path_id)
    known = stores.search.memories(seen.proposal.source_nodes[:MAX_MEMORIES])
    pending = seen.proposal.status is ProposalStatus.PENDING
    decision = _decision_fields(
        stores.log, seen.proposal, {} if pending else latest_decisions(stores.log)
    )
    shown: dict[str, Any] = proposal_to_json(seen.proposal)
    return ProposalDetail(
        proposal=JudgedProposal(**shown, **decision),
        memories=[
            ProposedMemory(
                **vars(build_brief(known[each], now)), content=known[each].content[:MAX_TEXT_CHARS]
            )
            for each in _order_memories(seen.proposal)
            if each in known
        ],
        memories_total=len(seen.proposal.source_nodes),
        difference=seen.difference[: 10 * MAX_TEXT_CHARS],
        problem=replace_ids_with_titles(stores.search, seen.problem) if seen.problem else None,
        changed=_name_changed_memory(stores.search, seen.changed) if seen.changed else None,
    )


def _name_changed_memory(search: MemorySearch, memory_id: str) -> NamedMemory:
    """Return what a memory that changed is called; nothing, if it is gone."""
    memory = search.memories([memory_id]).get(memory_id)
    return NamedMemory(id=memory_id, title=memory.headline if memory else None)


def _order_memories(proposal: Proposal) -> list[str]:
    """Return the ids with what stays, or is newer, last: right of what goes."""
    last = dict(proposal.action).get("keep") or dict(proposal.action).get("newer")
    return sorted(proposal.source_nodes, key=lambda each: each == last)
