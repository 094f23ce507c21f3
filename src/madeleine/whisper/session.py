"""What was said before in each session: a short memory of prompts, kept in the process.

A prompt older than the gap is no longer the context of the next one and is dropped. Which
memories were whispered in a session is kept as long as the session, so that none is said
twice.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from madeleine.model.vector import Vector

SESSIONS_KEPT = 500  # the ones that were quiet longest are forgotten first


@dataclass(frozen=True, slots=True)
class Said:
    """A prompt of a session, and whether anything was whispered about it."""

    text: str
    at: datetime
    vector: Vector | None
    whispered: bool = False


@dataclass(slots=True)
class _Session:
    prompts: list[Said] = field(default_factory=list)
    told: set[str] = field(default_factory=set)
    newest: set[str] = field(default_factory=set)
    begun: bool = False


@dataclass(frozen=True, slots=True)
class Recent:
    """What is known of a session when a prompt arrives, oldest first."""

    prompts: tuple[Said, ...] = ()
    told: frozenset[str] = frozenset()
    first: bool = True


class Sessions:
    """All sessions of a process. Any thread may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_id: OrderedDict[str, _Session] = OrderedDict()

    def recent(self, session_id: str | None, now: datetime, gap_minutes: int) -> Recent:
        """Return the prompts of a session that are not older than the gap."""
        if session_id is None:
            return Recent()
        with self._lock:
            session = self._by_id.get(session_id)
            if session is None:
                return Recent()
            since = now - timedelta(minutes=gap_minutes)
            session.prompts = [each for each in session.prompts if each.at >= since]
            return Recent(tuple(session.prompts), frozenset(session.told), not session.begun)

    def note(self, session_id: str | None, said: Said, told: set[str], size: int) -> None:
        """Remember a prompt and what was whispered about it."""
        if session_id is None:
            return
        with self._lock:
            session = self._by_id.setdefault(session_id, _Session())
            self._by_id.move_to_end(session_id)
            session.prompts = [*session.prompts, said][-max(size, 1) :]
            session.newest = told - session.told
            session.told |= told
            session.begun = True
            while len(self._by_id) > SESSIONS_KEPT:
                self._by_id.popitem(last=False)

    def take_back(self, session_id: str) -> None:
        """Forget that the newest whisper was told: it came too late to be read."""
        with self._lock:
            session = self._by_id.get(session_id)
            if session is not None and session.prompts:
                session.told -= session.newest
                session.prompts[-1] = replace(session.prompts[-1], whispered=False)
