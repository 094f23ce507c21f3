"""How a network's numbers become chances."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.rules.chances import calibrate_logits

NUMBERS = st.lists(st.floats(-40, 40), min_size=2, max_size=8)


@given(logits=NUMBERS, temperature=st.floats(0.1, 10))
def test_chances_add_up_to_one_and_keep_their_order(
    logits: list[float], temperature: float
) -> None:
    chances = calibrate_logits(logits, temperature, [0.0] * len(logits))

    assert sum(chances) == pytest.approx(1)
    best = max(range(len(logits)), key=logits.__getitem__)
    assert chances[best] == pytest.approx(max(chances))


@given(logits=NUMBERS)
def test_a_higher_temperature_is_never_surer(logits: list[float]) -> None:
    none = [0.0] * len(logits)

    cool, warm = (max(calibrate_logits(logits, degree, none)) for degree in (1.0, 2.0))

    assert warm <= cool + 1e-9


def test_a_bias_makes_an_answer_likelier() -> None:
    plain = calibrate_logits([1.0, 1.0, 0.0], 1.0, [0.0, 0.0, 0.0])
    moved = calibrate_logits([1.0, 1.0, 0.0], 1.0, [0.0, 0.7, 0.0])

    assert plain[0] == plain[1]
    assert moved[1] == pytest.approx(moved[0] * 2, rel=0.01)
