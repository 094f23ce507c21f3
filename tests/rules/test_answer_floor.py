"""Which hits are shown: worth something by themselves, and beside the best."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.rules.answer_floor import AnswerFloor, FloorStanding, mark_above_floor

FLOOR = AnswerFloor(absolute=0.05, relative=0.15)
COMPARED, ROUGH, ASKED_FOR, SAID = FloorStanding

ranked = st.lists(st.tuples(st.floats(0, 2.5), st.sampled_from(FloorStanding)), max_size=30).map(
    lambda rows: sorted(rows, key=lambda row: -row[0])
)
floors = st.builds(AnswerFloor, st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))


def shown(rows: list[tuple[float, FloorStanding]], floor: AnswerFloor) -> list[bool]:
    return mark_above_floor([row[0] for row in rows], [row[1] for row in rows], floor)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([], []),
        ([0.9, 0.5, 0.14, 0.13], [True, True, True, False]),
        ([0.2, 0.06, 0.05, 0.049], [True, True, True, False]),
        ([0.04, 0.03], [False, False]),
        ([2.0, 0.2, 0.15, 0.1], [True, True, True, False]),
    ],
    ids=["none", "beside the best", "by itself", "nothing answers", "the best counts as 1"],
)
def test_a_compared_hit_needs_both_parts(scores: list[float], expected: list[bool]) -> None:
    assert mark_above_floor(scores, [COMPARED] * len(scores), FLOOR) == expected


def test_what_is_known_roughly_need_only_be_near_the_best() -> None:
    assert mark_above_floor([0.02, 0.01, 0.002], [ROUGH] * 3, FLOOR) == [True, True, False]


def test_what_was_asked_for_is_shown_whatever_its_score() -> None:
    rows = [(0.9, COMPARED), (0.01, COMPARED), (0.0, ASKED_FOR)]

    assert shown(rows, FLOOR) == [True, False, True]


def test_what_was_said_in_a_conversation_is_shown_whatever_its_score() -> None:
    rows = [(0.9, COMPARED), (0.01, COMPARED), (0.0, SAID)]

    assert shown(rows, FLOOR) == [True, False, True]


def test_nothing_answers_if_even_the_best_is_not_likely_enough() -> None:
    floor = AnswerFloor(absolute=0.05, relative=0.15, best=0.25)

    assert shown([(0.24, COMPARED), (0.2, COMPARED), (0.0, ASKED_FOR)], floor) == [
        False,
        False,
        True,
    ]
    assert shown([(0.25, COMPARED), (0.2, COMPARED)], floor) == [True, True]
    assert shown([(0.2, ROUGH), (0.1, SAID)], floor) == [True, True]


def test_an_overview_has_a_lower_relative_part() -> None:
    overview = FLOOR.for_overview()

    assert overview.absolute == FLOOR.absolute
    assert overview.relative == pytest.approx(0.05)


@given(ranked, floors)
def test_what_is_shown_of_one_standing_is_the_beginning_of_the_list(
    rows: list[tuple[float, FloorStanding]], floor: AnswerFloor
) -> None:
    marks = shown(rows, floor)

    for standing in FloorStanding:
        mine = [mark for mark, row in zip(marks, rows, strict=True) if row[1] is standing]
        assert mine == sorted(mine, reverse=True)


@given(ranked, floors, st.floats(0, 1))
def test_a_higher_floor_shows_nothing_more(
    rows: list[tuple[float, FloorStanding]], floor: AnswerFloor, more: float
) -> None:
    higher = AnswerFloor(max(floor.absolute, more), max(floor.relative, more), floor.best)

    for above, before in zip(shown(rows, higher), shown(rows, floor), strict=True):
        assert before or not above


@given(ranked)
def test_no_floor_folds_nothing(rows: list[tuple[float, FloorStanding]]) -> None:
    assert all(shown(rows, AnswerFloor(0, 0)))


def test_what_was_not_read_again_needs_less_to_be_the_best() -> None:
    floor = AnswerFloor(absolute=0.1, relative=0.2, best=0.5)

    other = floor.for_unread()

    assert floor.needed(0.45) == 0.5
    assert other.needed(0.45) == pytest.approx(0.1)
    assert other.needed(0.39) == pytest.approx(0.4)
    assert other.needed(0.9) == floor.needed(0.9)
