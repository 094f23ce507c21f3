"""An overview is made of the best, spread over conversations and days."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from madeleine.rules.overview import GROUP_FACTOR, spread_over_groups

rows = st.lists(st.tuples(st.floats(0, 2.5), st.integers(0, 4)), max_size=40).map(
    lambda found: sorted(found, key=lambda row: -row[0])
)


def test_a_talkative_day_leaves_room_for_others() -> None:
    scores = [0.9, 0.88, 0.86, 0.84, 0.5, 0.45]
    groups = ["monday"] * 4 + ["tuesday", "friday"]

    assert spread_over_groups(scores, groups, 4) == [0, 1, 4, 5]


def test_what_is_far_better_is_taken_from_one_day() -> None:
    assert spread_over_groups([0.9, 0.8, 0.7, 0.01], ["a", "a", "a", "b"], 3) == [0, 1, 2]


@given(rows, st.integers(1, 12))
def test_as_many_as_are_wanted_are_taken_in_their_order(
    found: list[tuple[float, int]], count: int
) -> None:
    scores, groups = [row[0] for row in found], [row[1] for row in found]

    places = spread_over_groups(scores, groups, count)

    assert len(places) == min(count, len(found))
    assert places == sorted(set(places))


@given(rows, st.integers(1, 12))
def test_of_one_group_the_best_are_taken(found: list[tuple[float, int]], count: int) -> None:
    scores, groups = [row[0] for row in found], [row[1] for row in found]

    taken = Counter(groups[place] for place in spread_over_groups(scores, groups, count))

    for group, many in taken.items():
        best = [place for place, each in enumerate(groups) if each == group][:many]
        assert set(best) <= set(spread_over_groups(scores, groups, count))


@given(rows, st.integers(1, 12))
def test_the_choice_is_the_greedy_one(found: list[tuple[float, int]], count: int) -> None:
    """The quick way comes to what the plain one does: weigh all that is left at every step."""
    chosen: list[int] = []
    left, taken = dict(enumerate(found)), Counter[int]()
    while left and len(chosen) < count:
        best = max(left, key=lambda at: (left[at][0] * GROUP_FACTOR ** taken[left[at][1]], -at))
        taken[left.pop(best)[1]] += 1
        chosen.append(best)

    scores, groups = [row[0] for row in found], [row[1] for row in found]
    assert spread_over_groups(scores, groups, count) == sorted(chosen)
