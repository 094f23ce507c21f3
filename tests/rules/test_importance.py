"""Importance: the documented numbers, and what holds for all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.rules.importance import importance_score, log_share, stability_of_half_life

HALVED_IN_14_DAYS = stability_of_half_life(14)  # exp(-days/S) with this S is 2^(-days/14)

counts = st.integers(0, 1_000_000)
days = st.floats(0, 36_500)
stabilities = st.floats(0.01, 365)


@pytest.mark.parametrize(
    ("uses", "connections", "idle", "expected"),
    [(0, 0, 0, 0.33), (5, 3, 2, 0.604091), (10, 2, 14, 0.491435), (50, 20, 0, 1.0)],
)
def test_importance_has_the_documented_value(
    uses: int, connections: int, idle: float, expected: float
) -> None:
    found = importance_score(uses, connections, idle, HALVED_IN_14_DAYS)

    assert found == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize(
    ("stability", "idle", "recency"), [(1, 1, 0.367879), (30, 10, 0.716531), (365, 730, 0.135335)]
)
def test_recency_follows_the_stability_of_the_memory(
    stability: float, idle: float, recency: float
) -> None:
    assert importance_score(0, 0, idle, stability) == pytest.approx(0.33 * recency, abs=5e-7)


def test_recency_counts_half_after_the_half_life() -> None:
    assert importance_score(0, 0, 14, HALVED_IN_14_DAYS) == pytest.approx(0.33 / 2)


def test_counts_past_their_reference_say_no_more() -> None:
    assert log_share(0, 50) == 0
    assert log_share(50, 50) == log_share(5_000, 50) == 1


@given(counts, counts, days, stabilities)
def test_importance_stays_between_0_and_1(
    uses: int, connections: int, idle: float, stability: float
) -> None:
    assert 0 <= importance_score(uses, connections, idle, stability) <= 1


@given(counts, counts, days, stabilities)
def test_another_use_or_connection_never_makes_less_important(
    uses: int, connections: int, idle: float, stability: float
) -> None:
    found = importance_score(uses, connections, idle, stability)

    assert importance_score(uses + 1, connections, idle, stability) >= found
    assert importance_score(uses, connections + 1, idle, stability) >= found
    assert importance_score(uses, connections, idle + 1, stability) <= found
