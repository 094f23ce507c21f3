"""What stands beside a passage: compared with the slow and plain way to say it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from madeleine.rules.passage_context import (
    PassageNeighbours,
    combine_by_session,
    drawing_score,
    subject_score,
    values_at,
)

Values = NDArray[np.float64]
Places = NDArray[np.int64]

COSINES = st.floats(-1, 1)
# Whoever stands in the middle of five that all say the same: 2.5 over the length of their sum.
MOST = 2.5 / math.sqrt(0.65 * 1.625 + 0.35 * 2.5**2)


def chains(*lengths: int) -> tuple[Places, Places]:
    """Before and after of conversations of these lengths, one behind the other."""
    before: list[int] = []
    after: list[int] = []
    for length in lengths:
        first = len(before)
        before += [-1, *range(first, first + length - 1)][:length]
        after += [*range(first + 1, first + length), -1][:length]
    return np.array(before, np.int64), np.array(after, np.int64)


conversations = st.lists(st.integers(1, 7), min_size=1, max_size=4).flatmap(
    lambda lengths: st.tuples(
        st.just(lengths),
        st.lists(COSINES, min_size=sum(lengths), max_size=sum(lengths)).map(np.array),
    )
)


def walked(values: Values, before: Places, after: Places, place: int) -> list[tuple[float, float]]:
    """The share and the value of a place and of everything around it, step by step."""
    found = [(1.0, float(values[place]))]
    for side in (before, after):
        here = place
        for share in (0.5, 0.25):
            here = int(side[here])
            if here < 0:
                break
            found.append((share, float(values[here])))
    return found


def test_values_are_nothing_where_there_is_no_place() -> None:
    assert values_at(np.array([3, 5]), np.array([1, -1, 0])).tolist() == [5, 0, 3]
    assert values_at(np.array([]), np.array([-1, -1])).tolist() == [0, 0]


def test_the_nearest_count_half_and_those_behind_them_a_quarter() -> None:
    around = PassageNeighbours(*chains(5))

    assert around.sum_with_neighbours(np.array([1, 10, 100, 1_000, 10_000])).tolist() == [
        1 + 5 + 25,
        10 + 0.5 + 50 + 250,
        100 + 5 + 500 + 0.25 + 2_500,
        1_000 + 50 + 5_000 + 2.5,
        10_000 + 500 + 25,
    ]


@given(given_=conversations)
def test_context_is_the_sum_of_what_stands_around(given_: tuple[list[int], Values]) -> None:
    lengths, values = given_
    before, after = chains(*lengths)

    found = PassageNeighbours(before, after).sum_with_neighbours(values)

    for place in range(len(values)):
        parts = walked(values, before, after, place)
        assert found[place] == pytest.approx(sum(share * value for share, value in parts))


@given(given_=conversations)
def test_the_cosine_of_a_context_stays_within_bounds(given_: tuple[list[int], Values]) -> None:
    """It is a guess at a cosine: how alike neighbours are is only known in the mean. So it may
    pass 1, but not by much, and never says more than the best of what it is made of does."""
    lengths, cosines = given_
    before, after = chains(*lengths)

    found = PassageNeighbours(before, after).cosine(cosines)

    for place in range(len(cosines)):
        best = max(abs(value) for _, value in walked(cosines, before, after, place))
        assert abs(found[place]) <= MOST * best + 1e-9
    assert MOST < 1.4


def test_the_cosine_of_a_context_follows_from_how_alike_neighbours_are() -> None:
    around = PassageNeighbours(*chains(3))

    found = around.cosine(np.array([0.2, 0.6, 0.4]))

    ends, middle = 1 + 0.5 + 0.25, 1 + 0.5 + 0.5
    length = math.sqrt(0.65 * (1 + 0.25 + 0.0625) + 0.35 * ends**2)
    assert found[0] == pytest.approx((0.2 + 0.3 + 0.1) / length)
    assert found[1] == pytest.approx((0.6 + 0.3) / math.sqrt(0.65 * 1.5 + 0.35 * middle**2))


@given(cosines=st.lists(COSINES, max_size=8).map(np.array))
def test_without_neighbours_the_cosine_is_the_plain_one(cosines: Values) -> None:
    nobody = np.full(len(cosines), -1, np.int64)
    around = PassageNeighbours(nobody, nobody)

    np.testing.assert_allclose(around.cosine(cosines), cosines, atol=1e-12)
    np.testing.assert_array_equal(around.sum_with_neighbours(cosines), cosines)
    assert not around.greatest_beside(cosines).any()


@given(given_=conversations)
def test_a_neighbour_that_fits_better_never_harms(given_: tuple[list[int], Values]) -> None:
    lengths, cosines = given_
    around = PassageNeighbours(*chains(*lengths))
    better = cosines.copy()
    better[0] = 1.0

    assert (around.cosine(better) >= around.cosine(cosines) - 1e-12).all()


def test_the_greater_of_both_sides_counts() -> None:
    around = PassageNeighbours(*chains(3, 1))

    assert around.greatest_beside(np.array([0.2, 0.9, 0.7, 0.5])).tolist() == [0.9, 0.7, 0.9, 0]


# --- sessions -----------------------------------------------------------------------------


@given(
    spoken=st.lists(st.tuples(st.integers(-3, 3), COSINES, COSINES), max_size=12),
    combine=st.sampled_from([np.add, np.maximum, np.minimum]),
)
def test_sessions_come_to_what_a_slow_walk_finds(
    spoken: list[tuple[int, float, float]], combine: np.ufunc
) -> None:
    session = np.array([each[0] for each in spoken], np.int64)
    values = np.array([each[1:] for each in spoken]).reshape(len(spoken), 2)

    found = combine_by_session(values, session, combine)
    single = combine_by_session(values[:, 0].copy(), session, combine)

    assert found.shape == values.shape
    for place in range(len(spoken)):
        mine = values[session == session[place]]
        np.testing.assert_allclose(found[place], combine.reduce(mine, axis=0), atol=1e-12)
        assert single[place] == pytest.approx(found[place, 0])


# --- which to look at closely -------------------------------------------------------------


def scores(
    text: list[float], focus: list[float], talk: list[bool], near: list[float] | None = None
) -> list[float]:
    """The drawing scores of places that all speak in one conversation, in order."""
    count = len(text)
    found = drawing_score(
        np.array(text),
        np.array(near or [0.0] * count),
        np.array(focus),
        PassageNeighbours(*chains(count)),
        np.array(talk),
        np.zeros(count, np.int64),
    )
    return [float(each) for each in found]


def test_notes_are_scored_by_their_own_words_and_meaning() -> None:
    assert scores([4, 2, 0], [0.5, 0, 0], [False] * 3, [0.5, 0, 1]) == pytest.approx(
        [1 + 0.75 + 0.15 + 1 / 3 + 0.6, 0.5 + 0.5 / 3, 0.3]
    )


def test_without_words_or_meaning_nothing_is_scored() -> None:
    assert scores([0, 0], [0, 0], [False, False]) == [0, 0]
    assert scores([0, 0], [0, 0], [True, True]) == [0, 0]
    assert scores([], [], []) == []


def test_what_stands_beside_a_good_turn_is_worth_a_look() -> None:
    beside, good, further, far = scores([0, 9, 0, 0], [0, 0.8, 0, 0], [True] * 4)

    assert good > beside > far > 0
    assert further > far


@given(
    text=st.lists(st.floats(0, 30), min_size=4, max_size=4),
    focus=st.lists(COSINES, min_size=4, max_size=4),
)
def test_a_note_scores_the_same_whether_or_not_others_talk(
    text: list[float], focus: list[float]
) -> None:
    alone = scores(text, focus, [False] * 4)
    among = scores(text, focus, [True, True, True, False])

    assert among[3] == pytest.approx(alone[3])


@given(
    text=st.lists(st.floats(0, 30), min_size=4, max_size=4),
    focus=st.lists(COSINES, min_size=4, max_size=4),
    talk=st.booleans(),
)
def test_a_closer_meaning_never_lowers_the_score(
    text: list[float], focus: list[float], talk: bool
) -> None:
    closer = [1.0, *focus[1:]]

    after, before = scores(text, closer, [talk] * 4), scores(text, focus, [talk] * 4)

    assert all(one >= two - 1e-9 for one, two in zip(after, before, strict=True))


def test_the_right_speaker_and_the_right_day_add_a_quarter_each() -> None:
    columns = {
        "speaker": np.array([1.0, 0, 0, 1]),
        "other_speaker": np.array([0.0, 1, 0, 0]),
        "date": np.array([0.0, 0, 2, 0]),
        "date_near": np.array([0.0, 0, 1, 1]),
    }

    assert subject_score(columns).tolist() == pytest.approx([0.25, -0.1, 0.75, 0.5])
