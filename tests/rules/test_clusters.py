"""Clusters: whoever joins is near everybody who is in already."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from madeleine.rules.clusters import find_cluster

Rows = NDArray[np.float32]


def unit(*rows: tuple[float, ...]) -> Rows:
    found: Rows = np.array(rows, np.float32)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found


def test_near_ones_join_best_first() -> None:
    rows = unit((1, 0), (0.8, 0.6), (0.99, 0.1), (0, 1))

    assert find_cluster(rows, 0.6, 5) == [0, 2, 1]


def test_a_chain_is_not_a_cluster() -> None:
    """Each is near the next one; the ends have nothing to do with each other."""
    rows = unit((0.78, 0.62), (1, 0), (0.78, -0.62))

    assert find_cluster(rows, 0.6, 5) == [0, 1]


def test_a_cluster_has_a_bound() -> None:
    rows = unit(*((1, 0.01 * number) for number in range(9)))

    assert len(find_cluster(rows, 0.6, 5)) == 5


def test_what_is_at_odds_is_kept_apart() -> None:
    rows = unit((1, 0), (1, 0.01), (1, 0.02))

    assert find_cluster(rows, 0.6, 5, apart=[(1, 0)]) == [0, 2]


def test_alone_is_alone() -> None:
    assert find_cluster(unit((1, 0)), 0.6, 5) == [0]


@given(st.lists(st.tuples(*[st.floats(-1, 1)] * 3), min_size=1, max_size=8), st.floats(0, 1))
def test_every_two_of_a_cluster_are_near_each_other(
    rows: list[tuple[float, ...]], least: float
) -> None:
    vectors = unit(*((x, y, z + 3) for x, y, z in rows))

    places = find_cluster(vectors, least, 5)

    similarity = vectors[places] @ vectors[places].T
    assert places[0] == 0
    assert len(set(places)) == len(places) <= 5
    assert (similarity >= least - 1e-5).all() or len(places) == 1
