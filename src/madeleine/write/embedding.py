"""Vectors for memories about to be indexed. Always outside the lock (I6)."""

from __future__ import annotations

from collections.abc import Sequence

from madeleine.errors import MindDown
from madeleine.model.memory import Memory
from madeleine.model.vector import Vector
from madeleine.rules.text import embedded_text
from madeleine.write.stores import Stores


def text_of(memory: Memory) -> str:
    """Return the text that stands for a memory's meaning."""
    return embedded_text(memory.title, memory.content)


def embed_texts(stores: Stores, texts: Sequence[str]) -> tuple[list[Vector | None], str | None]:
    """Return a vector per text, and why there are none when the model cannot answer.

    A model that is down must not keep anybody from remembering: the memory is found by its
    words meanwhile, and gets its vector when the model is back.
    """
    embedder = stores.minds.embedder
    if embedder is None:
        return [None] * len(texts), stores.minds.why_not or None
    try:
        return list(embedder.embed(texts)), None
    except MindDown as down:
        return [None] * len(texts), down.message


def embed_memory(stores: Stores, memory: Memory) -> tuple[Vector | None, str | None]:
    vectors, problem = embed_texts(stores, [text_of(memory)])
    return vectors[0], problem
