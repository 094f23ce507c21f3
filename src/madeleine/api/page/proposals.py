"""Proposals: what waits for a decision, and what was decided, by whom and whether that can be
taken back.

What a person never saw is left out of what was decided: taking back what a job did is kept as a
rejection, too, and stands where the run stands.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
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
    ProposalSide,
    ProposedMemory,
    WaitingGroup,
)
from madeleine.api.contract.requests import PageProposalsQuery
from madeleine.api.contract.responses import NamedMemory
from madeleine.api.operation import Operation, operation
from madeleine.api.page.brief import build_brief, cut_extract, replace_ids_with_titles
from madeleine.api.shared_behaviour import at_holder
from madeleine.errors import UnknownWord
from madeleine.index.log import EventLog
from madeleine.index.search import MemorySearch
from madeleine.model.event import Event
from madeleine.model.memory import Memory
from madeleine.model.people import Role
from madeleine.model.proposal import Proposal, ProposalStatus, ProposalType
from madeleine.model.request_reader import RequestReader
from madeleine.model.times import format_time
from madeleine.model.words import GLOBAL
from madeleine.write.approval import read_proposed_memory
from madeleine.write.proposals import latest_decisions, preview_proposal
from madeleine.write.snoozing import read_snoozed
from madeleine.write.undo import ENDED_OUTCOMES

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.api.reach import CallerReach
    from madeleine.bootstrap import HomeContext
    from madeleine.write.stores import Stores

DEFAULT_PROPOSALS = 100
MAX_PROPOSALS = 500
MAX_MEMORIES = 12  # of one proposal that are shown whole
MAX_TEXT_CHARS = 20_000  # of one text; a longer one is cut
MAX_SIDES = 2  # memories that are compared in a line
MAX_COMPARED_CHARS = 4_000
DECIDED_FILTER = "decided"  # approved or rejected
SNOOZED_FILTER = "snoozed"  # waits, but not yet
_WAITING_FILTERS = (ProposalStatus.PENDING.value, SNOOZED_FILTER)
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")
STATUSES_BY_FILTER = {
    **{each.value: (each,) for each in ProposalStatus},
    SNOOZED_FILTER: (ProposalStatus.PENDING,),
    DECIDED_FILTER: (ProposalStatus.APPROVED, ProposalStatus.REJECTED),
}
DECISION_FIELDS = ("by", "change", "undoable")


@dataclass(frozen=True, slots=True)
class ProposalSelection:
    """Which proposals are listed: how they stand, of which type, and which page of them."""

    status: str
    type: str | None
    space: str | None
    limit: int
    offset: int


def _read_selection(call: OperationCall) -> ProposalSelection:
    """Return what a call asks for."""
    reader = RequestReader(call.query)
    asked = ProposalSelection(
        reader.text("status") or ProposalStatus.PENDING.value,
        reader.text("type"),
        reader.text("space"),
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
    """Return what waits for a decision in all places together."""
    reached.own.check(operation.name, operation.role)
    stores = [place.context.stores for place in reached.places()]
    return _list_selected(stores, _read_selection(call))


@operation(
    "page_proposals",
    "GET",
    "/ui/data/proposals",
    "what waits for a decision, by type and space, or was decided, newest first",
    role=Role.READER,
    query=PageProposalsQuery,
    answer=ProposalLines,
    shared=_list_everywhere,
)
def list_proposals(context: HomeContext, call: OperationCall) -> ProposalLines:
    """Return a page of what waits for a decision, or was decided."""
    return _list_selected([context.stores], _read_selection(call))


@dataclass(frozen=True, slots=True)
class _ListedProposal:
    """A proposal with where it is kept, and what it is about."""

    stores: Stores
    proposal: Proposal
    space: str | None
    snoozed_until: datetime | None

    @property
    def group(self) -> tuple[int, str, str]:
        kinds = list(ProposalType)
        return (kinds.index(self.proposal.type), self.space or "", self.proposal.type.value)


def _list_selected(every_stores: Sequence[Stores], asked: ProposalSelection) -> ProposalLines:
    """Return a page of the proposals of all these together."""
    found = [each for stores in every_stores for each in _find_listed(stores, asked.status)]
    snoozed = sum(1 for each in found if each.snoozed_until)
    if asked.status in _WAITING_FILTERS:
        found = [e for e in found if bool(e.snoozed_until) == (asked.status == SNOOZED_FILTER)]
    found.sort(key=lambda each: _sort_time(each.proposal), reverse=True)
    if asked.status in _WAITING_FILTERS:
        found.sort(key=lambda each: each.group)
    those = [each for each in found if _is_wanted(each, asked)]
    page = those[asked.offset : asked.offset + asked.limit]
    groups = Counter((each.proposal.type, each.space) for each in those)
    return ProposalLines(
        proposals=_build_lines(page),
        total=len(those),
        types=dict(Counter(each.proposal.type.value for each in found).most_common()),
        groups=[
            WaitingGroup(type=kind, space=space, count=n) for (kind, space), n in groups.items()
        ],
        snoozed=snoozed,
    )


def _is_wanted(each: _ListedProposal, asked: ProposalSelection) -> bool:
    return asked.type in (None, each.proposal.type.value) and (
        asked.space is None or asked.space == (each.space or GLOBAL)
    )


def _find_listed(stores: Stores, status: str) -> list[_ListedProposal]:
    """Return proposals of one memory; a memory in the trash has no space any more."""
    named = [each for one in STATUSES_BY_FILTER[status] for each in stores.log.proposals(one)]
    wanted = [each for each in named if status != DECIDED_FILTER or _was_asked(each)]
    first = {e.source_nodes[0] for e in wanted if e.source_nodes}
    known = {**stores.search.memories(first), **_read_unwritten(wanted)}
    snoozed = read_snoozed(stores) if status in _WAITING_FILTERS else {}
    return [
        _ListedProposal(stores, each, _find_space(each, known), snoozed.get(each.id))
        for each in wanted
    ]


def _find_space(proposal: Proposal, known: Mapping[str, Memory]) -> str | None:
    memory = known.get(proposal.source_nodes[0]) if proposal.source_nodes else None
    return memory.space if memory else None


def _sort_time(proposal: Proposal) -> datetime:
    """Return when it was decided, or else asked; one that waits again waits where it was."""
    waits = proposal.status is ProposalStatus.PENDING
    return proposal.created if waits else proposal.resolved or proposal.created


def _was_asked(proposal: Proposal) -> bool:
    return "verb" in dict(proposal.action)


def _build_lines(page: Sequence[_ListedProposal]) -> list[ProposalLine]:
    """Return the lines of a list; the journal is asked who decided only if it was decided."""
    decisions: dict[int, Mapping[str, Event]] = {}
    memories: dict[int, Mapping[str, Memory]] = {}
    for each in page:
        place = id(each.stores)
        if each.proposal.status is not ProposalStatus.PENDING and place not in decisions:
            decisions[place] = latest_decisions(each.stores.log)
        if place not in memories:
            here = [other.proposal for other in page if other.stores is each.stores]
            ids = {node for proposal in here for node in proposal.source_nodes[:MAX_SIDES]}
            memories[place] = {**each.stores.search.memories(ids), **_read_unwritten(here)}
    return [
        _build_line(each, decisions.get(id(each.stores), {}), memories[id(each.stores)])
        for each in page
    ]


def _read_unwritten(proposals: Sequence[Proposal]) -> dict[str, Memory]:
    """Return the memories that agents wanted to remember, which nobody said yes to yet."""
    waiting = (
        each
        for each in proposals
        if each.type is ProposalType.REMEMBER and each.status is ProposalStatus.PENDING
    )
    return {memory.id: memory for memory in map(read_proposed_memory, waiting)}


def _build_line(
    listed: _ListedProposal, decisions: Mapping[str, Event], memories: Mapping[str, Memory]
) -> ProposalLine:
    values: dict[str, Any] = proposal_to_json(listed.proposal)
    del values["action"]
    return ProposalLine(
        **values,
        **_decision_fields(listed.stores.log, listed.proposal, decisions),
        space=listed.space,
        sides=_build_sides(listed.proposal, memories),
        snoozed_until=format_time(listed.snoozed_until) if listed.snoozed_until else None,
    )


def _build_sides(proposal: Proposal, memories: Mapping[str, Memory]) -> list[ProposalSide]:
    """Return the first two memories with the sentences in which they differ."""
    ids = [each for each in _order_memories(proposal) if each in memories][:MAX_SIDES]
    texts = [memories[each].content[:MAX_COMPARED_CHARS] for each in ids]
    if len(texts) == MAX_SIDES:
        texts = [
            _drop_shared_sentences(texts[0], texts[1]),
            _drop_shared_sentences(texts[1], texts[0]),
        ]
    return [
        ProposalSide(id=each, headline=memories[each].headline, text=cut_extract(text))
        for each, text in zip(ids, texts, strict=True)
    ]


def _drop_shared_sentences(text: str, other: str) -> str:
    """Return the sentences that the other text does not have; all, if it has every one."""
    shared = set(_SENTENCE_END.split(other))
    own = [each for each in _SENTENCE_END.split(text) if each not in shared]
    return " ".join(own) or text


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
    named = seen.proposal.source_nodes[:MAX_MEMORIES]
    known = {**stores.search.memories(named), **_read_unwritten([seen.proposal])}
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
