"""The session watcher: transcripts are followed where the hosts write them, without any hook.

A session is read on when it has been quiet for a while; its exchanges are kept once it has enough
prompts, so that a question in passing leaves nothing behind. Old sessions are left alone: turning
the watcher on must not take in years. One that waits for room is looked at until it has it. The
cursor of a transcript is the same for hooks and for the
watcher, so that both may be on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from madeleine.errors import MadeleineError
from madeleine.ingest.context import IngestContext
from madeleine.ingest.gate import read_waiting
from madeleine.ingest.transcripts import Transcript, ingest_transcript

ENDED = timedelta(minutes=30)  # a session that is quiet for longer is over, as far as we care
SUB_AGENTS = "subagents"


class TranscriptFolder(NamedTuple):
    """A folder of transcripts, and the agent whose they are."""

    folder: Path
    agent: str


class TranscriptState(NamedTuple):
    """How a transcript looked when it was read last."""

    changed_at: datetime
    size: int
    ended: bool


class SessionWatcher:
    """The sessions that one daemon follows."""

    def __init__(self, intake: IngestContext, places: Sequence[TranscriptFolder]) -> None:
        self._intake = intake
        self._places = places
        self._seen: dict[Path, TranscriptState] = {}

    def look(self, go_on: Callable[[], bool] = lambda: True) -> int:
        """Read on in every session that changed and is quiet; return how many were."""
        taken = 0
        for path, agent, seen in list(self._find_due()):
            if not go_on():
                break
            if self._take(path, agent, seen, go_on):
                self._seen[path] = seen
                taken += 1
        return taken

    def _take(
        self, path: Path, agent: str, seen: TranscriptState, go_on: Callable[[], bool]
    ) -> bool:
        """Take in what is new; say whether that is done, however little it was."""
        least = self._intake.config.session_min_turns
        transcript = Transcript(path, agent, ended=seen.ended, least_turns=least)
        try:
            done = ingest_transcript(self._intake, transcript, go_on)
        except MadeleineError as error:
            self._intake.tell(str(path), error.message)
            return False
        return done.stopped is None

    def _find_due(self) -> Iterator[tuple[Path, str, TranscriptState]]:
        """Give the sessions that changed since they were read, once they are quiet."""
        config, now = self._intake.config, self._intake.stores.clock.now()
        quiet = timedelta(seconds=config.session_debounce_seconds)
        oldest = now - timedelta(hours=config.session_lookback_hours)
        waits = read_waiting(self._intake.stores)
        for path, agent in self._find_transcripts():
            seen = _read_transcript_state(path, now)
            if seen is None or seen.changed_at > now - quiet or self._seen.get(path) == seen:
                continue
            if seen.changed_at >= oldest or os.path.realpath(path) in waits:
                yield path, agent, seen

    def _find_transcripts(self) -> Iterator[tuple[Path, str]]:
        for place in self._places:
            for folder, below, names in os.walk(place.folder):
                below[:] = sorted(each for each in below if each != SUB_AGENTS)
                for name in sorted(names):
                    if name.endswith(".jsonl"):
                        yield Path(folder, name), place.agent


def _read_transcript_state(path: Path, now: datetime) -> TranscriptState | None:
    try:
        found = path.stat()
    except OSError:
        return None  # gone meanwhile
    changed_at = datetime.fromtimestamp(found.st_mtime, UTC)
    return TranscriptState(changed_at, found.st_size, now - changed_at >= ENDED)
