"""What is told without a prompt: when a session starts, and before a deed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from madeleine.api import answers
from madeleine.api.contract.requests import BriefQuery, DeedBody
from madeleine.api.contract.responses import BriefAnswer, DeedAnswer
from madeleine.api.operation import Operation, operation
from madeleine.api.request_fields import read_asked_space
from madeleine.errors import InvalidValue
from madeleine.language.deeds import Deed, read_deed, read_named_deed
from madeleine.model.people import Role
from madeleine.model.request_reader import RequestReader
from madeleine.model.words import read_word
from madeleine.whisper.brief import BriefRequest, SessionStart, build_brief
from madeleine.whisper.deed import DeedRequest, speak_before_deed

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
        _read_request(context, call),
        others,
    )
    return answers.build_brief_answer(made)


def _read_request(context: HomeContext, call: OperationCall) -> BriefRequest:
    reader = RequestReader(call.query)
    start = reader.text("start")
    request = BriefRequest(
        space=read_asked_space(context.stores, reader, None, call.is_local),
        cwd=reader.text("cwd"),
        session_id=reader.text("session_id"),
        start=SessionStart.STARTUP if start is None else read_word(SessionStart, "start", start),
        task=reader.text("task"),
        due=call.due,
        awaits_receipt=call.awaits_receipt,
    )
    reader.done()
    return request


# -- deeds ---------------------------------------------------------------------------------


def _speak_from_everywhere(
    operation: Operation[DeedAnswer], reached: CallerReach, call: OperationCall
) -> DeedAnswer:
    reached.own.check(operation.name, operation.role)
    others = tuple((str(each.space), each.context.stores) for each in reached.shared)
    return _speak(reached.context, call, others)


@operation(
    "deed",
    "POST",
    "/agent/deed",
    "say what is worth knowing before a tool is used, or after it failed; empty text is silence",
    role=Role.READER,
    body=DeedBody,
    answer=DeedAnswer,
    quick=True,
    shared=_speak_from_everywhere,
)
def speak_of_deed(context: HomeContext, call: OperationCall) -> DeedAnswer:
    return _speak(context, call)


def _speak(
    context: HomeContext, call: OperationCall, others: tuple[SharedStores, ...] = ()
) -> DeedAnswer:
    request = _read_deed_request(context, call)
    stores, config = context.stores, context.whisper_config
    word = speak_before_deed(stores, config, context.whisperer, request, others)
    return answers.build_deed_answer(word)


def _read_deed_request(context: HomeContext, call: OperationCall) -> DeedRequest:
    reader = RequestReader(call.body)
    tool, target, given = reader.required_text("tool"), reader.text("target"), reader.raw("input")
    folder = reader.text("cwd")
    if given is not None and not isinstance(given, Mapping):
        raise InvalidValue("input", "is no object", hint="send what the tool is given")
    request = DeedRequest(
        deed=_build_deed(tool, target, given or {}, folder),
        space=read_asked_space(context.stores, reader, None, call.is_local),
        cwd=folder,
        session_id=reader.text("session_id"),
        error=reader.text("error"),
        due=call.due,
        awaits_receipt=call.awaits_receipt,
    )
    reader.done()
    return request


def _build_deed(
    tool: str, target: str | None, given: Mapping[str, object], folder: str | None
) -> Deed:
    return read_deed(tool, given, folder) if target is None else read_named_deed(tool, target)
