"""Places on the map by meaning: what is near in meaning lies near, always in the same place."""

from __future__ import annotations

import time

import numpy as np
import pytest
from numpy.typing import NDArray

from madeleine.rules.map_layout import SPACING, find_neighbours, lay_out, place_beside
from madeleine.write.priority_gate import PriorityGate

Floats = NDArray[np.float32]


def groups_of(count: int, groups: int, seed: int = 1) -> tuple[Floats, NDArray[np.int64]]:
    """Return vectors that lie in groups, and the group of each."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, groups, count)
    vectors = rng.normal(size=(groups, 128))[labels] + 0.8 * rng.normal(size=(count, 128))
    return unit(vectors), labels


def unit(vectors: NDArray[np.float64]) -> Floats:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def shares_of_own_group(places: Floats, labels: NDArray[np.int64]) -> float:
    """Return how many of the five nearest on the map are of the same group, on average."""
    off = ((places[:, None] - places[None]) ** 2).sum(-1)
    nearest = np.argsort(off, axis=1)[:, 1:6]
    return float((labels[nearest] == labels[:, None]).mean())


def test_near_vectors_end_near_each_other() -> None:
    vectors, labels = groups_of(600, 12)

    assert shares_of_own_group(lay_out(vectors, lambda: None), labels) > 0.95


def test_the_same_vectors_give_the_same_map() -> None:
    vectors, _ = groups_of(300, 6)

    once, again = (lay_out(vectors, lambda: None) for _ in range(2))

    assert (once == again).all()


def test_memories_fill_the_map_and_do_not_lie_upon_each_other() -> None:
    vectors, _ = groups_of(500, 5)
    places = lay_out(vectors, lambda: None)

    off = np.sqrt(((places[:, None] - places[None]) ** 2).sum(-1))
    np.fill_diagonal(off, np.inf)
    assert np.median(off.min(1)) > SPACING / 6
    assert np.ptp(places, axis=0).max() < 3 * SPACING * np.sqrt(len(places))


def test_a_map_that_is_laid_out_anew_grows_out_of_the_last_one() -> None:
    vectors, _ = groups_of(400, 8)
    before = np.full((400, 2), np.nan, np.float32)
    before[:300] = lay_out(vectors[:300], lambda: None)

    after = lay_out(vectors, lambda: None, before)

    for axis in (0, 1):
        assert np.corrcoef(before[:300, axis], after[:300, axis])[0, 1] > 0.7


def test_what_is_new_is_placed_at_its_neighbours_and_moves_nothing() -> None:
    vectors, labels = groups_of(400, 8)
    places = lay_out(vectors[:390], lambda: None)

    fresh = place_beside(vectors[390:], vectors[:390], places, lambda: None)

    nearest = ((fresh[:, None] - places[None]) ** 2).sum(-1).argmin(1)
    assert (labels[:390][nearest] == labels[390:]).mean() >= 0.9


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5])
def test_a_few_memories_have_places_too(count: int) -> None:
    vectors, _ = groups_of(count, 2) if count else (np.empty((0, 128), np.float32), None)

    places = lay_out(vectors, lambda: None)

    assert places.shape == (count, 2)
    assert np.isfinite(places).all()


def test_vectors_that_are_all_the_same_still_have_places() -> None:
    places = lay_out(np.ones((40, 8), np.float32) / np.float32(np.sqrt(8)), lambda: None)

    assert np.isfinite(places).all()


def test_neighbours_are_the_nearest_best_first() -> None:
    vectors, _ = groups_of(700, 9)
    found = find_neighbours(vectors, vectors, 4, lambda: None)

    cosines = vectors @ vectors.T
    assert (found.places[:, 0] == np.arange(700)).all()
    assert np.allclose(found.similarity, -np.sort(-cosines, axis=1)[:, :4], atol=1e-5)


@pytest.mark.timeout(300)
def test_five_thousand_take_bounded_time_in_portions_that_give_way() -> None:
    vectors, labels = groups_of(5_000, 50)
    gate, spent, last = PriorityGate(), [], time.thread_time()

    def pause() -> None:
        nonlocal last
        spent.append(time.thread_time() - last)
        gate.give_way()
        last = time.thread_time()

    began = time.process_time()
    places = lay_out(vectors, pause)

    assert time.process_time() - began < 120
    assert len(spent) > 200
    assert np.median(spent) < 0.25
    assert shares_of_own_group(places[:1_500], labels[:1_500]) > 0.9
