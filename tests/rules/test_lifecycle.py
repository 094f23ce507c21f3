"""When a memory leaves the working tier, by either way of reckoning."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.minds.fsrs import FsrsLifecycle
from madeleine.rules.lifecycle import ExponentialLifecycle, Lifecycle, LifecycleState, has_faded

days = st.floats(0, 3_650)


@pytest.mark.parametrize(
    ("stability", "idle", "expected"),
    [(1, 0, 1.0), (1, 1, 0.367879), (1, 1.204, 0.299992), (5.814, 7, 0.299992), (365, 30, 0.9211)],
)
def test_the_exponential_one_is_as_documented(
    stability: float, idle: float, expected: float
) -> None:
    found = ExponentialLifecycle().retrievability(LifecycleState(idle, idle, stability))

    assert found == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("life", "expected"),
    [
        (LifecycleState(0, 0, 1), 1.0),
        (LifecycleState(1, 1, 1), 0.946847),
        (LifecycleState(7, 7, 1), 0.80831),
        (LifecycleState(30, 30, 1), 0.667526),
        (LifecycleState(100, 100, 1), 0.558907),
        (LifecycleState(30, 20, 1, (10.0,)), 0.914855),
        (LifecycleState(100, 60, 1, (3.0, 10.0, 40.0)), 0.941475),
    ],
)
def test_fsrs_is_what_its_package_says(life: LifecycleState, expected: float) -> None:
    """FSRS-6 with its published weights: remembering is a first review, each use a good one."""
    pytest.importorskip("fsrs")

    assert FsrsLifecycle.load().retrievability(life) == pytest.approx(expected, abs=5e-7)


@given(days, days)
def test_waiting_never_brings_a_memory_back(one: float, other: float) -> None:
    sooner, later = sorted((one, other))
    ways: list[Lifecycle] = [ExponentialLifecycle()]
    for way in ways:
        then = way.retrievability(LifecycleState(later, later, 3.0))
        assert then <= way.retrievability(LifecycleState(sooner, sooner, 3.0))


@pytest.mark.parametrize(
    ("chance", "importance", "expected"),
    [(0.29, 0.49, True), (0.30, 0.49, False), (0.29, 0.50, False), (0.0, 0.0, True)],
)
def test_a_memory_fades_only_when_it_is_neither_at_hand_nor_important(
    chance: float, importance: float, expected: bool
) -> None:
    assert has_faded(chance, importance, 0.3, 0.5) is expected
