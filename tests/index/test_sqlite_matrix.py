"""The matrix of vectors: snapshots, room, and the search that looks at signs first."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from madeleine.index.sqlite import matrix as module
from madeleine.index.sqlite.matrix import Cells, Change, Matrix, sign_words

DIMENSION = 96


def cells(node: int, space: int = 0) -> Cells:
    return node, 0, 0, space, 0, module.FOREVER, False


def random_rows(count: int, seed: int = 1) -> NDArray[np.float16]:
    rows = np.random.default_rng(seed).standard_normal((count, DIMENSION))
    halves: NDArray[np.float16] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype("f2")
    return halves


def filled(count: int, exact_up_to: int = 10**9) -> tuple[Matrix, NDArray[np.float32]]:
    made, rows = Matrix(DIMENSION, exact_up_to), random_rows(count)
    for start in range(0, count, 700):
        nodes = range(start, min(start + 700, count))
        made.apply(Change([cells(node) for node in nodes], rows[start : start + 700]))
    return made, rows.astype(np.float32)


def nearest(made: Matrix, query: NDArray[np.float32], limit: int = 10) -> list[int]:
    found, _ = made.snapshot.nearest(query, made.snapshot.alive(), limit)
    return [int(node) for node in found]


def test_a_snapshot_stays_as_it_was_while_rows_change_and_go() -> None:
    made, rows = filled(1_500)
    before = made.snapshot
    expected = before.nearest(rows[0], before.alive(), 20)

    made.apply(Change(kept=[cells(0, space=7)]), dropped=range(10, 400))
    made.apply(Change([cells(node) for node in range(5_000, 9_000)], random_rows(4_000, 2)))
    made.clear()

    again = before.nearest(rows[0], before.alive(), 20)
    np.testing.assert_array_equal(again[0], expected[0])
    np.testing.assert_array_equal(again[1], expected[1])
    assert before.column("space").max() == 0


def test_rows_given_up_are_not_found_and_their_room_comes_back() -> None:
    made, rows = filled(1_000)

    for _ in range(30):
        made.apply(Change([cells(node) for node in range(1_000)], rows.astype(np.float16)))

    assert nearest(made, rows[3], 1) == [3]
    assert int(made.snapshot.alive().sum()) == 1_000
    assert made.snapshot.arrays.capacity <= 4_000


def test_a_row_keeps_its_vector_when_only_its_columns_change() -> None:
    made, rows = filled(50)

    made.apply(Change(kept=[cells(7, space=3)]))

    assert nearest(made, rows[7], 1) == [7]
    assert int(made.snapshot.column("space").max()) == 3


def test_equal_rows_score_alike_wherever_they_stand() -> None:
    rows = random_rows(3_000)
    same = np.arange(0, 3_000, 37)
    rows[same] = rows[0]
    made = Matrix(DIMENSION, 10**9)
    made.apply(Change([cells(node) for node in range(3_000)], rows))

    found, scores = made.snapshot.nearest(rows[0].astype(np.float32), made.snapshot.alive(), 5)

    assert set(found.tolist()) == set(same.tolist())
    assert len(set(scores.tolist())) == 1


def test_signs_are_kept_sixty_four_to_a_number() -> None:
    vectors = np.array([[1.0] * 70, [-1.0] * 70], np.float32)

    words = sign_words(vectors)

    assert words.shape == (2, 2)
    assert np.bitwise_count(words).sum(axis=1).tolist() == [70, 0]


def test_the_search_by_signs_finds_nearly_all_of_the_exact_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "RESCORED", 1_500)
    exact, rows = filled(6_000)
    approximate, _ = filled(6_000, exact_up_to=2_000)
    assert approximate.snapshot.arrays.signs is not None
    queries = random_rows(30, 3).astype(np.float32)

    shared = [
        len(set(nearest(exact, query)) & set(nearest(approximate, query))) for query in queries
    ]

    assert sum(shared) / (10 * len(queries)) >= 0.9
    assert nearest(approximate, rows[17], 1) == [17]


def test_few_allowed_rows_are_scored_exactly_above_the_bound() -> None:
    approximate, rows = filled(15_000, exact_up_to=1_000)
    allowed = np.zeros(15_000, np.bool_)
    allowed[4_000:4_100] = True
    query = -rows[4_050]

    found, scores = approximate.snapshot.nearest(query, allowed, 3)

    expected = np.argsort(-(rows[4_000:4_100] @ query))[:3] + 4_000
    assert found.tolist() == expected.tolist()
    assert scores.tolist() == sorted(scores.tolist(), reverse=True)


def test_asking_for_close_ones_only_leaves_out_none_of_them() -> None:
    made, rows = filled(2_000)
    others = random_rows(2_000, 4).astype(np.float32)
    mixed = rows + 0.9 * others  # cosines around 0.74
    queries = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
    everyone = made.snapshot.alive()
    asked, found = 0, 0

    for query in queries[:500]:
        exact = {int(row) for row in np.flatnonzero(rows @ query >= 0.65)}
        nodes, _ = made.snapshot.nearest(query, everyone, 10, least=0.65)
        asked += len(exact)
        found += len(exact & set(nodes.tolist()))

    assert asked > 400
    assert found >= 0.999 * asked
