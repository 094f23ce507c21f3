"""A language model behind a server, asked within bounds.

A run has a bound of tokens and of money; when it is used up, nobody is asked any more. A server
that did not answer twice in a row is left alone for the rest of the run. Whatever goes wrong is
counted in words, and no answer is the worst that a caller meets. A run ends when `problems()` is
asked for: then the bounds begin anew.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from madeleine.errors import BadSetting, MindDown
from madeleine.minds.judges.answers import InvalidAnswer
from madeleine.minds.judges.completion_protocols import PROTOCOL_BY_PROVIDER, ModelAnswer
from madeleine.minds.model_server import ModelServer, RetryPolicy
from madeleine.minds.spending import (
    CHARS_PER_TOKEN,
    SpendingLedger,
    SpendingPurpose,
    TokenPrices,
)

MAX_FAILURES = 2  # in a row; then the server is left alone for this run

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RunBudget:
    """What a run may use. A price of 0 means that it is not known, and a bound of 0 none."""

    tokens: int = 200_000
    cost: float = 0.0
    price_in: float = 0.0
    """Per million tokens, in whatever currency `cost` is."""
    price_out: float = 0.0

    def cost_of(self, tokens_in: int, tokens_out: int) -> float:
        return TokenPrices(self.price_in, self.price_out).cost_of(tokens_in, tokens_out)


@dataclass(frozen=True, slots=True)
class ModelAddress:
    """Where a model is, and how it is spoken to; `section` holds its settings."""

    url: str
    model: str
    key: str
    provider: str = "openai"
    section: str = "judge"

    def __repr__(self) -> str:
        return f"Address({self.model!r})"  # a key appears nowhere


class LanguageModel:
    """A model behind a server. Constructing it asks nobody anything."""

    def __init__(
        self,
        address: ModelAddress,
        patience: RetryPolicy,
        bounds: RunBudget,
        spending: SpendingLedger | None = None,
    ) -> None:
        """`spending` says whether the day still has room, and gets a receipt of each answer."""
        section, provider = address.section, address.provider
        if provider not in PROTOCOL_BY_PROVIDER:
            raise BadSetting(
                f"{section}.provider", f"is {provider!r}; {' or '.join(PROTOCOL_BY_PROVIDER)}"
            )
        if not address.model:
            raise BadSetting(f"{section}.model", "is empty; name the model the server should use")
        self.name = f"llm:{address.model}"
        self._server = ModelServer(self.name, section, address.url, address.key)
        self._wire = PROTOCOL_BY_PROVIDER[provider]
        self._headers = self._wire.headers(address.key)
        self._model = address.model
        self._patience = patience
        self._bounds = bounds
        self._spending = spending
        self._counting = threading.Lock()
        self._problems: Counter[str] = Counter()
        self._tokens = self._failures = 0
        self._cost = 0.0

    @property
    def tokens(self) -> int:
        """The tokens that this run has used so far."""
        with self._counting:
            return self._tokens

    def problems(self) -> dict[str, int]:
        """Return what went wrong in this run, and begin another."""
        with self._counting:
            said = dict(self._problems)
            self._problems.clear()
            self._tokens = self._failures = 0
            self._cost = 0.0
        return said

    def ask(
        self,
        purpose: SpendingPurpose,
        system: str,
        user: str,
        most_tokens: int,
        asked: int = 1,
    ) -> ModelAnswer | None:
        """Return what the model says, or nothing if it may not or cannot be asked."""
        expected = (len(system) + len(user)) // CHARS_PER_TOKEN
        if problem := self._refusal_reason(expected, most_tokens):
            self.count(problem, asked)
            return None
        try:
            said = self._ask_model(system, user, most_tokens)
        except MindDown as down:
            self._count_failure(down.message, asked)
            return None
        self._count_spending(
            purpose,
            said.tokens_in or expected,
            said.tokens_out or len(said.text) // CHARS_PER_TOKEN,
        )
        return said

    def read(self, said: ModelAnswer | None, read: Callable[[str], T], asked: int = 1) -> T | None:
        """Return what an answer means; nothing where it was cut off or makes no sense."""
        if said is None:
            return None
        if not said.whole:
            self.count("the answer was cut off", asked)
            return None
        try:
            return read(said.text)
        except InvalidAnswer as nonsense:
            self.count(str(nonsense), asked)
            return None

    def count(self, problem: str, times: int = 1) -> None:
        """Count something that went wrong."""
        with self._counting:
            self._problems[problem] += times

    def _ask_model(self, system: str, user: str, most_tokens: int) -> ModelAnswer:
        body = self._wire.body(self._model, system, user, most_tokens)
        answer = self._server.post(self._wire.path, body, self._headers, self._patience)
        try:
            return self._wire.read(answer)
        except ValueError as error:
            raise self._server.down(f"the answer is no completion: {error}") from error

    def _refusal_reason(self, tokens_in: int, tokens_out: int) -> str:
        """Return why nobody may be asked now; empty if somebody may."""
        bounds = self._bounds
        with self._counting:
            if self._failures >= MAX_FAILURES:
                return "the server did not answer before in this run"
            if bounds.tokens and self._tokens + tokens_in + tokens_out > bounds.tokens:
                return "the run's token bound is used up"
            cost = bounds.cost_of(tokens_in, tokens_out)
            if 0 < bounds.cost < self._cost + cost:
                return "the run's cost bound is used up"
        return self._spending.find_refusal(tokens_in + tokens_out, cost) if self._spending else ""

    def _count_spending(self, purpose: SpendingPurpose, tokens_in: int, tokens_out: int) -> None:
        if self._spending is not None:
            prices = TokenPrices(self._bounds.price_in, self._bounds.price_out)
            self._spending.record(purpose, self.name, tokens_in, tokens_out, prices)
        with self._counting:
            self._failures = 0
            self._tokens += tokens_in + tokens_out
            self._cost += self._bounds.cost_of(tokens_in, tokens_out)

    def _count_failure(self, problem: str, asked: int) -> None:
        with self._counting:
            self._failures += 1
            self._problems[problem] += asked
