"""Which examples `make test` takes, and which it leaves to `make soak`."""

from __future__ import annotations

import pytest

from tests.examples import spread_evenly


@pytest.mark.parametrize(
    ("count", "length", "places"),
    [(3, 12, {0, 4, 8}), (1, 7, {0}), (4, 10, {0, 2, 5, 7}), (5, 3, {0, 1, 2}), (2, 1, {0})],
)
def test_a_few_examples_are_spread_over_the_list(count: int, length: int, places: set[int]) -> None:
    assert spread_evenly(count, length) == places


@pytest.mark.few(2)
@pytest.mark.parametrize("number", range(10))
def test_the_others_are_left_to_soak(request: pytest.FixtureRequest, number: int) -> None:
    in_soak = request.node.get_closest_marker("soak") is not None

    assert in_soak == (number not in (0, 5))
