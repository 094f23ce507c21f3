"""Who said what in a line of a transcript, in the hosts' own formats.

Claude Code's JSONL and Codex's rollouts are told apart line by line. Both are internal to their
hosts and change, so a line that is not as expected is passed over. What a person typed is told
from what a host, a tool, a hook, a timetable, a sub-agent or Madeleine itself put there: only a
person's words are ever a person's statement.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from madeleine.whisper.prompts import find_machine_author

_PEOPLE = ("user", "sdk", "human")
_NO_PERSON = ("isMeta", "isCompactSummary", "isApiErrorMessage")
_OTHERS = ("isSidechain", "teamName")  # a sub-agent's, or another agent's
_GIVEN = ("tool_result", "_output")
_LAST_WORDS = ("end_turn", "stop_sequence", "max_tokens", "refusal")
_MARKS = tuple(
    mark.encode()
    for mark in ('"user"', '"assistant"', '"queued_command"', '_call"', '"task_', '"turn_aborted"')
)
"""A line without any of these says nothing to us, and need not be parsed."""


class Voice(enum.Enum):
    """Whose words they are."""

    PERSON = "person"
    AGENT = "agent"
    HOST = "host"
    """A host or a machine took the place of a prompt: what follows answers no person."""
    TOOL = "tool"
    """What a tool did, without its output: only whether it failed."""


class SpokenLine(NamedTuple):
    """What one line says."""

    voice: Voice
    text: str = ""
    session: str | None = None
    place: str = ""
    """What tells this line from any other, also in a copy of the file."""
    at: str | None = None
    folder: str | None = None
    beside: bool = False
    """Whether it was typed while the agent was at work."""
    acts: bool = False
    """Whether the agent goes on to use a tool: what it said before was on the way."""
    ends: bool = False
    """Whether the agent's turn is over with it."""
    failed: bool = False
    """Whether a tool failed."""


class TranscriptHead(NamedTuple):
    """What the first line of a transcript says about all of it."""

    session: str | None = None
    folder: str | None = None
    sub_agent: bool = False


class UnreadableLine(ValueError):
    """A line that looks like somebody's words and does not parse."""


def parse_line(line: bytes) -> SpokenLine | None:
    """Return what a line says, if somebody speaks or acts in it. Raises `UnreadableLine`."""
    if not any(mark in line for mark in _MARKS):
        return None
    values = _parse_object(line)
    if any(values.get(mark) for mark in _OTHERS):
        return None
    return _read_codex(values) if "payload" in values else _read_claude(values)


def parse_head(line: bytes) -> TranscriptHead:
    """Return what the first line of a file says about the session."""
    try:
        values = _parse_object(line)
    except UnreadableLine:
        return TranscriptHead()
    payload = values.get("payload")
    if values.get("type") != "session_meta" or not isinstance(payload, Mapping):
        return TranscriptHead(sub_agent=bool(values.get("isSidechain")))
    source = payload.get("source")
    by_another = isinstance(source, Mapping) and "subagent" in source
    return TranscriptHead(_read_text(payload.get("id")), _read_text(payload.get("cwd")), by_another)


def _parse_object(line: bytes) -> Mapping[str, Any]:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UnreadableLine from error
    return values if isinstance(values, dict) else {}


# -- Claude Code ---------------------------------------------------------------------------


def _read_claude(values: Mapping[str, Any]) -> SpokenLine | None:
    if any(values.get(mark) for mark in _NO_PERSON):
        return None
    match values.get("type"):
        case "assistant":
            return _claude_reply(values)
        case "attachment":
            text = _read_queued(values.get("attachment"))
            return _build_person_line(values, text, beside=True) if _is_by_person(values) else None
        case "user":
            return _claude_prompt(values)
        case _:
            return None


def _claude_prompt(values: Mapping[str, Any]) -> SpokenLine | None:
    """Return what stands in the place of a prompt. One that holds nothing to read, such as a
    picture, is answered all the same; what a tool gave is none."""
    message = values.get("message")
    if not isinstance(message, Mapping) or message.get("role") != "user":
        return None
    content = message.get("content")
    text = _read_text(content) if isinstance(content, str) else _join_texts_or_none(content, "text")
    if text is None:
        results = _read_results(content)
        if results:
            return SpokenLine(Voice.TOOL, failed=any(each.get("is_error") for each in results))
        return SpokenLine(Voice.HOST, ends=True) if _shows_something(content) else None
    if _is_by_person(values) and not find_machine_author(text):
        return _build_person_line(values, text)
    return SpokenLine(Voice.HOST, ends=True)


def _build_person_line(
    values: Mapping[str, Any], text: str | None, beside: bool = False
) -> SpokenLine | None:
    place = _read_text(values.get("uuid")) or _read_text(values.get("timestamp"))
    if text is None or place is None:
        return None
    session, at, folder = (
        _read_text(values.get(name)) for name in ("sessionId", "timestamp", "cwd")
    )
    return SpokenLine(Voice.PERSON, text, session, place, at, folder, beside)


def _claude_reply(values: Mapping[str, Any]) -> SpokenLine | None:
    message = values.get("message")
    if not isinstance(message, Mapping) or message.get("role") != "assistant":
        return None
    parts = message.get("content")
    parts = parts if isinstance(parts, list) else []
    text = _join_texts(parts, "text")
    acts = any(isinstance(each, Mapping) and each.get("type") == "tool_use" for each in parts)
    if not text and not acts:
        return None
    over = bool(text) and not acts and message.get("stop_reason") in _LAST_WORDS
    session, at = _read_text(values.get("sessionId")), _read_text(values.get("timestamp"))
    return SpokenLine(Voice.AGENT, text, session, at=at, acts=acts, ends=over)


def _is_by_person(values: Mapping[str, Any]) -> bool:
    source, origin = values.get("promptSource"), values.get("origin")
    kind = origin.get("kind") if isinstance(origin, Mapping) else None
    return all(each is None or each in _PEOPLE for each in (source, kind))


def _read_queued(attachment: object) -> str | None:
    """Return a prompt that was typed while the agent was at work."""
    if not isinstance(attachment, Mapping) or attachment.get("type") != "queued_command":
        return None
    by_hand = attachment.get("commandMode") in (None, "prompt")
    return _read_text(attachment.get("prompt")) if by_hand else None


# -- Codex ---------------------------------------------------------------------------------


def _read_codex(values: Mapping[str, Any]) -> SpokenLine | None:
    payload, at = values.get("payload"), _read_text(values.get("timestamp"))
    if not isinstance(payload, Mapping):
        return None
    kind = payload.get("type")
    if values.get("type") == "event_msg":
        over = kind in ("task_complete", "turn_complete", "turn_aborted")
        return SpokenLine(Voice.AGENT, ends=True) if over else None
    if values.get("type") != "response_item":
        return None
    if kind == "message":
        return _codex_message(payload, at)
    return SpokenLine(Voice.AGENT, acts=True) if str(kind).endswith("_call") else None


def _codex_message(payload: Mapping[str, Any], at: str | None) -> SpokenLine | None:
    content = payload.get("content")
    if payload.get("role") == "assistant":
        said = _join_texts(content if isinstance(content, list) else [], "output_text")
        return SpokenLine(Voice.AGENT, said, at=at) if said else None
    if payload.get("role") != "user":
        return None
    text = _join_texts_or_none(content, "input_text")
    if text is None or at is None:
        return SpokenLine(Voice.HOST, ends=True) if _shows_something(content) else None
    if find_machine_author(text):
        return None  # what Codex puts before a prompt: instructions, surroundings
    return SpokenLine(Voice.PERSON, text, None, at, at)


# -- pieces --------------------------------------------------------------------------------


def _join_texts(parts: list[object], kind: str) -> str:
    texts = (
        _read_text(each.get("text"))
        for each in parts
        if isinstance(each, Mapping) and each.get("type") == kind
    )
    return "\n".join(each for each in texts if each)


def _join_texts_or_none(content: object, kind: str) -> str | None:
    """Return the texts of a message, whatever it carries beside them: a file, a picture, what a
    tool gave. Nothing where it has none."""
    return _join_texts(content, kind) or None if isinstance(content, list) else None


def _shows_something(content: object) -> bool:
    """Whether a message without a text is a prompt nevertheless, and not a tool's answer."""
    kinds = [
        str(each.get("type"))
        for each in (content if isinstance(content, list) else [])
        if isinstance(each, Mapping)
    ]
    return bool(kinds) and not any(each.endswith(_GIVEN) for each in kinds)


def _read_results(content: object) -> list[Mapping[str, Any]]:
    """Return what tools gave, where that is all of it."""
    parts = content if isinstance(content, list) else []
    found = [
        each for each in parts if isinstance(each, Mapping) and each.get("type") == "tool_result"
    ]
    return found if len(found) == len(parts) else []


def _read_text(value: object) -> str | None:
    """Return a text that says something; half of a surrogate pair, which JSON can hold, is not."""
    if not isinstance(value, str) or not value:
        return None
    return value.encode("utf-8", "replace").decode("utf-8")
