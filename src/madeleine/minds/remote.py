"""A model behind an OpenAI-compatible server: Ollama, LM Studio, vLLM, or a hosted one.

`POST {url}/embeddings` with up to 64 texts at a time, over the standard library. Whatever
goes wrong out there becomes one `MindDown` with a sentence that says what (`model_server.py`); an
answer is believed only when it holds one usable vector for every text. Such a server tells
nothing of single tokens.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence

from madeleine.errors import BadSetting
from madeleine.minds.model_server import ModelServer, RetryPolicy
from madeleine.minds.spending import (
    CHARS_PER_TOKEN,
    SpendingLedger,
    SpendingPurpose,
    TokenPrices,
)
from madeleine.minds.texts import prepare_text
from madeleine.minds.vectors import empty_tokens, normalize_vectors
from madeleine.model.embedding import Passage, PassageEmbedding, QueryEmbedding
from madeleine.model.vector import Vector

TEXTS_PER_REQUEST = 64  # servers refuse more at very different numbers; this one all accept
MAX_CHARS = 8_000  # about 2,000 tokens; servers refuse a text longer than their model reads
MAX_ANSWER_BYTES = 64 * 1024 * 1024  # 64 vectors of 4,096 numbers are about 6 MB
RETRIES = 2
BACKOFF_SECONDS = 0.25  # before the first retry, twice that before the second


class RemoteEmbedder:
    """A remote model. Constructing it asks nobody anything."""

    token_dimension = 0

    def __init__(
        self,
        url: str,
        model: str,
        key: str,
        timeout_seconds: float,
        spending: SpendingLedger | None = None,
        price: float = 0.0,
    ) -> None:
        """`timeout_seconds` bounds one request of up to 64 texts, its retries included. `spending`
        gets a receipt of each, by the `price` of a million tokens."""
        self.name = f"remote:{model}"
        self._server = ModelServer(self.name, "embedder", url, key)
        if not model:
            raise BadSetting("embedder.model", "is empty; name the model the server should use")
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._model = model
        self._timeout_seconds = timeout_seconds
        self._spending = spending
        self._prices = TokenPrices(price)
        self._dimension = 0
        self._learning = threading.Lock()

    @property
    def dimension(self) -> int:
        """How many numbers a vector has. The first time it takes a call to find out."""
        if not self._dimension:
            self._embed(["dimension"], SpendingPurpose.MEMORIES)
        return self._dimension

    def read(self, passages: Sequence[Passage]) -> list[PassageEmbedding]:
        vectors = self._embed([each.text for each in passages], SpendingPurpose.MEMORIES)
        return [PassageEmbedding(vector, empty_tokens()) for vector in vectors]

    def ask(self, text: str) -> QueryEmbedding:
        import numpy as np

        (vector,) = self._embed([text], SpendingPurpose.QUESTIONS)
        none = empty_tokens().astype(np.float32)
        return QueryEmbedding(vector, none, none, ())

    def _embed(self, texts: Sequence[str], purpose: SpendingPurpose) -> list[Vector]:
        vectors: list[Vector] = []
        for start in range(0, len(texts), TEXTS_PER_REQUEST):
            vectors += self._ask(texts[start : start + TEXTS_PER_REQUEST], purpose)
        return vectors

    def _ask(self, texts: Sequence[str], purpose: SpendingPurpose) -> list[Vector]:
        # Servers refuse an empty text; a space means as little.
        asked = [prepare_text(text, MAX_CHARS) or " " for text in texts]
        expected = sum(map(len, asked)) // CHARS_PER_TOKEN + 1
        self._refuse_beyond_cap(expected)
        body = json.dumps({"model": self._model, "input": asked}).encode("utf-8")
        patience = RetryPolicy(self._timeout_seconds, RETRIES, BACKOFF_SECONDS, MAX_ANSWER_BYTES)
        answer = self._server.post("/embeddings", body, self._headers, patience)
        if self._spending is not None:
            tokens = _read_token_count(answer) or expected
            self._spending.record(purpose, self.name, tokens, prices=self._prices)
        return self._parse_vectors(answer, len(texts))

    def _refuse_beyond_cap(self, expected: int) -> None:
        if self._spending is None:
            return
        refusal = self._spending.find_refusal(expected, self._prices.cost_of(expected, 0))
        if refusal:
            raise self._server.down(refusal)

    def _parse_vectors(self, answer: bytes, count: int) -> list[Vector]:
        """Return the vectors in an answer, in the order of the texts, scaled to length 1."""
        import numpy as np

        try:
            items = json.loads(answer)["data"]
            placed = {int(item["index"]): item["embedding"] for item in items}
            with np.errstate(over="ignore"):  # too large for float32: inf, refused below
                rows = np.array([placed[place] for place in range(count)], np.float32)
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise self._server.down(f"the answer does not hold {count} vectors") from error
        if len(items) != count or rows.ndim != 2 or not rows.shape[1]:
            raise self._server.down(f"the answer does not hold {count} vectors")
        vectors = normalize_vectors(rows)
        if vectors is None:
            raise self._server.down("the answer holds a vector without direction")
        self._learn(rows.shape[1])
        return vectors

    def _learn(self, dimension: int) -> None:
        with self._learning:
            known = self._dimension = self._dimension or dimension
        if dimension != known:
            raise self._server.down(f"the answer has {dimension} numbers a vector, {known} before")


def _read_token_count(answer: bytes) -> int:
    """Return how many tokens the server says it read; 0 where it does not say."""
    try:
        count = json.loads(answer)["usage"]["prompt_tokens"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return 0
    return count if isinstance(count, int) and not isinstance(count, bool) and count > 0 else 0
