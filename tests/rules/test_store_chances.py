"""Chances of a near pair of a store: how rare its words are, and weights that sum up to them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.rules.store_chances import LEAST_STORE, weigh_signs, word_rarity

WEIGHTS = {"same": {"bias": -2.0, "cover": 3.0}, "update": {"bias": -1.0, "cover": 1.0}}


def test_the_rarer_a_word_the_more_it_weighs() -> None:
    weights = [word_rarity(holders, 1_000) for holders in (1, 15, 16, 100, 1_000)]

    assert weights == sorted(weights, reverse=True)
    assert (weights[0], weights[-1]) == (1.0, 0.0)


def test_in_a_store_of_a_few_memories_no_word_is_common() -> None:
    assert word_rarity(2, 2) == word_rarity(2, LEAST_STORE) > 0.8


@given(cover=st.floats(0, 1))
def test_all_answers_and_none_of_them_share_one_chance(cover: float) -> None:
    chances = weigh_signs(WEIGHTS, {"cover": cover})

    assert 0 < sum(chances.values()) < 1


def test_a_chance_is_what_its_weights_say() -> None:
    even = {"same": {"bias": 0.0}, "update": {"bias": 0.0}}

    assert weigh_signs(even, {}) == pytest.approx({"same": 1 / 3, "update": 1 / 3})
