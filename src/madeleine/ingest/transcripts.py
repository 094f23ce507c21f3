"""Transcripts of the hosts: read from where we stopped, and what is worth keeping kept.

Three things are done with what is new in one (`transcript_lines.py` says who said what):

- What a person said outright ("remember that …", "we decided …") becomes a memory at once.
- What the agent replied shows whether a whispered memory was used.
- Exchanges that are over are kept: with a language model, what it finds in them, each with the
  words that prove it; without one, or when it does not answer, the exchange itself, word for
  word, as an archival memory (`finding.py`).

What is kept true:

- The cursor never passes what was not taken in. When a memory cannot be written, or there is no
  room for it (`gate.py`), it stays before the line that said so, and the next run begins there.
- A file that was cut, rewritten or replaced is read from its start. That writes nothing twice.
- Only what a person typed counts as theirs: no tool output, no sub-agent, no summary, nothing
  that a host or Madeleine itself put there.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

from madeleine.errors import Excluded, MadeleineError, UnderWay
from madeleine.ingest.context import IngestContext
from madeleine.ingest.exchanges import Exchange, ExchangeBuilder
from madeleine.ingest.finding import (
    ConversationOrigin,
    keep_in_order,
    keep_statements,
    parse_instant,
)
from madeleine.ingest.gate import (
    AdmissionGate,
    build_usage_events,
    build_waiting_events,
    read_daily_usage,
)
from madeleine.ingest.keeping import Keeper
from madeleine.ingest.lines import (
    TranscriptCursor,
    TranscriptLine,
    WaitingPosition,
    cursor_key,
    open_transcript,
    read_cursor,
    read_lines,
)
from madeleine.ingest.report import IngestOutcome
from madeleine.ingest.transcript_lines import (
    SpokenLine,
    TranscriptHead,
    UnreadableLine,
    Voice,
    parse_head,
    parse_line,
)
from madeleine.model.codec import Json
from madeleine.model.event import Event, EventKind
from madeleine.vault.journal_lines import cursor_at, find_start
from madeleine.whisper.learning import notice_use
from madeleine.whisper.pausing import read_pauses
from madeleine.write.agent_writes import find_excluded
from madeleine.write.find_space import find_space
from madeleine.write.record import new_event, record_events

READ_BYTES = 2_000_000  # of a transcript, after which what is over by then is kept


class IntakeStop(StrEnum):
    """Why a transcript was not taken in whole, where nothing went wrong."""

    ENDING = "daemon_ending"
    """The daemon ends; the rest is taken in at its next start."""
    ELSEWHERE = "taken_in_already"
    """It is being taken in already."""


STOPS: Mapping[IntakeStop, str] = {
    IntakeStop.ENDING: "the daemon ends",
    IntakeStop.ELSEWHERE: "it is being taken in already",
}
"""As the report says it."""

log = logging.getLogger("madeleine.ingest")


@dataclass(frozen=True, slots=True)
class Transcript:
    """A session's file, and whose it is."""

    path: Path
    agent: str = "unknown"
    session: str | None = None
    space: str | None = None
    ended: bool = False
    """Whether the session is over, and with it its last exchange."""
    least_turns: int = 0
    """Exchanges of a session with fewer prompts than this wait for more."""


@dataclass(slots=True)
class TranscriptOutcome:
    """What a run did with a transcript."""

    lines: int = 0
    turns: int = 0
    kept: list[str] = field(default_factory=list)
    used: list[str] = field(default_factory=list)
    """Memories that the agent's replies show to have been used."""
    known: int = 0
    refused: int = 0
    redacted: int = 0
    """Secrets that were taken out before anything was written."""
    excluded: int = 0
    """What the settings keep out."""
    unreadable: int = 0
    held_back: int = 0
    """Exchanges that wait because there was no room for them."""
    anew: bool = False
    """The file was not the one we knew, and was read from its start."""
    stopped: str | None = None
    """Why the rest has to wait for the next run."""
    stopped_kind: str | None = None
    """A kind of error, or an `IntakeStop`."""
    problems: dict[str, int] = field(default_factory=dict)
    """What the language model did not do, in words, and how often."""

    def stop(self, why: IntakeStop | MadeleineError) -> None:
        """Note why the rest has to wait."""
        if isinstance(why, IntakeStop):
            self.stopped, self.stopped_kind = STOPS[why], why.value
        else:
            self.stopped, self.stopped_kind = why.message, why.kind

    def to_json(self) -> Json:
        return {name: getattr(self, name) for name in self.__slots__}


def ingest_transcript(
    intake: IngestContext, transcript: Transcript, go_on: Callable[[], bool] = lambda: True
) -> TranscriptOutcome:
    """Keep what is new in a transcript and move its cursor; return what was done.

    Stopping halfway is safe: what was kept is known again by its key.
    """
    run = _read(intake, transcript, go_on)
    if run is not None:
        return run.report
    elsewhere = TranscriptOutcome()
    elsewhere.stop(IntakeStop.ELSEWHERE)
    return elsewhere


def ingest_transcript_by_hand(
    intake: IngestContext, transcript: Transcript, dry_run: bool = False
) -> IngestOutcome:
    """The same, for somebody who asked for it and wants to see what came of it."""
    run = _read(intake, transcript, lambda: True, dry_run)
    if run is None:
        raise UnderWay(f"taking in {transcript.path}")
    report = run.report
    done = IngestOutcome(dry_run, held_back=report.held_back, waits=True)
    done.stopped, done.stopped_kind = report.stopped, report.stopped_kind
    done.unreadable = report.unreadable
    done.tally(run.keeper)
    done.problems = run.report.problems
    return done


def _read(
    intake: IngestContext, transcript: Transcript, go_on: Callable[[], bool], dry_run: bool = False
) -> _TranscriptRun | None:
    """Read on from the cursor, and move it as far as everything was taken in. Nothing if
    somebody else is at it."""
    with open_transcript(transcript.path) as file:
        real = Path(os.path.realpath(transcript.path))  # however it is spelt, it is one file
        with intake.alone_with(cursor_key(intake.stores, real)) as alone:
            if not alone:
                return None
            return _read_on(intake, replace(transcript, path=real), file, go_on, dry_run)


def _read_on(
    intake: IngestContext,
    transcript: Transcript,
    file: BinaryIO,
    go_on: Callable[[], bool],
    dry_run: bool,
) -> _TranscriptRun:
    known = read_cursor(intake.stores, cursor_key(intake.stores, transcript.path))
    start = find_start(file.fileno(), os.fstat(file.fileno()).st_size, known.position)
    anew = start == 0 and known.position is not None
    head = parse_head(next((each.data for each in read_lines(file, 0)), b""))
    known = TranscriptCursor(kept=known.kept, begun=known.begun) if anew else known
    run = _TranscriptRun(intake, transcript, head, known, dry_run)
    run.report.anew = anew
    if not head.sub_agent:
        _carry_out(run, file, start, go_on)
    return run


def _carry_out(run: _TranscriptRun, file: BinaryIO, start: int, go_on: Callable[[], bool]) -> None:
    run.look_back(file, start)
    end = run.take(read_lines(file, start), go_on)
    run.finish()
    position = run.known.position if end is None else cursor_at(file.fileno(), end)
    cursor = TranscriptCursor(position, run.turn, run.kept, run.waits, run.held)
    _move(run, run.known if run.dry_run else cursor)


class _TranscriptRun:
    """One go through a transcript. `turn` counts what a person said in it so far."""

    def __init__(
        self,
        intake: IngestContext,
        transcript: Transcript,
        head: TranscriptHead,
        known: TranscriptCursor,
        dry_run: bool,
    ) -> None:
        self.intake, self.transcript, self.known = intake, transcript, known
        self.dry_run = dry_run
        self.report = TranscriptOutcome()
        self.turn = known.turn
        self.waits = known.waits
        gate = AdmissionGate(intake.config, read_daily_usage(intake.stores), known.kept)
        self.keeper = Keeper(intake, gate, dry_run, begin=self._begin, recount=known.begun)
        self.place = ConversationOrigin(
            source=f"agent:{transcript.agent}",
            session=transcript.session or head.session or transcript.path.stem,
            space=transcript.space or find_space(intake.stores, head.folder).space,
            uri=transcript.path.as_uri(),
            find_space=lambda folder: find_space(intake.stores, folder).space,
        )
        self._folder = head.folder
        self._excluded: dict[str | None, Excluded | None] = {}
        self._pauses = read_pauses(intake.stores, self.place.session)
        self._full: MadeleineError | None = gate.full(low=True) if known.held else None
        self.held = known.held if self._full else 0
        self._exchanges = ExchangeBuilder()
        self._pending: list[Exchange] = []

    @property
    def kept(self) -> int:
        """How many memories this transcript has added by now."""
        return self.known.kept + self.keeper.gate.added

    def _begin(self) -> None:
        """Note that something is being written: if this run is killed, the next one counts it.
        Of a file that is read from its start, that one counts everything."""
        stores = self.intake.stores
        known = replace(self.known, begun=True)
        known = known if known.position else replace(known, kept=0)
        key = cursor_key(stores, self.transcript.path)
        mark = new_event(stores, EventKind.STATE, {"key": key, "value": known.to_json()})
        with stores.writing:
            record_events(stores, [mark], durable=False)

    def look_back(self, file: BinaryIO, until: int) -> None:
        """Read again the lines of exchanges that wait; all else in them was taken in before.
        While there is no room for them they are left, and what follows them is only counted."""
        if self._full or self.waits is None:
            return
        (start, turn), self.waits = self.waits, None
        for line in read_lines(file, start, until):
            said = self._parse_line(line)
            turn += said is not None and said.voice is Voice.PERSON
            self._collect_line(said, line, turn)

    def take(self, lines: Iterable[TranscriptLine], go_on: Callable[[], bool]) -> int | None:
        """Take in line after line; return the end of the last one that was."""
        taken: int | None = None
        for line in lines:
            if not go_on():
                self.report.stop(IntakeStop.ENDING)
                break
            try:
                self._take_line(line)
            except MadeleineError as error:
                self.report.stop(error)
                break
            taken = line.end
        return taken

    def finish(self) -> None:
        """Keep the exchanges that are over, and note where the first of the others begins."""
        last = self._exchanges.rest(self.transcript.ended and self.report.stopped is None)
        self._pending += [last] if last else []
        self._keep_pending()
        for each in (*self._pending, self._exchanges.open):
            self._wait_at(each)
        if self._full is not None and self.report.stopped is None:
            self.report.stop(self._full)
        self._write_tally()

    def _take_line(self, line: TranscriptLine) -> None:
        said = self._parse_line(line)
        if said is not None and said.voice is Voice.AGENT and said.text and not self.dry_run:
            self._note_session(said)
        if said is not None and said.voice is Voice.PERSON:
            keep_statements(self.keeper, self.place, said, self.turn + 1)
            self.turn += 1
            self.report.turns += 1
        self._collect_line(said, line, self.turn)
        self.report.lines += 1

    def _parse_line(self, line: TranscriptLine) -> SpokenLine | None:
        try:
            said = parse_line(line.data)
        except UnreadableLine:
            self.report.unreadable += 1
            return None
        if said is None or self._is_in_pause(said) or self._is_excluded(said):
            return None
        return said

    def _is_excluded(self, said: SpokenLine) -> bool:
        """Whether the settings keep out what was said in that folder or space."""
        folder = said.folder or self._folder
        if folder not in self._excluded:
            config = self.intake.stores.config.exclude
            space = self.place.space_of(said)
            self._excluded[folder] = find_excluded(config, folder=folder, space=space)
        why = self._excluded[folder]
        if why is not None and said.voice is Voice.PERSON:
            self.keeper.exclude(why)
        return why is not None

    def _is_in_pause(self, said: SpokenLine) -> bool:
        """Whether somebody had paused the session when this was said."""
        at = parse_instant(said.at) if self._pauses else None
        return at is not None and any(each.covers(at) for each in self._pauses)

    def _note_session(self, said: SpokenLine) -> None:
        session = said.session or self.place.session
        used = notice_use(self.intake.stores, session, said.text, parse_instant(said.at))
        self.report.used += used
        if used and self._exchanges.open is not None:
            self._exchanges.open.echoes = True

    def _collect_line(self, said: SpokenLine | None, line: TranscriptLine, turn: int) -> None:
        if said is None:
            return
        over = self._exchanges.add(said, line.start, line.end, turn)
        if over is not None:
            self._pending.append(over)
        if self._pending and line.end - self._pending[0].start >= READ_BYTES:
            self._keep_pending()

    def _keep_pending(self) -> None:
        """Keep what is over. Where that fails the first that is not kept waits, with all that
        come after it."""
        if self.turn < self.transcript.least_turns:
            return
        left, self._pending = self._pending, []
        try:
            if self._full is None:
                keep_in_order(self.keeper, self.place, left)
        except MadeleineError as error:
            self._full = error
        for each in left:
            self._wait_at(each)
        self.held += sum(each.told().says_something() for each in left)

    def _wait_at(self, exchange: Exchange | None) -> None:
        """Note that this one is not taken in, unless one before it is not either."""
        if exchange is not None and self.waits is None:
            self.waits = WaitingPosition(exchange.start, exchange.turn - 1)

    def _write_tally(self) -> None:
        report, keeper = self.report, self.keeper
        report.kept, report.held_back = keeper.kept, self.held
        report.known, report.refused = keeper.known, keeper.refused
        report.redacted, report.excluded = keeper.redacted, keeper.excluded


def _move(run: _TranscriptRun, cursor: TranscriptCursor) -> None:
    """Note how far the transcript is taken in, and what was added and asked today."""
    stores = run.intake.stores
    tokens, run.report.problems = run.intake.spent()
    marks = [] if run.dry_run or cursor == run.known else _build_cursor_events(run, cursor)
    with stores.writing:
        marks += build_usage_events(stores, 0 if run.dry_run else run.keeper.gate.added, tokens)
        marks += [] if run.dry_run else _build_waiting_events(run, cursor)
        if marks:
            record_events(stores, marks, durable=False)


def _build_cursor_events(run: _TranscriptRun, cursor: TranscriptCursor) -> list[Event]:
    """Return the note of the cursor and, if anything came of it, of the report (I8)."""
    stores, report = run.intake.stores, run.report
    key = cursor_key(stores, run.transcript.path)
    marks = [new_event(stores, EventKind.STATE, {"key": key, "value": cursor.to_json()})]
    if report.kept or report.stopped:
        told = {"session": run.transcript.session, **report.to_json()}
        body = {"run": stores.new_id(), "job": "whisper_store", "report": told}
        marks.append(new_event(stores, EventKind.RUN, body))
    return marks


def _build_waiting_events(run: _TranscriptRun, cursor: TranscriptCursor) -> list[Event]:
    """Say in `status` why the rest of a transcript waits, until it no longer does."""
    path, stopped = str(run.transcript.path), run.report.stopped
    ending = run.report.stopped_kind == IntakeStop.ENDING
    if ending or (stopped is None and cursor.held):
        return []
    run.intake.tell(path, None)
    marks = build_waiting_events(run.intake.stores, path, stopped)
    if marks and stopped:
        log.warning("%s waits: %s", path, stopped)
    return marks
