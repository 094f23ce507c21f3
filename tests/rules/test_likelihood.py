"""A chance in a word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.rules.likelihood import Likelihood, name_likelihood

ORDER = [Likelihood.UNLIKELY, Likelihood.MAYBE, Likelihood.LIKELY, Likelihood.SURE]


@pytest.mark.parametrize(
    ("chance", "word"),
    [
        (0.99, "sure"),
        (0.8, "sure"),
        (0.79, "likely"),
        (0.4, "likely"),
        (0.1, "maybe"),
        (0.04, "unlikely"),
    ],
)
def test_a_chance_has_a_word_of_its_own(chance: float, word: str) -> None:
    assert name_likelihood(chance, is_above_floor=True) == word


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_better_chance_never_has_a_weaker_word(one: float, other: float) -> None:
    low, high = sorted((one, other))
    words = [name_likelihood(each, is_above_floor=True) for each in (low, high)]
    assert ORDER.index(words[0]) <= ORDER.index(words[1])


@given(st.floats(0, 1))
def test_what_is_below_the_floor_is_unlikely_whatever_its_chance(chance: float) -> None:
    assert name_likelihood(chance, is_above_floor=False) is Likelihood.UNLIKELY
