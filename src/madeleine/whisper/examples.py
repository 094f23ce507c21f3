"""What the examples of each intent mean to the model, read once.

One thread reads them, under no lock (I6); whoever comes meanwhile goes by words alone. A model
that is down is left alone for a while, and longer each time, so that a prompt does not wait for
it again and again.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import datetime, timedelta

from madeleine.errors import MindDown
from madeleine.language.intent import INTENT_EXAMPLES, Intent
from madeleine.minds.port import Embedder
from madeleine.model.embedding import Passage
from madeleine.model.vector import Vector
from madeleine.write.stores import Stores

FIRST_PAUSE = timedelta(seconds=5)
LONGEST_PAUSE = timedelta(minutes=5)

ExampleVectors = Mapping[Intent, list[Vector]]


class IntentExamples:
    """The examples as each model reads them. Any thread may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read: dict[str, ExampleVectors] = {}
        self._busy = False
        self._failures = 0
        self._failed_at: datetime | None = None

    def of(self, stores: Stores) -> ExampleVectors:
        """Return what the examples mean; nothing while the model has not read them."""
        embedder = stores.minds.embedder
        if embedder is None:
            return {}
        known = self._read.get(embedder.name)
        if known is None and self._may_try(stores.clock.now()):
            known = self._try(embedder, stores.clock.now())
        return known or {}

    def _may_try(self, now: datetime) -> bool:
        """Whether it is for this thread to ask the model now."""
        with self._lock:
            if self._busy or self._is_left_alone(now):
                return False
            self._busy = True
            return True

    def _is_left_alone(self, now: datetime) -> bool:
        if self._failed_at is None:
            return False
        pause = min(FIRST_PAUSE * (1 << min(self._failures - 1, 16)), LONGEST_PAUSE)
        return timedelta(0) <= now - self._failed_at < pause

    def _try(self, embedder: Embedder, now: datetime) -> ExampleVectors | None:
        try:
            known = _embed_examples(embedder)
        except MindDown:
            self._failures, self._failed_at = self._failures + 1, now
            return None
        finally:
            self._busy = False
        self._read[embedder.name] = known
        self._failures, self._failed_at = 0, None
        return known


def _embed_examples(embedder: Embedder) -> ExampleVectors:
    return {
        intent: [
            each.vector for each in embedder.read([Passage(text, 0, len(text)) for text in texts])
        ]
        for intent, texts in INTENT_EXAMPLES.items()
    }
