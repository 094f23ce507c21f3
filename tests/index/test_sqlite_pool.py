"""Candidates in SQLite: what is kept at hand, and readers beside a writer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import numpy as np
import pytest

from madeleine.index.common.stems import Stemmer
from madeleine.index.port import IndexBatch
from madeleine.index.search import CandidatePool, CandidateQuery
from madeleine.index.sqlite import SqliteIndex
from madeleine.index.sqlite import pool as module
from madeleine.model.embedding import TokenKeeper
from madeleine.model.query import Filter
from madeleine.testing.making import DIMENSION, NOON, keep, memory, memory_id, put, said, unit

Passages = dict[int, tuple[bytes, bytes]]
ANY = Filter()
EAST = unit(1, 0, 0, 0)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SqliteIndex]:
    opened = SqliteIndex.open(tmp_path / "index.db", "tiny", DIMENSION)
    yield opened
    opened.close()


def stems(index: SqliteIndex, pool: CandidatePool) -> list[list[int]]:
    found = index.search.details(pool, np.arange(len(pool)))
    return [part.tolist() for part in np.split(found.stems, found.stem_starts[1:-1])]


# --- what is kept at hand -----------------------------------------------------------------


def test_details_are_the_same_however_little_is_kept_at_hand(
    index: SqliteIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(index, *(memory(number, f"word{number} tea") for number in range(40)))
    pool = index.search.pool(CandidateQuery(), ANY, NOON)
    expected = stems(index, pool)

    for room in (0, 1, 100, 10_000):
        monkeypatch.setattr(module, "MAX_CACHED_BYTES", room)
        assert stems(index, pool) == stems(index, pool) == expected


def test_a_reader_keeps_what_it_found_when_another_one_begins_anew(
    index: SqliteIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is kept is thrown away when it is full, also between two looks of a reader."""
    keep(index, memory(1, "green apples"), memory(2, "red pears"))
    numbers = index.search.pool(CandidateQuery(), ANY, NOON).numbers.tolist()
    kept, read = module.PassageCache(), module._read_passages

    def meanwhile(
        connection: apsw.Connection, keeper: TokenKeeper | None, missing: list[int]
    ) -> Passages:
        kept._passages = {}
        return read(connection, keeper, missing)

    with index._state.reading() as connection:
        expected = [
            *kept.find(connection, None, numbers[:1]),
            *kept.find(connection, None, numbers[1:]),
        ]
        kept._passages.pop(numbers[1])
        monkeypatch.setattr(module, "_read_passages", meanwhile)

        assert kept.find(connection, None, numbers) == expected
    assert all(held for held, _ in expected)


def test_an_index_put_in_place_of_another_brings_its_own_details(index: SqliteIndex) -> None:
    keep(index, memory(1, "green apples"))
    pool = index.search.pool(CandidateQuery(), ANY, NOON)
    assert stems(index, pool) == [[t.stem for (t,) in index.search.terms(["green", "apples"])]]

    fresh = index.fresh()
    keep(fresh, memory(2, "red pears"))
    index.replace_with(fresh)

    pool = index.search.pool(CandidateQuery(), ANY, NOON)
    assert stems(index, pool) == [[t.stem for (t,) in index.search.terms(["red", "pears"])]]
    assert list(index.search.ids(pool.nodes.tolist()).values()) == [memory_id(2)]


# --- many at once -------------------------------------------------------------------------


def test_candidates_are_whole_while_a_writer_carries_on(index: SqliteIndex) -> None:
    """Turns come, move and go, and everything is cleared now and then. A reader's columns fit
    together all the same: a neighbour is in the pool and of the same conversation. Only a turn
    that is just going may be passed over by one side."""
    stop = threading.Event()

    def read() -> int:
        reads = 0
        while not stop.is_set():
            wanted = CandidateQuery(["tea"], EAST, EAST, EAST, [memory_id(3)], "me", 5, draw=4)
            pool = index.search.pool(wanted, ANY, NOON)
            places = np.arange(len(pool))
            for side in (pool.before, pool.after):
                linked = side >= 0
                assert (side < len(pool)).all()
                assert (pool.session[side[linked]] == pool.session[places[linked]]).all()
                assert (side != places).all()
            assert len(set(pool.numbers.tolist())) == len(pool)
            index.search.details(pool, places)
            index.search.extent()
            reads += 1
        return reads

    with ThreadPoolExecutor(3) as threads:
        readers = [threads.submit(read) for _ in range(3)]
        for step in range(120):
            session, speaker = f"session {step % 70}", ("Ann", "Ben")[step % 2]
            turns = [said(each, (each * step) % 7, speaker, session) for each in range(step % 9)]
            index.write(
                IndexBatch(puts=[put(each, EAST) for each in turns], drops=[memory_id(step % 5)])
            )
            if step % 40 == 39:
                index.clear()
        stop.set()
        assert all(each.result() > 0 for each in readers)


# --- stems --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Boxes, running; CAFÉ", ["box", "run", "cafe"]),
        ("mice went home", ["mous", "go", "home"]),
        ("don't", ["don", "t"]),
        ("猫が好き", ["猫が", "が好", "好き"]),
        ("猫", ["猫"]),
        ("Pythonの本", ["python", "の本"]),
        ("", []),
        ("... \x00 ...", []),
    ],
)
def test_stems_are_cut_as_the_full_text_cuts_words(
    index: SqliteIndex, text: str, expected: list[str]
) -> None:
    with index._state.reading() as connection:
        assert Stemmer(connection, {}).stems(text) == expected


def test_stems_are_the_same_when_what_is_remembered_of_words_is_full(
    index: SqliteIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("madeleine.index.common.stems.MAX_CACHED_WORDS", 2)
    with index._state.reading() as connection:
        known: dict[str, int] = {}
        stemmer = Stemmer(connection, known)
        once = stemmer.numbers("she went home and sang there, then went away")
        assert stemmer.numbers("she went home and sang there, then went away") == once
        assert len(known) <= 2


def test_a_write_during_a_steady_reading_leaves_nothing_stale_behind(index: SqliteIndex) -> None:
    """What is read of the old state must not be kept for those who read the new one."""
    keep(index, memory(1, "zebra enclosure"))
    with index.steady():
        pool = index.search.pool(CandidateQuery(words=["zebra"]), ANY, NOON)
        with ThreadPoolExecutor(1) as other:
            other.submit(keep, index, memory(1, "walrus exhibit")).result()
        old = stems(index, pool)

    new = stems(index, index.search.pool(CandidateQuery(), ANY, NOON))

    assert new != old
    assert new == [[term.stem for (term,) in index.search.terms(["walrus", "exhibit"])]]


def count_green(index: SqliteIndex) -> int:
    ((found,),) = index.search.terms(["green"])
    return found.holders


def test_a_steady_reading_counts_words_as_they_were_and_others_as_they_are(
    index: SqliteIndex,
) -> None:
    keep(index, memory(1, "green tea"))
    with index.steady(), ThreadPoolExecutor(1) as other:
        assert index.search.extent().memories == len(index.search.ids_after("", 9)) == 1
        other.submit(keep, index, memory(2, "green apples")).result()

        assert other.submit(count_green, index).result() == 2
        assert count_green(index) == 1
        assert other.submit(count_green, index).result() == 2
    assert count_green(index) == 2


def test_what_is_kept_is_never_more_than_there_is_room_for(
    index: SqliteIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("madeleine.index.sqlite.ports.MAX_KEPT_WORDS", 2)
    monkeypatch.setattr("madeleine.index.sqlite.ports.MAX_KEPT_ANSWERS", 2)
    keep(index, memory(1, "green apples and red pears", tags=("fruit", "food")))
    words = ["green", "apples", "red", "pears", "blue"]

    for _ in range(2):
        assert [each.holders for (each,) in index.search.terms(words)] == [1, 1, 1, 1, 0]
        for number in range(1, 5):
            assert len(index.search.tags("f", number)) == min(number, 2)
