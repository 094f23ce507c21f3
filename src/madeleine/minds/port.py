"""What the rest of the house asks of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from madeleine.model.vector import Vector


class Embedder(Protocol):
    """Turns texts into unit vectors; the same text always gives the same vector."""

    @property
    def name(self) -> str:
        """Keys every kept vector: a change of weights or dimension is a new name."""
        ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one float32 vector of length 1 per text, in order.

        Raises `MindDown` when the model cannot answer; never returns a made-up vector.
        """
        ...


class KeepingEmbedder(Embedder, Protocol):
    """An embedder that keeps what it made, so that a rebuild does not ask the model again."""

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a text that is only asked for, and keep nothing."""
        ...

    def vectors(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Return what is kept, by `rules.text.text_key`. What is not kept is left out."""
        ...

    def close(self) -> None:
        """Let go of what is kept; nothing may be asked afterwards."""
        ...


@dataclass(frozen=True, slots=True)
class Minds:
    """The models at hand. Without an embedder there is text search only, and `why_not` says
    why in a sentence that `madeleine status` shows."""

    embedder: KeepingEmbedder | None = None
    why_not: str = ""
