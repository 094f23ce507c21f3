"""The log: the journal's events as far as they are asked for, and what follows from them.

Proposals, uses, verdicts and small values are folded from events. Whispers follow from nothing and
are kept for a month.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from madeleine.model.event import Event, JournalCursor
from madeleine.model.proposal import Proposal, ProposalStatus
from madeleine.model.verdict import Verdict
from madeleine.rules.usage import MemoryUse


@dataclass(frozen=True, slots=True)
class ParseProblem:
    """A file that does not parse."""

    path: str
    line: int
    problem: str


@dataclass(frozen=True, slots=True)
class WhisperEntry:
    """One prompt, and what came of it. `body` is plain JSON."""

    id: str
    at: datetime
    session: str | None
    space: str | None
    body: Mapping[str, object]


class EventLog(Protocol):
    """The port of the log."""

    def positions(self) -> dict[str, JournalCursor]: ...

    def torn_lines(self) -> list[ParseProblem]:
        """Return the journal lines that were passed over because they cannot be read."""
        ...

    def history(self, memory_id: str, limit: int = 100) -> list[Event]:
        """Return what happened to a memory, newest first. Uses and scores are not told one by
        one: they are in its counters."""
        ...

    def event(self, event_id: str) -> Event | None:
        """Return a known event; a `scored` one comes without its scores, which stand with the
        memories."""
        ...

    def changes(self, change_or_run: str) -> list[Event]:
        """Return the `changed`, `remembered` and `scored` events of a change or of a whole run,
        newest first; a prefix of at least 6 characters will do for either."""
        ...

    def outcome(self, change_id: str) -> str | None:
        """Return what became of a change: done, dropped, undone, or None if not settled."""
        ...

    def in_force(self, runs: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Return how many changes each of the runs made, and how many of them still hold: were
        not taken back and came about. A run that made none is left out."""
        ...

    def unsettled_changes(self) -> list[Event]:
        """Return the `changed` events that have no outcome: a write was interrupted."""
        ...

    def recent_events(
        self, kinds: Sequence[str], limit: int, jobs: Sequence[str] = ()
    ) -> list[Event]:
        """Return the newest events of these kinds, or of any; only those about `jobs`, if any
        are named."""
        ...

    def proposals(self, status: ProposalStatus | None = None) -> list[Proposal]: ...

    def questions_about(self, ids: Sequence[str]) -> list[Proposal]:
        """Return the proposals that wait and name one of these memories, newest first. It is
        asked with every whisper: what it costs depends on what happened to these memories, and
        not on how many proposals wait."""
        ...

    def state(self, key: str) -> object | None:
        """Return the newest value of a `state` event."""
        ...

    def verdicts(
        self, pairs: Sequence[tuple[str, str]], judge: str
    ) -> dict[tuple[str, str], Verdict]:
        """Return what this judge is known to have said about pairs (older, newer), where both
        still say what they said then."""
        ...

    def verdicts_on_older(self, ids: Sequence[str], judge: str) -> dict[tuple[str, str], Verdict]:
        """Return the same about every pair whose older memory is one of these. It is asked with
        every whisper: what it costs depends on what this judge said of these memories."""
        ...

    def uses(self, ids: Sequence[str]) -> dict[str, list[MemoryUse]]:
        """Return the uses of each of the memories, as far as they count, oldest first."""
        ...

    def used_today(
        self, ids: Iterable[str], session: str | None, at: datetime, whispers: bool = False
    ) -> set[str]:
        """Return the memories whose recall in this session and UTC day is already counted; with
        `whispers`, also those that were whispered then."""
        ...

    def used_together(
        self, pairs: Sequence[tuple[str, str]], since: Sequence[datetime]
    ) -> set[tuple[str, str]]:
        """Return those of the pairs whose both memories were used in one session, each since
        the moment that stands at the same place. A whisper does not count: nobody asked."""
        ...

    def feedback(self, ids: Sequence[str]) -> list[Event]:
        """Return what was said about the use of these memories, newest first."""
        ...

    def log_whisper(self, entry: WhisperEntry, keep_after: datetime) -> None:
        """Keep what was whispered, or why nothing was, and drop what is older than that."""
        ...

    def drop_whispers(self, naming: Sequence[str]) -> None:
        """Drop the entries that name any of these memories: they are to be gone for good."""
        ...

    def whispers(
        self,
        limit: int,
        session: str | None = None,
        after: WhisperEntry | None = None,
        naming: str | None = None,
    ) -> list[WhisperEntry]:
        """Return the newest entries, of one session or of all; only those that come `after` one
        in this order, if one is given, and only those that name a memory, whether it was told or
        only considered, if its id is given."""
        ...

    def whisper(self, whisper_id: str) -> WhisperEntry | None: ...
