"""Answers of several memories made one list."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from madeleine.rules.ranked_merge import merge_ranked

RANKED = st.lists(st.integers(0, 9)).map(lambda each: sorted(each, reverse=True))


@given(st.lists(RANKED, max_size=4), st.integers(0, 20))
def test_the_best_of_all_lists_come_first(lists: list[list[int]], most: int) -> None:
    both = merge_ranked(lists, float, most)

    assert both == sorted((each for one in lists for each in one), reverse=True)[:most]


@given(st.lists(st.lists(st.integers(0, 9)), max_size=4))
def test_no_list_changes_its_own_order(lists: list[list[int]]) -> None:
    """A list may be by time, or have let a successor pass: that is not for us to change."""
    marked = [[(number, *each) for each in enumerate(one)] for number, one in enumerate(lists)]

    both = merge_ranked(marked, lambda each: each[2], 1_000)

    for number, one in enumerate(marked):
        assert [each for each in both if each[0] == number] == one


def test_of_two_that_are_alike_the_earlier_list_comes_first() -> None:
    assert merge_ranked([["own"], ["shared"]], lambda each: 0.5, 9) == ["own", "shared"]


def test_one_list_alone_stays_as_it_is() -> None:
    assert merge_ranked([[3, 1, 2]], float, 9) == [3, 1, 2]
