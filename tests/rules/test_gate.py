"""How sure a whisper has to be, and what feedback adds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.rules.whisper_gate import GATES, affinity_boost, whisper_worth

CHANCES = st.floats(0, 1)
SIGNALS = st.tuples(
    st.sampled_from([1.0, -1.0]), st.floats(0.7, 1), st.floats(0, 4000), st.floats(0.1, 1)
)
MOST, HALF_LIFE = 0.15, 30.0


@pytest.mark.parametrize("head", GATES)
def test_one_half_is_the_chance_at_which_each_head_is_even(head: str) -> None:
    assert whisper_worth(head, GATES[head].even, True) == pytest.approx(0.5)


@pytest.mark.few(2)
@pytest.mark.parametrize("head", GATES)
@given(one=CHANCES, other=CHANCES)
def test_a_better_chance_is_never_less_sure(head: str, one: float, other: float) -> None:
    low, high = sorted((one, other))

    assert 0 <= whisper_worth(head, low, True) <= whisper_worth(head, high, True) <= 1


def test_in_a_conversation_a_prompt_that_names_nobody_counts_for_less() -> None:
    assert whisper_worth("dialogue", 0.5, False) < 0.5 < whisper_worth("dialogue", 0.5, True)
    assert whisper_worth("note", 0.5, False) == whisper_worth("note", 0.5, True)


@pytest.mark.parametrize(
    ("signals", "boost"),
    [
        ([], 0.0),
        ([(1, 1.0, 0, 1.0)], 0.15),
        ([(-1, 1.0, 0, 1.0)], -0.15),
        ([(1, 1.0, 0, 1.0), (-1, 1.0, 0, 1.0)], 0.0),
        # Explicit praise against implicit blame: (1 - .8) / 1.8 of .15.
        ([(1, 1.0, 0, 1.0), (-1, 1.0, 0, 0.8)], 0.15 * 0.2 / 1.8),
        # A half-life later praise counts half: (.5 - 1) / 1.5 of .15.
        ([(1, 1.0, 30, 1.0), (-1, 1.0, 0, 1.0)], -0.05),
        # Two half-lives: (.25 - 1) / 1.25 of .15.
        ([(1, 1.0, 60, 1.0), (-1, 1.0, 0, 1.0)], -0.09),
        # A prompt less alike counts less: (.7 - 1) / 1.7 of .15.
        ([(1, 0.7, 0, 1.0), (-1, 1.0, 0, 1.0)], -0.15 * 0.3 / 1.7),
        # A clock that was set back makes nothing count for more than now.
        ([(1, 1.0, -9, 1.0), (-1, 1.0, 0, 1.0)], 0.0),
    ],
)
def test_feedback_adds_the_weighted_mean_of_its_signals(
    signals: list[tuple[float, float, float, float]], boost: float
) -> None:
    assert affinity_boost(signals, MOST, HALF_LIFE) == pytest.approx(boost)


@given(st.lists(SIGNALS))
def test_feedback_never_adds_or_takes_more_than_the_most(
    signals: list[tuple[float, float, float, float]],
) -> None:
    assert abs(affinity_boost(signals, MOST, HALF_LIFE)) <= MOST + 1e-12
