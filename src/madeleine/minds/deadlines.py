"""Models that are waited for only until a moment.

Whoever has a deadline cannot wait for a model that is loading, busy or far away. A timed model is
asked in a thread of its own. If its answer is not there by then, the caller is told what it is
told of a model that is down (`MindDown`), and goes on without it; the answer itself is dropped.
After the first late answer nothing more is asked: the time is up.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import replace
from typing import TypeVar

from madeleine.errors import MadeleineError, MindDown
from madeleine.minds.port import CachingEmbedder, Minds, Reranker
from madeleine.model.embedding import Passage, PassageEmbedding, QueryEmbedding, TokenKeeper

MAX_CONCURRENT_CALLS = (
    8  # calls of a model, late ones included; more would only wait for each other
)
MIN_SECONDS = 0.005  # a model that has less time than that is not asked at all
ENDING_CHECK_SECONDS = 0.1  # how long it may go unnoticed that the process is to end
LATE_REASON = "the model was late"

T = TypeVar("T")


class ModelThreads:
    """Bounds how many calls of a model are under way. Any thread may ask."""

    def __init__(
        self, at_most: int = MAX_CONCURRENT_CALLS, ending: threading.Event | None = None
    ) -> None:
        """Nobody waits any longer once `ending` is set."""
        self._free = threading.BoundedSemaphore(at_most)
        self._ending = ending

    def run(self, work: Callable[[], T], seconds: float) -> T:
        """Return what `work` returns; `TimeoutError` if that takes longer, or has no thread.

        The threads are daemons: a process that ends does not wait for a model either.
        """
        if not self._free.acquire(blocking=False):
            raise TimeoutError
        result: Future[T] = Future()
        threading.Thread(target=self._work, args=(work, result), daemon=True).start()
        if self._ending is None:
            return result.result(seconds)
        until = time.monotonic() + seconds
        while not self._ending.is_set() and (left := until - time.monotonic()) > 0:
            if wait([result], min(left, ENDING_CHECK_SECONDS)).done:
                return result.result()
        raise TimeoutError

    def _work(self, work: Callable[[], T], result: Future[T]) -> None:
        try:
            result.set_result(work())
        except MadeleineError as error:
            result.set_exception(error)
        finally:
            self._free.release()


class ModelDeadline:
    """How long the models may be waited for in all, and whether one of them was late."""

    def __init__(self, until: float, threads: ModelThreads, reason: str = LATE_REASON) -> None:
        """`until` is a moment of the monotonic clock; `reason` says why there was no answer."""
        self.was_late = False
        self.reason = reason
        self._until = until
        self._threads = threads

    def run(self, name: str, work: Callable[[], T]) -> T:
        """Return what a model answers. Raises `MindDown` if there is no answer in time."""
        left = self._until - time.monotonic()
        if not self.was_late and left >= MIN_SECONDS:
            try:
                return self._threads.run(work, left)
            except TimeoutError as late:
                self.was_late = True
                raise MindDown(name, self.reason) from late
        self.was_late = True
        raise MindDown(name, self.reason)

    def limit(self, minds: Minds) -> Minds:
        """Return the same models, waited for no longer than this."""
        embedder, reranker = minds.embedder, minds.reranker
        return replace(
            minds,
            embedder=None if embedder is None else TimedEmbedder(embedder, self),
            reranker=None if reranker is None else TimedReranker(reranker, self),
        )


class TimedEmbedder:
    """An embedder of which only asking and reading are timed."""

    def __init__(self, embedder: CachingEmbedder, allowed: ModelDeadline) -> None:
        self._embedder = embedder
        self._time = allowed

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    @property
    def token_dimension(self) -> int:
        return self._embedder.token_dimension

    @property
    def problem(self) -> str:
        return self._embedder.problem

    @property
    def keeper(self) -> TokenKeeper:
        return self._embedder.keeper

    def read(self, passages: Sequence[Passage]) -> list[PassageEmbedding]:
        return self._time.run(self.name, lambda: self._embedder.read(passages))

    def ask(self, text: str) -> QueryEmbedding:
        return self._time.run(self.name, lambda: self._embedder.ask(text))

    def forget(self, keys: Sequence[str]) -> int:
        return self._embedder.forget(keys)

    def flush(self) -> None:
        self._embedder.flush()

    def close(self) -> None:
        self._embedder.close()


class TimedReranker:
    """A reranker that is waited for only as long as there is time."""

    def __init__(self, reranker: Reranker, allowed: ModelDeadline) -> None:
        self._reranker = reranker
        self._time = allowed

    @property
    def name(self) -> str:
        return self._reranker.name

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        return self._time.run(self.name, lambda: self._reranker.score(question, texts))
