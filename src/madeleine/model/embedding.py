"""What a model makes of a text: one vector for its meaning, and one for each of its tokens.

Importing this module does not import numpy.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from madeleine.model.vector import Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Tokens: TypeAlias = "NDArray[np.int8]"
"""One row per token, scaled to length 127. Without rows where the model gives no tokens."""

Rows: TypeAlias = "NDArray[np.float32]"
"""One row per token."""


LEAST_KNOWN_SHARE = 0.5  # share of a text that the model must know for its view to count


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a memory that a model reads in one go.

    `start` and `end` say where it stands in the content. `text` is what is read: the piece
    with its title and speaker before it. The tokens of the first `unspoken` characters colour
    the meaning of the whole, but are not kept one by one: a date, mostly.
    """

    text: str
    start: int
    end: int
    unspoken: int = 0


@dataclass(frozen=True, slots=True)
class PassageEmbedding:
    """What is kept of a passage, but for `known`, which only who has just read it knows."""

    vector: Vector
    tokens: Tokens
    known: float = 1.0
    """See `QueryEmbedding.known`."""


class TokenKeeper(Protocol):
    """Where the tokens of passages stand, by reference: a hash of the model and of what it read.
    Tokens are most of what a store takes on disk, so an index that can read them here keeps none
    of its own."""

    def flush(self) -> None:
        """Write whatever was handed out and is not written yet."""
        ...

    def tokens(self, references: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """Return the tokens that are kept, each row after the other; the others are left out."""
        ...

    def token_rows(self, reference: bytes, width: int) -> Tokens:
        """Return the tokens of one passage; no rows if none are kept."""
        ...

    def missing(self, references: Collection[bytes]) -> set[bytes]:
        """Return the references under which nothing is kept."""
        ...


class KeptEmbedding(PassageEmbedding):
    """A trace whose tokens are kept somewhere, and read there when they are asked for."""

    __slots__ = ("_width", "keeper", "reference")

    keeper: TokenKeeper
    reference: bytes
    _width: int

    def __init__(
        self,
        vector: Vector,
        reference: bytes,
        keeper: TokenKeeper,
        width: int,
        known: float = 1.0,
    ) -> None:
        given = {"vector": vector, "known": known, "reference": reference}
        for name, value in {**given, "keeper": keeper, "_width": width}.items():
            object.__setattr__(self, name, value)  # it is frozen

    @property
    def tokens(self) -> Tokens:
        """Whoever needs them without the keeper reads them one by one, which takes longer."""
        return self.keeper.token_rows(self.reference, self._width)


@dataclass(frozen=True, slots=True)
class QueryEmbedding:
    """What is made of a question, and not kept.

    `tokens` are rows of the model's own width, `small` the same rows as narrow as those that
    are kept, of length 1. `spans` say which characters each token stands for. A model that
    gives no tokens has none of the three.
    """

    vector: Vector
    tokens: Rows
    small: Rows
    spans: tuple[tuple[int, int], ...]
    known: float = 1.0
    """The share of the question whose words the model knows: of a script that it cannot read
    it makes the same of everything."""
    model: str = ""
    """Which model has read it, if that is known: what is learnt of its vectors holds for no
    other."""
