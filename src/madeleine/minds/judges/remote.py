"""A language model as judge: any OpenAI-compatible server, or Anthropic.

Several pairs go into one request. What the model answers is read strictly (`prompts.py`): what
does not fit is no verdict, is counted in `problems()`, and changes nothing. How much a run may
ask is bounded (`language_model.py`); a run ends when `problems()` is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from madeleine.minds.judges.answers import LossyAnswer
from madeleine.minds.judges.language_model import LanguageModel, ModelAddress, RunBudget
from madeleine.minds.judges.prompts import (
    JUDGE_PROMPT,
    MAX_TOKENS_PER_PAIR,
    MAX_TOKENS_PER_SYNTHESIS,
    SYNTHESIS_PROMPT,
    is_shown_whole,
    read_synthesis,
    read_verdicts,
    render_members,
    render_pairs,
)
from madeleine.minds.model_server import RetryPolicy
from madeleine.minds.spending import SpendingLedger, SpendingPurpose
from madeleine.model.memory import Memory
from madeleine.model.verdict import MemoryPair, Synthesis, Verdict

PAIRS_PER_REQUEST = 8
CHARS_PER_REQUEST = 24_000  # about 6,000 tokens, which every model in use can read
RETRIES = 2
BACKOFF_SECONDS = 0.5
MAX_ANSWER_BYTES = 4 * 1024 * 1024


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
        bounds: RunBudget | None = None,
        spending: SpendingLedger | None = None,
    ) -> None:
        """`timeout_seconds` bounds each try of a request."""
        patience = RetryPolicy(
            timeout_seconds, RETRIES, BACKOFF_SECONDS, MAX_ANSWER_BYTES, each=True
        )
        address = ModelAddress(url, model, key, provider)
        self._model = LanguageModel(address, patience, bounds or RunBudget(), spending)
        self.name = self._model.name

    def judge(self, pairs: Sequence[MemoryPair]) -> list[Verdict | None]:
        verdicts: list[Verdict | None] = []
        for batch in _split_batches(pairs):
            verdicts += self._judge(batch)
        return verdicts

    def synthesise(self, members: Sequence[Memory]) -> Synthesis | None:
        if not all(is_shown_whole(each) for each in members):
            self._model.count("memories too long to be shown whole")
            return None
        said = self._model.ask(
            SpendingPurpose.SYNTHESIS,
            SYNTHESIS_PROMPT,
            render_members(members),
            MAX_TOKENS_PER_SYNTHESIS,
        )
        return self._model.read(said, lambda text: self._keep_lossless(text, members))

    def _keep_lossless(self, text: str, members: Sequence[Memory]) -> Synthesis:
        """Return the text that keeps what the members say; an empty one where it does not, so
        that nobody asks again as long as they say the same."""
        try:
            return read_synthesis(text, members)
        except LossyAnswer as refused:
            self._model.count(str(refused))
            return Synthesis("", "")

    def problems(self) -> dict[str, int]:
        return self._model.problems()

    def _judge(self, pairs: Sequence[MemoryPair]) -> list[Verdict | None]:
        said = self._model.ask(
            SpendingPurpose.JUDGING,
            JUDGE_PROMPT,
            render_pairs(pairs),
            MAX_TOKENS_PER_PAIR * len(pairs),
            len(pairs),
        )
        read = self._model.read(said, lambda text: read_verdicts(text, pairs), len(pairs))
        if read is None:
            return [None] * len(pairs)
        verdicts, problems = read
        for problem in problems:
            self._model.count(problem)
        return verdicts


def _split_batches(pairs: Sequence[MemoryPair]) -> Iterator[list[MemoryPair]]:
    """Yield pairs in order, as many at once as a request may hold."""
    batch: list[MemoryPair] = []
    chars = 0
    for pair in pairs:
        length = len(json.dumps(render_pairs([pair])))
        if batch and (len(batch) == PAIRS_PER_REQUEST or chars + length > CHARS_PER_REQUEST):
            yield batch
            batch, chars = [], 0
        batch.append(pair)
        chars += length
    if batch:
        yield batch
