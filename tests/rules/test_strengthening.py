"""How strong a memory was, and how long it will last."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from madeleine.rules.lifecycle import ExponentialLifecycle
from madeleine.rules.strength import retrievability
from madeleine.rules.strength_history import UseHistory, find_fading_time, retrievability_at
from madeleine.rules.usage import AdoptedCounters, MemoryUse, fold_uses

BORN = datetime(2026, 11, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
WAY = ExponentialLifecycle()


def at(past: UseHistory, *days: float) -> list[float]:
    return list(retrievability_at(past, WAY, [BORN + DAY * each for each in days]))


def test_a_memory_nobody_uses_falls_from_one_and_never_rises() -> None:
    found = at(UseHistory(BORN), 0, 1, 2, 5)

    assert found[0] == 1.0
    assert found == sorted(found, reverse=True)
    assert found[1] == pytest.approx(retrievability(1.0, 1.0))


def test_a_use_brings_it_back_to_one_and_makes_it_fall_more_slowly() -> None:
    past = UseHistory(BORN, [MemoryUse(BORN + 2 * DAY)])

    before, after, a_day_later = at(past, 1.99, 2, 3)

    assert before < 0.2
    assert after == 1.0
    assert a_day_later > at(UseHistory(BORN), 1)[0]


def test_the_end_of_the_curve_agrees_with_what_the_uses_add_up_to() -> None:
    uses = [MemoryUse(BORN + DAY * each) for each in (1, 2, 9)]
    stability = fold_uses(BORN, uses).stability

    assert at(UseHistory(BORN, uses), 12)[0] == pytest.approx(retrievability(stability, 3.0))


def test_what_a_memory_brought_along_counts() -> None:
    brought = AdoptedCounters(access_count=3, last_accessed=BORN, stability=50.0)

    assert at(UseHistory(BORN, (), brought), 10)[0] == pytest.approx(retrievability(50.0, 10.0))


def test_it_fades_when_its_chance_falls_below_the_bar() -> None:
    past = UseHistory(BORN, [MemoryUse(BORN + DAY)])
    ends = find_fading_time(past, WAY, 0.3, BORN + DAY)

    assert ends is not None
    assert next(retrievability_at(past, WAY, [ends])) < 0.3
    assert next(retrievability_at(past, WAY, [ends - timedelta(minutes=20)])) >= 0.3


def test_what_has_faded_already_has_no_day_on_which_it_will() -> None:
    assert find_fading_time(UseHistory(BORN), WAY, 0.3, BORN + 100 * DAY) is None


def test_a_bar_of_nothing_is_never_passed() -> None:
    assert find_fading_time(UseHistory(BORN), WAY, 0.0, BORN) is None
