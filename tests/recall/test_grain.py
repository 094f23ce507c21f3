"""Grain: a long memory is found by a sentence deep inside, and the hit names the passage."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from madeleine.language.passages import MOST_PASSAGES, PASSAGE_CHARS
from madeleine.model.draft import MemoryLimits
from madeleine.model.revision import read_revision
from madeleine.write.revise import revise
from madeleine.write.stores import Stores
from tests.fakes import close, keep, make_stores
from tests.recall.asking import ask, contents, first, keep_many, services

NEEDLE = "The zanzibar ferry leaves at nine."
QUESTION = "when does the zanzibar ferry leave?"


def paragraphs(count: int, word: str = "sea") -> str:
    """Return as many paragraphs that say nothing of the needle."""
    return "\n\n".join(
        f"Chapter {number} is about the {word} and its {number} ships. " * 8
        for number in range(count)
    )


def long_text(before: int, after: int, needle: str = NEEDLE) -> str:
    return f"{paragraphs(before)}\n\n{needle}\n\n{paragraphs(after)}"


@pytest.fixture(params=["with a model", "without"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stores]:
    opened = make_stores(tmp_path / "either", with_model=request.param == "with a model")
    yield opened
    close(opened)


@pytest.fixture
def wordy(tmp_path: Path) -> Iterator[Stores]:
    """Stores without a model."""
    opened = make_stores(tmp_path / "wordy", with_model=False)
    yield opened
    close(opened)


@pytest.mark.parametrize(("before", "after"), [(0, 20), (10, 10), (20, 0)])
def test_a_sentence_deep_inside_finds_the_memory_and_its_passage(
    either: Stores, before: int, after: int
) -> None:
    text = long_text(before, after)
    memory = keep(either, text, title="A book of the sea")
    keep_many(either, services(20))

    hit = first(either, QUESTION)

    assert hit.memory.id == memory.id
    assert hit.passage is not None
    assert NEEDLE in hit.passage.text
    assert text[hit.passage.start : hit.passage.end] == hit.passage.text
    assert len(hit.passage.text) <= PASSAGE_CHARS


def test_a_needle_is_found_in_the_right_one_of_many_long_memories(either: Stores) -> None:
    for number in range(8):
        keep(either, paragraphs(12, word=f"lake{number}"))
    wanted = keep(either, long_text(7, 5))

    hit = first(either, QUESTION)

    assert hit.memory.id == wanted.id
    assert hit.passage is not None
    assert NEEDLE in hit.passage.text


def test_the_best_passage_of_a_memory_counts_once(either: Stores) -> None:
    """Though every passage of it would be an answer."""
    memory = keep(either, "\n\n".join(f"{NEEDLE} Boat {n}. " * 15 for n in range(20)))
    other = keep(either, NEEDLE)

    found = [hit.memory.id for hit in ask(either, QUESTION).hits]

    assert sorted(found) == sorted([memory.id, other.id])


def test_a_long_memory_leaves_room_for_the_others(either: Stores) -> None:
    """It has more passages than are compared, and still takes one place."""
    keep(either, "\n\n".join(f"Ferry number {n} leaves at nine. " * 25 for n in range(60)))
    for number in range(5):
        keep(either, f"the ferry of pier {number} leaves late")

    assert len(ask(either, "which ferry leaves late?", limit=6).hits) == 6


def test_length_is_no_merit(either: Stores) -> None:
    """A book that says it among much else is no better than a line that says it."""
    keep(either, long_text(15, 15))
    line = keep(either, NEEDLE)

    assert first(either, QUESTION).memory.id == line.id


def test_a_short_memory_has_no_passage_to_name(either: Stores) -> None:
    keep(either, NEEDLE)

    assert first(either, QUESTION).passage is None


def test_the_passage_is_found_anew_after_the_text_changed(either: Stores) -> None:
    memory = keep(either, long_text(2, 15))
    text = long_text(14, 3)
    revise(either, memory.id, read_revision({"content": text}, MemoryLimits()))

    hit = first(either, QUESTION)

    assert hit.passage is not None
    assert NEEDLE in hit.passage.text
    assert text[hit.passage.start : hit.passage.end] == hit.passage.text


@pytest.mark.parametrize(
    ("needle", "question", "filler"),
    [
        ("フェリーは九時に出港します。", "フェリーは何時に出港？", "船と海について書いてある。"),
        ("Паром отходит в девять.", "когда отходит паром?", "Глава о море и о кораблях. "),
        ("العبارة تغادر في التاسعة.", "متى تغادر العبارة؟", "فصل عن البحر والسفن. "),
    ],
)
def test_a_passage_of_any_script_is_found(
    wordy: Stores, needle: str, question: str, filler: str
) -> None:
    text = filler * 150 + needle + filler * 150
    keep(wordy, text)
    keep_many(wordy, services(10))

    hit = first(wordy, question)

    assert hit.passage is not None
    assert needle[:6] in hit.passage.text
    assert text[hit.passage.start : hit.passage.end] == hit.passage.text


def test_the_end_of_a_very_long_memory_is_found_by_its_words(wordy: Stores) -> None:
    """More than a model reads of one memory: what follows is found by its words."""
    text = long_text(200, 0)
    assert len(text) > MOST_PASSAGES * PASSAGE_CHARS
    memory = keep(wordy, text)
    keep_many(wordy, services(10))

    found = [hit.memory.id for hit in ask(wordy, QUESTION).hits]

    assert found[:1] == [memory.id]


def test_a_filter_holds_for_every_passage(either: Stores) -> None:
    keep(either, long_text(10, 10), space="atlas")
    keep(either, "ferries in general", space="borneo")

    assert contents(either, QUESTION, spaces=("borneo",)) in ([], ["ferries in general"])
