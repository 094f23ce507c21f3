"""How a memory fades and grows stronger: the documented numbers, and what holds for all."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.rules.strength import (
    MAX_STABILITY_DAYS,
    idle_days,
    retrievability,
    stability_after_use,
)

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)

stabilities = st.floats(0.01, MAX_STABILITY_DAYS)
waits = st.floats(0, 36_500)


@pytest.mark.parametrize(
    ("stability", "days", "expected"),
    [(1, 0, 1.5), (1, 1, 1.832104), (10, 10, 18.321041), (300, 30, 365)],
)
def test_a_use_strengthens_by_the_documented_amount(
    stability: float, days: float, expected: float
) -> None:
    assert stability_after_use(stability, days) == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize(
    ("stability", "days", "expected"),
    [(1, 0, 1.0), (1, 1, 0.367879), (10, 10, 0.367879), (14, 7, 0.606531), (1, 30, 9.36e-14)],
)
def test_retrievability_falls_to_37_percent_after_stability_days(
    stability: float, days: float, expected: float
) -> None:
    assert retrievability(stability, days) == pytest.approx(expected, rel=1e-4)


def test_a_new_memory_nobody_uses_is_below_the_threshold_after_29_hours() -> None:
    assert retrievability(1.0, 1.203) > 0.3 > retrievability(1.0, 1.205)


def test_a_short_lived_memory_used_after_long_gets_the_whole_growth() -> None:
    """R is 1e-26 here. Rounding it up to something larger would end at 188 days."""
    assert stability_after_use(0.5, 30) == MAX_STABILITY_DAYS
    assert stability_after_use(0.5, 15) == pytest.approx(0.75 * math.exp(6))


def test_a_fast_clock_fades_nothing() -> None:
    assert idle_days(NOON + timedelta(days=2), NOON) == 0
    assert retrievability(1.0, -3) == 1.0
    assert stability_after_use(1.0, -3) == 1.5


@given(stabilities, waits, waits)
def test_a_memory_never_grows_stronger_by_waiting(
    stability: float, one: float, other: float
) -> None:
    sooner, later = sorted((one, other))

    assert 0 <= retrievability(stability, later) <= retrievability(stability, sooner) <= 1


@given(stabilities, waits)
def test_a_use_never_weakens_and_never_passes_the_maximum(stability: float, days: float) -> None:
    assert stability <= stability_after_use(stability, days) <= MAX_STABILITY_DAYS


@given(stabilities, waits, waits)
def test_a_use_helps_the_more_the_longer_it_was_waited_for(
    stability: float, one: float, other: float
) -> None:
    sooner, later = sorted((one, other))

    assert stability_after_use(stability, sooner) <= stability_after_use(stability, later)
