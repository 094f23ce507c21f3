"""Rules that the files of other languages carry: times, questions about the person, what is said
outright, told changes and denials. The sentences stand in `data/rules`, a file a language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from madeleine.ingest.statements import find_statements
from madeleine.language.language_files import list_languages, load_language, load_stop_words
from madeleine.language.phrases import _may_hold_phrase, _spell_out
from madeleine.language.replacements import find_replacement
from madeleine.language.self_questions import asks_about_person, read_self_question
from madeleine.language.substance import count_denials
from madeleine.language.times import read_times

NOW = datetime(2026, 11, 19, 12, tzinfo=UTC)
FOLDER = Path(__file__).parent / "data" / "rules"
LANGUAGES = sorted(each.stem for each in FOLDER.glob("*.txt"))


def read_cases(*rules: str) -> list[tuple[str, ...]]:
    return list(iterate_cases(rules))


def iterate_cases(rules: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for language in LANGUAGES:
        for line in (FOLDER / f"{language}.txt").read_text(encoding="utf-8").splitlines():
            rule, *parts = (each.strip() for each in line.split(" | "))
            if rule in rules:
                yield (language, *parts)


def test_every_language_has_ten_sentences_for_each_rule() -> None:
    assert LANGUAGES == ["de", "es", "fr", "it", "ja", "nl", "pl", "pt", "ru", "zh"]
    for rule in ("times", "about_me", "keeps", "changes"):
        cases = read_cases(f"{rule} +", f"{rule} -")
        assert all(sum(case[0] == each for case in cases) >= 10 for each in LANGUAGES)


@pytest.mark.parametrize(("language", "text", "said"), read_cases("times +"))
def test_a_time_is_read(language: str, text: str, said: str) -> None:
    found = read_times(text, NOW)

    assert [each for each in found if said in each.words], found
    assert all(text[slice(*each.at)].strip() for each in found)


@pytest.mark.parametrize(("language", "text"), read_cases("times -"))
def test_what_names_no_time_has_none(language: str, text: str) -> None:
    assert not [each for each in read_times(text, NOW) if each.firm or each.month]


@pytest.mark.parametrize(("language", "text", "said"), read_cases("about_me +"))
def test_a_question_about_the_person_is_one(language: str, text: str, said: str) -> None:
    assert read_self_question(text) == read_self_question(f"{_IN_ENGLISH[said]}?")
    assert asks_about_person(text)


_IN_ENGLISH = {
    "who am i": "who am i",
    "my name": "what is my name",
    "know about me": "what do you know about me",
    "where do i live": "where do i live",
    "birthday": "when is my birthday",
}


@pytest.mark.parametrize(("language", "text"), read_cases("about_me -"))
def test_a_question_about_something_else_is_not_about_the_person(language: str, text: str) -> None:
    assert not asks_about_person(text)


@pytest.mark.parametrize(("language", "text", "kind"), read_cases("keeps +"))
def test_what_is_said_outright_is_kept(language: str, text: str, kind: str) -> None:
    (found,) = find_statements(text)

    assert found.type.value == kind
    assert found.text.rstrip(".。").lower() in text.lower()


@pytest.mark.parametrize(("language", "text"), read_cases("keeps -"))
def test_what_is_said_in_passing_is_not_kept(language: str, text: str) -> None:
    assert find_statements(text) == []


@pytest.mark.parametrize(("language", "older", "newer", "left"), read_cases("changes +"))
def test_a_told_change_ends_what_was(language: str, older: str, newer: str, left: str) -> None:
    found = find_replacement(older, newer)

    assert found is not None
    assert found.left == left


@pytest.mark.parametrize(("language", "older", "newer"), read_cases("changes -"))
def test_what_is_no_told_change_ends_nothing(language: str, older: str, newer: str) -> None:
    assert find_replacement(older, newer) is None


@pytest.mark.parametrize(("language", "one", "other"), read_cases("denies +"))
def test_a_denial_is_counted(language: str, one: str, other: str) -> None:
    assert count_denials(one) != count_denials(other)


@pytest.mark.parametrize(("language", "one", "other"), read_cases("denies -"))
def test_another_order_denies_nothing(language: str, one: str, other: str) -> None:
    assert count_denials(one) == count_denials(other)


def test_the_stop_words_of_all_languages_are_those_of_their_files() -> None:
    files = [load_language(code) for code in list_languages()]

    assert len(files) > 10
    assert load_stop_words() == {word for each in files if each for word in each.stop_words}


def list_phrases() -> list[tuple[str, str]]:
    files = [load_language(code) for code in list_languages()]
    return [
        (rule, phrase)
        for each in files
        if each
        for rule, table in each.phrases.items()
        for phrase, _ in _spell_out(each, table)
    ]


@pytest.mark.parametrize("filling", ["7", "Ana", "l'été"])
def test_no_text_that_holds_a_phrase_is_passed_over(filling: str) -> None:
    """Which language a text is in is told only where one of its words or pieces is of a phrase."""
    for rule, phrase in list_phrases():
        said = re.sub(r"#", "7", re.sub(r"…|\{\w+\}", filling, phrase))
        for text in (said, said.capitalize(), f"Hm, {said}!", f"x {said} y"):
            assert _may_hold_phrase(text, rule), (rule, phrase, text)


def test_most_english_texts_are_passed_over() -> None:
    texts = ["The deploy key of the blog is kept in the vault.", "What does Ana drink at noon?"]

    assert not any(_may_hold_phrase(text, rule) for text in texts for rule, _ in list_phrases())
