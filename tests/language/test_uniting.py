"""Uniting: nothing that one of two texts says is lost when the other stays."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.language.substance import find_lost_words, find_particulars
from madeleine.language.text_merging import (
    denies_alike,
    find_missing_sentences,
    says_all,
    unite_texts,
)
from madeleine.model.memory import Memory

THEN = datetime(2026, 11, 15, tzinfo=UTC)


def memory(content: str, title: str | None = None) -> Memory:
    return Memory("m", content, THEN, THEN, title=title)


def test_a_sentence_that_another_contains_is_not_missing() -> None:
    assert find_missing_sentences("We chose SQLite because it is one file.", "Chose SQLite.") == []


def test_a_sentence_with_a_word_of_its_own_is_missing() -> None:
    text = "We chose SQLite. Ana likes tea. Bob likes coffee."

    assert find_missing_sentences(text, "Ana likes coffee. Chose SQLite.") == ["Ana likes coffee."]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("It is fast.", "It is not fast."),
        ("I prefer tabs over spaces.", "I prefer spaces over tabs."),
        ("Ana told Bob.", "Bob told Ana."),
        ("Deploy before the freeze.", "Deploy after the freeze."),
        ("The limit is 100.", "The limit is 250."),
        ("She uses Redis.", "She doesn't use Redis but uses it."),
    ],
)
def test_what_turns_a_sentence_round_is_missed(one: str, other: str) -> None:
    assert find_missing_sentences(one, other) == [other]


def test_code_is_added_whole() -> None:
    code = "Run this:\n```\nmake test\nmake start\n```"

    assert find_missing_sentences("Run this: make test", code) == [code]


def test_nothing_is_added_to_a_text_that_says_it_all() -> None:
    assert unite_texts(memory("We chose SQLite for Ormah."), memory("Chose SQLite.")) is None


def test_a_title_that_says_more_is_kept_too() -> None:
    text = unite_texts(
        memory("Backups run at night."), memory("Backups run.", title="Nightly copies")
    )

    assert text == "Backups run at night.\n\nNightly copies."


def test_a_new_wording_may_turn_things_round_but_not_leave_any_out() -> None:
    said = ["Chose SQLite for Ormah", "Ormah uses SQLite"]

    assert says_all("Ormah uses SQLite; we chose it for Ormah.", said)
    assert not says_all("Ormah has SQLite.", said)
    assert not says_all("Ormah uses SQLite; we never chose it for Ormah.", said)


def test_names_and_numbers_are_what_is_particular() -> None:
    assert find_particulars("The limit of Atlas is 100 requests") == {"atlas", "100"}
    assert find_particulars("we like tea") == frozenset()


def test_a_denial_is_neither_added_nor_left_out() -> None:
    assert denies_alike("Bob asked", ["Bob asked for it", "Ana answered"])
    assert not denies_alike("Bob never asked", ["Bob asked for it", "Ana answered"])
    assert not denies_alike("Bob asked", ["Bob asked for it", "Ana didn't answer"])


TEXT = "the Atlas uses not SQLite 100 250 never runs. over under fast is Bob's café 東京 and . ```"
WORDS = st.sampled_from([*TEXT.split(), "\n"])


@given(st.lists(WORDS, max_size=12), st.lists(WORDS, max_size=12), st.lists(WORDS, max_size=3))
def test_no_word_is_ever_lost(kept: list[str], dropped: list[str], title: list[str]) -> None:
    one, other = memory(" ".join(kept)), memory(" ".join(dropped), " ".join(title) or None)

    text = unite_texts(one, other)

    said = one.content if text is None else text
    assert find_lost_words(said, [one.content, other.content, other.title or ""]) == frozenset()
    assert text is None or text.startswith(one.content.rstrip())


def test_the_same_of_somebody_else_is_not_said() -> None:
    said = "Ben likes spicy food"

    assert find_missing_sentences("Ben's wife likes spicy food", said) == [said]
    assert find_missing_sentences("Ben likes spicy food, says Ana", said) == []
