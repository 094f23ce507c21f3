"""Transcripts of the hosts: read from where we stopped, and what a person said outright kept.

The cursor of a transcript is a journal `state` event: how far it was taken in, a hash of the bytes
before that place, and the number of the last turn. What is kept true:

- The cursor never moves past text that was not taken in: when a memory cannot be written, it stays
  before the line that said so, and the next run begins there.
- A last line without its end is still being written; it is left for the next run.
- A file that was cut, rewritten or replaced is read from its start. That writes nothing twice: a
  statement's key and id are made of its session, its line and its words.
- Only what a person typed counts: no tool output, no sub-agent, no summary, nothing that a host or
  Madeleine itself put there.

Formats: Claude Code's JSONL and Codex's rollouts, told apart line by line. Both are internal to
their hosts and change, so a line that is not as expected is passed over.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeGuard

from madeleine.errors import Conflict, InvalidValue, MadeleineError, Rejected, Unavailable
from madeleine.ingest.projects import space_of
from madeleine.ingest.statements import Statement, statements
from madeleine.model.codec import Json
from madeleine.model.draft import read_draft
from madeleine.model.event import Kind, Position
from madeleine.model.times import format_time, parse_time
from madeleine.rules.text import same_text_key
from madeleine.vault.journal_lines import position_at, start_of
from madeleine.whisper.learning import notice_use
from madeleine.write.record import event, record
from madeleine.write.remember import remember
from madeleine.write.stores import Stores

LINE_BYTES = 4_194_304  # a longer line holds a tool's output, not what somebody typed
CONFIDENCE = 0.9  # said outright, but nobody looked at how it reads on its own
TAG = "from-transcript"
_A_PERSONS = (b'"user"', b'"queued_command"')  # a line without either is no person's
_PEOPLE = ("user", "sdk", "human")


class NoTranscript(Rejected):
    """What is named as a transcript cannot be read as one."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path} {problem}", hint="name a .jsonl file of a host's sessions")


@dataclass(frozen=True, slots=True)
class Transcript:
    """A session's file, and whose it is."""

    path: Path
    agent: str = "unknown"
    session: str | None = None
    space: str | None = None


@dataclass(slots=True)
class TakenIn:
    """What a run did with a transcript."""

    lines: int = 0
    turns: int = 0
    kept: list[str] = field(default_factory=list)
    used: list[str] = field(default_factory=list)
    """Memories that the agent's replies show to have been used."""
    known: int = 0
    refused: int = 0
    unreadable: int = 0
    anew: bool = False
    """The file was not the one we knew, and was read from its start."""
    stopped: str | None = None
    """Why the rest has to wait for the next run."""

    def to_json(self) -> Json:
        return {name: getattr(self, name) for name in self.__slots__}


class Said(NamedTuple):
    """What a person typed, and where in the transcript."""

    text: str
    session: str | None
    place: str
    at: str | None
    folder: str | None


class _Cursor(NamedTuple):
    position: Position | None
    turn: int


def take_in(
    stores: Stores, transcript: Transcript, go_on: Callable[[], bool] = lambda: True
) -> TakenIn:
    """Keep what is new in a transcript and move its cursor; return what was done.

    Stopping halfway is safe: what was kept is known again by its key.
    """
    key = _key(stores, transcript.path)
    with _opened(transcript.path) as file:
        known = _cursor(stores, key)
        start = start_of(file.fileno(), os.fstat(file.fileno()).st_size, known.position)
        anew = start == 0 and known.position is not None
        run = _Run(stores, transcript, TakenIn(anew=anew), 0 if anew else known.turn)
        end = run.take(_lines(file, start), go_on)
        if end is not None:
            _move(run, key, position_at(file.fileno(), end))
    return run.report


@dataclass(slots=True)
class _Run:
    """One go through a transcript. `turn` counts what a person said in it so far."""

    stores: Stores
    transcript: Transcript
    report: TakenIn
    turn: int

    def take(self, lines: Iterator[tuple[int, bytes]], go_on: Callable[[], bool]) -> int | None:
        """Take in line after line; return the end of the last one that was."""
        taken: int | None = None
        for end, line in lines:
            if not go_on():
                self.report.stopped = "the daemon ends"
                break
            try:
                self._take_line(line)
            except MadeleineError as error:
                self.report.stopped = error.message
                break
            taken = end
        return taken

    def _take_line(self, line: bytes) -> None:
        reply = _replied(line)
        if reply is not None:
            session = reply.session or self.transcript.session or self.transcript.path.stem
            self.report.used += notice_use(self.stores, session, reply.text, reply.at)
        said = _said(line, self.report)
        if said is not None:
            for statement in statements(said.text):
                self._keep(said, statement)
            self.turn += 1
            self.report.turns += 1
        self.report.lines += 1

    def _keep(self, said: Said, statement: Statement) -> None:
        """Write one statement, unless it was kept before or its words are known already."""
        session = said.session or self.transcript.session or self.transcript.path.stem
        key = _statement_key(session, said.place, statement.text)
        space = space_of(said.folder) or self.transcript.space
        if self._was_kept(_memory_id(key)) or self._is_known(statement.text, (space, None)):
            self.report.known += 1
            return
        own = None if statement.about_self else space
        values = {**self._draft(said, session, statement, own), "idempotency_key": key}
        try:
            draft = read_draft({**values, "id": _memory_id(key)}, self.stores.habits.limits)
            self.report.kept.append(remember(self.stores, draft).memory.id)
        except (Rejected, Conflict):
            self.report.refused += 1  # it can never be written; waiting would keep out the rest

    def _was_kept(self, memory_id: str) -> bool:
        """Whether this very statement was: what was revised or forgotten since stays so."""
        return bool(self.stores.index.history(memory_id, 1))

    def _is_known(self, text: str, spaces: tuple[str | None, ...]) -> bool:
        """Whether these words are, from whichever session."""
        key, now, index = same_text_key(text), self.stores.clock.now(), self.stores.index
        return any(index.same_text(space, key, now, 1) for space in dict.fromkeys(spaces))

    def _draft(
        self, said: Said, session: str, statement: Statement, space: str | None
    ) -> dict[str, object]:
        return {
            "content": statement.text,
            "type": statement.type.value,
            "space": space,
            "about_self": statement.about_self,
            "tags": [TAG],
            "confidence": CONFIDENCE,
            "source": f"agent:{self.transcript.agent}",
            "created": _time(said.at),
            "origin": {
                "session": session,
                "turn": self.turn + 1,
                "speaker": "user",
                "uri": self.transcript.path.as_uri(),
            },
        }


def _memory_id(key: str) -> str:
    """The same statement always becomes the same memory, so that its story can be looked up."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"madeleine:{key}"))


def _statement_key(session: str, place: str, text: str) -> str:
    told = "\n".join((session, place, text)).encode("utf-8")
    return f"transcript:{hashlib.sha256(told).hexdigest()[:32]}"


def _time(text: str | None) -> str | None:
    at = _instant(text)
    return None if at is None else format_time(at)


def _instant(text: str | None) -> datetime | None:
    try:
        return None if text is None else parse_time("timestamp", text)
    except InvalidValue:
        return None


# -- the cursor ----------------------------------------------------------------------------


def _key(stores: Stores, path: Path) -> str:
    """The same path on another device is another file."""
    told = os.fsencode(path)
    return f"transcript:{stores.journal.device}:{hashlib.sha256(told).hexdigest()[:32]}"


def _cursor(stores: Stores, key: str) -> _Cursor:
    value = stores.index.state(key)
    if not isinstance(value, Mapping):
        return _Cursor(None, 0)
    offset, check, turn = value.get("offset"), value.get("check"), value.get("turn")
    if not isinstance(offset, int) or not isinstance(check, str) or not isinstance(turn, int):
        return _Cursor(None, 0)
    return _Cursor(Position(offset, check), turn)


def _move(run: _Run, key: str, position: Position) -> None:
    """Note how far the transcript is taken in, and, if anything came of it, the report (I8)."""
    stores, report = run.stores, run.report
    value = {"offset": position.offset, "check": position.check, "turn": run.turn}
    marks = [event(stores, Kind.STATE, {"key": key, "value": value})]
    if report.kept or report.stopped:
        told = {"session": run.transcript.session, **report.to_json()}
        body = {"run": stores.new_id(), "job": "whisper_store", "report": told}
        marks.append(event(stores, Kind.RUN, body))
    record(stores, marks, durable=False)


# -- reading -------------------------------------------------------------------------------


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """Open a transcript; a pipe or a folder by that name must not hold anybody up."""
    if not path.is_absolute() or path.suffix != ".jsonl":
        raise NoTranscript(path, "is no absolute path of a .jsonl file")
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise NoTranscript(path, "is not there") from error
    except OSError as error:
        raise Unavailable(f"cannot read {path}: {error.strerror}", "make it readable") from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise NoTranscript(path, "is no file")
    with os.fdopen(handle, "rb") as file:
        yield file


def _lines(file: BinaryIO, start: int) -> Iterator[tuple[int, bytes]]:
    """Give each whole line with the place after it; one that is too long comes empty."""
    file.seek(start)
    end = start
    while line := file.readline(LINE_BYTES):
        end += len(line)
        fits = line.endswith(b"\n")
        while line and not line.endswith(b"\n"):
            line = file.readline(LINE_BYTES)
            end += len(line)
        if not line:
            return
        yield end, line if fits else b""


def _said(line: bytes, report: TakenIn) -> Said | None:
    """Return what a person typed in this line, if it is theirs."""
    if not any(mark in line for mark in _A_PERSONS):
        return None
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        report.unreadable += 1
        return None
    if not isinstance(values, dict):
        return None
    return _claude_said(values) or _codex_said(values)


class _Reply(NamedTuple):
    """What the agent answered."""

    text: str
    session: str | None
    at: datetime | None = None


def _replied(line: bytes) -> _Reply | None:
    """Return what the agent said in this line, if it is the agent's."""
    if b'"assistant"' not in line:
        return None
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return None  # counted when it is looked at for what a person said
    if not isinstance(values, dict) or values.get("isSidechain"):
        return None
    codex = values.get("type") == "response_item"
    message = values.get("payload" if codex else "message")
    if not isinstance(message, Mapping) or message.get("role") != "assistant":
        return None
    kind = "output_text" if codex else "text"
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    texts = [_text(each.get("text")) for each in parts if _is_kind(each, kind)]
    joined = "\n".join(each for each in texts if each)
    at = _instant(_text(values.get("timestamp")))
    return _Reply(joined, _text(values.get("sessionId")), at) if joined else None


def _is_kind(part: object, kind: str) -> TypeGuard[Mapping[str, object]]:
    return isinstance(part, Mapping) and part.get("type") == kind


def _claude_said(values: Mapping[str, Any]) -> Said | None:
    if any(values.get(mark) for mark in _NO_PERSON) or not _by_a_person(values):
        return None
    if values.get("type") == "attachment":
        text = _queued(values.get("attachment"))
    elif values.get("type") == "user":
        text = _message_text(values.get("message"))
    else:
        return None
    place = _text(values.get("uuid")) or _text(values.get("timestamp"))
    if text is None or place is None:
        return None
    session, at, folder = (_text(values.get(name)) for name in ("sessionId", "timestamp", "cwd"))
    return Said(text, session, place, at, folder)


_NO_PERSON = ("isMeta", "isSidechain", "isCompactSummary", "isApiErrorMessage", "teamName")


def _by_a_person(values: Mapping[str, Any]) -> bool:
    source, origin = values.get("promptSource"), values.get("origin")
    kind = origin.get("kind") if isinstance(origin, Mapping) else None
    return all(each is None or each in _PEOPLE for each in (source, kind))


def _queued(attachment: object) -> str | None:
    """Return a prompt that was typed while the agent was at work."""
    if not isinstance(attachment, Mapping) or attachment.get("type") != "queued_command":
        return None
    by_hand = attachment.get("commandMode") in (None, "prompt")
    return _text(attachment.get("prompt")) if by_hand else None


def _message_text(message: object) -> str | None:
    if not isinstance(message, Mapping) or message.get("role") != "user":
        return None
    content = message.get("content")
    return _text(content) if isinstance(content, str) else _joined(content, "text")


def _codex_said(values: Mapping[str, Any]) -> Said | None:
    payload = values.get("payload")
    if values.get("type") != "response_item" or not isinstance(payload, Mapping):
        return None
    if payload.get("type") != "message" or payload.get("role") != "user":
        return None
    text, at = _joined(payload.get("content"), "input_text"), _text(values.get("timestamp"))
    if text is None or at is None:
        return None
    return Said(text, None, at, at, None)


def _joined(content: object, kind: str) -> str | None:
    """Return the texts of a message; one that carries anything but texts is not only typed."""
    if not isinstance(content, list) or not content:
        return None
    texts = []
    for part in content:
        if not isinstance(part, Mapping) or part.get("type") not in (kind, "image", "input_image"):
            return None
        texts.append(_text(part.get("text")) or "")
    return "\n".join(texts)


def _text(value: object) -> str | None:
    """Return a text that says something; half of a surrogate pair, which JSON can hold, is not."""
    if not isinstance(value, str) or not value:
        return None
    return value.encode("utf-8", "replace").decode("utf-8")
