"""The matrix of passages: snapshots, room, conversations, and the search that looks at signs
first."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray

from madeleine.index.common import matrix as module
from madeleine.index.common.matrix import (
    COLUMN_DTYPES,
    NONE,
    Matrix,
    MatrixChange,
    MatrixSnapshot,
    PassageCells,
    pack_signs,
)

DIMENSION = 96


def cells(node: int, space: int = 0, part: int = 0) -> PassageCells:
    return PassageCells(node, 0, 0, space, 0, module.FOREVER, False, True, part)


def random_rows(count: int, seed: int = 1) -> NDArray[np.float16]:
    rows = np.random.default_rng(seed).standard_normal((count, DIMENSION))
    halves: NDArray[np.float16] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype("f2")
    return halves


def filled(count: int, exact_up_to: int = 10**9) -> tuple[Matrix, NDArray[np.float32]]:
    made, rows = Matrix(DIMENSION, exact_up_to), random_rows(count)
    for start in range(0, count, 700):
        nodes = range(start, min(start + 700, count))
        made.apply(MatrixChange([cells(node) for node in nodes], rows[start : start + 700]))
    return made, rows.astype(np.float32)


def nearest(made: Matrix, query: NDArray[np.float32], limit: int = 10) -> list[int]:
    found, _ = made.snapshot.nearest(query, made.snapshot.alive(), limit)
    return [int(node) for node in found]


def test_a_snapshot_stays_as_it_was_while_rows_change_and_go() -> None:
    made, rows = filled(1_500)
    before = made.snapshot
    expected = before.nearest(rows[0], before.alive(), 20)

    made.apply(MatrixChange(kept=[cells(0, space=7)]), dropped=range(10, 400))
    made.apply(MatrixChange([cells(node) for node in range(5_000, 9_000)], random_rows(4_000, 2)))
    made.clear()

    again = before.nearest(rows[0], before.alive(), 20)
    np.testing.assert_array_equal(again[0], expected[0])
    np.testing.assert_array_equal(again[1], expected[1])
    assert before.column("space").max() == 0


def test_rows_given_up_are_not_found_and_their_room_comes_back() -> None:
    made, rows = filled(1_000)

    for _ in range(30):
        made.apply(MatrixChange([cells(node) for node in range(1_000)], rows.astype(np.float16)))

    assert nearest(made, rows[3], 1) == [3]
    assert int(made.snapshot.alive().sum()) == 1_000
    assert made.snapshot.arrays.capacity <= 4_000


def test_a_row_keeps_its_vector_when_only_its_columns_change() -> None:
    made, rows = filled(50)

    made.apply(MatrixChange(kept=[cells(7, space=3)]))

    assert nearest(made, rows[7], 1) == [7]
    assert int(made.snapshot.column("space").max()) == 3


def test_equal_rows_score_alike_wherever_they_stand() -> None:
    rows = random_rows(3_000)
    same = np.arange(0, 3_000, 37)
    rows[same] = rows[0]
    made = Matrix(DIMENSION, 10**9)
    made.apply(MatrixChange([cells(node) for node in range(3_000)], rows))

    found, scores = made.snapshot.nearest(rows[0].astype(np.float32), made.snapshot.alive(), 5)

    assert set(found.tolist()) == set(same.tolist())
    assert len(set(scores.tolist())) == 1


def test_signs_are_kept_sixty_four_to_a_number() -> None:
    vectors = np.array([[1.0] * 70, [-1.0] * 70], np.float32)

    words = pack_signs(vectors)

    assert words.shape == (2, 2)
    assert np.bitwise_count(words).sum(axis=1).tolist() == [70, 0]


def test_the_search_by_signs_finds_nearly_all_of_the_exact_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "RESCORED_ROWS", 1_500)
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


# --- memories of several passages ---------------------------------------------------------


def pages(node: int, count: int, space: int = 0) -> list[PassageCells]:
    return [cells(node, space, part) for part in range(count)]


def with_a_long_one() -> tuple[Matrix, NDArray[np.float32]]:
    """Forty nodes, of which number 20 has three passages: rows 20, 21 and 22."""
    made, rows = Matrix(DIMENSION, 10**9), random_rows(42)
    before, after = [cells(node) for node in range(20)], [cells(node) for node in range(21, 40)]
    made.apply(MatrixChange([*before, *pages(20, 3), *after], rows))
    return made, rows.astype(np.float32)


def test_a_node_of_several_passages_is_found_by_the_best_of_them() -> None:
    made, rows = with_a_long_one()

    for row in (20, 21, 22):
        assert nearest(made, rows[row], 1) == [20]
    assert made.snapshot.rows_of(np.array([19, 20, 21])).tolist() == [19, 20, 23]
    assert made.nodes == 40


def test_a_node_of_several_passages_is_buried_whole() -> None:
    made, rows = with_a_long_one()

    made.apply(MatrixChange(), dropped=[20])

    assert 20 not in nearest(made, rows[21], 42)
    assert int(made.snapshot.alive().sum()) == 39
    assert made.snapshot.rows_of(np.array([20])).tolist() == [NONE]
    assert made.nodes == 39


def test_a_node_that_gets_fewer_passages_loses_the_others() -> None:
    made, rows = with_a_long_one()

    made.apply(MatrixChange(pages(20, 1), rows[:1].astype(np.float16)))

    assert int(made.snapshot.alive().sum()) == 40
    assert set(nearest(made, rows[0], 1)) == {0, 20}
    assert nearest(made, rows[22], 1) != [20]


def test_a_node_of_several_passages_keeps_all_their_vectors() -> None:
    made, rows = with_a_long_one()

    made.apply(MatrixChange(kept=pages(20, 3, space=5)))

    for row in (20, 21, 22):
        assert nearest(made, rows[row], 1) == [20]
    snapshot = made.snapshot
    first = int(snapshot.rows_of(np.array([20]))[0])
    assert snapshot.column("part")[first : first + 3].tolist() == [0, 1, 2]
    assert snapshot.column("space")[first : first + 3].tolist() == [5, 5, 5]
    np.testing.assert_array_equal(snapshot.arrays.matrix[first : first + 3], rows[20:23])


# --- conversations ------------------------------------------------------------------------


def turn(
    node: int, number: int, created: int = 0, session: int = 0, speaker: int = NONE, words: int = 3
) -> PassageCells:
    said = cells(node)._replace(session=session, turn=number, speaker=speaker, words=words)
    return said._replace(created=created)


def say(made: Matrix, *turns: PassageCells) -> None:
    made.apply(MatrixChange(turns, random_rows(len(turns))))


def beside(snapshot: MatrixSnapshot, node: int) -> tuple[int, int]:
    """The nodes before and after a node."""
    sides = snapshot.beside(snapshot.rows_of(np.array([node])))
    nodes = snapshot.column("node")
    before, after = (NONE if side[0] == NONE else int(nodes[side[0]]) for side in sides)
    return before, after


def order_of(snapshot: MatrixSnapshot, first: int) -> list[int]:
    """The conversation as it is read forwards, having checked that it reads the same backwards."""
    found = [first]
    while (after := beside(snapshot, found[-1])[1]) != NONE:
        assert beside(snapshot, after)[0] == found[-1]
        found.append(after)
    assert beside(snapshot, first)[0] == NONE
    return found


@pytest.mark.parametrize("arriving", list(permutations(range(4))))
@pytest.mark.parametrize("at_once", [True, False])
def test_neighbours_are_linked_by_turn_then_time_whatever_the_order_of_arrival(
    arriving: tuple[int, ...], at_once: bool
) -> None:
    spoken = [turn(10, 1, 50), turn(11, 2, 20), turn(12, 2, 30), turn(13, 7, 10)]
    made = Matrix(DIMENSION, 10**9)

    if at_once:
        say(made, *(spoken[each] for each in arriving))
    else:
        for each in arriving:
            say(made, spoken[each])

    assert order_of(made.snapshot, 10) == [10, 11, 12, 13]


def test_conversations_are_not_mixed_up_and_notes_stand_alone() -> None:
    made = Matrix(DIMENSION, 10**9)

    say(made, turn(1, 1, session=0), turn(2, 2, session=1), cells(3), turn(4, 3, session=0))

    assert order_of(made.snapshot, 1) == [1, 4]
    assert beside(made.snapshot, 2) == beside(made.snapshot, 3) == (NONE, NONE)


def test_the_neighbours_of_a_turn_that_goes_become_neighbours() -> None:
    made = Matrix(DIMENSION, 10**9)
    say(made, *(turn(node, node) for node in range(1, 6)))

    made.apply(MatrixChange(), dropped=[3])
    assert order_of(made.snapshot, 1) == [1, 2, 4, 5]
    made.apply(MatrixChange(), dropped=[1, 4])
    assert order_of(made.snapshot, 2) == [2, 5]
    made.apply(MatrixChange(), dropped=[5])
    assert beside(made.snapshot, 2) == (NONE, NONE)


def test_a_turn_that_moves_is_linked_where_it_is_now() -> None:
    made = Matrix(DIMENSION, 10**9)
    say(made, *(turn(node, node) for node in range(1, 5)))

    made.apply(MatrixChange(kept=[turn(2, 9)]))
    assert order_of(made.snapshot, 1) == [1, 3, 4, 2]
    say(made, turn(4, 4, session=8))
    assert order_of(made.snapshot, 1) == [1, 3, 2]
    assert beside(made.snapshot, 4) == (NONE, NONE)


def test_only_the_first_passage_of_a_turn_has_neighbours() -> None:
    made = Matrix(DIMENSION, 10**9)
    long = [turn(2, 2), turn(2, 2)._replace(part=1)]

    say(made, turn(1, 1), *long, turn(3, 3))

    assert order_of(made.snapshot, 1) == [1, 2, 3]
    second = made.snapshot.rows_of(np.array([2])) + 1
    assert [side.tolist() for side in made.snapshot.beside(second)] == [[NONE], [NONE]]


def test_two_speakers_make_a_talk_until_one_of_them_leaves() -> None:
    made = Matrix(DIMENSION, 10**9)
    ann, ben = made.speakers.code("Ann"), made.speakers.code("Ben")

    say(made, turn(1, 1, speaker=ann), turn(2, 2, speaker=ann), turn(3, 3))
    assert not made.snapshot.talks[0]
    say(made, turn(4, 4, speaker=ben), turn(5, 1, speaker=ben, session=200))
    assert made.snapshot.talks[0]
    assert not made.snapshot.talks[200]
    made.apply(MatrixChange(), dropped=[1])
    assert made.snapshot.talks[0]
    made.apply(MatrixChange(), dropped=[2])
    assert not made.snapshot.talks[0]


def test_a_reader_of_an_old_snapshot_can_ask_for_talks_after_all_was_cleared() -> None:
    made = Matrix(DIMENSION, 10**9)
    ann, ben = made.speakers.code("Ann"), made.speakers.code("Ben")
    say(made, turn(1, 1, session=500, speaker=ann), turn(2, 2, session=500, speaker=ben))
    before = made.snapshot

    made.clear()

    assert before.talks[before.column("session")].tolist() == [True, True]


def test_speakers_are_known_by_each_word_of_their_name_while_they_say_something() -> None:
    made = Matrix(DIMENSION, 10**9)
    speakers = made.speakers
    mel, ann, annie = (speakers.code(each) for each in ("Melanie", "Ann Lee", "ANNIE"))
    assert speakers.code("ann LEE") == ann
    assert speakers.names == {}

    say(made, turn(1, 1, speaker=mel), turn(2, 2, speaker=ann), turn(3, 3, speaker=annie))
    assert speakers.names == {"melanie": (mel,), "ann": (ann,), "lee": (ann,), "annie": (annie,)}
    assert speakers.short_names == {"mel": (mel,), "ann": (annie,)}

    made.apply(MatrixChange(kept=[turn(1, 1)]), dropped=[2])
    assert speakers.names == {"annie": (annie,)}
    made.clear()
    assert made.speakers.names == {}


# --- everything at once -------------------------------------------------------------------


@dataclass
class Story:
    """What a matrix should say, kept as plainly as possible."""

    nodes: dict[int, list[PassageCells]] = field(default_factory=dict)
    vectors: dict[int, NDArray[np.float32]] = field(default_factory=dict)

    def conversation(self, session: int) -> list[int]:
        firsts = [each[0] for each in self.nodes.values() if each[0].session == session]
        return [each.node for each in sorted(firsts, key=lambda one: (one.turn, one.created))]

    def check(self, made: Matrix) -> None:
        snapshot = made.snapshot
        for node, expected in self.nodes.items():
            first = int(snapshot.rows_of(np.array([node]))[0])
            rows = slice(first, first + len(expected))
            for name in COLUMN_DTYPES:
                found = snapshot.column(name)[rows].tolist()
                assert found == [getattr(each, name) for each in expected]
            np.testing.assert_array_equal(snapshot.arrays.matrix[rows], self.vectors[node])
        assert int(snapshot.alive().sum()) == sum(map(len, self.nodes.values()))
        for session in range(3):
            if spoken := self.conversation(session):
                assert order_of(snapshot, spoken[0]) == spoken
        assert made.mean_words * len(self.nodes) == pytest.approx(
            sum(each[0].words for each in self.nodes.values())
        )


def step(made: Matrix, story: Story, chance: random.Random, moment: int) -> None:
    """Put a few nodes anew, change a few others and drop some, in one batch."""
    fresh: list[PassageCells] = []
    for node in chance.sample(range(30), 3):
        first = turn(node, chance.randrange(4), moment * 30 + node, chance.randrange(-1, 3))
        parts = [first._replace(part=part) for part in range(chance.choice((1, 1, 3)))]
        story.nodes[node] = parts
        fresh += parts
    vectors = random_rows(len(fresh), moment)
    for node in {each.node for each in fresh}:
        mine = [place for place, each in enumerate(fresh) if each.node == node]
        story.vectors[node] = vectors[mine].astype(np.float32)
    others = sorted(story.nodes.keys() - {each.node for each in fresh})
    kept = chance.sample(others, min(2, len(others)))
    for node in kept:
        story.nodes[node] = [each._replace(turn=7, words=moment) for each in story.nodes[node]]
    gone = [node for node in others if node not in kept and chance.random() < 0.1]
    changed = [cells for node in kept for cells in story.nodes[node]]
    made.apply(MatrixChange(fresh, vectors, changed), dropped=gone)
    for node in gone:
        del story.nodes[node]


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(6))
def test_links_passages_and_columns_survive_any_batches_and_every_move(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With so little room the rows are copied to new arrays every few batches."""
    monkeypatch.setattr(module, "MIN_ROWS", 8)
    made, story, chance, moves = Matrix(DIMENSION, 10**9), Story(), random.Random(seed), 0

    for moment in range(80):
        before = made.snapshot.arrays
        step(made, story, chance, moment)
        moves += before is not made.snapshot.arrays
        story.check(made)

    assert moves >= 4


def test_talks_and_speakers_survive_a_move_to_new_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MIN_ROWS", 4)
    made = Matrix(DIMENSION, 10**9)
    ann, ben = made.speakers.code("Ann"), made.speakers.code("Ben")
    say(made, turn(1, 1, speaker=ann), turn(2, 2, speaker=ben))
    before = made.snapshot.arrays

    say(made, *(cells(node) for node in range(10, 30)))

    assert made.snapshot.arrays is not before
    assert made.snapshot.talks[0]
    assert set(made.speakers.names) == {"ann", "ben"}
    made.apply(MatrixChange(), dropped=[2])
    assert not made.snapshot.talks[0]


@pytest.mark.parametrize("room", [16, 4_096])
def test_an_old_snapshot_never_sees_newer_rows(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Links and the rows of nodes are the writer's own; what is newer than a snapshot is left
    out of its answers, and what had died before it does not come back."""
    monkeypatch.setattr(module, "MIN_ROWS", room)
    made, story, chance = Matrix(DIMENSION, 10**9), Story(), random.Random(3)
    for moment in range(10):
        step(made, story, chance, moment)
    old, known = made.snapshot, dict(story.nodes)
    alive = old.alive().copy()
    rows = {node: int(old.rows_of(np.array([node]))[0]) for node in known}

    for moment in range(10, 60):
        step(made, story, chance, moment)
        found = old.rows_of(np.arange(40))
        assert all(row in (NONE, rows.get(node, NONE)) for node, row in enumerate(found))
        living = np.flatnonzero(alive)
        for side in old.beside(living):
            assert side.max() < old.count
            assert alive[side[side != NONE]].all()
        assert (old.alive() == alive).all()
