"""Rows of one-byte numbers in four and a half bits a number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.rules.token_packing import is_packed, pack_numbers, unpack_numbers


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    one, other = one.astype(float), other.astype(float)
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


@given(st.lists(st.binary(max_size=200), max_size=9))
def test_a_run_comes_back_the_same_alone_and_among_others(runs: list[bytes]) -> None:
    together = unpack_numbers(pack_numbers(runs))
    alone = [unpack_numbers(pack_numbers([each]))[0] for each in runs]

    assert together == alone
    assert [len(each or b"") for each in together] == [len(each) for each in runs]


def test_directions_hardly_change_and_lengths_stay() -> None:
    rows = np.random.default_rng(3).standard_normal((500, 128))
    rows *= 127 / np.linalg.norm(rows, axis=1, keepdims=True)
    given_rows = np.rint(rows).astype(np.int8)

    packed = pack_numbers([each.tobytes() for each in given_rows])
    back = [np.frombuffer(each or b"", np.int8) for each in unpack_numbers(packed)]

    assert all(len(each) == 128 * 9 // 16 + 1 for each in packed)
    assert min(map(cosine, given_rows, back)) > 0.99
    lengths = [float(np.linalg.norm(each.astype(float))) for each in back]
    assert np.mean(lengths) == pytest.approx(127, abs=0.5)


@pytest.mark.parametrize("nonsense", [b"\x01", b"\0" * 9, b"\0" * 20, b"\0" * 9 + b"\xff"])
def test_bytes_that_were_never_packed_are_told(nonsense: bytes) -> None:
    (kept,) = pack_numbers([bytes(64)])

    assert unpack_numbers([kept, nonsense, b""]) == [bytes(64), None, b""]


def test_what_is_packed_knows_how_many_numbers_it_has() -> None:
    (packed,) = pack_numbers([bytes(48)])

    assert is_packed(packed, 16)
    assert not is_packed(packed, 32)
    assert not is_packed(packed, 0)
