"""Proposals: what waits for a decision, and deciding it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from madeleine.api import answers, reach, sleep_answers
from madeleine.api.contract.requests import DecideBody, ProposalsQuery
from madeleine.api.contract.responses import DecidedProposal, ProposalPage, ShownProposal
from madeleine.api.operation import operation
from madeleine.api.shared_behaviour import at_holder, joined
from madeleine.errors import UnknownWord
from madeleine.model.people import Role
from madeleine.model.proposal import ProposalStatus
from madeleine.model.request_reader import RequestReader
from madeleine.write.proposals import decide_proposal, preview_proposal, reopen_proposal

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.bootstrap import HomeContext


@operation(
    "proposals",
    "GET",
    "/agent/proposals",
    "what waits for a decision",
    role=Role.READER,
    query=ProposalsQuery,
    answer=ProposalPage,
    shared=joined("proposals"),
)
def list_proposals(context: HomeContext, call: OperationCall) -> ProposalPage:
    reader = RequestReader(call.query)
    wanted = reader.text("status") or ProposalStatus.PENDING.value
    reader.done()
    known = [*(each.value for each in ProposalStatus), "all"]
    if wanted not in known:
        raise UnknownWord("status", wanted, known)
    status = None if wanted == "all" else ProposalStatus(wanted)
    return answers.build_proposal_page(context.stores.log.proposals(status))


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
