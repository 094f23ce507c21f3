"""Clusters of vectors: close together, the same each time, and no chains."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from madeleine.rules import similarity
from madeleine.rules.communities import Community, find_communities
from madeleine.rules.similarity import VectorSet, find_similar_pairs

Floats = NDArray[np.float32]


def cloud(vectors: Floats) -> VectorSet:
    return VectorSet(vectors.astype(np.float32), np.arange(len(vectors)))


def places(found: list[Community]) -> list[tuple[int, ...]]:
    return [each.places for each in found]


def unit(vectors: Floats) -> Floats:
    scaled: Floats = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return scaled.astype(np.float32)


def topics(count: int, each: int, spread: float, wide: int = 64, seed: int = 1) -> Floats:
    """Vectors around some directions, `each` of them around one, one topic after the other."""
    chance = np.random.default_rng(seed)
    centres = unit(chance.standard_normal((count, wide)).astype(np.float32))
    noise = chance.standard_normal((count * each, wide)).astype(np.float32) / np.sqrt(wide)
    return unit(np.repeat(centres, each, axis=0) + spread * noise)


def arc(degrees: list[float]) -> Floats:
    turned = np.radians(np.array(degrees))
    return np.stack([np.cos(turned), np.sin(turned)], axis=1).astype(np.float32)


def test_three_near_parallel_vectors_are_one_cluster_of_three() -> None:
    vectors = unit(np.array([[1, 0, 0.01], [1, 0.01, 0], [1, 0, 0], [0, 0, 1]], np.float32))

    (found,) = find_communities(cloud(vectors), 0.75, 3)

    assert found.places == (0, 1, 2)
    assert min(found.similarity) > 0.99


def test_nothing_has_no_clusters() -> None:
    assert find_communities(cloud(np.zeros((0, 4), np.float32)), 0.75, 2) == []


def test_one_vector_is_no_cluster() -> None:
    assert find_communities(cloud(np.ones((1, 4), np.float32)), 0.0, 2) == []


@pytest.mark.parametrize("least", [0.0, 0.75, 1.0])
def test_equal_vectors_are_together_at_any_threshold(least: float) -> None:
    chance = np.random.default_rng(2).standard_normal((1, 384)).astype(np.float16)
    vectors = np.repeat(chance.astype(np.float32), 1_000, axis=0)

    (found,) = find_communities(cloud(vectors), least, 5)

    assert found.places == tuple(range(1_000))


def test_at_a_threshold_of_one_only_equal_vectors_are_together() -> None:
    vectors = np.concatenate([topics(1, 6, 0.05), np.repeat(topics(1, 1, 0.0, seed=3), 6, axis=0)])

    found = find_communities(cloud(vectors), 1.0, 2)

    assert places(found) == [(6, 7, 8, 9, 10, 11)]


def test_at_a_threshold_of_zero_whatever_is_not_opposite_is_together() -> None:
    vectors = arc([0, 20, 40, 180, 200, 220])

    assert places(find_communities(cloud(vectors), 0.0, 2)) == [(0, 1, 2), (3, 4, 5)]


def test_a_chain_is_not_a_cluster() -> None:
    """Each is like the next (cosine 0.82), and the first is nothing like the last."""
    chain = arc([35.0 * step for step in range(6)])

    assert find_communities(cloud(chain), 0.75, 4) == []
    for found in find_communities(cloud(chain), 0.75, 2):
        ends = chain[list(found.places)]
        assert float((ends @ ends.T).min()) > 0.3


def test_whoever_is_in_a_cluster_is_as_like_its_centre_as_was_asked() -> None:
    vectors = np.concatenate([topics(20, 30, 0.55), topics(1, 300, 3.0, seed=5)])

    found = find_communities(cloud(vectors), 0.75, 5)

    assert found
    for each in found:
        members = vectors[list(each.places)]
        centre = members.sum(axis=0) / np.linalg.norm(members.sum(axis=0))
        assert float((members @ centre).min()) >= 0.75 - 0.02
        assert each.similarity == pytest.approx(tuple(members @ centre), abs=1e-3)


def test_each_topic_is_one_cluster_and_no_vector_is_in_two() -> None:
    found = find_communities(cloud(topics(12, 40, 0.45)), 0.75, 5)

    assert sorted(places(found)) == [tuple(range(40 * at, 40 * at + 40)) for at in range(12)]


def test_the_largest_comes_first_and_too_small_ones_not_at_all() -> None:
    vectors = np.concatenate(
        [topics(1, 4, 0.2, seed=7), topics(1, 9, 0.2, seed=8), topics(1, 5, 0.2, seed=9)]
    )

    assert [len(each) for each in places(find_communities(cloud(vectors), 0.75, 5))] == [9, 5]


def test_the_order_of_the_vectors_makes_no_difference() -> None:
    vectors = topics(30, 12, 0.8)
    shuffled = np.random.default_rng(4).permutation(len(vectors))

    once = find_communities(cloud(vectors), 0.75, 5)
    again = find_communities(cloud(vectors[shuffled]), 0.75, 5)

    back = {tuple(sorted(shuffled[list(each)].tolist())) for each in places(again)}
    assert back == set(places(once))


def test_what_must_not_be_mixed_is_not() -> None:
    vectors, groups = topics(1, 18, 0.2), np.array([1, 2, 0] * 6, np.int32)

    found = find_communities(cloud(vectors), 0.75, 5, groups)

    assert [set(groups[list(each)].tolist()) for each in places(found)] == [{1}, {2}, {0}]


def test_what_goes_with_any_group_joins_the_only_one() -> None:
    vectors, groups = topics(1, 8, 0.2), np.array([3, 0] * 4, np.int32)

    assert places(find_communities(cloud(vectors), 0.75, 5, groups)) == [tuple(range(8))]


def test_equal_vectors_of_two_groups_are_not_mixed_either() -> None:
    vectors, groups = np.repeat(topics(1, 1, 0.0), 12, axis=0), np.array([1, 2] * 6, np.int32)

    found = find_communities(cloud(vectors), 0.75, 5, groups)

    assert places(found) == [(0, 2, 4, 6, 8, 10), (1, 3, 5, 7, 9, 11)]


def test_some_rows_of_a_larger_matrix_are_told_by_their_places() -> None:
    matrix = topics(2, 6, 0.1)
    rows = np.array([11, 2, 9, 8, 3, 10, 7, 6], np.int64)

    assert places(find_communities(VectorSet(matrix, rows), 0.75, 5)) == [(0, 2, 3, 5, 6, 7)]


@pytest.mark.soak
def test_pairs_found_by_landmarks_are_nearly_all_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    vectors = cloud(topics(400, 10, 0.5, wide=96))
    every = find_similar_pairs(vectors, 0.75)
    monkeypatch.setattr(similarity, "EXACT_UP_TO", 100)

    some = find_similar_pairs(vectors, 0.75)

    width = len(vectors)
    known = set((every.one.astype(np.int64) * width + every.other).tolist())
    found = set((some.one.astype(np.int64) * width + some.other).tolist())
    assert found <= known
    assert len(found) > 0.93 * len(known)


@pytest.mark.soak
def test_clusters_found_by_landmarks_are_those_found_by_comparing_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    vectors = cloud(topics(300, 12, 0.4, wide=96))
    exact = find_communities(vectors, 0.75, 5)
    monkeypatch.setattr(similarity, "EXACT_UP_TO", 100)

    assert places(find_communities(vectors, 0.75, 5)) == places(exact)


@pytest.mark.soak
def test_one_vector_more_changes_clusters_near_it_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, "EXACT_UP_TO", 100)
    vectors = topics(200, 12, 0.4, wide=96)
    one_more = np.concatenate([vectors, topics(1, 1, 0.0, wide=96, seed=11)])

    assert places(find_communities(cloud(one_more), 0.75, 5)) == places(
        find_communities(cloud(vectors), 0.75, 5)
    )


def test_a_request_to_stop_is_heard() -> None:
    assert len(find_similar_pairs(cloud(topics(3, 10, 0.1)), 0.75, stop=lambda: True)) == 0
