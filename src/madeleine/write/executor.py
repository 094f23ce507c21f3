"""Work beside the caller's: what nobody has to wait for, and what can be done while a model
reads.

An open home has threads for it. Without them everything is done at once, which is simpler to
follow and just as right.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol, TypeVar

CONCURRENT_THREADS = 4  # questions whose words are looked up while the model reads them
MAX_CONCURRENT = 8  # threads that one question may have, if it is asked in so many places

T = TypeVar("T")
BackgroundWork = Callable[[], str | None]
"""Returns what went wrong, in a sentence."""


ThreadPools = tuple[ThreadPoolExecutor, ThreadPoolExecutor]


class BackgroundExecutor(Protocol):
    """Does work beside the caller's."""

    def submit(self, work: BackgroundWork) -> None:
        """Do it soon, each after the one before."""
        ...

    def wait(self) -> None:
        """Return when all that was to be done later is done."""
        ...

    def take_problem(self) -> str | None:
        """Return what went wrong with it lately, once."""
        ...

    def start(self, work: Callable[[], T]) -> Callable[[], T]:
        """Begin now; what comes back waits for the result and returns it."""
        ...

    def close(self) -> None: ...


class InlineExecutor:
    """Does everything when it is asked for."""

    def __init__(self) -> None:
        self._problem: str | None = None

    def submit(self, work: BackgroundWork) -> None:
        self._problem = work() or self._problem

    def wait(self) -> None:
        pass

    def take_problem(self) -> str | None:
        problem, self._problem = self._problem, None
        return problem

    def start(self, work: Callable[[], T]) -> Callable[[], T]:
        result = work()
        return lambda: result

    def close(self) -> None:
        pass


class ThreadExecutor:
    """Does it in threads of its own, which begin with the first work; or in those of another,
    where many homes are open."""

    def __init__(self, others: ThreadExecutor | None = None) -> None:
        self._own = others is None
        self._one, self._several = others._executors() if others is not None else _new_pools()
        self._asking = threading.Lock()
        self._last: Future[None] | None = None
        self._problem: str | None = None

    def submit(self, work: BackgroundWork) -> None:
        with self._asking:
            self._last = self._one.submit(self._run_all, work)

    def wait(self) -> None:
        last = self._last
        if last is not None:
            last.result()

    def take_problem(self) -> str | None:
        problem, self._problem = self._problem, None
        return problem

    def start(self, work: Callable[[], T]) -> Callable[[], T]:
        return self._several.submit(work).result

    def close(self) -> None:
        """Finish what was begun."""
        if not self._own:
            self.wait()
            return
        self._one.shutdown()
        self._several.shutdown()

    def _executors(self) -> ThreadPools:
        return self._one, self._several

    def _run_all(self, work: BackgroundWork) -> None:
        self._problem = work() or self._problem


def run_concurrently(works: Sequence[Callable[[], T]]) -> list[T]:
    """Do several things at the same time, the first of them in this thread."""
    if len(works) < 2:
        return [work() for work in works]
    with ThreadPoolExecutor(min(len(works) - 1, MAX_CONCURRENT), "madeleine-at-once") as threads:
        others = [threads.submit(work) for work in works[1:]]
        return [works[0](), *(each.result() for each in others)]


def _new_pools() -> ThreadPools:
    return (
        ThreadPoolExecutor(1, "madeleine-later"),
        ThreadPoolExecutor(CONCURRENT_THREADS, "madeleine-beside"),
    )
