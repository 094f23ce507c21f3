"""Arithmetic on rows of vectors: unit length, and the numbers in which they are kept.

Every vector that leaves this room from a cache has been float16 once, whether it was made
just now or years ago, and every token has been packed. So an answer never depends on
what happened to be cached. All of it works on matrices, one row per vector: numpy sums a row
the same way however many rows there are, but a lone vector in another order, and the last
bit would differ.
"""

from __future__ import annotations

from collections.abc import Sequence

from madeleine.model.embedding import Rows, Tokens
from madeleine.model.vector import Vector

BYTES_PER_NUMBER = 2  # per number of a vector at rest: float16
TOKEN_SCALE = 127  # of a token at rest: as long as numbers of one byte can say
MIN_LENGTH = 1e-30  # keeps a division by a length away from zero


def row_lengths(rows: Rows) -> Rows:
    """Return the length of each row, as a column."""
    import numpy as np

    column: Rows = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    return column


def normalize_vectors(rows: Rows) -> list[Vector] | None:
    """Return the rows as vectors of length 1, or None when one of them has no direction:
    it is zero, or holds a number that is none."""
    import numpy as np

    # The first scaling keeps the squares of very large and very small numbers in range.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rows = rows / np.abs(rows).max(axis=1, keepdims=True)
        rows = rows / row_lengths(rows)
    return list(rows) if np.isfinite(rows).all() else None


def pack_vectors(vectors: Sequence[Vector]) -> list[bytes]:
    """Return the bytes in which each vector is kept."""
    import numpy as np

    return [vector.astype(np.float16).tobytes() for vector in vectors]


def unpack_vectors(packed: Sequence[bytes]) -> list[Vector | None]:
    """Return the vectors that equally long `packed` bytes hold, scaled back to length 1.

    Bytes that cannot have come from a unit vector give None: a cache is not to be believed
    more than the model that can fill it again.
    """
    import numpy as np

    if not packed:
        return []
    halves = np.frombuffer(b"".join(packed), np.float16).reshape(len(packed), -1)
    rows = halves.astype(np.float32)
    length = row_lengths(rows)
    near_one = (np.abs(length - 1) < 0.01).ravel()  # rounding moves it by 0.0005 at most
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = rows / length
    return [row if good else None for row, good in zip(rows, near_one, strict=True)]


def multiply_rows(rows: Rows, matrix: Rows) -> Rows:
    """Return the product of two matrices, on this thread alone.

    `@` may go to a library that takes every core, and whose threads then spin for a while in
    case there is more: the next call of a model would take five times as long beside them.
    """
    import numpy as np

    made: Rows = np.einsum("ij,jk->ik", rows, matrix)
    return made


def normalize_rows(rows: Rows) -> Rows:
    """Return the rows scaled to length 1; one that is zero stays zero."""
    import numpy as np

    length: Rows = np.maximum(row_lengths(rows), np.float32(MIN_LENGTH))
    return rows / length


def quantize_rows(rows: Rows) -> Tokens:
    """Return rows of length 1 as they are kept."""
    import numpy as np

    kept: Tokens = np.rint(rows * np.float32(TOKEN_SCALE)).astype(np.int8)
    return kept


def quantize_tokens(rows: Rows) -> Tokens:
    """Return the tokens to keep of rows of any length; one without a direction says nothing."""
    import numpy as np

    scaled = normalize_rows(rows)
    told = np.abs(row_lengths(scaled).ravel() - 1) < 0.01  # too small a row is not scaled well
    return quantize_rows(scaled[told])


def round_as_tokens(rows: Rows) -> Rows:
    """Return the rows with length 1, rounded like the tokens they will be compared with."""
    import numpy as np

    return quantize_rows(normalize_rows(rows)).astype(np.float32) / np.float32(TOKEN_SCALE)


def empty_tokens(width: int = 0) -> Tokens:
    """Return the tokens of a text that has none."""
    import numpy as np

    return np.zeros((0, width), np.int8)


def pack_tokens(made: Sequence[Tokens]) -> list[bytes]:
    """Return the bytes in which the tokens of each text are kept."""
    from madeleine.rules.token_packing import pack_numbers

    return pack_numbers([each.tobytes() for each in made])


def unpack_tokens(packed: Sequence[bytes]) -> list[bytes | None]:
    """Return the tokens that each of `packed` holds, each row after the other. Bytes that cannot
    have come from tokens give None."""
    from madeleine.rules.token_packing import unpack_numbers

    return unpack_numbers(packed)


def may_be_tokens(packed: bytes, width: int) -> bool:
    """Whether bytes can be the tokens of a model that has so many numbers a token."""
    from madeleine.rules.token_packing import is_packed

    return is_packed(packed, width) if packed else True


def repack_tokens(former: Sequence[bytes]) -> list[bytes]:
    """Return tokens of one byte a number as they are kept now."""
    from madeleine.rules.token_packing import pack_numbers

    return pack_numbers(former)


def tokens_from_bytes(numbers: bytes, width: int) -> Tokens:
    """Return the tokens that stand row after row."""
    import numpy as np

    return np.frombuffer(numbers, np.int8).reshape(-1, width) if width else empty_tokens()
