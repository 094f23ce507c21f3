"""An embedder without a model, for tests.

Words and runs of three characters are hashed into a vector, so texts that share words are
near each other and others are not. It is deterministic across processes and machines, and
has no idea of meaning: `car` and `automobile` are strangers.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence

from madeleine.minds.texts import shown
from madeleine.minds.vectors import unit
from madeleine.model.vector import Vector

SHOWN_CHARS = 4_000  # as much as the real model is shown
WORD_WEIGHT = 4  # against 1 for a trigram: a shared word says more than shared spelling


class FakeEmbedder:
    """Bags of hashed words and trigrams."""

    name = "fake-1"

    def __init__(self, dimension: int = 64) -> None:
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [self._embed(text) for text in texts]

    def _embed(self, text: str) -> Vector:
        import numpy as np

        row = np.zeros((1, self.dimension), np.float32)
        for feature, weight in Counter(_features(shown(text, SHOWN_CHARS))).items():
            code = zlib.crc32(feature.encode("utf-8"))
            # The lowest bit is the sign, so that strangers cancel out instead of adding up.
            row[0, (code >> 1) % self.dimension] += weight if code & 1 else -weight
        if not row.any():  # no features at all, or they cancelled out exactly
            row[0, 0] = 1.0
        vectors = unit(row)
        assert vectors is not None
        return vectors[0]


def _features(text: str) -> Iterator[str]:
    for word in re.findall(r"\w+", text.casefold()):
        yield from [f"word {word}"] * WORD_WEIGHT
        padded = f"<{word}>"
        for start in range(len(padded) - 2):
            yield padded[start : start + 3]
