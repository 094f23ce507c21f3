"""Rows of one-byte numbers in four and a half bits a number.

The numbers are cut into blocks of 16. A block is one byte, its largest number whatever the sign,
and eight bytes of two codes each. A code says how many eighths of the largest number a number is,
from the whole of it down to seven eighths to the other side. A last byte says how many numbers of
the last block are none.

Packing loses a little each time. So whoever keeps numbers packed gives fresh ones as they come
back, and an answer does not depend on which of the two it was made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

BLOCK_NUMBERS = 16
BLOCK_BYTES = 1 + BLOCK_NUMBERS // 2
CODE_OF_ZERO = 8
LARGEST_CODE = 15

SmallNumbers = NDArray[np.int8]


def pack_numbers(runs: Sequence[bytes]) -> list[bytes]:
    """Return runs of numbers of one byte packed; one that is empty stays empty."""
    pads = [-len(each) % BLOCK_NUMBERS for each in runs]
    joined = b"".join(each + bytes(pad) for each, pad in zip(runs, pads, strict=True))
    blocks = _pack_blocks(np.frombuffer(joined, np.int8).reshape(-1, BLOCK_NUMBERS)).tobytes()
    packed, start = [], 0
    for each, pad in zip(runs, pads, strict=True):
        end = start + (len(each) + pad) // BLOCK_NUMBERS * BLOCK_BYTES
        packed.append(blocks[start:end] + bytes([pad]) if each else b"")
        start = end
    return packed


def unpack_numbers(packed: Sequence[bytes]) -> list[bytes | None]:
    """Return what runs of numbers were, about; None for bytes that cannot be one."""
    fitting = [each if is_packed(each) else b"" for each in packed]
    joined = np.frombuffer(b"".join(each[:-1] for each in fitting), np.uint8)
    numbers = _unpack_blocks(joined.reshape(-1, BLOCK_BYTES)).tobytes()
    found: list[bytes | None] = []
    start = 0
    for each, own in zip(packed, fitting, strict=True):
        end = start + len(own) // BLOCK_BYTES * BLOCK_NUMBERS
        found.append(numbers[start : end - own[-1]] if own else None if each else b"")
        start = end
    return found


def is_packed(data: bytes, multiple: int = 1) -> bool:
    """Whether bytes have the form of numbers that were packed, so many of them or several times
    that."""
    if len(data) % BLOCK_BYTES != 1 or len(data) == 1 or data[-1] >= BLOCK_NUMBERS:
        return False
    count = len(data) // BLOCK_BYTES * BLOCK_NUMBERS - data[-1]
    return multiple > 0 and count % multiple == 0


def _pack_blocks(given: SmallNumbers) -> NDArray[np.uint8]:
    numbers = np.maximum(given, -127).astype(np.float32)
    place = np.abs(numbers).argmax(axis=1)[:, None]
    largest = np.take_along_axis(numbers, place, axis=1)
    eighth = np.where(largest == 0, np.float32(1), largest / -CODE_OF_ZERO)
    codes = np.clip(np.rint(numbers / eighth) + CODE_OF_ZERO, 0, LARGEST_CODE).astype(np.uint8)
    return np.hstack([largest.astype(np.int8).view(np.uint8), codes[:, ::2] | codes[:, 1::2] << 4])


def _unpack_blocks(blocks: NDArray[np.uint8]) -> SmallNumbers:
    places = blocks[:, 1:].astype(np.intp)
    places += blocks[:, :1].astype(np.intp) << 8
    # The mode spares a look at whether each place is within the table, which they all are.
    return _number_pairs().take(places, mode="wrap").view(np.int8)


@cache
def _number_pairs() -> NDArray[np.uint16]:
    """Return the two numbers that each byte stands for, by the largest number and the byte."""
    largest = np.arange(256, dtype=np.uint8).view(np.int8).astype(np.float32)
    eighths = (CODE_OF_ZERO - np.arange(LARGEST_CODE + 1)) / np.float32(CODE_OF_ZERO)
    numbers = np.clip(np.rint(largest[:, None] * eighths), -127, 127).astype(np.int8)
    low, high = np.arange(256) & 15, np.arange(256) >> 4
    return np.stack([numbers[:, low], numbers[:, high]], axis=-1).view(np.uint16).ravel()
