"""Answers that take a look at every memory, kept until something is written.

How much there is and how it grew is shown to whoever opens the page. Counting it anew each time
would read every row; it is counted once and kept while nothing new stands in the journal, and a
minute at most, since a file that somebody edits by hand is not always told there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar, cast

from madeleine.model.event import EventKind
from madeleine.write.stores import Stores

Answer = TypeVar("Answer")

LONGEST = timedelta(minutes=1)
MAX_ANSWERS = 32  # different questions, such as zones
_WRITING_KINDS = (EventKind.REMEMBERED.value, EventKind.CHANGED.value, EventKind.SETTLED.value)


@dataclass(frozen=True, slots=True)
class _KeptAnswer:
    newest: str
    made_at: datetime
    value: object


@dataclass(slots=True)
class KeptAnswers:
    """What was answered last, by the name of the question."""

    _answers: dict[str, _KeptAnswer] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(
        self, stores: Stores, question: str, make: Callable[[], Answer], *, of_memories: bool = True
    ) -> Answer:
        """Return the answer that is kept, or make it. Two who ask at once may both make it. An
        answer that is not `of_memories` but of the log stays right when a memory is written."""
        now, newest = stores.clock.now(), _find_newest_write(stores) if of_memories else ""
        with self._lock:
            kept = self._answers.get(question)
        if kept and kept.newest == newest and timedelta(0) <= now - kept.made_at < LONGEST:
            return cast("Answer", kept.value)
        made = make()
        with self._lock:
            while len(self._answers) >= MAX_ANSWERS:
                self._answers.pop(next(iter(self._answers)))
            self._answers[question] = _KeptAnswer(newest, now, made)
        return made


def _find_newest_write(stores: Stores) -> str:
    newest = stores.log.recent_events(_WRITING_KINDS, 1)
    return newest[0].id if newest else ""
