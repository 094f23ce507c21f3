"""Slips of the finger."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.language.spelling import is_typo, may_be_typo

WORDS = st.text("abcde", min_size=4, max_size=8)


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("typsecript", "typescript"),
        ("eror", "error"),
        ("errror", "error"),
        ("kubernetez", "kubernetes"),
        ("kuberntes", "kubernetes"),
        ("datbase", "database"),
    ],
)
def test_one_wrong_letter_is_a_slip(word: str, meant: str) -> None:
    assert is_typo(word, meant)


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("error", "error"),
        ("mango", "mongodb"),
        ("house", "mouse"),
        ("bake", "base"),
        ("tset", "stet"),
        ("kubrnets", "kubernetes"),
        ("abcd", "acdb"),
    ],
)
def test_another_word_is_none(word: str, other: str) -> None:
    assert not is_typo(word, other)


def test_short_words_and_numbers_are_taken_as_they_are() -> None:
    assert [may_be_typo(each) for each in ("cat", "v123", "2024", "card")] == [False] * 3 + [True]


@given(WORDS, st.data())
def test_leaving_any_later_letter_out_is_a_slip(word: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(1, len(word) - 1))

    assert is_typo(word[:at] + word[at + 1 :], word)


@given(WORDS, WORDS)
def test_it_goes_both_ways(one: str, other: str) -> None:
    assert is_typo(one, other) == is_typo(other, one)
