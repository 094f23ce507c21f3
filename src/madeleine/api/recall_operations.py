"""Recalling and whispering: what answers a question or a prompt, and whether it was of use.

A question is asked in every place that its filter allows, and the answers are joined by their
scores, which are absolute.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from madeleine.api import answers, reach
from madeleine.api.contract.requests import (
    FeedbackBody,
    PauseBody,
    RecallBody,
    SpaceQuery,
    WhisperBody,
    WhisperWhyQuery,
)
from madeleine.api.contract.responses import (
    NotedFeedback,
    PausedSession,
    RecallAnswer,
    WhisperAnswer,
    WhisperReason,
    WhisperReport,
)
from madeleine.api.operation import Operation, operation
from madeleine.api.performing import perform_in_place
from madeleine.api.request_fields import read_asked_space, read_default_space
from madeleine.api.shared_behaviour import filter_for_place
from madeleine.errors import InvalidValue
from madeleine.language.deeds import read_action
from madeleine.model.embedding import QueryEmbedding
from madeleine.model.people import Role
from madeleine.model.query import RecallQuery, read_query
from madeleine.model.request_reader import RequestReader
from madeleine.recall.candidates import embed_question
from madeleine.recall.recall import RecallMatch, RecallResult, recall, widen_for_overview
from madeleine.rules.ranked_merge import merge_ranked
from madeleine.whisper.deed import DeedRequest, speak_before_deed
from madeleine.whisper.learning import give_feedback
from madeleine.whisper.pausing import is_paused, pause_session, resume_session
from madeleine.whisper.report import measure_hold_out, measure_weeks
from madeleine.whisper.values import Prompt
from madeleine.whisper.whisper import whisper
from madeleine.write.executor import run_concurrently
from madeleine.write.record_use import record_use
from madeleine.write.resolve import get_stored

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.api.reach import CallerReach, ReachablePlace
    from madeleine.bootstrap import HomeContext
    from madeleine.whisper.stages import SharedStores


# -- recall --------------------------------------------------------------------------------


def _recall_everywhere(
    operation: Operation[RecallAnswer], reached: CallerReach, call: OperationCall
) -> RecallAnswer:
    query = widen_for_overview(read_query(call.body, read_default_space(call)))
    reached.own.check(operation.name, operation.role)
    places = reached.places_for_spaces(query.filter.spaces)
    _wait_for_uses(places)
    about = (
        reached.find_holder(query.why_not, reach.find_memories) if query.why_not else reached.own
    )
    trace, _ = embed_question(reached.context.stores, query.text)
    asking = [
        partial(_recall_in, place, _query_for_place(query, place, about), trace) for place in places
    ]
    found = run_concurrently(asking)
    hits = merge_ranked([each.hits for each in found], lambda hit: hit.score, query.limit)
    notes = dict.fromkeys(note for each in found for note in each.notes)
    _record_uses(places, found, hits, query)
    silence = None if hits else found[0].silence
    why_not = next((each.why_not for each in found if each.why_not), None)
    folded = min(sum(each.folded for each in found), query.limit - len(hits))
    return answers.build_recall_answer(
        RecallResult(tuple(hits), silence, tuple(notes), why_not, folded=folded), query.explain
    )


def _recall_in(
    place: ReachablePlace, query: RecallQuery, trace: QueryEmbedding | None
) -> RecallResult:
    return recall(place.context.stores, query, touch=False, trace=trace)


def _wait_for_uses(places: Sequence[ReachablePlace]) -> None:
    """Wait for the uses noted behind earlier answers."""
    for place in places:
        place.context.stores.executor.wait()


def _query_for_place(
    query: RecallQuery, place: ReachablePlace, about: ReachablePlace
) -> RecallQuery:
    """Return a question as it is asked in one place."""
    return replace(
        query,
        filter=filter_for_place(query.filter, place),
        why_not=query.why_not if place is about else None,
    )


def _record_uses(
    places: Sequence[ReachablePlace],
    found: Sequence[RecallResult],
    hits: Sequence[RecallMatch],
    query: RecallQuery,
) -> None:
    """Note what is shown as used, where it is kept."""
    shown = {id(each) for each in hits}
    for place, each in zip(places, found, strict=True):
        ids = [hit.memory.id for hit in each.hits if id(hit) in shown]
        if ids:
            record_use(place.context.stores, ids, "recalled", query.session_id)


@operation(
    "recall",
    "POST",
    "/agent/recall",
    "find memories that answer a question",
    role=Role.READER,
    body=RecallBody,
    query=SpaceQuery,
    answer=RecallAnswer,
    quick=True,
    only_reads=True,
    shared=_recall_everywhere,
)
def recall_memories(context: HomeContext, call: OperationCall) -> RecallAnswer:
    query = read_query(call.body, read_default_space(call))
    return answers.build_recall_answer(recall(context.stores, query), query.explain)


# -- whisper -------------------------------------------------------------------------------


def _whisper_from_everywhere(
    operation: Operation[WhisperAnswer], reached: CallerReach, call: OperationCall
) -> WhisperAnswer:
    context = reached.context
    prompt = _read_prompt(context, call)
    _wait_for_uses([*reached.places()])
    reached.own.check(operation.name, operation.role)
    others = tuple((str(each.space), each.context.stores) for each in reached.shared)
    return _answer_prompt(context, prompt, others)


@operation(
    "whisper",
    "POST",
    "/agent/whisper",
    "say what is worth knowing before a prompt is answered; empty text is silence",
    role=Role.READER,
    body=WhisperBody,
    query=SpaceQuery,
    answer=WhisperAnswer,
    quick=True,
    shared=_whisper_from_everywhere,
)
def whisper_to_prompt(context: HomeContext, call: OperationCall) -> WhisperAnswer:
    return _answer_prompt(context, _read_prompt(context, call))


def _answer_prompt(
    context: HomeContext, prompt: Prompt, others: tuple[SharedStores, ...] = ()
) -> WhisperAnswer:
    stores, config, whisperer = context.stores, context.whisper_config, context.whisperer
    if not prompt.is_action:
        said = whisper(stores, config, whisperer, prompt, others)
        return answers.build_whisper_answer(said, prompt.explain)
    request = DeedRequest(
        deed=read_action(prompt.text, prompt.cwd),
        space=prompt.space,
        cwd=prompt.cwd,
        session_id=prompt.session_id,
        due=prompt.due,
        awaits_receipt=prompt.awaits_receipt,
        dry_run=prompt.dry_run,
    )
    word = speak_before_deed(stores, config, whisperer, request, others)
    return answers.build_action_answer(word, request, prompt.explain)


def _read_prompt(context: HomeContext, call: OperationCall) -> Prompt:
    """Return the prompt that a request is about. If it names no space, its folder tells it."""
    reader = RequestReader(call.body)
    space = read_asked_space(context.stores, reader, read_default_space(call), call.is_local)
    typed, action = reader.text("prompt"), reader.text("action")
    if typed is None and action is None:
        raise InvalidValue("prompt", "is missing", hint="send what was typed")
    if typed is not None and action is not None:
        raise InvalidValue("action", "stands beside a prompt", hint="send one of the two")
    prompt = Prompt(
        text=typed or action or "",
        space=space,
        session_id=reader.text("session_id"),
        cwd=reader.text("cwd"),
        explain=reader.flag("explain"),
        dry_run=reader.flag("dry_run"),
        due=call.due,
        awaits_receipt=call.awaits_receipt,
        is_action=action is not None,
    )
    reader.done()
    return prompt


@operation(
    "whisper_why",
    "GET",
    "/agent/whisper/why",
    "say in plain words why the last whisper, or silence, was what it was",
    role=Role.READER,
    query=WhisperWhyQuery,
    answer=WhisperReason,
)
def explain_whisper(context: HomeContext, call: OperationCall) -> WhisperReason:
    reader = RequestReader(call.query)
    session = reader.text("session_id")
    reader.done()
    entries = context.stores.log.whispers(1, session)
    return answers.build_whisper_reason(entries[0] if entries else None, context.whisper_config)


@operation(
    "whisper_report",
    "GET",
    "/agent/whisper/report",
    "say what whispers were worth, week by week, and what the hold-out shows",
    role=Role.READER,
    answer=WhisperReport,
)
def report_whispers(context: HomeContext, call: OperationCall) -> WhisperReport:
    return answers.build_whisper_report(
        measure_hold_out(context.stores, context.whisper_config),
        measure_weeks(context.stores),
        context.whisper_config,
    )


# -- feedback ------------------------------------------------------------------------------


def _take_feedback_at_holder(
    operation: Operation[NotedFeedback], reached: CallerReach, call: OperationCall
) -> NotedFeedback:
    """Say how useful a memory was, where it is kept. Whispers are in the caller's own log."""
    wanted = call.body.get("node_id")
    place = (
        reached.find_holder(wanted, reach.find_memories) if isinstance(wanted, str) else reached.own
    )
    if place.space is not None:
        body = {name: value for name, value in call.body.items() if name != "whisper_log_id"}
        call = replace(call, body=body)
    return perform_in_place(reached, place, operation, call)


@operation(
    "feedback",
    "POST",
    "/agent/feedback",
    "say whether a memory was useful",
    role=Role.WRITER,
    body=FeedbackBody,
    answer=NotedFeedback,
    shared=_take_feedback_at_holder,
)
def take_feedback(context: HomeContext, call: OperationCall) -> NotedFeedback:
    reader = RequestReader(call.body)
    memory_id = get_stored(context.stores, reader.required_text("node_id")).memory.id
    if reader.raw("signal") is None:
        raise InvalidValue("signal", "is missing", hint="it is required")
    signal = reader.whole("signal", 0, -1, 1)
    source = reader.text("source") or "explicit"
    whisper_id = reader.text("whisper_log_id")
    reader.done()
    give_feedback(context.stores, memory_id, signal, source, whisper_id)
    return answers.build_noted_feedback(memory_id, signal)


@operation(
    "pause",
    "POST",
    "/agent/pause",
    "keep and whisper nothing in a session until it goes on",
    role=Role.WRITER,
    body=PauseBody,
    answer=PausedSession,
)
def pause_or_resume(context: HomeContext, call: OperationCall) -> PausedSession:
    reader = RequestReader(call.body)
    session, resume = reader.required_text("session_id"), reader.flag("resume")
    reader.done()
    change = resume_session if resume else pause_session
    paused = is_paused(change(context.stores, session))
    told = "Paused: nothing is kept or whispered." if paused else "Goes on."
    return PausedSession(text=told, session_id=session, paused=paused)
