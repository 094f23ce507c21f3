"""What was said before in each session: a short memory of prompts, kept in the process.

A prompt older than the gap is no longer the context of the next one and is dropped. Which
memories were whispered in a session is kept too, so that none is said twice while the agent
can still read it: until the session was quiet for longer than the gap, or the host says that
it shortens what the agent has before it. What a brief or a word before a deed told is kept beyond
the gap: an agent has it before it for as long as its session lasts.

Where several servers share a memory, the prompts of a session may go now to one, now to another.
What the others whispered is then learnt from the log.

Prompts of one session may arrive at once. A whisper therefore *claims* what it is about to
tell, and only one of them gets each memory; what it does not tell after all is free again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from madeleine.model.vector import Vector

SEEN_DEEDS = 2_000  # that are remembered, of all sessions
SESSIONS_KEPT = 500  # the ones that were quiet longest are forgotten first


@dataclass(frozen=True, slots=True)
class WhisperTurn:
    """A prompt of a session, and which memories were whispered about it."""

    text: str
    at: datetime
    vector: Vector | None
    told: frozenset[str] = frozenset()
    is_awaited: bool = False
    """Whether another server still waits to learn if they reached anybody."""


@dataclass(slots=True)
class _SessionState:
    prompts: list[WhisperTurn] = field(default_factory=list)
    told: set[str] = field(default_factory=set)
    lasting: set[str] = field(default_factory=set)
    """What is told for the whole session."""
    last: datetime | None = None


@dataclass(frozen=True, slots=True)
class RecentPrompts:
    """What is known of a session when a prompt arrives, oldest first."""

    prompts: tuple[WhisperTurn, ...] = ()
    told: frozenset[str] = frozenset()
    first: bool = True


@dataclass(slots=True)
class WhisperClaim:
    """The memories that one whisper may tell; `told` are those that it did."""

    ids: frozenset[str]
    told: frozenset[str] = frozenset()


class WhisperSessions:
    """All sessions of a process. Any thread may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_id: OrderedDict[str, _SessionState] = OrderedDict()

    def recent(self, session_id: str | None, now: datetime, gap_minutes: int) -> RecentPrompts:
        """Return what is not older than the gap; after a gap, nothing counts as told."""
        with self._lock:
            session = None if session_id is None else self._by_id.get(session_id)
            if session is None:
                return RecentPrompts()
            since = now - timedelta(minutes=gap_minutes)
            session.prompts = [each for each in session.prompts if each.at >= since]
            if session.last is not None and session.last < since:
                session.told.clear()
            first = session.last is None
            told = frozenset(session.told | session.lasting)
            return RecentPrompts(tuple(session.prompts), told, first)

    @contextmanager
    def claiming(self, session_id: str | None, ids: Iterable[str]) -> Iterator[WhisperClaim]:
        """Claim those of the memories that were not told yet; whatever happens meanwhile,
        those that are not noted as told are free again afterwards."""
        claim = WhisperClaim(self._claim(session_id, frozenset(ids)))
        try:
            yield claim
        finally:
            self.take_back(session_id, claim.ids - claim.told)

    def _claim(self, session_id: str | None, ids: frozenset[str]) -> frozenset[str]:
        if session_id is None:
            return ids
        with self._lock:
            session = self._session(session_id)
            free = ids - session.told - session.lasting
            session.told |= free
            return free

    def keep_told(self, session_id: str | None, ids: Iterable[str]) -> None:
        """Count these memories as told for the whole session, however long it is quiet."""
        if session_id is None:
            return
        with self._lock:
            self._session(session_id).lasting |= frozenset(ids)

    def note(self, session_id: str | None, said: WhisperTurn, size: int) -> None:
        """Remember a prompt and what was whispered about it."""
        if session_id is None:
            return
        with self._lock:
            session = self._session(session_id)
            session.prompts = [*session.prompts, said][-max(size, 1) :]
            session.told |= said.told
            session.last = said.at

    def learn(self, session_id: str, said: Sequence[WhisperTurn], size: int) -> None:
        """Take in prompts of a session that another server was asked about. What was known as
        awaited is replaced by what is known now."""
        with self._lock:
            session = self._session(session_id)
            latest = {each.at: each for each in said}
            settled = [
                (each, latest[each.at])
                for each in session.prompts
                if each.is_awaited and each.at in latest
            ]
            for before, _ in settled:
                session.told -= before.told
            known = {each.at for each in session.prompts} - {each.at for each, _ in settled}
            new = [each for each in said if each.at not in known]
            if not new:
                return
            kept = [each for each in session.prompts if each.at in known]
            session.prompts = sorted([*kept, *new], key=lambda each: each.at)[-max(size, 1) :]
            session.told = session.told.union(*(each.told for each in new))
            session.last = session.prompts[-1].at

    def note_told(self, session_id: str | None, at: datetime, ids: Iterable[str]) -> None:
        """Count these memories as told with the prompt of that moment after all: they were taken
        back, and somebody did get to read them."""
        read = frozenset(ids)
        with self._lock:
            session = None if session_id is None else self._by_id.get(session_id)
            if session is not None:
                session.told |= read
                session.prompts = [
                    replace(each, told=each.told | read) if each.at == at else each
                    for each in session.prompts
                ]

    def take_back(self, session_id: str | None, ids: Iterable[str]) -> None:
        """Forget that these memories were told: nobody got to read them."""
        unread = frozenset(ids)
        with self._lock:
            session = None if session_id is None else self._by_id.get(session_id)
            if session is not None and unread:
                session.told -= unread
                session.lasting -= unread
                session.prompts = [
                    replace(each, told=each.told - unread) for each in session.prompts
                ]

    def shortened(self, session_id: str) -> None:
        """Forget what was told: the agent no longer has it before it."""
        with self._lock:
            session = self._by_id.get(session_id)
            if session is not None:
                session.told.clear()
                session.lasting.clear()
                session.prompts = [replace(each, told=frozenset()) for each in session.prompts]

    def _session(self, session_id: str) -> _SessionState:
        session = self._by_id.setdefault(session_id, _SessionState())
        self._by_id.move_to_end(session_id)
        while len(self._by_id) > SESSIONS_KEPT:
            self._by_id.popitem(last=False)
        return session


@dataclass(slots=True)
class SeenDeeds:
    """What was looked up in each session, and brought nothing more. Any thread may ask."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _known: OrderedDict[tuple[str, str], None] = field(default_factory=OrderedDict)

    def meet(self, session: str | None, about: str) -> bool:
        """Whether it was met before in this session; from now on it was."""
        if session is None:
            return False
        with self._lock:
            known = (session, about) in self._known
            self._known[session, about] = None
            self._known.move_to_end((session, about))
            while len(self._known) > SEEN_DEEDS:
                self._known.popitem(last=False)
            return known

    def forget(self, session: str) -> None:
        """Look things up anew: the agent has lost what it was told, or did not get it."""
        with self._lock:
            for each in [key for key in self._known if key[0] == session]:
                del self._known[each]
