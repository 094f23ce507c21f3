"""What uses add up to, in whatever order they arrive."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.model.event import Event, EventKind
from madeleine.model.memory import Usage
from madeleine.rules.strength import MAX_STABILITY_DAYS, stability_after_use
from madeleine.rules.usage import (
    AdoptedCounters,
    MemoryUse,
    apply_use,
    fold_uses,
    read_use,
    select_counting_uses,
)

CREATED = datetime(2026, 11, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)

moments = st.timedeltas(-2 * DAY, 400 * DAY).map(lambda wait: CREATED + wait)
uses = st.lists(
    st.builds(MemoryUse, moments, st.sampled_from([None, "a", "b"]), st.integers(1, 3)), max_size=12
)


def test_a_memory_never_used_is_as_new() -> None:
    assert fold_uses(CREATED, []) == Usage()


def test_a_use_counts_strengthens_and_refreshes() -> None:
    at = CREATED + DAY

    found = fold_uses(CREATED, [MemoryUse(at, "s")])

    assert found == Usage(1, at, at, stability=stability_after_use(1.0, 1.0))
    assert found.stability == pytest.approx(1.832104, abs=5e-7)


def test_each_use_is_measured_from_the_one_before() -> None:
    found = fold_uses(CREATED, [MemoryUse(CREATED + DAY, "a"), MemoryUse(CREATED + 5 * DAY, "b")])

    assert found.access_count == 2
    assert found.stability == stability_after_use(stability_after_use(1.0, 1.0), 4.0)


def test_one_session_counts_once_a_day_with_its_first_use() -> None:
    morning, evening = CREATED + timedelta(hours=1), CREATED + timedelta(hours=9)

    found = fold_uses(
        CREATED, [MemoryUse(evening, "s"), MemoryUse(morning, "s"), MemoryUse(evening, "s")]
    )

    assert found == fold_uses(CREATED, [MemoryUse(morning, "s")])
    assert (
        fold_uses(CREATED, [MemoryUse(morning, "s"), MemoryUse(morning + DAY, "s")]).access_count
        == 2
    )
    assert fold_uses(CREATED, [MemoryUse(morning, "s"), MemoryUse(evening, "t")]).access_count == 2


def test_uses_without_a_session_count_once_a_day_together() -> None:
    hours = [CREATED + timedelta(hours=hour) for hour in range(6)]

    found = fold_uses(CREATED, [*(MemoryUse(at) for at in hours), MemoryUse(hours[0], "s")])

    assert found.access_count == 2


def test_the_day_is_the_day_in_utc() -> None:
    tokyo = timezone(timedelta(hours=9))
    late = datetime(2026, 11, 2, 8, 59, tzinfo=tokyo)  # still the first of November in UTC
    early = datetime(2026, 11, 2, 9, 1, tzinfo=tokyo)

    assert fold_uses(CREATED, [MemoryUse(CREATED, "s"), MemoryUse(late, "s")]).access_count == 1
    assert fold_uses(CREATED, [MemoryUse(CREATED, "s"), MemoryUse(early, "s")]).access_count == 2


def test_a_use_may_stand_for_several_and_strengthens_once() -> None:
    at = CREATED + DAY

    found = fold_uses(CREATED, [MemoryUse(at, "s", count=4)])

    assert found == replace(fold_uses(CREATED, [MemoryUse(at, "s")]), access_count=4)


def test_adopted_counters_are_where_uses_go_on_from() -> None:
    last = CREATED + 3 * DAY
    adopted = AdoptedCounters(
        7, last_accessed=last, last_review=CREATED, stability=10.0, importance=0.8
    )

    assert fold_uses(CREATED, [], adopted) == Usage(7, last, CREATED, 10.0, 0.8)
    found = fold_uses(CREATED, [MemoryUse(last + 10 * DAY)], adopted)
    assert (found.access_count, found.last_accessed) == (8, last + 10 * DAY)
    assert found.stability == pytest.approx(18.321041, abs=5e-7)


def test_a_use_older_than_the_adopted_counters_does_not_turn_back_the_clock() -> None:
    last = CREATED + 30 * DAY
    adopted = AdoptedCounters(7, last_accessed=last, stability=10.0)

    found = fold_uses(CREATED, [MemoryUse(CREATED + DAY)], adopted)

    assert (found.access_count, found.last_accessed, found.stability) == (8, last, 15.0)


@pytest.mark.parametrize("stability", [0.0, -3.0, math.nan, math.inf])
def test_adopted_counters_that_make_no_sense_are_the_defaults(stability: float) -> None:
    found = fold_uses(CREATED, [], AdoptedCounters(-5, stability=stability, importance=math.nan))

    assert found == Usage()


def test_a_used_event_of_another_shape_is_no_use() -> None:
    def used(**body: object) -> Event:
        return Event("e", CREATED, EventKind.USED, "laptop", {"memory": "m", **body})

    assert read_use(used()) == MemoryUse(CREATED)
    assert read_use(used(session="s", n=3)) == MemoryUse(CREATED, "s", 3)
    for body in ({"session": 7}, {"n": 0}, {"n": True}, {"n": "2"}):
        assert read_use(used(**body)) is None


@given(uses, st.randoms(use_true_random=False))
def test_the_order_of_arrival_changes_nothing(arrived: list[MemoryUse], chance: Random) -> None:
    shuffled = chance.sample(arrived, len(arrived))

    assert fold_uses(CREATED, shuffled) == fold_uses(CREATED, arrived)


@given(uses)
def test_arriving_twice_changes_nothing(arrived: list[MemoryUse]) -> None:
    assert fold_uses(CREATED, arrived + arrived) == fold_uses(CREATED, arrived)


@given(uses)
def test_what_does_not_count_can_be_left_out(arrived: list[MemoryUse]) -> None:
    assert fold_uses(CREATED, select_counting_uses(arrived)) == fold_uses(CREATED, arrived)


@given(uses, st.timedeltas(DAY, 400 * DAY))
def test_one_more_use_never_weakens_and_equals_folding_again(
    arrived: list[MemoryUse], wait: timedelta
) -> None:
    before = fold_uses(CREATED, arrived)
    use = MemoryUse(max([CREATED, *(use.at for use in arrived)]) + wait, "new")

    after = fold_uses(CREATED, [*arrived, use])

    assert after == apply_use(before, CREATED, use)
    assert after.access_count == before.access_count + 1
    assert before.stability <= after.stability <= MAX_STABILITY_DAYS
    assert after.last_accessed == after.last_review == use.at
