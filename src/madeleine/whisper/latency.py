"""How long a whisper takes beside what models take, as things stand on this machine just now.

On a busy machine everything takes many times as long. What the last whispers needed to search and
to word tells how much time has to be left for it when a deadline is to be kept.
"""

from __future__ import annotations

import threading

LEAST_SECONDS = 0.1  # always left, also where the last one took less: a third of the deadline
FIRST_SECONDS = 0.1  # the estimate before anything was measured: the first search is the slowest
MARGIN = 1.5  # the next one may take so many times as long
FADING = 0.5  # what is left of the estimate with each whisper that took less


class LatencyEstimate:
    """An estimate that rises at once and falls by halves. Any thread may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seconds = FIRST_SECONDS

    def note(self, seconds: float) -> None:
        """Take in how long one whisper took to search, to word and to be written down."""
        with self._lock:
            self._seconds = max(seconds, FADING * self._seconds)

    @property
    def reserve(self) -> float:
        """The seconds before a deadline at which the models have to be done."""
        return max(LEAST_SECONDS, MARGIN * self._seconds)
