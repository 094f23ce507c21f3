"""Short ways for tests to have texts read."""

from __future__ import annotations

from collections.abc import Sequence

from madeleine.language.text_keys import passage_key
from madeleine.minds.port import Embedder
from madeleine.model.embedding import Passage
from madeleine.model.vector import Vector


def passage(text: str, unspoken: int = 0) -> Passage:
    return Passage(text, 0, len(text), unspoken)


def key(text: str) -> str:
    """The key under which what was made of `text` is kept."""
    return passage_key(passage(text))


def vectors(embedder: Embedder, texts: Sequence[str]) -> list[Vector]:
    """What each text means as a whole."""
    return [trace.vector for trace in embedder.read([passage(text) for text in texts])]
