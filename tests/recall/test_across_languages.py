"""Notes kept in one language and asked for in another, through recall with the model of other
languages. Left out where that package is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from madeleine import Madeleine
from madeleine.minds.local import load_built_in
from madeleine.minds.multilingual import load_multilingual

PAIRS = Path(__file__).parents[2] / "packages" / "multilingual" / "tests" / "across.tsv"
FIRST_FIVE, FIRST = 0.70, 0.50

_english = load_built_in(1)
if _english is None or load_multilingual(_english, 1) is None:
    pytest.skip("the model of other languages is not installed", allow_module_level=True)


@pytest.fixture(scope="module")
def pairs() -> list[list[str]]:
    return [line.split("\t") for line in PAIRS.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, pairs: list[list[str]]) -> Iterator[Madeleine]:
    home = tmp_path_factory.mktemp("across")
    with Madeleine.open(home, in_process=True) as made:
        made.remember_many([{"content": note} for _, note, _, _ in pairs])
        yield made


def test_a_question_finds_notes_in_other_languages(
    opened: Madeleine, pairs: list[list[str]]
) -> None:
    places = []
    for _, note, _, question in pairs:
        found = [each.memory.content for each in opened.recall(question, limit=5, all=True)]
        places.append(found.index(note) if note in found else len(pairs))

    assert sum(each < 5 for each in places) >= FIRST_FIVE * len(pairs)
    assert sum(each < 1 for each in places) >= FIRST * len(pairs)


def test_a_note_in_another_language_is_weighed_by_the_head_for_such(opened: Madeleine) -> None:
    (hit,) = opened.recall("where is the spare garage key", limit=1, explain=True)

    assert hit.memory.content.startswith("Der Ersatzschlüssel")
    assert hit.explained is not None
    assert hit.explained.head == "other_kept"
