"""What a question asks: words, names, quotes, ids and times, in any script and any state."""

from __future__ import annotations

from datetime import UTC, datetime
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.recall.parsing import (
    TERMS_AT_MOST,
    AnswerHints,
    ParsedQuestion,
    parse_question,
)

NOW = datetime(2026, 11, 15, 12, 30, tzinfo=UTC)


def read(text: str) -> ParsedQuestion:
    return parse_question(text, NOW)


# -- words ---------------------------------------------------------------------------------


def test_what_every_question_has_is_not_searched_for() -> None:
    assert read("What is the plan for the garden?").terms == ("plan", "garden")


def test_words_about_the_asking_are_not_searched_for() -> None:
    assert read("Give me a summary of what we discussed about tomatoes").terms == ("tomatoes",)
    assert read("Walk me through how I brought up the roof over time").terms == ("roof",)
    assert read("we walk the dog across town").terms == ("walk", "dog", "town")


def test_a_question_of_stop_words_keeps_them() -> None:
    assert read("to be or not to be").terms == ("to", "be", "or", "not")
    assert read("to be or not to be").telling == {"to", "be", "or", "not"}


def test_a_question_about_the_asking_keeps_that() -> None:
    assert read("the summary of the discussion").terms == ("summary", "discussion")


def test_only_punctuation_has_no_words() -> None:
    asked = read('?!… --- *** "" «» ()')

    assert (asked.words, asked.terms, asked.phrases, asked.telling) == ((), (), (), frozenset())


def test_emoji_are_the_words_of_a_question_without_any() -> None:
    assert read("🍰? 🎂🍰").terms == ("🍰", "🎂")
    assert [(word.start, word.end) for word in read("🍰 ❤️").words] == [(0, 1), (2, 3)]
    assert read("cake 🍰").terms == ("cake",)
    assert read("I ❤️ cake").terms == ("cake",)


def test_each_term_is_searched_once_and_not_too_many() -> None:
    assert read("tea Tea TEA ｔｅａ").terms == ("tea",)
    assert len(read(" ".join(f"w{number}" for number in range(200))).terms) == TERMS_AT_MOST


def test_words_point_to_where_they_stand() -> None:
    text = "Ｐｙｔｈｏｎ isn't Émile’s"

    assert [text[word.start : word.end] for word in read(text).words] == [
        "Ｐｙｔｈｏｎ", "isn", "t", "Émile", "s",
    ]  # fmt: skip
    assert read(text).terms == ("python", "émile")


def test_contractions_are_stop_words_and_names_are_not() -> None:
    assert read("Don won't say who won").terms == ("don", "won")
    assert read("why don't we").terms == ("why", "don", "t", "we")
    assert read("can't we fix the sink").terms == ("fix", "sink")


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("猫の名前は何ですか？", ("猫", "名前")),
        ("แมวของฉันชื่ออะไร", ("แมวของฉันชื่ออะไร",)),
        ("ما اسم قطتي؟", ("اسم", "قطتي")),
        ("Как зовут кошку Ивана?", ("зовут", "кошку", "ивана")),
        ("मेरी बिल्ली", ("मेरी", "बिल्ली")),
        ("Wo wohnt Jürgen?", ("wohnt", "jürgen")),
        ("cafe\u0301 noir", ("café", "noir")),
    ],
)
def test_words_of_any_script_are_found_but_for_stop_words(
    text: str, terms: tuple[str, ...]
) -> None:
    assert read(text).terms == terms


# -- times ---------------------------------------------------------------------------------


def test_a_firm_time_is_not_searched_for() -> None:
    asked = read("what did Anna cook yesterday")

    assert asked.terms == ("anna", "cook")
    assert [span.words for span in asked.spans] == ["yesterday, 14 November"]


def test_a_date_may_stand_in_the_text_and_is_searched_for() -> None:
    asked = read("Where was the fair in May 2023?")

    assert asked.terms == ("fair", "may", "2023")
    assert asked.telling == {"fair"}


def test_a_question_for_a_time_alone_is_about_nothing_else() -> None:
    asked = read("what did I do yesterday")

    assert asked.telling == frozenset()
    assert "yesterday" not in asked.terms
    assert asked.terms


def test_a_single_time_word_is_still_something_to_search_for() -> None:
    assert read("yesterday").terms == ("yesterday",)


def test_asking_for_the_newest_is_noticed_and_not_searched_for() -> None:
    asked = read("What did Anna recently say about tea?")

    assert asked.newest_first
    assert asked.terms == ("anna", "tea")
    assert not read("What did Anna say about tea?").newest_first


# -- names, quotes, ids --------------------------------------------------------------------


def test_names_are_capitalised_words_inside_a_sentence() -> None:
    assert read("Did Anna meet Tom? Maybe in New York").names == ("anna", "tom", "new", "york")
    assert read("Что сказала Анна?").names == ("анна",)


def test_identifiers_are_names_wherever_they_stand() -> None:
    assert read("SQLite or fooBar on AWS").names == ("sqlite", "foobar", "aws")


def test_a_question_in_capitals_names_nobody() -> None:
    assert read("WHERE IS THE KEY").names == ()


def test_dates_and_question_words_are_no_names() -> None:
    assert read("So What happened in May 2023 or on Monday?").names == ()


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ('who said "Never  Again" to me', ("never again",)),
        ("“one two” and «drei vier» and `make test`", ("one two", "drei vier", "make test")),
        ("「吾輩は猫」の作者", ("吾輩は猫",)),
        ("the song 'blue moon', please", ("blue moon",)),
        ("the dogs' bowl and Anna's cat's toy", ()),
        ("rock 'n' roll", ()),
        ('an open " quote', ()),
        ('"..." "a"', ("a",)),
        ('"a" ' * 3 + " ".join(f'"q{number}"' for number in range(20)),
         ("a", "q0", "q1", "q2", "q3", "q4", "q5", "q6")),
    ],
)  # fmt: skip
def test_what_is_quoted_is_a_phrase(text: str, phrases: tuple[str, ...]) -> None:
    assert read(text).phrases == phrases


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("show 97ACBE8E", ("97acbe8e",)),
        ("id:97acbe8e, and 97acbe8e again", ("97acbe8e",)),
        ("97acbe8eについて", ("97acbe8e",)),
        (
            "see 97acbe8e-1c2d-4e5f-8a9b-0123456789ab.",
            ("97acbe8e-1c2d-4e5f-8a9b-0123456789ab",),
        ),
        ("on 20230508", ("20230508",)),
        ("97acbe8e1 x97acbe8e 97acbe8", ()),
    ],
)
def test_ids_are_taken_as_they_are(text: str, ids: tuple[str, ...]) -> None:
    assert read(text).ids == ids


def test_words_for_the_asker_are_noticed() -> None:
    assert read("where do I live").about_self
    assert read("what does the user like").about_self
    assert not read("where does Anna live").about_self
    assert not read("the US market").about_self


def test_what_kind_of_answer_is_wanted_is_noticed() -> None:
    assert read("When did we move?").asks == AnswerHints(when=True)
    assert read("How many cats are there?").asks == AnswerHints(how_many=True)
    assert read("Where is the key?").asks == AnswerHints(who_or_where=True)
    assert read("Help me write a letter").asks == AnswerHints(help=True)
    assert read("Give an overview").asks == AnswerHints(overview=True)
    assert read("tea").asks == AnswerHints()


# -- bad questions -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ('"', ()),
        ("*", ()),
        ('NEAR("tea" "cup", 3)', ("near", "tea", "cup", "3")),
        ("tea AND NOT cup*", ("tea", "cup")),
        ("title:tea ^cup {a b}: c", ("title", "tea", "cup", "b", "c")),
        ("'; DROP TABLE fts; --", ("drop", "table", "fts")),
        ("tea\x00cup", ("tea", "cup")),
        ("tea \ud800 cup \udfff", ("tea", "cup")),
        ("", ()),
        ("\n\t ", ()),
        ("foo_bar", ("foo", "bar")),
    ],
)
def test_search_syntax_and_odd_characters_are_just_characters(
    text: str, terms: tuple[str, ...]
) -> None:
    assert read(text).terms == terms


@pytest.mark.parametrize(
    "unit", ["a", "7", "tea ", '"', "猫", "«a» ", "deadbeef ", "\x00", "\ud800", "'a ",
             "on Monday ", "A. B", "e\u0301"]
)  # fmt: skip
def test_a_very_long_question_is_read_at_its_beginning_only(unit: str) -> None:
    text = unit * (100_000 // len(unit))

    before = perf_counter()
    asked = read(text)

    assert perf_counter() - before < 2
    assert all(word.end <= 4_000 for word in asked.words)
    assert len(asked.terms) <= TERMS_AT_MOST
    assert sum(map(len, asked.terms)) <= 6_200


@given(st.text(st.characters()))
def test_any_question_is_understood(text: str) -> None:
    asked = read(text)

    assert asked == read(text)
    assert all(0 <= word.start < word.end <= len(text) for word in asked.words)
    assert bool(asked.terms) == bool(asked.words)
    assert asked.telling <= set(asked.terms)
    assert not any('"' in term or "*" in term or "\x00" in term for term in asked.terms)
