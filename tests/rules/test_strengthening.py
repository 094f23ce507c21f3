"""How strong a memory was, and how long it will last."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from madeleine.rules.lifecycle import Exponential
from madeleine.rules.strength import retrievability
from madeleine.rules.strengthening import Past, chances, fades_at
from madeleine.rules.usage import Adopted, Use, fold

BORN = datetime(2026, 11, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
WAY = Exponential()


def at(past: Past, *days: float) -> list[float]:
    return list(chances(past, WAY, [BORN + DAY * each for each in days]))


def test_a_memory_nobody_uses_falls_from_one_and_never_rises() -> None:
    found = at(Past(BORN), 0, 1, 2, 5)

    assert found[0] == 1.0
    assert found == sorted(found, reverse=True)
    assert found[1] == pytest.approx(retrievability(1.0, 1.0))


def test_a_use_brings_it_back_to_one_and_makes_it_fall_more_slowly() -> None:
    past = Past(BORN, [Use(BORN + 2 * DAY)])

    before, after, a_day_later = at(past, 1.99, 2, 3)

    assert before < 0.2
    assert after == 1.0
    assert a_day_later > at(Past(BORN), 1)[0]


def test_the_end_of_the_curve_agrees_with_what_the_uses_add_up_to() -> None:
    uses = [Use(BORN + DAY * each) for each in (1, 2, 9)]
    stability = fold(BORN, uses).stability

    assert at(Past(BORN, uses), 12)[0] == pytest.approx(retrievability(stability, 3.0))


def test_what_a_memory_brought_along_counts() -> None:
    brought = Adopted(access_count=3, last_accessed=BORN, stability=50.0)

    assert at(Past(BORN, (), brought), 10)[0] == pytest.approx(retrievability(50.0, 10.0))


def test_it_fades_when_its_chance_falls_below_the_bar() -> None:
    past = Past(BORN, [Use(BORN + DAY)])
    ends = fades_at(past, WAY, 0.3, BORN + DAY)

    assert ends is not None
    assert next(chances(past, WAY, [ends])) < 0.3
    assert next(chances(past, WAY, [ends - timedelta(minutes=20)])) >= 0.3


def test_what_has_faded_already_has_no_day_on_which_it_will() -> None:
    assert fades_at(Past(BORN), WAY, 0.3, BORN + 100 * DAY) is None


def test_a_bar_of_nothing_is_never_passed() -> None:
    assert fades_at(Past(BORN), WAY, 0.0, BORN) is None
