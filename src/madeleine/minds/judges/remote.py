"""A language model as judge: any OpenAI-compatible server, or Anthropic.

Several pairs go into one request. What the model answers is read strictly (`asking.py`): what
does not fit is no verdict, is counted in `problems()`, and changes nothing. A run has a bound of
tokens and of money; when it is used up, nobody is asked any more. A server that did not answer
twice in a row is left alone for the rest of the run.

A run ends when `problems()` is asked for: then the bounds begin anew.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from madeleine.errors import BadSetting, MindDown
from madeleine.minds.judges.asking import (
    JUDGE,
    MOST_TOKENS_A_PAIR,
    MOST_TOKENS_A_SYNTHESIS,
    SYNTHESISE,
    Nonsense,
    ask_pairs,
    ask_synthesis,
    read_synthesis,
    read_verdicts,
    whole,
)
from madeleine.minds.judges.wire import WIRES, Said
from madeleine.minds.posting import Patience, Server
from madeleine.model.judging import Pair, Synthesis, Verdict
from madeleine.model.memory import Memory

PAIRS_AT_ONCE = 8
CHARS_AT_ONCE = 24_000  # about 6,000 tokens, which every model in use can read
RETRIES = 2
BACKOFF_SECONDS = 0.5
ANSWER_BYTES = 4 * 1024 * 1024
CHARS_A_TOKEN = 3  # a guess on the safe side, before the server has counted
FAILURES_AT_MOST = 2  # in a row; then the server is left alone for this run
MILLION = 1_000_000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a run may use. A price of 0 means that it is not known, and a bound of 0 none."""

    tokens: int = 200_000
    cost: float = 0.0
    price_in: float = 0.0
    """Per million tokens, in whatever currency `cost` is."""
    price_out: float = 0.0

    def cost_of(self, tokens_in: int, tokens_out: int) -> float:
        return (tokens_in * self.price_in + tokens_out * self.price_out) / MILLION


class RemoteJudge:
    """A model behind a server. Constructing it asks nobody anything."""

    cheap = False

    def __init__(
        self,
        url: str,
        model: str,
        key: str,
        provider: str = "openai",
        timeout_seconds: float = 60.0,
        bounds: Bounds | None = None,
    ) -> None:
        """`timeout_seconds` bounds each try of a request."""
        if provider not in WIRES:
            raise BadSetting("judge.provider", f"is {provider!r}; {' or '.join(WIRES)}")
        if not model:
            raise BadSetting("judge.model", "is empty; name the model the server should use")
        self.name = f"llm:{model}"
        self._server = Server(self.name, "judge", url, key)
        self._wire = WIRES[provider]
        self._headers = self._wire.headers(key)
        self._model = model
        self._timeout_seconds = timeout_seconds
        self._bounds = bounds or Bounds()
        self._counting = threading.Lock()
        self._problems: Counter[str] = Counter()
        self._tokens = self._failures = 0
        self._cost = 0.0

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict | None]:
        verdicts: list[Verdict | None] = []
        for batch in _batches(pairs):
            verdicts += self._judge(batch)
        return verdicts

    def synthesise(self, members: Sequence[Memory]) -> Synthesis | None:
        if not all(whole(each) for each in members):
            self._count("memories too long to be shown whole")
            return None
        said = self._ask(SYNTHESISE, ask_synthesis(members), MOST_TOKENS_A_SYNTHESIS)
        return self._read(said, lambda text: read_synthesis(text, members))

    def problems(self) -> dict[str, int]:
        with self._counting:
            said = dict(self._problems)
            self._problems.clear()
            self._tokens = self._failures = 0
            self._cost = 0.0
        return said

    def _judge(self, pairs: Sequence[Pair]) -> list[Verdict | None]:
        said = self._ask(JUDGE, ask_pairs(pairs), MOST_TOKENS_A_PAIR * len(pairs), len(pairs))
        read = self._read(said, lambda text: read_verdicts(text, pairs), len(pairs))
        if read is None:
            return [None] * len(pairs)
        verdicts, problems = read
        for problem in problems:
            self._count(problem)
        return verdicts

    def _read(self, said: Said | None, read: Callable[[str], T], asked: int = 1) -> T | None:
        if said is None:
            return None
        if not said.whole:
            self._count("the answer was cut off", asked)
            return None
        try:
            return read(said.text)
        except Nonsense as nonsense:
            self._count(str(nonsense), asked)
            return None

    def _ask(self, system: str, user: str, most_tokens: int, asked: int = 1) -> Said | None:
        """Return what the model says, or nothing if it may not or cannot be asked."""
        expected = (len(system) + len(user)) // CHARS_A_TOKEN
        if problem := self._refused(expected, most_tokens):
            self._count(problem, asked)
            return None
        try:
            said = self._said(system, user, most_tokens)
        except MindDown as down:
            self._failed(down.message, asked)
            return None
        self._spent(said.tokens_in or expected, said.tokens_out or len(said.text) // CHARS_A_TOKEN)
        return said

    def _said(self, system: str, user: str, most_tokens: int) -> Said:
        body = self._wire.body(self._model, system, user, most_tokens)
        patience = Patience(
            self._timeout_seconds, RETRIES, BACKOFF_SECONDS, ANSWER_BYTES, each=True
        )
        answer = self._server.post(self._wire.path, body, self._headers, patience)
        try:
            return self._wire.read(answer)
        except ValueError as error:
            raise self._server.down(f"the answer is no completion: {error}") from error

    def _refused(self, tokens_in: int, tokens_out: int) -> str:
        """Return why nobody may be asked now; empty if somebody may."""
        bounds = self._bounds
        with self._counting:
            if self._failures >= FAILURES_AT_MOST:
                return "the server did not answer before in this run"
            if bounds.tokens and self._tokens + tokens_in + tokens_out > bounds.tokens:
                return "the run's token bound is used up"
            cost = self._cost + bounds.cost_of(tokens_in, tokens_out)
            return "the run's cost bound is used up" if 0 < bounds.cost < cost else ""

    def _spent(self, tokens_in: int, tokens_out: int) -> None:
        with self._counting:
            self._failures = 0
            self._tokens += tokens_in + tokens_out
            self._cost += self._bounds.cost_of(tokens_in, tokens_out)

    def _failed(self, problem: str, asked: int) -> None:
        with self._counting:
            self._failures += 1
            self._problems[problem] += asked

    def _count(self, problem: str, times: int = 1) -> None:
        with self._counting:
            self._problems[problem] += times


def _batches(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    """Yield pairs in order, as many at once as a request may hold."""
    batch: list[Pair] = []
    chars = 0
    for pair in pairs:
        length = len(json.dumps(ask_pairs([pair])))
        if batch and (len(batch) == PAIRS_AT_ONCE or chars + length > CHARS_AT_ONCE):
            yield batch
            batch, chars = [], 0
        batch.append(pair)
        chars += length
    if batch:
        yield batch
