"""Vectors kept apart from the rest of an index, by an engine that does nothing else.

A vector has a number that is given out once, and never changes: another reading of a text is
another number. Which numbers count is said elsewhere, in the transaction that writes the rest. So
vectors are written before that, and removed after: what is left behind by a process that was
killed in between is found by nobody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from madeleine.model.vector import Vector


class VectorStore(Protocol):
    """The port of such an engine. A collection holds the vectors of one model."""

    @property
    def place(self) -> str:
        """Where the engine is, without credentials."""
        ...

    def make(self, collection: str, dimension: int) -> None:
        """Make a collection, unless it is there; refuse one of another width."""
        ...

    def remove(self, collection: str) -> None:
        """Remove a collection, if it is there."""
        ...

    def collections(self, beginning: str) -> list[str]:
        """Return the collections whose names begin so."""
        ...

    def put(self, collection: str, vectors: Mapping[int, NDArray[np.float16]]) -> None:
        """Keep vectors by their numbers."""
        ...

    def drop(self, collection: str, points: Sequence[int]) -> None:
        """Forget vectors; those that are not there are passed over."""
        ...

    def nearest(self, collection: str, query: Vector, limit: int) -> list[int]:
        """Return the numbers of so many vectors that are near, best first; all of them, if there
        are no more."""
        ...

    def read(self, collection: str, points: Sequence[int]) -> dict[int, bytes]:
        """Return vectors as the bytes of their halves."""
        ...

    def close(self) -> None: ...
