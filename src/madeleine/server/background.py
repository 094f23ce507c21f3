"""What the daemon does unasked: loops in threads of their own.

A loop that fails is logged, counted and shown in status, and runs again after a pause; it
never ends the daemon. All of them end when `stop` is set.
"""

from __future__ import annotations

import errno
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from madeleine.errors import MadeleineError
from madeleine.model.codec import Json
from madeleine.server.logs import render_traceback

log = logging.getLogger("madeleine.background")

OUT_OF_DESCRIPTORS = (errno.EMFILE, errno.ENFILE)
RETRY_SECONDS = 5.0  # after a failure: soon enough to recover, rare enough for the log
JOIN_TIMEOUT_SECONDS = 30.0


@dataclass(slots=True)
class BackgroundLoop:
    """Some work, done again and again. Without `every_seconds` it is done once; work that
    blocks until the daemon ends is such."""

    name: str
    work: Callable[[], None]
    every_seconds: float | None = None
    first_seconds: float = 0.0
    patience_seconds: float = JOIN_TIMEOUT_SECONDS
    """How long the end waits for work under way; what then still runs is left behind, and can
    write no more (`daemon`)."""
    news: threading.Event | None = None
    """Set when there is something to do: without it the loop waits, and does nothing."""
    wake: Callable[[], None] = lambda: None
    """Ends the waiting of work that blocks until the daemon ends, once `stop` is set."""
    runs: int = 0
    failures: int = 0
    problem: str | None = field(default=None)
    """What went wrong the last time; nothing once it went well again."""

    def to_json(self) -> Json:
        return {
            "name": self.name,
            "runs": self.runs,
            "failures": self.failures,
            "problem": self.problem,
        }


class BackgroundLoops:
    """The loops of one daemon."""

    def __init__(self, loops: list[BackgroundLoop], stop: threading.Event) -> None:
        self.loops = loops
        self._stop = stop
        self._threads = [
            threading.Thread(target=self._run, args=(loop,), name=loop.name, daemon=True)
            for loop in loops
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Stop the loops and wait for the work under way."""
        self._stop.set()
        for loop in self.loops:
            loop.wake()
            if loop.news is not None:
                loop.news.set()
        began = time.monotonic()
        for loop, thread in zip(self.loops, self._threads, strict=True):
            thread.join(max(0.0, began + loop.patience_seconds - time.monotonic()))
            if thread.is_alive():
                log.warning("%s did not end in time", thread.name)

    def to_json(self) -> list[Json]:
        return [loop.to_json() for loop in self.loops]

    def _run(self, loop: BackgroundLoop) -> None:
        pause: float | None = loop.first_seconds
        while pause is not None and not self._wait(loop.news, pause):
            went_well = self._run_once(loop)
            pause = loop.every_seconds if went_well else RETRY_SECONDS

    def _wait(self, news: threading.Event | None, pause: float) -> bool:
        """Wait until there is something to do, and then for so long; whether the daemon ends."""
        if news is not None:
            news.wait()
        return self._stop.wait(pause)

    def _run_once(self, loop: BackgroundLoop) -> bool:
        loop.runs += 1
        try:
            loop.work()
        except MadeleineError as error:
            self._note(loop, error.message, error.message)
        except Exception as error:  # noqa: BLE001  # a job runner: seen in log and status
            self._note(loop, *_describe_failure(error))
        else:
            loop.problem = None
            return True
        return False

    def _note(self, loop: BackgroundLoop, problem: str, details: str) -> None:
        """Count a failure; the same one in a row is logged once."""
        loop.failures += 1
        if loop.problem != problem:
            log.warning("%s: %s", loop.name, details)
        loop.problem = problem


def _describe_failure(error: Exception) -> tuple[str, str]:
    """Return what status says of a failure, and what the log does. Too many open files is a state
    of the machine, and nothing that a trace explains."""
    if isinstance(error, OSError) and error.errno in OUT_OF_DESCRIPTORS:
        problem = f"waits for a descriptor: {error.strerror}"
        return problem, problem
    name = type(error).__name__
    return f"met a bug: {name}", f"met a bug: {render_traceback(error)}"
