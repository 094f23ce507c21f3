"""Inputs that nobody meant: seeds, changed at random."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

MAX_BYTES = 200_000
MAX_REPEATS = 4_000
NASTY = (
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\r", b"\n", b"\t", b" ", b"'", b'"',
    b"\\", b"\\u0000", b"\\ud800", b"{", b"}", b"[", b"]", b"<", b">", b"&", b"*", b"`", b"```\n",
    b"---\n", b"#", b"[[", b"]]", b"](", b"://", b"@", b"%", b"-1", b"1e999", b"9" * 40, b"NaN",
    b"null", b"true", "İ".encode(), "ß".encode(), "猫".encode(), "\u202e".encode(),
    "e\u0301".encode(), "\U0001f469\u200d\U0001f4bb".encode(), b"a.", b"a,", b"not ", b"and ",
    b"no longer ", b"password ",
)  # fmt: skip

Mutation = Callable[[bytes, random.Random, Sequence[bytes]], bytes]


def mutate(seeds: Sequence[bytes], tokens: Sequence[bytes], dice: random.Random) -> bytes:
    """Return a seed with one to eight changes."""
    data = dice.choice(seeds)
    words = (*tokens, *NASTY)
    for _ in range(dice.choice((1, 1, 2, 3, 5, 8))):
        change = dice.choice(_MUTATIONS)
        data = change(data, dice, (*words, dice.choice(seeds)))[:MAX_BYTES]
    return data


def _place(data: bytes, dice: random.Random) -> int:
    return dice.randrange(len(data) + 1)


def _insert(data: bytes, dice: random.Random, words: Sequence[bytes]) -> bytes:
    at = _place(data, dice)
    return data[:at] + dice.choice(words) + data[at:]


def _repeat_word(data: bytes, dice: random.Random, words: Sequence[bytes]) -> bytes:
    at, times = _place(data, dice), dice.choice((2, 10, 100, 1_000, MAX_REPEATS))
    return data[:at] + (dice.choice(words)[:200] * times)[:MAX_BYTES] + data[at:]


def _repeat_part(data: bytes, dice: random.Random, words: Sequence[bytes]) -> bytes:
    start, end = sorted((_place(data, dice), _place(data, dice)))
    part = data[start : min(end, start + 300)]
    return data[:start] + (part * dice.choice((2, 10, 100, 1_000)))[:MAX_BYTES] + data[end:]


def _cut(data: bytes, dice: random.Random, words: Sequence[bytes]) -> bytes:
    start, end = sorted((_place(data, dice), _place(data, dice)))
    return data[:start] + data[end:]


def _end_early(data: bytes, dice: random.Random, words: Sequence[bytes]) -> bytes:
    return data[: _place(data, dice)]


def _change_byte(data: bytes, dice: random.Random, words: Sequence[bytes]) -> bytes:
    if not data:
        return data
    at = dice.randrange(len(data))
    return data[:at] + bytes([dice.randrange(256)]) + data[at + 1 :]


def _swap_halves(data: bytes, dice: random.Random, words: Sequence[bytes]) -> bytes:
    at = _place(data, dice)
    return data[at:] + data[:at]


def _nest(data: bytes, dice: random.Random, words: Sequence[bytes]) -> bytes:
    at, depth = _place(data, dice), dice.choice((10, 200, 2_000, 20_000))
    left, right = dice.choice(
        ((b"[", b"]"), (b'{"a":', b"}"), (b"(", b")"), (b"> ", b""), (b"- ", b""))
    )
    closes = right * depth if dice.random() < 0.5 else b""
    return data[:at] + left * depth + b"1" + closes + data[at:]


_MUTATIONS: tuple[Mutation, ...] = (
    _insert, _insert, _repeat_word, _repeat_part, _cut, _end_early, _change_byte, _swap_halves,
    _nest,
)  # fmt: skip
