"""An embedder without a model, for tests.

Words and runs of three characters are hashed into a vector, so texts that share words are
near each other and others are not. It is deterministic across processes and machines, and
has no idea of meaning: `car` and `automobile` are strangers. Each word is a token.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterator, Sequence

from madeleine.minds.texts import prepare_text
from madeleine.minds.vectors import normalize_vectors, quantize_tokens, round_as_tokens
from madeleine.model.embedding import Passage, PassageEmbedding, QueryEmbedding, Rows
from madeleine.model.vector import Vector

MAX_CHARS = 4_000  # as much as the real model is shown
WORD_WEIGHT = 4  # against 1 for a trigram: a shared word says more than shared spelling
TOKEN_DIMENSION = 16  # enough to tell the words of a test apart


class FakeEmbedder:
    """Bags of hashed words and trigrams."""

    name = "fake-1"
    token_dimension = TOKEN_DIMENSION

    def __init__(self, dimension: int = 64) -> None:
        self.dimension = dimension

    def read(self, passages: Sequence[Passage]) -> list[PassageEmbedding]:
        return [self._read(passage) for passage in passages]

    def ask(self, text: str) -> QueryEmbedding:
        """Return what a question means. A token is what its word adds to the whole."""
        found = list(re.finditer(r"\w+", prepare_text(text, MAX_CHARS)))
        words = [each[0] for each in found]
        rows = self._rows(words)
        return QueryEmbedding(
            _sum_rows(rows),
            rows,
            round_as_tokens(_token_rows(words)),
            tuple(each.span() for each in found),
        )

    def _read(self, passage: Passage) -> PassageEmbedding:
        found = list(re.finditer(r"\w+", prepare_text(passage.text, MAX_CHARS)))
        spoken = [each for each in found if each.start() >= passage.unspoken] or found
        vector = _sum_rows(self._rows([each[0] for each in found]))
        return PassageEmbedding(vector, quantize_tokens(_token_rows([each[0] for each in spoken])))

    def _rows(self, words: Sequence[str]) -> Rows:
        """Return what each word adds to its text."""
        import numpy as np

        rows = np.zeros((len(words), self.dimension), np.float32)
        for row, word in zip(rows, words, strict=True):
            for feature, weight in _word_features(word.casefold()):
                code = zlib.crc32(feature.encode("utf-8"))
                # The lowest bit is the sign, so that strangers cancel out instead of adding up.
                row[(code >> 1) % self.dimension] += weight if code & 1 else -weight
        return rows


def _sum_rows(rows: Rows) -> Vector:
    import numpy as np

    total = rows.sum(axis=0, keepdims=True)
    if not total.any():  # no words at all, or they cancelled out exactly
        total[0, 0] = 1.0
    vectors = normalize_vectors(total.astype(np.float32, copy=False))
    assert vectors is not None
    return vectors[0]


def _token_rows(words: Sequence[str]) -> Rows:
    """Return a row for each word, the same for the same word and for no other."""
    import numpy as np

    rows = [
        hashlib.blake2b(word.casefold().encode("utf-8"), digest_size=TOKEN_DIMENSION).digest()
        for word in words
    ]
    numbers = np.frombuffer(b"".join(rows), np.uint8).reshape(len(words), TOKEN_DIMENSION)
    small: Rows = numbers.astype(np.float32) - np.float32(127.5)
    return small


def _word_features(word: str) -> Iterator[tuple[str, int]]:
    yield f"word {word}", WORD_WEIGHT
    padded = f"<{word}>"
    for start in range(len(padded) - 2):
        yield padded[start : start + 3], 1
