"""Keeps the map of all memories up to date, in a thread of its own.

Nobody waits for a map. Whoever asks gets the one that is there, which may lack what is newest, or
none yet; asking is what lets the keeper look whether there is something new. Its work gives way to
whoever is waited for, and when a newer map stands, listeners are told (`mapped`).
"""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path

from madeleine.errors import MadeleineError
from madeleine.recall.memory_map import MemoryMap, load_map, make_map, save_map
from madeleine.write.event_bus import BusEvent
from madeleine.write.stores import Stores

log = logging.getLogger("madeleine.map")

PAUSE_SECONDS = 5.0  # between two looks, at least


class _Stopped(Exception):
    """The home is being closed."""


class MapKeeper:
    """The map of one home, and who makes it."""

    def __init__(self, stores: Stores, path: Path) -> None:
        self._stores = stores
        self._path = path
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._map: MemoryMap | None = None
        self._is_loaded = False
        self._looked_at = float("-inf")
        self._drawn = -1
        """How many memories there were when the map was made."""

    def current(self) -> MemoryMap | None:
        """Return the map as it is; nothing while the first one is being made."""
        with self._lock:
            if not self._is_loaded:
                self._map, self._is_loaded = load_map(self._path), True
            return self._map

    @property
    def is_busy(self) -> bool:
        """Whether a map is being made."""
        return self._thread is not None and self._thread.is_alive()

    def look(self, memories: int) -> None:
        """Begin to make a newer map if there are more or fewer memories than on this one."""
        self.current()
        with self._lock:
            rests = time.monotonic() - self._looked_at < PAUSE_SECONDS
            if self.is_busy or rests or memories == self._drawn or self._stop.is_set():
                return
            self._looked_at, self._drawn = time.monotonic(), memories
            self._thread = threading.Thread(target=self._make, name="madeleine-map", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Let go of what is being made."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=5.0)

    def _make(self) -> None:
        try:
            made = make_map(self._stores, self._map, self._give_way)
            if made is None:
                return
            save_map(made, self._path)
        except _Stopped:
            return
        except (MadeleineError, OSError) as problem:
            self._drawn = -1  # the next look tries again
            log.warning("the map could not be made: %s", problem)
            return
        with self._lock:
            self._map = made
        self._stores.event_bus.publish(
            [BusEvent("mapped", self._stores.clock.now(), {"memories": len(made)})]
        )

    def _give_way(self) -> None:
        if self._stop.is_set():
            raise _Stopped
        self._stores.priority_gate.give_way()
