"""A breaker between those who ask and a remote model that hangs.

A model that leaves a question unanswered costs whoever asks all of their patience. So after the
first such question the breaker opens: callers are refused at once (`MindDown`) and words answer
alone, while the model is probed in the background with one short text, at growing intervals and
with all the patience that is set. The first probe that is answered closes the breaker.

A caller waits for as long as a question like theirs may take, not for as long as the model may: a
model that takes a minute to load is asked by the probe meanwhile. Nobody waits any longer once the
process is told to end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from madeleine.errors import MindDown
from madeleine.minds.deadlines import ModelThreads
from madeleine.minds.port import Embedder
from madeleine.model.embedding import Passage, PassageEmbedding, QueryEmbedding

FIRST_SECONDS = 1.0  # for the first word asked of a model: whoever opens a home waits for it
ASK_SECONDS = 2.0  # for one question
PASSAGE_SECONDS = 1.0  # more for each passage
FIRST_PAUSE_SECONDS = 1.0  # between two probes, doubled each time
MAX_PAUSE_SECONDS = 60.0
MAX_CALLS = 32  # under way at once, with those that hang
PROBE_TEXT = "are you there?"
ENDING = "the process is ending"

Answer = TypeVar("Answer")


class GuardedEmbedder:
    """A remote embedder behind its breaker. Any thread may ask."""

    def __init__(self, embedder: Embedder, timeout_seconds: float, ending: threading.Event) -> None:
        """`timeout_seconds` is the most that anybody waits, the probe too; `ending` is set when the
        process is to end."""
        self._embedder = embedder
        self._timeout_seconds = timeout_seconds
        self._threads = ModelThreads(MAX_CALLS, ending)
        self._ending = ending
        self._lock = threading.Lock()
        self._proven = False
        self._problem = ""
        self._pause = FIRST_PAUSE_SECONDS
        self._probing = False

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimension(self) -> int:
        self._prove()
        return self._run(lambda: self._embedder.dimension, ASK_SECONDS)

    @property
    def token_dimension(self) -> int:
        return self._embedder.token_dimension

    @property
    def problem(self) -> str:
        """Why the model is not asked at the moment; empty if it is."""
        return self._problem

    def read(self, passages: Sequence[Passage]) -> list[PassageEmbedding]:
        self._prove()
        seconds = ASK_SECONDS + PASSAGE_SECONDS * len(passages)
        return self._run(lambda: self._embedder.read(passages), seconds)

    def ask(self, text: str) -> QueryEmbedding:
        return self._run(lambda: self._embedder.ask(text), ASK_SECONDS)

    def _prove(self) -> None:
        """See that the model answers at all, before it is handed work that may take long."""
        if not self._proven:
            self._run(lambda: self._embedder.ask(PROBE_TEXT), FIRST_SECONDS)

    def _run(self, work: Callable[[], Answer], seconds: float) -> Answer:
        if self._problem:
            raise MindDown(self.name, self._problem)
        most = min(seconds, self._timeout_seconds)
        try:
            answer = self._threads.run(work, most)
        except TimeoutError as late:
            ended = self._ending.is_set()
            self._open(ENDING if ended else f"no answer within {most:g} seconds")
            raise MindDown(self.name, self._problem) from late
        except MindDown as down:
            self._open(str(down.parts["problem"]))
            raise
        self._proven = True
        return answer

    def _open(self, problem: str) -> None:
        with self._lock:
            self._problem = f"{problem}; it is asked again in the background"
            if self._probing or self._ending.is_set():
                return
            self._probing, self._pause = True, FIRST_PAUSE_SECONDS
        threading.Thread(target=self._probe, name="model-probe", daemon=True).start()

    def _probe(self) -> None:
        """Ask until the model answers. The first probe goes out at once: one text that a model
        refuses says nothing of the next."""
        pause = 0.0
        while not self._ending.wait(pause):
            try:
                self._embedder.ask(PROBE_TEXT)
            except MindDown:
                pause, self._pause = self._pause, min(2 * self._pause, MAX_PAUSE_SECONDS)
                continue
            with self._lock:
                self._problem, self._probing, self._proven = "", False, True
            return
