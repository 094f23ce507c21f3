"""Arithmetic on rows of vectors: unit length, and the float16 in which they are kept.

Every vector that leaves this room from a cache has been float16 once, whether it was made
just now or years ago. So an answer never depends on what happened to be cached. All of it
works on matrices, one row per vector: numpy sums a row the same way however many rows there
are, but a lone vector in another order, and the last bit would differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from madeleine.model.vector import Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Rows: TypeAlias = "NDArray[np.float32]"
"""A matrix with one vector in each row."""

KEPT_BYTES = 2  # per number at rest: float16


def lengths(rows: Rows) -> Rows:
    """Return the length of each row, as a column."""
    import numpy as np

    column: Rows = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    return column


def unit(rows: Rows) -> list[Vector] | None:
    """Return the rows as vectors of length 1, or None when one of them has no direction:
    it is zero, or holds a number that is none."""
    import numpy as np

    # The first scaling keeps the squares of very large and very small numbers in range.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rows = rows / np.abs(rows).max(axis=1, keepdims=True)
        rows = rows / lengths(rows)
    return list(rows) if np.isfinite(rows).all() else None


def pack(vectors: Sequence[Vector]) -> list[bytes]:
    """Return the bytes in which each vector is kept."""
    import numpy as np

    return [vector.astype(np.float16).tobytes() for vector in vectors]


def unpack(packed: Sequence[bytes]) -> list[Vector | None]:
    """Return the vectors that equally long `packed` bytes hold, scaled back to length 1.

    Bytes that cannot have come from a unit vector give None: a cache is not to be believed
    more than the model that can fill it again.
    """
    import numpy as np

    if not packed:
        return []
    halves = np.frombuffer(b"".join(packed), np.float16).reshape(len(packed), -1)
    rows = halves.astype(np.float32)
    length = lengths(rows)
    near_one = (np.abs(length - 1) < 0.01).ravel()  # rounding moves it by 0.0005 at most
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = rows / length
    return [row if good else None for row, good in zip(rows, near_one, strict=True)]
