"""A conversation as a caller hands it in: who said what.

Three shapes are understood: lines of a host's transcript, a text in which each speaker is named at
the beginning of a line (`User: …`, `Assistant: …`), and a list of messages. Whoever is neither a
person nor an agent (a tool, the system) is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from madeleine.errors import InvalidValue
from madeleine.ingest.transcript_lines import SpokenLine, UnreadableLine, Voice, parse_line
from madeleine.language.late_pattern import compile_late
from madeleine.model.request_reader import RequestReader

PEOPLE = frozenset({"user", "human", "me", "person", "you"})
AGENTS = frozenset(
    {"assistant", "agent", "ai", "bot", "model", "claude", "codex", "chatgpt", "gemini", "copilot"}
)
OTHERS = frozenset({"system", "developer", "tool", "function"})
MESSAGES_AT_MOST = 10_000

_NAMED = compile_late(
    rf"^[ \t]*(?:[#>*_]+[ \t]*)?(?P<name>{'|'.join(sorted(PEOPLE | AGENTS | OTHERS))})"
    r"(?:[*_]+)?[ \t]*:(?:[*_]+)?[ \t]*",
    re.I | re.M,
)


class DialoguePart(NamedTuple):
    """What somebody said, and where in the text it stands, in bytes."""

    said: SpokenLine
    start: int
    end: int


def parse_dialogue(text: str) -> list[DialoguePart]:
    """Return who said what in a text; nothing where nobody can be told to speak in it."""
    return _parse_lines(text) if text.lstrip().startswith("{") else _parse_named_speakers(text)


def _parse_lines(text: str) -> list[DialoguePart]:
    found: list[DialoguePart] = []
    at = 0
    for line in text.splitlines(keepends=True):
        data = line.encode("utf-8")
        try:
            said = parse_line(data)
        except UnreadableLine:
            said = None  # a line that is cut off, or no line of a transcript
        if said is not None:
            found.append(DialoguePart(said, at, at + len(data)))
        at += len(data)
    return found


def _parse_named_speakers(text: str) -> list[DialoguePart]:
    """Take a text apart where speakers are named. One that only one of them is named in is
    somebody's notes, not a conversation."""
    marks = list(_NAMED.finditer(text))
    voices = {voice_of(mark["name"]) for mark in marks}
    if not {Voice.PERSON, Voice.AGENT} <= voices or text[: marks[0].start()].strip():
        return []
    return list(_split_at_names(text, marks))


def _split_at_names(text: str, marks: Sequence[re.Match[str]]) -> Iterator[DialoguePart]:
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    for number, (mark, end) in enumerate(zip(marks, ends, strict=True)):
        voice, said = voice_of(mark["name"]), text[mark.end() : end].strip()
        if voice is not None and said:
            start = len(text[: mark.start()].encode("utf-8"))
            length = len(text[mark.start() : end].encode("utf-8"))
            yield DialoguePart(SpokenLine(voice, said, place=str(number)), start, start + length)


def voice_of(name: str) -> Voice | None:
    """Return whose words they are; nothing for a tool or the system. A name nobody knows is a
    person's."""
    plain = name.strip().lower()
    if plain in OTHERS:
        return None
    return Voice.AGENT if plain in AGENTS else Voice.PERSON


def read_messages(messages: Sequence[object]) -> list[DialoguePart]:
    """Return who said what in a list of messages: `role`, `content`, perhaps `at`."""
    if len(messages) > MESSAGES_AT_MOST:
        problem = f"holds {len(messages):,}; the limit is {MESSAGES_AT_MOST:,}"
        raise InvalidValue("messages", problem, hint="send several conversations")
    found = (_read_message(number, each) for number, each in enumerate(messages))
    return [each for each in found if each is not None]


def _read_message(number: int, message: object) -> DialoguePart | None:
    reader = RequestReader(message, "a message")
    role, at = reader.required_text("role"), reader.time("at")
    text = _read_content(reader)
    reader.done()
    if role.strip().lower() not in PEOPLE | AGENTS | OTHERS:
        hint = "user, assistant, system or tool"
        raise InvalidValue("role", f"{role[:40]!r} is nobody's", hint=hint)
    voice = voice_of(role)
    if voice is None or not text.strip():
        return None
    said = SpokenLine(voice, text, place=str(number), at=at.isoformat() if at else None)
    return DialoguePart(said, number, number + 1)


def _read_content(reader: RequestReader) -> str:
    """Return what a message says: a text, or parts of which those of text count."""
    given = reader.raw("content")
    if not isinstance(given, list):
        return reader.required_text("content")
    texts = (
        each.get("text")
        for each in given
        if isinstance(each, Mapping) and each.get("type") == "text"
    )
    return "\n".join(each for each in texts if isinstance(each, str))
