"""What is told without a prompt: when a session starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from madeleine.api import answers
from madeleine.api.contract.requests import BriefQuery
from madeleine.api.contract.responses import BriefAnswer
from madeleine.api.operation import Operation, operation
from madeleine.model.draft import read_space
from madeleine.model.people import Role
from madeleine.model.request_reader import RequestReader
from madeleine.model.words import read_word
from madeleine.whisper.brief import BriefRequest, SessionStart, build_brief

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.api.reach import CallerReach
    from madeleine.bootstrap import HomeContext
    from madeleine.whisper.stages import SharedStores


def _brief_from_everywhere(
    operation: Operation[BriefAnswer], reached: CallerReach, call: OperationCall
) -> BriefAnswer:
    reached.own.check(operation.name, operation.role)
    others = tuple((str(each.space), each.context.stores) for each in reached.shared)
    return _tell(reached.context, call, others)


@operation(
    "brief",
    "GET",
    "/agent/brief",
    "say what a session in a project should know at its start; empty text is silence",
    role=Role.READER,
    query=BriefQuery,
    answer=BriefAnswer,
    quick=True,
    shared=_brief_from_everywhere,
)
def brief_session(context: HomeContext, call: OperationCall) -> BriefAnswer:
    return _tell(context, call)


def _tell(
    context: HomeContext, call: OperationCall, others: tuple[SharedStores, ...] = ()
) -> BriefAnswer:
    made = build_brief(
        context.stores,
        context.whisper_config,
        context.settings.brief,
        context.whisperer,
        _read_request(call),
        others,
    )
    return answers.build_brief_answer(made)


def _read_request(call: OperationCall) -> BriefRequest:
    reader = RequestReader(call.query)
    start = reader.text("start")
    request = BriefRequest(
        space=read_space(reader.text("space")),
        cwd=reader.text("cwd"),
        session_id=reader.text("session_id"),
        start=SessionStart.STARTUP if start is None else read_word(SessionStart, "start", start),
        task=reader.text("task"),
        due=call.due,
        awaits_receipt=call.awaits_receipt,
    )
    reader.done()
    return request
