"""A language model as judge: any OpenAI-compatible server, or Anthropic.

Several pairs go into one request. What the model answers is read strictly (`asking.py`): what
does not fit is no verdict, is counted in `problems()`, and changes nothing. How much a run may
ask is bounded (`language.py`); a run ends when `problems()` is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from madeleine.minds.judges.asking import (
    JUDGE,
    MOST_TOKENS_A_PAIR,
    MOST_TOKENS_A_SYNTHESIS,
    SYNTHESISE,
    ask_pairs,
    ask_synthesis,
    read_synthesis,
    read_verdicts,
    whole,
)
from madeleine.minds.judges.framing import Refused
from madeleine.minds.judges.language import Address, Bounds, LanguageModel
from madeleine.minds.posting import Patience
from madeleine.model.judging import MemoryPair, Synthesis, Verdict
from madeleine.model.memory import Memory

PAIRS_AT_ONCE = 8
CHARS_AT_ONCE = 24_000  # about 6,000 tokens, which every model in use can read
RETRIES = 2
BACKOFF_SECONDS = 0.5
ANSWER_BYTES = 4 * 1024 * 1024


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
        patience = Patience(timeout_seconds, RETRIES, BACKOFF_SECONDS, ANSWER_BYTES, each=True)
        address = Address(url, model, key, provider)
        self._model = LanguageModel(address, patience, bounds or Bounds())
        self.name = self._model.name

    def judge(self, pairs: Sequence[MemoryPair]) -> list[Verdict | None]:
        verdicts: list[Verdict | None] = []
        for batch in _batches(pairs):
            verdicts += self._judge(batch)
        return verdicts

    def synthesise(self, members: Sequence[Memory]) -> Synthesis | None:
        if not all(whole(each) for each in members):
            self._model.count("memories too long to be shown whole")
            return None
        said = self._model.ask(SYNTHESISE, ask_synthesis(members), MOST_TOKENS_A_SYNTHESIS)
        return self._model.read(said, lambda text: self._kept(text, members))

    def _kept(self, text: str, members: Sequence[Memory]) -> Synthesis:
        """Return the text that keeps what the members say; an empty one where it does not, so
        that nobody asks again as long as they say the same."""
        try:
            return read_synthesis(text, members)
        except Refused as refused:
            self._model.count(str(refused))
            return Synthesis("", "")

    def problems(self) -> dict[str, int]:
        return self._model.problems()

    def _judge(self, pairs: Sequence[MemoryPair]) -> list[Verdict | None]:
        said = self._model.ask(JUDGE, ask_pairs(pairs), MOST_TOKENS_A_PAIR * len(pairs), len(pairs))
        read = self._model.read(said, lambda text: read_verdicts(text, pairs), len(pairs))
        if read is None:
            return [None] * len(pairs)
        verdicts, problems = read
        for problem in problems:
            self._model.count(problem)
        return verdicts


def _batches(pairs: Sequence[MemoryPair]) -> Iterator[list[MemoryPair]]:
    """Yield pairs in order, as many at once as a request may hold."""
    batch: list[MemoryPair] = []
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
