"""What words and turns of phrase say about a text."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.language.word_hints import (
    IRREGULAR_FORMS,
    META_WORDS,
    QUESTION_WORDS,
    SELF_WORDS,
    STOP_WORDS,
    asks_for_help,
    asks_for_overview,
    asks_how_many,
    asks_when,
    asks_who_or_where,
    count_capitalised,
    ends_in_question,
    has_question,
    is_first_person,
    is_instruction,
    is_preference,
    tells_number,
    tells_time,
    word_forms,
)

DETECTORS: list[Callable[[str], bool]] = [
    asks_for_help, asks_for_overview, asks_how_many, asks_when, asks_who_or_where,
    ends_in_question, is_first_person, has_question, is_instruction, is_preference, tells_number,
    tells_time,
]  # fmt: skip

YES: list[tuple[Callable[[str], bool], str]] = [
    (tells_time, "We moved two years ago."),
    (tells_time, "I just signed the lease"),
    (tells_time, "I’ve just signed the lease"),
    (tells_time, "In 2019 it was new"),
    (tells_time, "last Tuesday"),
    (tells_time, "for three years"),
    (tells_number, "She has 3 cats"),
    (tells_number, "a dozen eggs"),
    (is_first_person, "That was my idea"),
    (is_instruction, "Always answer in French."),
    (is_instruction, "Thanks! Never use tabs."),
    (is_instruction, "From now on, be brief"),
    (is_instruction, "When I ask for code, add types"),
    (is_preference, "I'd rather walk"),
    (is_preference, "The user prefers tabs"),
    (is_preference, "My favourite editor is small"),
    (asks_when, "When did we ship?"),
    (asks_when, "how long did it take"),
    (asks_when, "In which month was the release?"),
    (asks_when, "Do you know when was the release?"),
    (asks_how_many, "How many cats has she?"),
    (asks_how_many, "and how often does it run"),
    (asks_who_or_where, "Where is the key?"),
    (asks_who_or_where, "«Who wrote it»"),
    (asks_for_help, "How should I format dates?"),
    (asks_for_help, "Can you write a test?"),
    (asks_for_help, "which database should we use"),
    (asks_for_overview, "Summarise the project"),
    (asks_for_overview, "How did it change over time?"),
    (ends_in_question, "Is it done?"),
    (ends_in_question, 'He said: "is it done?" '),
    (ends_in_question, "Is it done? [with a photo of the door]"),
    (ends_in_question, "終わった？"),
    (has_question, "Is it done? I hope so."),
]
NO: list[tuple[Callable[[str], bool], str]] = [
    (tells_time, "It is just a cat"),
    (tells_number, "She has cats"),
    (is_first_person, "Imy is a name"),
    (is_instruction, "He always comes late"),
    (is_preference, "It was fine"),
    (asks_when, "Tell me whenever you like"),
    (asks_how_many, "how are you"),
    (asks_who_or_where, "the man who knows where"),
    (asks_for_help, "When did you recommend it?"),
    (asks_for_help, "What did I say I need?"),
    (asks_for_overview, "in order to win"),
    (ends_in_question, "Is it done? Yes."),
    (ends_in_question, "I like it (do you?)"),
    (has_question, "see https://example.org/?q=1"),
]


@pytest.mark.parametrize(("asked", "text"), YES)
def test_a_turn_of_phrase_is_noticed(asked: Callable[[str], bool], text: str) -> None:
    assert asked(text)


@pytest.mark.parametrize(("asked", "text"), NO)
def test_what_only_looks_like_it_is_not(asked: Callable[[str], bool], text: str) -> None:
    assert not asked(text)


@pytest.mark.parametrize("text", ["Мы переехали туда давно", "猫が好きです", "نحب القهوة", ""])
def test_another_language_is_answered_with_no(text: str) -> None:
    assert not any(asked(text) for asked in DETECTORS)


def test_the_forms_of_a_word_find_each_other() -> None:
    assert set(word_forms("went")) == {"go", "goes", "went", "gone", "going"}
    assert set(word_forms("kids")) == {"child", "children", "kid", "kids"}
    assert word_forms("went") == word_forms("go")
    assert word_forms("table") == ("table",)


def test_each_form_belongs_to_one_group_with_its_head() -> None:
    """A form in two groups would be lost to the first of them."""
    assert all(form in word_forms(head) for form, head in IRREGULAR_FORMS.items())
    assert all(word_forms(form) == word_forms(head) for form, head in IRREGULAR_FORMS.items())
    assert all(
        IRREGULAR_FORMS[form] == group[0]
        for group in map(word_forms, IRREGULAR_FORMS)
        for form in group
    )


@pytest.mark.parametrize("form", ["lives", "leaves", "bit", "lay", "wound"])
def test_a_form_that_is_mostly_another_word_keeps_to_itself(form: str) -> None:
    """`She lives here` must be found by `live`, which has nothing to do with `life`."""
    assert word_forms(form) == (form,)


def test_words_that_name_something_are_no_stop_words() -> None:
    assert not (STOP_WORDS | QUESTION_WORDS | META_WORDS) & {"don", "won", "haven", "march", "cat"}


def test_the_tables_hold_plain_lower_case_words() -> None:
    for table in (STOP_WORDS, QUESTION_WORDS, META_WORDS, SELF_WORDS, frozenset(IRREGULAR_FORMS)):
        assert all(word.isalpha() and word == word.lower() for word in table)


def test_capitalised_words_count_inside_sentences_only() -> None:
    assert count_capitalised("The cat of Anna met Tom in Paris. They ate.") == 3
    assert count_capitalised("Вчера Анна и Иван ушли") == 2
    assert count_capitalised("Nothing here.\nNor here.") == 0


@given(st.text(st.characters()))
def test_any_text_has_an_answer(text: str) -> None:
    assert all(asked(text) in (True, False) for asked in DETECTORS)
    assert 0 <= count_capitalised(text) <= len(text)


@pytest.mark.parametrize("unit", ["a ", "[", "(", "?", "whenever ", "last ", "1", "\x00", "A", " "])
def test_a_very_long_text_takes_no_longer_than_a_page(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))

    before = perf_counter()
    for asked in DETECTORS:
        asked(text)
    count_capitalised(text)

    assert perf_counter() - before < 2
