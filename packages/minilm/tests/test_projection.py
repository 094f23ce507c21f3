"""How the projection is made."""

import numpy as np

import make_projection


def test_the_directions_are_those_in_which_most_of_the_rows_lie() -> None:
    """Nine rows along one axis, four along another, one along a third."""
    axes = np.eye(4, dtype=np.float32)
    groups = [np.repeat(axes[[2]], 9, axis=0), np.repeat(axes[[0]], 4, axis=0), axes[[3]]]

    made = make_projection.main_directions(groups, 2)

    assert np.abs(made.T).tolist() == [[0, 0, 1, 0], [1, 0, 0, 0]]


def test_a_text_gives_one_row_for_each_token_without_its_marks() -> None:
    (rows,) = make_projection.token_vectors(["This is an example sentence"])

    assert rows.shape == (5, 384)
