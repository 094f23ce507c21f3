"""The vote of neighbours about a space."""

from __future__ import annotations

import pytest

from madeleine.rules.spaces import clear_space, majority_space


@pytest.mark.parametrize(
    ("spaces", "least", "expected"),
    [
        ([], 1, None),
        ([None, None], 1, None),
        (["a"], 1, "a"),
        (["a"], 2, None),
        (["a", "a", "b"], 2, "a"),
        (["a", "a", None, None, None], 2, "a"),
        (["a", "b"], 1, None),
        (["a", "a", "b", "c"], 2, None),
    ],
)
def test_more_than_half_of_those_with_a_space_decide(
    spaces: list[str | None], least: int, expected: str | None
) -> None:
    assert majority_space(spaces, least) == expected


@pytest.mark.parametrize(
    ("spaces", "expected"),
    [
        ([], None),
        (["a", "a"], None),
        (["a", "a", "a"], "a"),
        (["a", "a", "a", None, None], "a"),
        (["a", "a", "a", "b"], None),
        (["a", "a", "a", "a", "b"], "a"),
        ([*"aaaaaaa", "b", "c"], None),
        ([*"aaaaaaaa", "b", "c"], "a"),
        (["a", "a", "b", "b", "b"], None),
    ],
)
def test_a_vote_is_clear_from_three_neighbours_and_four_of_five(
    spaces: list[str | None], expected: str | None
) -> None:
    assert clear_space(spaces) == expected
