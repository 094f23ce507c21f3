"""How many prompts are looked up at once, and what becomes of more than that.

A machine looks up so many prompts a second and no more. Each that is begun slows down all others,
so that with too many of them every one comes late. So only a few are looked up at a time, and the
others wait for their turn. One that had to wait for a good part of its deadline shows that there
are too many: it is answered by words alone, which takes less time and no model. One that waited
for longer than that is not looked up at all, and told so at once: an answer that would come late
only takes the time of others.
"""

from __future__ import annotations

import enum
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

BUSY_REASON = "too many prompts at once"
AT_ONCE_ON_A_NETWORK = 8  # looked up at once, where they wait for other machines most of the time
FULL_SHARE = 0.15  # of the deadline that a prompt may wait and still be looked up in full
WORDS_SHARE = 0.35  # and by words alone
LEFT_SHARE = 0.4  # that has to be left: on a busy machine a look-up takes several times as long


class LookupEffort(enum.Enum):
    """How much may be done for one prompt."""

    FULL = enum.auto()
    WORDS = enum.auto()
    """No model is asked."""
    NONE = enum.auto()
    """Nothing is looked up."""


class WhisperCapacity:
    """The turns of a process. Any thread may ask for one."""

    def __init__(self, at_once: int = 0) -> None:
        """`at_once` prompts are looked up at a time; 0 for as many as there are cores, and at
        least two: while a model reads one prompt, another is looked up."""
        self.at_once = at_once or max(2, os.cpu_count() or 1)
        self._free = threading.BoundedSemaphore(self.at_once)

    @contextmanager
    def take_turn(self, due: float | None, deadline: float) -> Iterator[LookupEffort]:
        """Wait for a turn, and hold it meanwhile. Whoever asks gives `deadline` seconds to a whole
        answer, the last of them at `due` by the monotonic clock; who has no such moment waits for
        as long as it takes."""
        if due is None:
            with self._free:
                yield LookupEffort.FULL
            return
        begun = time.monotonic()
        patience = WORDS_SHARE * deadline
        if due > begun:  # else it is late whatever is done; its log says what would have come
            patience = min(patience, due - begun - LEFT_SHARE * deadline)
        if patience <= 0 or not self._free.acquire(timeout=patience):
            yield LookupEffort.NONE
            return
        try:
            waited = time.monotonic() - begun
            yield LookupEffort.FULL if waited <= FULL_SHARE * deadline else LookupEffort.WORDS
        finally:
            self._free.release()
