"""Taking in: what these operations do, and what they answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from madeleine.api.contract.requests import (
    IngestConversationBody,
    IngestConversationQuery,
    IngestFileBody,
)
from madeleine.api.contract.responses import FoundMemory, IngestReport, IntakeStatus
from madeleine.api.operation import Operation, operation
from madeleine.api.performing import perform_in_place
from madeleine.api.remember_operations import read_author
from madeleine.errors import InvalidValue, Rejected, TooLarge
from madeleine.ingest.conversations import ingest_conversation
from madeleine.ingest.dialogue import DialoguePart, parse_dialogue, read_messages
from madeleine.ingest.documents import SourceDocument, ingest_document
from madeleine.ingest.finding import ConversationOrigin
from madeleine.ingest.gate import read_daily_usage
from madeleine.ingest.keeping import finding_key
from madeleine.ingest.report import IngestOutcome
from madeleine.ingest.transcripts import Transcript, ingest_transcript_by_hand
from madeleine.model.draft import read_one_line, read_space, read_tags
from madeleine.model.memory import first_words
from madeleine.model.people import Role
from madeleine.model.request_reader import RequestReader

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.api.reach import CallerReach
    from madeleine.bootstrap import HomeContext

MAX_NAME_CHARS = 300
MAX_URI_CHARS = 1_500
NON_AGENT_DOORS = ("cli", "python")  # who is nobody's agent
MAX_MEMORIES_NAMED = 20  # memories that the text of an answer names


class _IngestOptions:
    """What every way of taking in is asked in the query."""

    def __init__(self, context: HomeContext, call: OperationCall) -> None:
        reader = RequestReader(call.query)
        self.author = read_author(call.by)
        self.space = read_space(reader.text("default_space"))
        self.dry_run = reader.flag("dry_run")
        self.tags = read_tags(reader.texts("extra_tags") or (), context.stores.config.limits)
        reader.done()


@operation(
    "ingest_conversation",
    "POST",
    "/ingest/conversation",
    "take in a conversation: what was said outright, and its exchanges",
    role=Role.WRITER,
    body=IngestConversationBody,
    query=IngestConversationQuery,
    answer=IngestReport,
)
def receive_conversation(context: HomeContext, call: OperationCall) -> IngestReport:
    """Take in a conversation; a text in which nobody is told to speak is somebody's notes."""
    how, reader = _IngestOptions(context, call), RequestReader(call.body)
    content, messages = reader.text("content"), reader.items("messages", lambda each: each)
    agent = read_one_line("agent_id", reader.text("agent_id"), 150)
    session = read_one_line("session", reader.text("session"), MAX_NAME_CHARS)
    uri = read_one_line("uri", reader.text("uri"), MAX_URI_CHARS)
    reader.done()
    _require_exactly_one(content, messages, "messages")
    source = _ingest_source(agent, call.by)
    if messages is not None:
        return _ingest_dialogue(context, how, read_messages(messages), (source, session, uri))
    return _ingest_text(context, how, content or "", (agent or "", source, session, uri))


def _receive_file_in_space(
    operation: Operation[IngestReport], reached: CallerReach, call: OperationCall
) -> IngestReport:
    """Take in a file where its space is kept. A conversation, which has a route of its own,
    stays with the one who said it, whichever project it was about."""
    space = read_space(RequestReader(call.query).text("default_space"))
    return perform_in_place(reached, reached.at(space), operation, call)


@operation(
    "ingest_file",
    "POST",
    "/ingest/file",
    "take in a file of notes, section by section; taken in again it revises what came of it",
    role=Role.WRITER,
    body=IngestFileBody,
    query=IngestConversationQuery,
    answer=IngestReport,
    server_path="path",
    shared=_receive_file_in_space,
)
def receive_file(context: HomeContext, call: OperationCall) -> IngestReport:
    """Take in a file of notes or a conversation, or a transcript of this machine by its path."""
    how, reader = _IngestOptions(context, call), RequestReader(call.body)
    content, path = reader.text("content"), reader.text("path")
    name = read_one_line("name", reader.text("name"), MAX_NAME_CHARS)
    uri = read_one_line("uri", reader.text("uri"), MAX_URI_CHARS)
    reader.done()
    _require_exactly_one(content, path, "path")
    if path is None:
        source = f"file:{name}"[:200] if name else "text"
        return _ingest_text(context, how, content or "", (name or "", source, uri, uri))
    if name or uri or how.tags:
        raise Rejected("a `path` stands for itself", hint="leave name, uri and tags out")
    transcript = Transcript(Path(path), _agent_name(call.by), space=how.space, ended=True)
    return _build_ingest_report(
        ingest_transcript_by_hand(context.intake, transcript, how.dry_run), how.dry_run
    )


def _ingest_text(
    context: HomeContext,
    how: _IngestOptions,
    text: str,
    told: tuple[str, str, str | None, str | None],
) -> IngestReport:
    """Take in a text: a conversation if somebody is told to speak in it, else notes."""
    name, source, session, uri = told
    size, most = len(text.encode("utf-8")), context.intake.config.content_bytes
    if size > most:
        raise TooLarge("the text", size, most, "ingest.content_bytes")
    if not text.strip():
        raise InvalidValue("content", "is empty", hint="send some text")
    parts = parse_dialogue(text)
    if parts:
        return _ingest_dialogue(context, how, parts, (source, session, uri))
    written = SourceDocument(
        name, text, context.stores.clock.now(), uri, how.space, how.tags, how.author
    )
    return _build_ingest_report(ingest_document(context.intake, written, how.dry_run), how.dry_run)


def _ingest_dialogue(
    context: HomeContext,
    how: _IngestOptions,
    parts: list[DialoguePart],
    told: tuple[str, str | None, str | None],
) -> IngestReport:
    source, session, uri = told
    place = ConversationOrigin(source, session or _session_name(parts), how.space, uri, how.tags)
    return _build_ingest_report(
        ingest_conversation(context.intake, parts, place, how.dry_run), how.dry_run
    )


def _require_exactly_one(content: object, other: object, name: str) -> None:
    if content is None and other is None:
        raise InvalidValue("content", f"or `{name}` must be given", hint="one of the two")
    if content is not None and other is not None:
        raise InvalidValue("content", f"and `{name}` exclude each other", hint="send one of them")


def _ingest_source(agent: str | None, by: str) -> str:
    """Return where it comes from: the agent that took part, or who hands it in."""
    if agent is None:
        return by if by in NON_AGENT_DOORS or ":" in by else f"agent:{_agent_name(by)}"
    return agent if ":" in agent else f"agent:{agent}"


def _agent_name(by: str) -> str:
    return "unknown" if by in (*NON_AGENT_DOORS, "http") else by.removeprefix("agent:")


def _session_name(parts: list[DialoguePart]) -> str:
    """Return a name for a conversation that has none: the same words have the same."""
    named = next((each.said.session for each in parts if each.said.session), None)
    return named or finding_key("conversation", *(each.said.text for each in parts))


def _build_ingest_report(done: IngestOutcome, dry_run: bool) -> IngestReport:
    memories = tuple(
        FoundMemory(
            title=each.title or first_words(each.content),
            content=each.content,
            type=each.type,
            tier=each.tier,
            space=each.space,
            tags=list(each.tags),
            about_self=each.about_self,
            confidence=each.confidence,
            node_id=None if dry_run else each.id,
        )
        for each in done.found
    )
    return IngestReport(
        text="\n".join(_render_ingest(done, memories, dry_run)),
        status="dry_run" if dry_run else "processed",
        extracted=len(memories),
        memories=memories,
        revised=tuple(done.revised),
        retired=tuple(done.retired),
        known=done.known,
        refused=done.refused,
        redacted=done.redacted,
        held_back=done.held_back,
        notes=tuple(_render_notes(done)),
    )


def _render_ingest(
    done: IngestOutcome, memories: Sequence[FoundMemory], dry_run: bool
) -> list[str]:
    counts = (
        (len(memories), "would be kept" if dry_run else "kept"),
        (len(done.revised), "revised"),
        (len(done.retired), "retired"),
        (done.known, "known already"),
        (done.refused, "refused"),
    )
    told = ", ".join(f"{count:,} {word}" for count, word in counts if count)
    lines = [f"  {each.type.value}  {each.title}" for each in memories[:MAX_MEMORIES_NAMED]]
    more = (
        [f"  and {len(memories) - MAX_MEMORIES_NAMED:,} more"]
        if len(memories) > MAX_MEMORIES_NAMED
        else []
    )
    left = done.held_back or done.excluded
    nothing = "Nothing was kept." if left else "Nothing in it was worth keeping."
    return [told or nothing, *lines, *more]


def _render_notes(done: IngestOutcome) -> list[str]:
    notes: list[str] = []
    if done.redacted:
        notes.append(f"{done.redacted:,} secrets were taken out and are kept nowhere")
    if done.excluded:
        notes.append(f"{done.why_excluded} ({done.excluded:,})")
    if done.stopped:
        notes.append(done.stopped)
    if done.held_back:
        left = "wait in the transcript" if done.waits else "were left out"
        notes.append(f"{done.held_back:,} more {left}")
    if done.unreadable:
        notes.append(f"lines that could not be read: {done.unreadable:,}")
    return [*notes, *(f"{problem} ({count})" for problem, count in done.problems.items())]


def read_intake_status(context: HomeContext) -> IntakeStatus:
    """What `status` says about taking in."""
    intake, known = context.intake, read_daily_usage(context.stores)
    wanted = context.settings.ingest.extractor == "llm"
    missing = [f"no language model: {intake.why_not}"] if wanted and intake.why_not else []
    return IntakeStatus(
        extractor=intake.extractor.name if intake.extractor else None,
        why_not=intake.why_not or None,
        kept_today=known.kept,
        memories_per_day=intake.config.memories_per_day,
        tokens_today=known.tokens,
        problems=[*missing, *intake.problems()],
    )
