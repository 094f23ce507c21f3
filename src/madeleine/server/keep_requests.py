"""Asking an agent to keep what is worth it, where `ingest.extractor` is `agent`.

At the end of a turn the host has its agent go on once, with this request. It is only made when a
person said something that seems worth keeping since the last one, and after a request not again
before `PROMPTS_BETWEEN` further prompts. What was asked is forgotten with the daemon.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from madeleine.ingest.local_findings import seems_worth_keeping

PROMPTS_BETWEEN = 10  # of a session, from one request to the next
MAX_SESSIONS = 1_000  # the ones that were asked longest ago are forgotten first
KEEP_REQUEST = (
    "Before this turn ends: use Madeleine's `remember` tool for what the user said in this session "
    "that will matter in later ones and is not kept yet. That is decisions, corrections (only "
    "the value in the end), preferences, rules, facts about people, places and systems, dates, and "
    "what worked after something had failed. One memory for each, in one clean sentence with names "
    "instead of pronouns, with its type; if it replaces a memory, say which with `replaces`. Leave "
    "out open ideas, small talk, the contents of files, passwords, and what was private or is not "
    "to be saved. If nothing is left to keep, end the turn and do not mention this."
)


class KeepRequests:
    """Which sessions were asked, and after how many prompts. Any thread may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked_at: OrderedDict[str, int] = OrderedDict()

    def find_request(self, session: str, number: int, prompts: Sequence[str]) -> str:
        """Return the request to make after prompt `number` of a session, nothing for none.
        `prompts` are the last ones."""
        with self._lock:
            asked_at = self._asked_at.get(session)
        if asked_at is not None and number - asked_at < PROMPTS_BETWEEN:
            return ""
        fresh = prompts[-max(number - (asked_at or 0), 0) :] if number else prompts
        if not any(seems_worth_keeping(each) for each in fresh):
            return ""
        self._note(session, number)
        return KEEP_REQUEST

    def _note(self, session: str, number: int) -> None:
        with self._lock:
            self._asked_at[session] = number
            self._asked_at.move_to_end(session)
            while len(self._asked_at) > MAX_SESSIONS:
                self._asked_at.popitem(last=False)
