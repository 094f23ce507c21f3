"""Proposals: what waits for a decision, and deciding it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from madeleine.api import answers, reach, sleep_answers
from madeleine.api.contract.requests import DecideAllBody, DecideBody, ProposalsQuery, SnoozeBody
from madeleine.api.contract.responses import (
    DecidedProposal,
    DecidedProposals,
    ProposalPage,
    ShownProposal,
    SnoozedProposal,
)
from madeleine.api.operation import Operation, operation
from madeleine.api.performing import perform_in_place
from madeleine.api.shared_behaviour import at_holder, joined
from madeleine.errors import UnknownWord
from madeleine.model.memory import parse_id
from madeleine.model.people import Role
from madeleine.model.proposal import ProposalStatus, ProposalType
from madeleine.model.request_reader import RequestReader
from madeleine.model.times import format_time
from madeleine.model.words import read_word
from madeleine.write.proposals import (
    decide_proposal,
    decide_proposals,
    find_proposals,
    preview_proposal,
    reopen_proposal,
)
from madeleine.write.snoozing import snooze_proposal

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.api.reach import CallerReach
    from madeleine.bootstrap import HomeContext


def _list_proposals_everywhere(
    operation: Operation[ProposalPage], reached: CallerReach, call: OperationCall
) -> ProposalPage:
    page: ProposalPage = joined("proposals")(operation, reached, call)
    return replace(page, groups=answers.group_proposals(page.proposals))


@operation(
    "proposals",
    "GET",
    "/agent/proposals",
    "what waits for a decision",
    role=Role.READER,
    query=ProposalsQuery,
    answer=ProposalPage,
    shared=_list_proposals_everywhere,
)
def list_proposals(context: HomeContext, call: OperationCall) -> ProposalPage:
    reader = RequestReader(call.query)
    wanted = reader.text("status") or ProposalStatus.PENDING.value
    kind, run = _read_kind(reader), reader.text("run")
    reader.done()
    known = [*(each.value for each in ProposalStatus), "all"]
    if wanted not in known:
        raise UnknownWord("status", wanted, known)
    status = None if wanted == "all" else ProposalStatus(wanted)
    return answers.build_proposal_page(find_proposals(context.stores, status, kind, run))


def _read_kind(reader: RequestReader) -> ProposalType | None:
    given = reader.raw("kind")
    return None if given is None else read_word(ProposalType, "kind", given)


def _decide_all_everywhere(
    operation: Operation[DecidedProposals], reached: CallerReach, call: OperationCall
) -> DecidedProposals:
    """Decide what waits in every place in which the caller may, all to be taken back by one id."""
    undo = call.body.get("undo") or reached.context.stores.new_id()
    own = replace(call, body={**call.body, "undo": undo})
    told = [
        perform_in_place(reached, each, operation, own)
        for each in reached.places()
        if each is reached.own or each.role.covers(operation.role)
    ]
    return replace(
        told[0],
        text="\n".join(each.text for each in told),
        decided=tuple(one for each in told for one in each.decided),
        refused=tuple(one for each in told for one in each.refused),
        undo=next((each.undo for each in told if each.undo), None),
    )


@operation(
    "decide_all",
    "POST",
    "/agent/proposals",
    "approve or reject all that wait, or those of a kind or run, to be taken back by one id",
    role=Role.WRITER,
    body=DecideAllBody,
    answer=DecidedProposals,
    shared=_decide_all_everywhere,
)
def decide_all(context: HomeContext, call: OperationCall) -> DecidedProposals:
    reader = RequestReader(call.body)
    action, kind, run = reader.required_text("action"), _read_kind(reader), reader.text("run")
    undo, ids = reader.raw("undo"), reader.texts("ids")
    reader.done()
    known = [ProposalStatus.APPROVED.value, ProposalStatus.REJECTED.value]
    if action not in known:
        raise UnknownWord("action", action, known)
    waiting = find_proposals(context.stores, ProposalStatus.PENDING, kind, run)
    if ids is not None:
        waiting = [each for each in waiting if each.id in ids]
    return answers.build_decided_proposals(
        decide_proposals(
            context.stores,
            waiting,
            ProposalStatus(action),
            by=call.by,
            run=None if undo is None else parse_id("undo", undo),
        )
    )


@operation(
    "snooze",
    "POST",
    "/agent/proposals/{id}/snooze",
    "put a question off until a time, or ask it again at once",
    role=Role.WRITER,
    body=SnoozeBody,
    answer=SnoozedProposal,
    shared=at_holder(reach.find_proposals),
)
def snooze(context: HomeContext, call: OperationCall) -> SnoozedProposal:
    reader = RequestReader(call.body)
    until = reader.time("until")
    reader.done()
    proposal = snooze_proposal(context.stores, call.path_id, until)
    return SnoozedProposal(
        id=proposal.id,
        text="put off" if until else "asked again",
        until=format_time(until) if until else None,
    )


@operation(
    "proposal",
    "GET",
    "/agent/proposals/{id}",
    "one proposal, with exactly what approving it would change",
    role=Role.READER,
    answer=ShownProposal,
    shared=at_holder(reach.find_proposals),
)
def show_proposal(context: HomeContext, call: OperationCall) -> ShownProposal:
    return sleep_answers.build_shown_proposal(preview_proposal(context.stores, call.path_id))


@operation(
    "decide",
    "POST",
    "/agent/proposals/{id}",
    "approve or reject a proposal, or take that back",
    role=Role.WRITER,
    body=DecideBody,
    answer=DecidedProposal,
    shared=at_holder(reach.find_proposals),
)
def decide(context: HomeContext, call: OperationCall) -> DecidedProposal:
    reader = RequestReader(call.body)
    action = reader.required_text("action")
    reader.done()
    known = [each.value for each in ProposalStatus if each is not ProposalStatus.EXPIRED]
    if action not in known:
        raise UnknownWord("action", action, known)
    if action == ProposalStatus.PENDING.value:
        return answers.build_decided_proposal(
            reopen_proposal(context.stores, call.path_id, by=call.by)
        )
    return answers.build_decided_proposal(
        decide_proposal(context.stores, call.path_id, ProposalStatus(action), by=call.by)
    )
