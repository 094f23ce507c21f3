"""The priority gate: work that somebody waits for goes before work that has time.

What runs by itself has time. While a prompt waits for its whisper, or somebody for an answer,
two threads of Python would slow each other down; so whoever has time stands still between two
portions of its work until the answer is out. It never stands still for long at a time: under a
load without end it goes on slowly instead of not at all.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

MAX_WAIT_SECONDS = 0.05  # the longest that a portion of work is held up


class PriorityGate:
    """Knows how many are waited for. Any thread may ask."""

    def __init__(self) -> None:
        self._waited_for = 0
        self._changed = threading.Condition()

    @contextmanager
    def waited_for(self) -> Iterator[None]:
        """Somebody waits for what is done inside."""
        with self._changed:
            self._waited_for += 1
        try:
            yield
        finally:
            with self._changed:
                self._waited_for -= 1
                self._changed.notify_all()

    def give_way(self) -> None:
        """Stand still while anybody is waited for, but not for long."""
        if self._waited_for:
            with self._changed:
                self._changed.wait_for(lambda: not self._waited_for, MAX_WAIT_SECONDS)
