"""Which prompt of which session this is, and whether it was here a moment ago.

One person's prompt may arrive several times: a hook installed twice, or one host that runs another
host's hooks beside its own, perhaps with another name for the session. It is whispered to once.
All of this is kept in memory and forgotten with the daemon.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass

MAX_SESSIONS = 1_000  # the ones that were quiet for longest are forgotten first
MAX_RECENT_PROMPTS = 10_000


@dataclass(slots=True)
class _SessionState:
    prompts: int = 0
    last: bytes = b""


class PromptHistory:
    """The sessions of one daemon. Any thread may ask."""

    def __init__(self, window_seconds: float) -> None:
        self._window = window_seconds
        self._lock = threading.Lock()
        self._sessions: OrderedDict[str, _SessionState] = OrderedDict()
        self._recent: OrderedDict[tuple[str, bytes], tuple[float, str]] = OrderedDict()

    def arrive(self, prompt: PromptArrival, now: float) -> int | None:
        """Return which prompt of its session this is, from 1; nothing if it came already."""
        digest, session = _digest_text(prompt.text), _session_key(prompt)
        with self._lock:
            self._forget_old(now)
            if self._came_already(prompt, session, digest):
                return None
            self._recent[session, digest] = (now, prompt.entry)
            self._recent[f"folder {prompt.folder}", digest] = (now, prompt.entry)
            return self._count(session, digest)

    def count(self, session: str) -> int:
        """Return how many prompts of a session arrived."""
        with self._lock:
            known = self._sessions.get(f"session {session}")
            return 0 if known is None else known.prompts

    def forget(self, prompt: PromptArrival) -> None:
        """Let a prompt come once more: nobody got what was said about it."""
        digest = _digest_text(prompt.text)
        session = _session_key(prompt)
        with self._lock:
            self._recent.pop((session, digest), None)
            self._recent.pop((f"folder {prompt.folder}", digest), None)
            known = self._sessions.get(session)
            if known is not None and known.last == digest:
                known.last = b""

    def _came_already(self, prompt: PromptArrival, session: str, digest: bytes) -> bool:
        """From the same session; or in the same folder by another entry, which may name the
        session differently. Two sessions of one entry may well be told the same."""
        if (session, digest) in self._recent:
            return True
        known = self._sessions.get(session)
        if prompt.once_a_turn and known is not None and known.last == digest:
            return True
        beside = self._recent.get((f"folder {prompt.folder}", digest))
        return prompt.folder is not None and beside is not None and beside[1] != prompt.entry

    def _count(self, session: str, digest: bytes) -> int:
        known = self._sessions.setdefault(session, _SessionState())
        self._sessions.move_to_end(session)
        while len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)
        known.prompts += 1
        known.last = digest
        return known.prompts

    def _forget_old(self, now: float) -> None:
        """Forget the prompts that are too old to be repetitions; they stand in order of age."""
        while self._recent:
            (at, _) = next(iter(self._recent.values()))
            if now - at < self._window and len(self._recent) <= MAX_RECENT_PROMPTS:
                return
            self._recent.popitem(last=False)


@dataclass(frozen=True, slots=True)
class PromptArrival:
    """A prompt that arrives: what tells it from another."""

    text: str
    session: str | None
    folder: str | None
    entry: str
    once_a_turn: bool = False


def _digest_text(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8"), digest_size=16).digest()


def _session_key(prompt: PromptArrival) -> str:
    return f"session {prompt.session}" if prompt.session else f"folder {prompt.folder}"
