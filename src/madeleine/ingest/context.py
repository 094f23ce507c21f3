"""Whoever takes in: the stores, the config, the language model if there is one, and what is told.

One value for every door. `under_way` names the transcripts that are being read, so that a hook and
the session watcher never read one at the same time; nobody waits for the other (I6). `told` holds
what could not be taken in and why, for `status`; what waits at the gate the journal keeps.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from madeleine.ingest.config import IngestConfig
from madeleine.ingest.gate import read_waiting
from madeleine.minds.port import Extractor
from madeleine.vault.read_marks import ReadMarks
from madeleine.write.stores import Stores

NOTE_PREFIX = "note "  # before a file's address, where what is being read is noted
TOLD_AT_MOST = 100  # different problems; more would only fill status and log

log = logging.getLogger("madeleine.ingest")


@dataclass(slots=True)
class IngestContext:
    """What taking in needs of the world."""

    stores: Stores
    config: IngestConfig = field(default_factory=IngestConfig)
    extractor: Extractor | None = None
    why_not: str = ""
    """Why there is no language model, in a sentence that `status` shows."""
    marks: ReadMarks | None = None
    """Which files are being read, where one process has the home open."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _under_way: set[str] = field(default_factory=set)
    _told: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def alone_with(self, key: str) -> Iterator[bool]:
        """Say whether nobody else is at this; while the caller is, nobody else will be."""
        with self._lock:
            mine = key not in self._under_way
            self._under_way.add(key)
        try:
            yield mine
        finally:
            if mine:
                with self._lock:
                    self._under_way.discard(key)

    def spent(self) -> tuple[int, dict[str, int]]:
        """Return the tokens that the language model used in this run and what went wrong with
        it; the next run begins anew."""
        if self.extractor is None:
            return 0, {}
        return self.extractor.tokens, self.extractor.problems()

    def tell(self, place: str, problem: str | None) -> None:
        """Note what is wrong with a file, once, or that nothing is any more."""
        with self._lock:
            if problem is None:
                self._told.pop(place, None)
                return
            if self._told.get(place) == problem or len(self._told) >= TOLD_AT_MOST:
                return
            self._told[place] = problem
        log.warning("%s: %s", place, problem)

    def problems(self) -> list[str]:
        """Return what could not be taken in, for `status`."""
        waits = {
            path: f"waits: {why}"
            for path, why in read_waiting(self.stores).items()
            if Path(path).exists()
        }
        with self._lock:
            told = {**waits, **self._told}
        return [f"{place}: {problem}" for place, problem in sorted(told.items())]
