"""What recall draws from an index, whatever that is built on: candidates, what is kept of them,
and how much there is to be found."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from madeleine.errors import Rejected
from madeleine.index.port import Index, IndexBatch, MemoryPut
from madeleine.index.search import CandidatePool, CandidateQuery
from madeleine.language.passages import split_passages
from madeleine.language.word_stems import find_stemmed_language, mark_stem
from madeleine.model.embedding import PassageEmbedding
from madeleine.model.memory import Memory, Origin
from madeleine.model.query import Filter
from madeleine.model.words import SELF_SOURCE, MemoryType, Tier
from madeleine.testing.engines import Maker
from madeleine.testing.index_port import filters, made_memories, passes
from madeleine.testing.making import (
    DIMENSION,
    NOON,
    TOKEN_DIMENSION,
    ids,
    keep,
    long_text,
    memory,
    memory_id,
    put,
    said,
    stored,
    tokens,
    trace,
    unit,
)

ANY = Filter()
ALL = Filter(outdated=True)
EAST, NORTH = unit(1, 0, 0, 0), unit(0, 1, 0, 0)

EXAMPLES = settings().max_examples * 2 // 3  # more with a profile of hypothesis that has more


def names(index: Index, pool: CandidatePool) -> list[str]:
    """The id of the memory at each place."""
    found = index.search.ids(pool.nodes.tolist())
    return [found[node] for node in pool.nodes.tolist()]


def drawn(index: Index, wanted: CandidateQuery, chosen: Filter = ANY) -> set[str]:
    """The ids of the candidates, without what is there for context only."""
    pool = index.search.pool(wanted, chosen, NOON)
    return {each for each, mine in zip(names(index, pool), pool.allowed, strict=True) if mine}


def column(index: Index, pool: CandidatePool, name: str) -> dict[str, Any]:
    """One column by id, of memories that have one passage."""
    return dict(zip(names(index, pool), getattr(pool, name).tolist(), strict=True))


def everything(index: Index, **wanted: Any) -> CandidatePool:
    return index.search.pool(CandidateQuery(**wanted), ALL, NOON)


def numbered(found: Iterable[int]) -> set[str]:
    return {memory_id(number) for number in found}


# --- sources ------------------------------------------------------------------------------


def with_a_crowd(index: Index, *puts: MemoryPut) -> None:
    """Fill an index so that drawing two from a source leaves most of it out."""
    crowd = [put(memory(number, f"crowd {number}"), unit(0, 0, 1, 1)) for number in range(100, 150)]
    index.write(IndexBatch(puts=[*crowd, *puts]))


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (CandidateQuery(words=["apples"], draw=2), [1]),
        (CandidateQuery(words=["apples", "pears"], draw=2), [1, 2]),
        (CandidateQuery(scan=EAST, near=EAST, focus=EAST, draw=1), [3]),
        (CandidateQuery(ids=[memory_id(4), memory_id(77)], draw=1), [4]),
        (CandidateQuery(tag="dear", draw=1), [5]),
        (CandidateQuery(newest=1, draw=1), [6]),
        (CandidateQuery(words=["apples"], scan=EAST, ids=[memory_id(4)], tag="dear", newest=1,
                        draw=1),
         [1, 3, 4, 5, 6]),
        (CandidateQuery(draw=1), []),
    ],
)  # fmt: skip
def test_every_source_brings_its_own(
    index: Index, wanted: CandidateQuery, expected: list[int]
) -> None:
    with_a_crowd(
        index,
        put(memory(1, "green apples"), NORTH),
        put(memory(2, "red pears"), NORTH),
        put(memory(3, "far off"), EAST),
        put(memory(4, "known by its id"), NORTH),
        put(memory(5, "about somebody", tags=("dear",)), NORTH),
        put(memory(6, "of just now", created=NOON), NORTH),
    )

    assert drawn(index, wanted) == numbered(expected)


def test_a_source_gives_its_best(index: Index) -> None:
    index.write(
        IndexBatch(
            puts=[
                put(memory(number, "tea " * number + "milk " * (9 - number)), unit(number, 9, 0, 0))
                for number in range(1, 9)
            ]
        )
    )

    assert drawn(index, CandidateQuery(words=["tea"], draw=3)) == numbered([6, 7, 8])
    assert drawn(index, CandidateQuery(scan=EAST, draw=2)) == numbered([7, 8])
    assert drawn(index, CandidateQuery(newest=4, draw=1)) == numbered([5, 6, 7, 8])


@pytest.mark.proves("I11")
@given(fields=made_memories, chosen=filters, draw=st.sampled_from([1, 3, 50]), talks=st.booleans())
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_every_source_obeys_every_filter(
    index: Index, fields: list[dict[str, Any]], chosen: Filter, draw: int, talks: bool
) -> None:
    memories = [
        memory(number, "a word", origin=Origin("s", number, "Ann") if talks else None, **each)
        for number, each in enumerate(fields)
    ]
    index.clear()
    index.write(IndexBatch(puts=[put(each, unit(1, 2, 3, 4)) for each in memories]))
    wanted = {each.id for each in memories if passes(each, chosen, NOON)}
    everyone = [each.id for each in memories]

    for asked in (
        CandidateQuery(words=["word"], draw=draw),
        CandidateQuery(scan=EAST, draw=draw),
        CandidateQuery(ids=everyone, draw=draw),
        CandidateQuery(tag="red", draw=draw),
        CandidateQuery(newest=4, draw=draw),
    ):
        found = drawn(index, asked, chosen)
        assert found <= wanted
        assert found == wanted or len(wanted) > draw
    assert drawn(index, CandidateQuery(ids=everyone, draw=draw), chosen) == wanted


def test_a_filter_that_lets_few_through_brings_all_of_them(index: Index) -> None:
    rare = [put(memory(number, "odd", type=MemoryType.GOAL)) for number in range(1, 6)]
    with_a_crowd(index, *rare)
    goals = Filter(types=(MemoryType.GOAL,))

    assert drawn(index, CandidateQuery(words=["crowd"], scan=EAST, draw=5), goals) == numbered(
        range(1, 6)
    )
    assert drawn(index, CandidateQuery(words=["crowd"], scan=EAST, draw=4), goals) == set()


def test_what_bears_the_tag_is_looked_for_inside_the_filter(index: Index) -> None:
    """Those that came sooner or later must not use up what may be drawn."""
    retired = [memory(number, tags=("me",), superseded_by=memory_id(9)) for number in range(20, 40)]
    keep(index, *retired[:10], memory(60, "current", tags=("me",)), *retired[10:])
    with_a_crowd(index)

    assert drawn(index, CandidateQuery(tag="me", draw=2)) == numbered([60])


@pytest.mark.proves("I11")
def test_one_that_bears_the_tag_is_found_behind_many_others_that_do(index: Index) -> None:
    wanted = memory(1, tags=("me",), type=MemoryType.GOAL)
    facts = [memory(number, tags=("me",)) for number in range(100, 2_200)]
    keep(index, wanted, *facts, *(memory(2_300 + n, type=MemoryType.GOAL) for n in range(5)))

    goals = Filter(types=(MemoryType.GOAL,))

    assert drawn(index, CandidateQuery(tag="me", draw=2), goals) == numbered([1])


@pytest.mark.parametrize("order", [1, -1])
def test_of_those_made_at_one_moment_the_newest_are_told_by_their_ids(
    index: Index, order: int
) -> None:
    """As in a listing, and whichever came into the index first."""
    twins = [memory(number, created=NOON) for number in range(1, 40)]
    keep(index, *twins[::order], memory(50))
    listed = [each.id for each in index.search.listing(ANY, NOON, 5)]

    assert drawn(index, CandidateQuery(newest=5, draw=1)) == set(listed) == numbered(range(35, 40))


def test_nothing_is_drawn_from_an_empty_index(index: Index) -> None:
    pool = index.search.pool(
        CandidateQuery(words=["x"], scan=EAST, ids=["y"], tag="z", newest=3), ANY, NOON
    )

    assert len(pool) == 0
    assert len(index.search.details(pool, np.arange(0)).stem_starts) == 1
    assert index.search.ids([]) == {}


@pytest.mark.parametrize(
    "term",
    ['"', '"x', "*", "x*", "NEAR(a b, 2)", "AND", "NOT", "title:x", "a\x00b", "\x00", "", "   ",
     "🙂", "-x", "{a b}:c", "(", "\ud800", "'; DROP TABLE nodes; --"],
)  # fmt: skip
def test_no_wanted_word_is_ever_taken_for_syntax(index: Index, term: str) -> None:
    with_a_crowd(index, put(memory(1, "ordinary words")))

    index.search.terms([term])

    assert memory_id(1) in drawn(index, CandidateQuery(words=[term, "ordinary"], draw=1))
    assert index.search.terms(["ordinary"])[0][0].holders == 1


# --- columns ------------------------------------------------------------------------------


def test_cosines_are_taken_with_both_directions(index: Index) -> None:
    vectors = {1: unit(1, 2, 0, 0), 2: unit(-1, 1, 1, 0), 3: None}
    index.write(IndexBatch(puts=[put(memory(number), each) for number, each in vectors.items()]))

    pool = everything(index, scan=EAST, near=EAST, focus=unit(0, 1, 1, 0))

    near, focus = column(index, pool, "near"), column(index, pool, "focus")
    for number, vector in vectors.items():
        expected = (0.0, 0.0) if vector is None else (vector @ EAST, vector @ unit(0, 1, 1, 0))
        found = near[memory_id(number)], focus[memory_id(number)]
        assert found == pytest.approx(expected, abs=0.001)
    assert column(index, pool, "embedded") == dict(
        zip(map(memory_id, (1, 2, 3)), (True, True, False), strict=True)
    )


def test_without_directions_all_cosines_are_nothing(index: Index) -> None:
    index.write(IndexBatch(puts=[put(memory(1, "tea"), EAST)]))

    pool = everything(index, words=["tea"])

    assert (pool.near.tolist(), pool.focus.tolist()) == ([0.0], [0.0])


def test_equal_vectors_have_equal_cosines_wherever_they_stand(index: Index) -> None:
    same = unit(0.3, 0.2, 0.9, 0.1)
    index.write(IndexBatch(puts=[put(memory(number), same) for number in range(1, 200)]))

    pool = everything(index, scan=same, near=same, focus=unit(1, 2, 3, 4), draw=1)

    assert len(set(pool.near.tolist())) == len(set(pool.focus.tolist())) == 1


def test_the_text_column_is_what_searching_for_the_words_scores(index: Index) -> None:
    keep(
        index,
        memory(1, "green apples"),
        memory(2, "nothing of the kind", title="Apples"),
        memory(3, "red plums"),
    )

    found = column(index, everything(index, words=["apples", "green"]), "text")

    hits = {
        hit.id: hit.score for hit in index.search.search_text(["apples", "green"], ALL, NOON, 9)
    }
    assert found == pytest.approx(hits | {memory_id(3): 0.0}, rel=1e-5)
    assert found[memory_id(2)] > 0


def test_what_is_outdated_is_told_as_of_the_moment_asked_about(index: Index) -> None:
    yesterday, tomorrow = NOON - timedelta(days=1), NOON + timedelta(days=1)
    keep(
        index,
        memory(1),
        memory(2, valid_until=NOON),
        memory(3, valid_until=tomorrow),
        memory(4, superseded_by=memory_id(9)),
        memory(5, superseded_by=memory_id(9), valid_until=NOON),
        memory(6, superseded_by=memory_id(9), valid_until=tomorrow),
    )

    def outdated(chosen: Filter) -> set[str]:
        found = column(index, index.search.pool(CandidateQuery(), chosen, NOON), "outdated")
        return {memory_id for memory_id, passed in found.items() if passed}

    assert outdated(ALL) == numbered([2, 4, 5, 6])
    assert outdated(replace(ALL, as_of=yesterday)) == numbered([4])
    assert outdated(replace(ALL, as_of=NOON)) == numbered([2, 4, 5])
    assert outdated(ANY) == outdated(Filter(as_of=NOON)) == set()


def test_the_asker_s_own_space_and_the_global_one_are_the_same_space(index: Index) -> None:
    keep(index, memory(1), memory(2, space="atlas"), memory(3, space="blog"))

    def same(space: str | None) -> set[str]:
        found = column(index, everything(index, space=space), "same_space")
        return {memory_id for memory_id, mine in found.items() if mine}

    assert same("atlas") == numbered([1, 2])
    assert same("unheard") == numbered([1])
    assert same(None) == numbered([1, 2, 3])


def test_on_a_branch_the_project_s_space_is_the_same_and_not_the_other_way(index: Index) -> None:
    keep(
        index,
        memory(1),
        memory(2, space="atlas"),
        memory(3, space="atlas#tiles"),
        memory(4, space="atlas#roads"),
    )

    def same(space: str) -> set[str]:
        found = column(index, everything(index, space=space), "same_space")
        return {memory_id for memory_id, mine in found.items() if mine}

    assert same("atlas#tiles") == numbered([1, 2, 3])
    assert same("atlas") == numbered([1, 2])


def test_the_wanted_tag_is_told_however_a_memory_was_found(index: Index) -> None:
    keep(index, memory(1, tags=("me", "x")), memory(2, tags=("x",)), memory(3))

    assert column(index, everything(index, tag="me"), "tagged") == {
        memory_id(1): True,
        memory_id(2): False,
        memory_id(3): False,
    }
    assert not everything(index).tagged.any()


def test_what_is_known_of_a_memory_stands_in_its_columns(index: Index) -> None:
    first = memory(1, "Is it 7 o'clock, Anna?", tier=Tier.CORE)
    keep(index, first, said(2, 5, "Ann"), said(3, None, tier=Tier.ARCHIVAL))

    pool = everything(index)

    assert column(index, pool, "tier") == {
        memory_id(1): list(Tier).index(Tier.CORE),
        memory_id(2): list(Tier).index(Tier.WORKING),
        memory_id(3): list(Tier).index(Tier.ARCHIVAL),
    }
    micros = round(first.created.timestamp() * 1_000_000)
    assert column(index, pool, "created")[first.id] == micros
    assert list(column(index, pool, "turn").values()) == [-1, 5, -1]
    assert column(index, pool, "words")[first.id] == 5
    assert column(index, pool, "capitals")[first.id] == 1
    assert column(index, pool, "traits")[first.id] > 0


# --- conversations ------------------------------------------------------------------------


def talk(*numbers: int, session: str = "s", **fields: Any) -> list[Memory]:
    return [said(each, each, ("Ann", "Ben")[each % 2], session, **fields) for each in numbers]


def around(index: Index, pool: CandidatePool) -> dict[str, tuple[str | None, str | None]]:
    """The ids before and after each memory, as far as they are in the pool."""
    named = names(index, pool)

    def at(place: int) -> str | None:
        return None if place < 0 else named[place]

    sides = zip(pool.before.tolist(), pool.after.tolist(), strict=True)
    return {
        each: (at(before), at(after)) for each, (before, after) in zip(named, sides, strict=True)
    }


def test_two_on_either_side_come_along_and_are_no_answers(index: Index) -> None:
    keep(index, *talk(*range(1, 10)), memory(50, "a note"))
    index.write(IndexBatch(puts=[put(replace(talk(5)[0], tier=Tier.CORE))]))

    pool = index.search.pool(CandidateQuery(), Filter(tiers=(Tier.CORE,)), NOON)

    assert sorted(names(index, pool)) == sorted(numbered(range(3, 8)))
    assert [each for each, mine in column(index, pool, "allowed").items() if mine] == [memory_id(5)]
    three, four, five, six, seven = (memory_id(each) for each in range(3, 8))
    assert around(index, pool) == {
        three: (None, four),
        four: (three, five),
        five: (four, six),
        six: (five, seven),
        seven: (six, None),
    }


def test_neighbours_come_along_whatever_the_source(index: Index) -> None:
    keep(index, *talk(*range(1, 8)), *talk(*range(11, 18), session="other"))
    odd, far = said(4, 4, "Ann", content="zebra"), talk(14, session="other")[0]
    with_a_crowd(index, put(odd), put(far, EAST))

    by_word = index.search.pool(CandidateQuery(words=["zebra"], draw=1), ANY, NOON)
    by_meaning = index.search.pool(CandidateQuery(scan=EAST, draw=1), ANY, NOON)
    by_id = index.search.pool(CandidateQuery(ids=[memory_id(1), memory_id(100)], draw=1), ANY, NOON)

    assert set(names(index, by_word)) == numbered(range(2, 7))
    assert set(names(index, by_meaning)) == numbered(range(12, 17))
    assert set(names(index, by_id)) == numbered([1, 2, 3, 100])


def test_turns_are_ordered_by_number_then_by_time(index: Index) -> None:
    later = NOON + timedelta(hours=1)
    keep(
        index,
        said(4, 7),
        said(3, 2, created=later),
        said(1, 1, created=later),
        said(2, 2, created=NOON),
    )

    one, two, three, four = (memory_id(each) for each in range(1, 5))
    assert around(index, everything(index)) == {
        one: (None, two),
        two: (one, three),
        three: (two, four),
        four: (three, None),
    }


@pytest.mark.parametrize("written", [*permutations((1, 2, 3)), (4, 2, 3, 1), (2, 4, 1, 3)])
@pytest.mark.parametrize("turn", [5, None])
def test_of_one_turn_and_time_the_ids_decide_whichever_was_written_first(
    index: Index, written: tuple[int, ...], turn: int | None
) -> None:
    """Else a rebuild, which writes them in another order, would give other answers."""
    for each in written:
        keep(index, said(each, turn, "Ann", created=NOON))

    assert around(index, everything(index)) == in_a_row(sorted(written))


def test_a_turn_that_is_written_anew_keeps_its_place_among_its_equals(index: Index) -> None:
    keep(index, *(said(each, 5, "Ann", created=NOON) for each in (1, 2, 3)))

    keep(index, said(1, 5, "Ben", content="other words", created=NOON))
    index.write(IndexBatch(drops=[memory_id(2)]))
    keep(index, said(2, 5, "Ann", created=NOON))

    assert around(index, everything(index)) == in_a_row([1, 2, 3])


def in_a_row(numbers: Sequence[int]) -> dict[str, tuple[str | None, str | None]]:
    """What `around` says of memories that follow each other like this."""
    ids = [None, *map(memory_id, numbers), None]
    return {str(ids[at]): (ids[at - 1], ids[at + 1]) for at in range(1, len(ids) - 1)}


def test_a_turn_that_goes_leaves_its_neighbours_side_by_side(index: Index) -> None:
    keep(index, *talk(1, 2, 3))

    index.write(IndexBatch(drops=[memory_id(2)]))

    links = around(index, everything(index))
    assert links == {memory_id(1): (None, memory_id(3)), memory_id(3): (memory_id(1), None)}


def test_a_session_is_one_conversation_of_one_space(index: Index) -> None:
    keep(
        index,
        *talk(1, 2),
        *talk(3, 4, session="other"),
        *talk(5, 6, space="atlas"),
        memory(7),
        memory(8),
    )

    pool = everything(index)

    session = column(index, pool, "session")
    together: dict[int, set[str]] = {}
    for each, code in session.items():
        together.setdefault(code, set()).add(each)
    pairs = [numbered(pair) for pair in ([1, 2], [3, 4], [5, 6], [7], [8])]
    assert sorted(map(sorted, together.values())) == sorted(map(sorted, pairs))


def test_at_least_two_speakers_make_a_talk(index: Index) -> None:
    keep(
        index,
        *talk(1, 2),
        said(3, 1, "Ann", session="alone"),
        said(4, 2, "ANN", session="alone"),
        said(5, 1, "user", session="roles"),
        said(6, 2, "assistant", session="roles"),
        memory(7),
    )
    found = column(index, everything(index), "talk")
    assert {each for each, talks in found.items() if talks} == numbered([1, 2])

    index.write(IndexBatch(drops=[memory_id(1)]))
    keep(index, said(4, 2, "Ben", session="alone"))

    found = column(index, everything(index), "talk")
    assert {each for each, talks in found.items() if talks} == numbered([3, 4])


def test_speakers_are_known_by_the_words_of_their_names(index: Index) -> None:
    keep(
        index,
        said(1, 1, "Melanie Ann"),
        said(2, 2, "ann lee"),
        said(3, 3, "Ann Lee", session="other"),
        said(4, 4, "assistant"),
        said(5, 5),
        memory(6),
    )

    speaker = column(index, everything(index), "speaker")
    speakers, short = index.search.extent().speakers, index.search.extent().short_names

    one, two, three, *others = (speaker[memory_id(each)] for each in range(1, 7))
    assert one != two == three
    assert others == [-1, -1, -1]
    assert {word: set(codes) for word, codes in speakers.items()} == {
        "melanie": {one},
        "ann": {one, two},
        "lee": {two},
    }
    assert {word: list(codes) for word, codes in short.items()} == {"mel": [one]}


# --- long memories ------------------------------------------------------------------------

THREE = long_text("about apples", "about pears", "about plums")


def long_one(number: int = 1, **fields: Any) -> Memory:
    made = memory(number, THREE, **fields)
    assert len(split_passages(made)) == 3
    return made


def test_a_long_memory_has_a_place_for_each_passage(index: Index) -> None:
    index.write(IndexBatch(puts=[put(long_one(), EAST, NORTH, unit(0, 0, 1, 0))]))

    pool = everything(index, words=["plums"], near=NORTH)

    assert len(pool) == len(set(pool.numbers.tolist())) == 3
    assert len(set(pool.nodes.tolist())) == len(set(pool.session.tolist())) == 1
    assert pool.near.tolist() == pytest.approx([0, 1, 0], abs=0.001)
    assert len(set(pool.text.tolist())) == 1
    assert pool.text[0] > 0
    held = index.search.details(pool, np.arange(3))
    (plums,) = index.search.terms(["plums"])[0]
    assert [plums.stem in part for part in np.split(held.stems, held.stem_starts[1:-1])] == [
        False,
        False,
        True,
    ]


@pytest.mark.parametrize(
    "wanted",
    [
        CandidateQuery(words=["plums"], draw=1),
        CandidateQuery(ids=[memory_id(1)], draw=1),
        CandidateQuery(tag="dear", draw=1),
    ],
)
def test_a_long_memory_that_is_found_comes_with_all_its_passages(
    index: Index, wanted: CandidateQuery
) -> None:
    """Which of them holds the word is known only when they are compared."""
    with_a_crowd(index, put(long_one(tags=("dear",))))

    pool = index.search.pool(wanted, ANY, NOON)

    assert names(index, pool) == [memory_id(1)] * 3


def test_a_passage_is_drawn_by_its_own_meaning(index: Index) -> None:
    with_a_crowd(index, put(long_one(), NORTH, EAST, NORTH))

    pool = index.search.pool(CandidateQuery(scan=EAST, near=EAST, draw=1), ANY, NOON)

    assert names(index, pool) == [memory_id(1)]
    assert pool.near.tolist() == pytest.approx([1], abs=0.001)
    assert index.search.search_vector(EAST, ANY, NOON, 1)[0].id == memory_id(1)


def test_the_newest_are_memories_and_not_passages(index: Index) -> None:
    with_a_crowd(index, put(long_one(created=NOON)), put(memory(2, created=NOON)))

    assert drawn(index, CandidateQuery(newest=2, draw=1)) == numbered([1, 2])


def test_long_memories_do_not_crowd_out_the_others(index: Index) -> None:
    """A search for ten memories finds ten, though hundreds of passages come before the last."""
    book = long_text(*(f"page {number}" for number in range(50)))
    count = len(split_passages(memory(1, book)))
    long = [put(memory(number, book), *([EAST] * count)) for number in range(1, 6)]
    short = [put(memory(number), unit(1, 0.1 * number, 0, 0)) for number in range(6, 11)]

    index.write(IndexBatch(puts=[*long, *short]))

    found = ids(index.search.search_vector(EAST, ANY, NOON, 10))
    assert found == [memory_id(number) for number in range(1, 11)]


def test_a_long_memory_goes_and_changes_whole(index: Index) -> None:
    index.write(
        IndexBatch(puts=[put(long_one(), EAST, EAST, EAST), put(long_one(2), EAST, EAST, EAST)])
    )

    index.write(
        IndexBatch(
            puts=[
                MemoryPut(stored(long_one(1, tier=Tier.CORE)), keep_traces=True),
                put(memory(2, "short now"), NORTH),
            ]
        )
    )

    pool = everything(index, near=EAST)
    found = zip(names(index, pool), pool.tier.tolist(), np.round(pool.near, 2), strict=True)
    core, working = list(Tier).index(Tier.CORE), list(Tier).index(Tier.WORKING)
    assert sorted(found) == [*[(memory_id(1), core, 1.0)] * 3, (memory_id(2), working, 0.0)]
    index.write(IndexBatch(drops=[memory_id(1)]))
    assert names(index, everything(index)) == [memory_id(2)]


def test_traces_are_given_later_to_all_passages_or_to_none(index: Index) -> None:
    keep(index, long_one(), memory(2), memory(3))
    east = trace(EAST)

    index.set_traces({memory_id(1): [east, east], memory_id(2): [east, east], memory_id(3): []})
    assert index.search.unembedded_ids(9) == [memory_id(each) for each in (1, 2, 3)]
    assert not everything(index).embedded.any()

    index.set_traces({memory_id(1): [east, trace(NORTH), east], memory_id(2): [east, east]})
    assert index.search.unembedded_ids(9) == [memory_id(2), memory_id(3)]
    pool = everything(index, near=NORTH)
    mine = np.array(names(index, pool)) == memory_id(1)
    assert pool.near[mine].tolist() == pytest.approx([0, 1, 0], abs=0.001)
    assert pool.embedded.tolist() == mine.tolist()


def test_a_put_with_a_wrong_number_of_traces_is_rejected(index: Index) -> None:
    with pytest.raises(Rejected, match="2 traces for 3 passages"):
        index.write(IndexBatch(puts=[put(long_one(), EAST, EAST)]))

    assert index.search.counts().memories == 0


@pytest.mark.parametrize("width", [TOKEN_DIMENSION - 1, TOKEN_DIMENSION + 1])
def test_tokens_that_cannot_be_the_model_s_are_rejected(index: Index, width: int) -> None:
    keep(index, memory(1))
    odd = PassageEmbedding(EAST, np.ones((2, width), np.int8))

    with pytest.raises(Rejected):
        index.set_traces({memory_id(1): [odd]})
    with pytest.raises(Rejected):
        index.write(IndexBatch(puts=[MemoryPut(stored(memory(2)), [odd])]))

    assert index.search.unembedded_ids(5) == [memory_id(1)]


# --- what is kept of passages -------------------------------------------------------------


@dataclass(frozen=True)
class Held:
    """The details of one place."""

    stems: list[int]
    tokens: list[list[int]]


def held(index: Index, pool: CandidatePool, places: list[int] | None = None) -> list[Held]:
    """The details of each place, cut apart."""
    wanted = np.arange(len(pool)) if places is None else np.array(places, np.int64)
    found = index.search.details(pool, wanted)
    assert len(found.stem_starts) == len(found.token_starts) == len(wanted) + 1
    stems = np.split(found.stems, found.stem_starts[1:-1])
    kept = np.split(found.tokens, found.token_starts[1:-1])
    return [Held(one.tolist(), two.tolist()) for one, two in zip(stems, kept, strict=True)][
        : len(wanted)
    ]


def stems_by_id(index: Index) -> dict[str, list[int]]:
    """The stems of all memories, each of one passage."""
    pool = everything(index)
    kept = held(index, pool)
    return {name: each.stems for name, each in zip(names(index, pool), kept, strict=True)}


def stems_of(index: Index, *words: str) -> list[int]:
    return [term.stem for found in index.search.terms(words) for term in found]


def test_details_are_those_of_each_place_in_the_order_asked_for(index: Index) -> None:
    kept = tokens((1, 2, 3), (-4, 5, -127))
    index.write(
        IndexBatch(
            puts=[
                MemoryPut(stored(memory(1, "green apples", title="Fruit")), [trace(EAST, kept)]),
                put(memory(2, "red pears, green pears")),
                MemoryPut(stored(memory(3, "...")), [trace(NORTH, tokens((7, 8, 9)))]),
                put(memory(4, "plums"), EAST),
            ]
        )
    )
    pool = everything(index)
    place = {each: number for number, each in enumerate(names(index, pool))}
    order = [place[memory_id(each)] for each in (4, 3, 2, 1, 2)]

    found = held(index, pool, order)

    pears = Held(stems_of(index, "red", "pears", "green", "pears"), [])
    assert found == [
        Held(stems_of(index, "plums"), []),
        Held([], [[7, 8, 9]]),
        pears,
        Held(stems_of(index, "fruit", "green", "apples"), [[1, 2, 3], [-4, 5, -127]]),
        pears,
    ]


def test_details_of_what_is_gone_or_changed_are_those_of_now(index: Index) -> None:
    puts = [
        MemoryPut(stored(memory(each, "green apples")), [trace(EAST, tokens((each, 0, 0)))])
        for each in (1, 2, 3)
    ]
    index.write(IndexBatch(puts=puts))
    pool = everything(index)
    before = held(index, pool)
    assert [each.tokens for each in before] == [[[1, 0, 0]], [[2, 0, 0]], [[3, 0, 0]]]

    index.write(IndexBatch(puts=[put(memory(2, "red pears"))], drops=[memory_id(1)]))

    expected = [Held([], []), Held(stems_of(index, "red", "pears"), []), before[2]]
    assert held(index, pool) == expected
    index.set_traces({memory_id(2): [trace(NORTH, tokens((9, 9, 9)))]})
    assert held(index, pool)[1].tokens == [[9, 9, 9]]
    index.clear()
    assert held(index, pool) == [Held([], [])] * 3


def test_ids_are_told_of_the_nodes_that_are_there(index: Index) -> None:
    keep(index, memory(1), memory(2))
    nodes = everything(index).nodes.tolist()

    index.write(IndexBatch(drops=[memory_id(1)]))

    assert set(index.search.ids([*nodes, 999]).values()) == numbered([2])


# --- how common words are -----------------------------------------------------------------


def holders(index: Index, word: str) -> list[int]:
    (found,) = index.search.terms([word])
    return [term.holders for term in found]


def test_a_word_is_held_by_the_memories_that_say_it(index: Index) -> None:
    keep(
        index,
        memory(1, "green boxes, green box"),
        memory(2, "a box", title="green"),
        memory(3, "nothing", tags=("green",)),
    )

    assert holders(index, "green") == [3]
    assert holders(index, "box") == holders(index, "boxes") == holders(index, "BOX") == [2]
    assert holders(index, "unseen") == [0]
    assert index.search.terms([]) == []
    assert index.search.terms(["", "?"]) == [(), ()]


def test_of_many_words_those_are_known_that_stand_somewhere(index: Index) -> None:
    keep(index, memory(1, "green boxes"), memory(2, "went to see the box"))
    words = ["box", "unseen", "green", "going", "", "two words", "grün"]

    assert index.search.known_words([]) == {}
    known = index.search.known_words(words)

    assert set(known) == {"box", "green", "going"}
    assert known["box"].stem == index.search.terms(["boxes"])[0][0].stem
    assert known["going"].stem == index.search.terms(["went"])[0][0].stem


def test_a_word_is_known_as_soon_as_it_is_written(index: Index) -> None:
    keep(index, memory(1, "green boxes"))
    assert index.search.known_words(["lantern", "green"]).keys() == {"green"}

    keep(index, memory(2, "a green lantern"))

    known = index.search.known_words(["lantern", "green"])
    assert known["lantern"] == index.search.terms(["lantern"])[0][0]
    assert known["green"].holders in (1, 2)


def test_irregular_forms_stand_for_one_another(index: Index) -> None:
    keep(index, memory(1, "we go there"), memory(2, "she went"), memory(3, "gone"), memory(4, "x"))

    assert holders(index, "go") == holders(index, "went") == holders(index, "goes") == [3]
    assert stems_of(index, "go") == stems_of(index, "went") == stems_of(index, "gone")


def test_pairs_of_letters_stand_for_words_where_there_are_no_spaces(index: Index) -> None:
    keep(index, memory(1, "私は猫が好きです"), memory(2, "犬が好き"), memory(3, "english"))

    assert holders(index, "猫が好き") == [1, 2, 2]
    assert holders(index, "が好") == [2]
    assert holders(index, "鳥は") == [0]


def test_a_letter_that_is_a_word_is_held_wherever_it_stands(index: Index) -> None:
    keep(index, memory(1, "私は猫が好きです"), memory(2, "猫"), memory(3, "黒猫"), memory(4, "犬"))

    assert holders(index, "猫") == [3]
    (cat,) = stems_of(index, "猫")
    assert [cat in each.stems for each in held(index, everything(index))] == [True] * 3 + [False]


def test_a_word_that_touches_letters_without_spaces_is_a_word(index: Index) -> None:
    keep(index, memory(1, "Pythonの入門書"), memory(2, "no snakes"))

    assert holders(index, "python") == [1]
    (python,) = stems_of(index, "python")
    assert [python in each.stems for each in held(index, everything(index))] == [True, False]


SPELLINGS = [
    ("the ﬁle is lost", "file"),
    ("ＡＢＣ株式会社", "abc"),
    ("the ＡＢＣ company", "abc"),
    ("a room of 20 m²", "m2"),
    ("ﻻ شيء", "لا"),
]


@pytest.mark.parametrize(("text", "word"), SPELLINGS)
@pytest.mark.parametrize("where", ["content", "title", "tags"])
def test_letters_that_only_look_otherwise_are_the_same_letters(
    index: Index, text: str, word: str, where: str
) -> None:
    """Ligatures, full-width letters, presentation forms: questions come in plain ones."""
    said = {
        "content": memory(1, text),
        "title": memory(1, title=text),
        "tags": memory(1, tags=(text,)),
    }
    keep(index, said[where], memory(2, "something else"))

    assert ids(index.search.search_text([word], ANY, NOON, 5)) == [memory_id(1)]
    language = find_stemmed_language(text)
    asked = [word] if language is None else [word, mark_stem(word, language)]
    known = [term for (term, *_) in index.search.terms(asked) if term.holders]
    assert [each.holders for each in known] in ([1], [1, 1])
    if where != "tags":
        assert {each.stem for each in known} & set(stems_by_id(index)[memory_id(1)])


def test_letters_taken_apart_from_their_accents_count_once(index: Index) -> None:
    keep(index, memory(1, "cafe\u0301 noir"), memory(2, "café noir"))

    taken_apart, whole = index.search.search_text(["café"], ANY, NOON, 5)

    assert taken_apart.score == whole.score


def test_an_emoji_is_a_word_of_its_own(index: Index) -> None:
    keep(index, memory(1, "for Ada’s birthday🍰🎂"), memory(2, "no cake"), memory(3, "🎂"))
    keep(index, memory(4, "a new🦊one ❤️here"))

    for word in ("🦊", "new", "one", "❤", "here"):
        assert ids(index.search.search_text([word], ANY, NOON, 5)) == [memory_id(4)]
        ((term,),) = index.search.terms([word])
        assert term.stem in stems_by_id(index)[memory_id(4)]
        assert term.holders == 1
    assert ids(index.search.search_text(["🍰"], ANY, NOON, 5)) == [memory_id(1)]
    assert set(ids(index.search.search_text(["🎂"], ANY, NOON, 5))) == numbered([1, 3])
    assert ids(index.search.search_text(["birthday"], ANY, NOON, 5)) == [memory_id(1)]
    ((cake,), (candles,), (fox,)) = index.search.terms(["🍰", "🎂", "🦊"])
    assert [cake.holders, candles.holders, fox.holders] == [1, 2, 1]
    assert cake.stem in stems_by_id(index)[memory_id(1)]


def test_who_said_it_and_when_counts_as_words(index: Index) -> None:
    spoken = said(1, 1, "Melanie")
    with_a_crowd(index, put(spoken), put(said(2, 1, "Ann", session="other")))

    assert holders(index, "melanie") == [1]
    assert drawn(index, CandidateQuery(words=["melanie"], draw=1)) == numbered([1])
    month = f"{spoken.created:%B}"
    assert drawn(index, CandidateQuery(words=[month], draw=2)) == numbered([1, 2])


def test_what_goes_or_changes_no_longer_holds_its_words(index: Index) -> None:
    keep(index, *(memory(number, "green tea") for number in range(1, 5)))

    index.write(IndexBatch(drops=[memory_id(1)], puts=[put(memory(2, "black tea"))]))

    assert holders(index, "green") == [2]
    assert holders(index, "tea") == [3]
    index.clear()
    assert holders(index, "tea") == [0]


def what_stands(index: Index) -> tuple[object, ...]:
    return (
        index.search.terms(["green", "lantern"]),
        index.search.tags("colo", 5),
        index.search.unembedded_ids(9),
        index.graph.self_id(),
    )


def test_what_was_asked_before_is_answered_as_it_is_now(index: Index) -> None:
    """Whatever is kept of one state of the index must not answer for the next."""
    keep(index, memory(1, "green tea", tags=("colour",)), memory(2, "a green lantern"))
    assert holders(index, "green") == [2]
    assert index.search.known_words(["lantern"])["lantern"].holders == 1
    assert what_stands(index) == what_stands(index)
    assert what_stands(index)[1:] == ([("colour", 1)], [memory_id(1), memory_id(2)], None)

    keep(index, memory(1, "black tea"), memory(3, "me", source=SELF_SOURCE, tags=("colours",)))
    assert (holders(index, "green"), holders(index, "tea")) == ([1], [1])
    assert what_stands(index)[1:] == (
        [("colours", 1)],
        [memory_id(n) for n in (1, 2, 3)],
        memory_id(3),
    )

    index.write(IndexBatch(drops=[memory_id(2), memory_id(3)]))
    assert holders(index, "green") == [0]
    assert index.search.known_words(["lantern"]) == {}
    assert what_stands(index)[1:] == ([], [memory_id(1)], None)

    index.set_traces({memory_id(1): [trace(EAST)]})
    assert what_stands(index)[1:] == ([], [], None)


# --- how much there is --------------------------------------------------------------------


def test_the_extent_follows_puts_revisions_and_drops(index: Index) -> None:
    assert (index.search.extent().memories, index.search.extent().mean_words) == (0, 0.0)

    keep(index, memory(1, "two words"), said(2, 1, "Ann", content="four words are these"))
    extent = index.search.extent()
    assert (extent.memories, extent.mean_words, set(extent.speakers)) == (2, 3.0, {"ann"})

    keep(index, memory(1, "now there are six words here"), said(2, 1, "Ben", content="four or 5 6"))
    extent = index.search.extent()
    assert (extent.memories, extent.mean_words, set(extent.speakers)) == (2, 5.0, {"ben"})

    index.write(IndexBatch(drops=[memory_id(2)]))
    extent = index.search.extent()
    assert (extent.memories, extent.mean_words, dict(extent.speakers)) == (1, 6.0, {})
    index.clear()
    assert (index.search.extent().memories, index.search.extent().mean_words) == (0, 0.0)


def test_of_a_long_memory_the_first_passage_says_how_long_it_is(index: Index) -> None:
    made = long_one()

    keep(index, made)

    first = split_passages(made)[0]
    assert index.search.extent().mean_words == len(made.content[: first.end].split())
    assert index.search.extent().memories == 1


def test_letters_without_spaces_count_as_words(index: Index) -> None:
    """Else a Japanese memory would be one word long and everything in it too long."""
    keep(index, memory(1, "私は猫が好きです"))

    pool = everything(index)
    length = len(held(index, pool)[0].stems)
    assert index.search.extent().mean_words == pytest.approx(length, abs=1)


def test_a_refused_batch_introduces_nobody(index: Index) -> None:
    bad = put(memory(2), np.ones(7, np.float32))

    with pytest.raises(Rejected):
        index.write(IndexBatch(puts=[put(said(1, 1, "Ann"), EAST), bad]))

    extent = index.search.extent()
    assert (extent.memories, extent.mean_words, dict(extent.speakers)) == (0, 0.0, {})


# --- models -------------------------------------------------------------------------------


def read_by_a_model(make_index: Maker, folder: Path) -> None:
    first = make_index(folder)
    spoken = [
        MemoryPut(stored(each), [trace(EAST, tokens((1, 2, 3)))])
        for each in talk(1, 2, 3, content="green apples")
    ]
    first.write(IndexBatch(puts=[*spoken, put(memory(4, "red pears"))]))
    first.close()


def test_without_a_model_words_and_neighbours_are_there(make_index: Maker, tmp_path: Path) -> None:
    read_by_a_model(make_index, tmp_path)

    plain = make_index(tmp_path, model=None)
    with_a_crowd_of_words = [memory(number, "crowd") for number in range(100, 120)]
    keep(plain, *with_a_crowd_of_words, said(2, 2, "Ann", content="zebra"))
    pool = plain.search.pool(
        CandidateQuery(words=["zebra"], scan=EAST, near=EAST, draw=2), ANY, NOON
    )

    assert set(names(plain, pool)) == numbered([1, 2, 3])
    assert around(plain, pool)[memory_id(2)] == (memory_id(1), memory_id(3))
    assert not pool.embedded.any()
    assert not pool.near.any()
    assert [each.tokens for each in held(plain, pool)] == [[], [], []]
    (zebra,) = stems_of(plain, "zebra")
    assert [zebra in each.stems for each in held(plain, pool)].count(True) == 1
    plain.close()


def test_traces_wait_for_their_model_to_come_back(make_index: Maker, tmp_path: Path) -> None:
    read_by_a_model(make_index, tmp_path)
    plain = make_index(tmp_path, model=None)
    moved = said(3, 9, "Ben", content="green apples", tier=Tier.CORE)
    plain.write(IndexBatch(puts=[MemoryPut(stored(moved), keep_traces=True)]))
    plain.close()

    again = make_index(tmp_path)

    assert again.search.unembedded_ids(9) == [memory_id(4)]
    pool = again.search.pool(CandidateQuery(near=EAST), Filter(tiers=(Tier.CORE,)), NOON)
    place = names(again, pool).index(memory_id(3))
    assert held(again, pool)[place].tokens == [[1, 2, 3]]
    assert pool.near[place] == pytest.approx(1, abs=0.001)
    again.close()


@pytest.mark.parametrize(
    "other", [{"model": "another"}, {"token_dimension": TOKEN_DIMENSION + 1}], ids=str
)
def test_for_another_model_everything_is_unread(
    make_index: Maker, tmp_path: Path, other: dict[str, Any]
) -> None:
    read_by_a_model(make_index, tmp_path)

    opened = make_index(tmp_path, **other)

    assert opened.search.unembedded_ids(9) == [memory_id(each) for each in (1, 2, 3, 4)]
    pool = everything(opened, words=["apples"], near=EAST)
    assert not pool.embedded.any()
    assert [each.tokens for each in held(opened, pool)] == [[]] * 4
    assert drawn(opened, CandidateQuery(words=["apples"], draw=1)) == numbered([1, 2, 3])
    opened.close()


# --- order and time -----------------------------------------------------------------------


@dataclass
class Story:
    """Memories that are put, revised and dropped at random, with what is left at the end."""

    chance: random.Random
    left: dict[str, MemoryPut] = field(default_factory=dict)

    def batch(self) -> IndexBatch:
        drops = [each for each in self.left if self.chance.random() < 0.05]
        puts = {each.stored.memory.id: each for each in map(self._put, range(4))}
        kept = [self._kept(each) for each in list(self.left)[:2] if each not in (*drops, *puts)]
        for each in drops:
            del self.left[each]
        self.left |= puts
        return IndexBatch(puts=[*puts.values(), *kept], drops=drops)

    def _put(self, _: int) -> MemoryPut:
        number = self.chance.randrange(1, 40)
        words = " ".join(self.chance.choices(("tea", "went", "go", "猫が好き", "Ann", "7"), k=5))
        content = long_text(words, f"about {number}") if number % 9 == 0 else words
        made = memory(
            number,
            content,
            title=self.chance.choice((None, "Tea time")),
            tier=self.chance.choice(list(Tier)),
            space=self.chance.choice((None, "atlas")),
            tags=tuple(self.chance.sample(("me", "x"), 1)),
            superseded_by=self.chance.choice((None, None, memory_id(1))),
            origin=self._origin(number),
        )
        return MemoryPut(stored(made), self._traces(len(split_passages(made))))

    def _origin(self, number: int) -> Origin | None:
        session = self.chance.choice((None, "one", "two"))
        speaker = self.chance.choice((None, "Ann", "Ben Lee", "user"))
        turn = self.chance.choice((None, number, 7))
        return None if session is None else Origin(session, turn, speaker)

    def _traces(self, count: int) -> list[PassageEmbedding]:
        if self.chance.random() < 0.3:
            return []
        rows = [self.chance.choices(range(-9, 9), k=TOKEN_DIMENSION) for _ in range(2)]
        vectors = [self.chance.choices((-1.0, 0.5, 1.0), k=DIMENSION) for _ in range(count)]
        kept = np.array(rows, np.int8)
        return [trace(unit(*each), kept) for each in vectors]

    def _kept(self, memory_id: str) -> MemoryPut:
        """Put a memory again with another tier and what a model made of it before."""
        before = self.left[memory_id]
        made = replace(before.stored.memory, tier=Tier.CORE)
        self.left[memory_id] = MemoryPut(stored(made), before.traces)
        return MemoryPut(stored(made), keep_traces=True)


def told(index: Index, wanted: CandidateQuery, chosen: Filter) -> dict[object, object]:
    """All that a pool and its details say, without the numbers that an engine is free to give."""
    pool = index.search.pool(wanted, chosen, NOON)
    named = names(index, pool)
    parts = [named[:place].count(each) for place, each in enumerate(named)]
    keys = list(zip(named, parts, strict=True))
    sessions: dict[int, set[str]] = {}
    for each, code in zip(named, pool.session.tolist(), strict=True):
        sessions.setdefault(code, set()).add(each)
    speakers = {
        code: {word for word, codes in index.search.extent().speakers.items() if code in codes}
        for code in pool.speaker.tolist()
    }
    details = held(index, pool)
    plain = ("allowed", "embedded", "talk", "turn", "created", "tier", "same_space", "outdated",
             "tagged", "traits", "capitals", "words")  # fmt: skip
    return {
        key: (
            [getattr(pool, name)[place].item() for name in plain],
            [round(float(getattr(pool, name)[place]), 4) for name in ("text", "near", "focus")],
            [None if at < 0 else keys[at] for at in (pool.before[place], pool.after[place])],
            sessions[int(pool.session[place])],
            speakers[int(pool.speaker[place])],
            details[place],
        )
        for place, key in enumerate(keys)
    }


def all_told(index: Index) -> list[object]:
    extent = index.search.extent()
    some = CandidateQuery(
        ["tea", "猫が", "ann"], unit(1, 2, 0, 0), EAST, NORTH, [memory_id(3)], "me", 2
    )
    return [
        told(index, replace(some, space="atlas"), ALL),
        told(index, replace(some, draw=4), ANY),
        told(index, some, Filter(tiers=(Tier.CORE,))),
        index.search.terms(["tea", "go", "went", "猫が好き", "猫", "7", "ben"]),
        (extent.memories, round(extent.mean_words, 6)),
        (set(extent.speakers), set(extent.short_names)),
        set(index.search.unembedded_ids(99)),
    ]


@pytest.mark.proves("I2")
@pytest.mark.parametrize("seed", range(8))
def test_one_opened_again_and_one_filled_anew_say_what_the_live_one_says(
    make_index: Maker, tmp_path: Path, seed: int
) -> None:
    story = Story(random.Random(seed))
    (tmp_path / "live").mkdir()
    (tmp_path / "anew").mkdir()
    live = make_index(tmp_path / "live")
    for _ in range(25):
        live.write(story.batch())
    before = all_told(live)
    live.close()

    again, anew = make_index(tmp_path / "live"), make_index(tmp_path / "anew")
    last = list(story.left.values())
    story.chance.shuffle(last)
    for start in range(0, len(last), 7):
        anew.write(IndexBatch(puts=last[start : start + 7]))

    assert all_told(again) == before
    assert all_told(anew) == before
    again.close()
    anew.close()
