"""What a prompt is for: by its words, and by its similarity to examples."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.language.intent import (
    INTENT_EXAMPLES,
    Intent,
    combine_intents,
    is_only_continuation,
    is_only_talk,
    read_intents,
)

TALK, GOING_ON, SELF, TIME, GENERAL = (
    Intent.CONVERSATIONAL,
    Intent.CONTINUATION,
    Intent.IDENTITY,
    Intent.TEMPORAL,
    Intent.GENERAL,
)


@pytest.mark.parametrize(
    "prompt",
    [
        "thanks!",
        "Thank you very much",
        "ok great, sounds good",
        "Good morning",
        "hello, how are you?",
        "lgtm, ship it",
        "never mind",
        "hmmm",
        "Great. Perfect. Thank you so much!",
    ],
)
def test_talk_is_told_by_its_words(prompt: str) -> None:
    assert read_intents(prompt) == {TALK}
    assert is_only_talk(read_intents(prompt))


@pytest.mark.parametrize(
    "prompt",
    [
        "thanks, which database did we pick?",
        "good question about sqlite",
        "yes, use postgres",
        "hello world in rust",
    ],
)
def test_talk_with_a_matter_in_it_is_not_only_talk(prompt: str) -> None:
    assert TALK not in read_intents(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "continue",
        "go on",
        "and the other one?",
        "what about the tests?",
        "same for the rest",
        "pick up where we left off",
        "do that again",
        "also in the docs",
    ],
)
def test_going_on_is_told_by_its_words(prompt: str) -> None:
    assert GOING_ON in read_intents(prompt)
    assert not is_only_talk(read_intents(prompt))


@pytest.mark.parametrize(
    "prompt",
    [
        "yes, go ahead",
        "yes please go ahead",
        "ok do it",
        "sounds good, continue",
        "Great, proceed!",
        "sure, go for it",
        "perfect. do that please",
    ],
)
def test_a_yes_to_what_was_proposed_goes_on_with_it(prompt: str) -> None:
    assert read_intents(prompt) == {GOING_ON}
    assert is_only_continuation(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "continue the migration of the users table",
        "continue where we left off",
        "thanks!",
        "do it with postgres",
        "",
    ],
)
def test_what_says_more_than_yes_or_less_does_not_merely_go_on(prompt: str) -> None:
    assert not is_only_continuation(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "Danke schön!",
        "vielen Dank, sehr gut",
        "Guten Morgen",
        "merci beaucoup !",
        "Bonjour, ça va ?",
        "¡Muchas gracias!",
        "Hola, buenos días",
        "grazie mille, ciao",
        "muito obrigado",
        "Olá, bom dia",
        "hartelijk dank",
        "tack så mycket",
        "dziękuję bardzo",
        "Dzien dobry",
        "děkuji",
        "ευχαριστώ πολύ",
        "спасибо большое!",
        "Добрый день",
        "ありがとうございます",
        "こんにちは、よろしくお願いします。",
        "شكراً جزيلاً",
        "السلام عليكم",
        "谢谢",
        "你好，谢谢你！",
        "감사합니다",
    ],
)
def test_thanks_and_greetings_are_talk_in_other_languages(prompt: str) -> None:
    assert read_intents(prompt) == {TALK}


@pytest.mark.parametrize(
    "prompt",
    [
        "danke, welche Datenbank nehmen wir?",
        "merci de corriger le test",
        "hola mundo en rust",
        "gracias, ¿dónde está el puerto?",
        "спасибо, а какой порт?",
        "ありがとう、データベースはどれ？",
        "شكرا، ما هي قاعدة البيانات؟",
        "你好，数据库用哪个？",
        "好的，用 postgres",
        "tak for the backup",
    ],
)
def test_a_matter_in_another_language_is_not_only_talk(prompt: str) -> None:
    assert TALK not in read_intents(prompt)


def test_a_long_prompt_says_more_than_that_it_goes_on() -> None:
    long = "and now write a function that reads the file and counts its lines"

    assert GOING_ON not in read_intents(long)


@pytest.mark.parametrize(
    "prompt",
    [
        "who am I?",
        "what do you know about me?",
        "where do I live?",
        "what is my name?",
        "do I like coffee?",
        "do I have a sister?",
    ],
)
def test_the_asker_is_told_by_the_words(prompt: str) -> None:
    assert SELF in read_intents(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "do I have to restart the daemon?",
        "am I missing a comma here?",
        "show me about ten rows",
        "my tests fail",
    ],
)
def test_a_question_in_the_first_person_need_not_be_about_the_person(prompt: str) -> None:
    assert SELF not in read_intents(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "what did we do yesterday?",
        "what happened last week",
        "summarise this week",
        "anything new since Monday?",
        "which decisions were made 3 days ago?",
        "what have I been working on recently?",
    ],
)
def test_a_time_is_told_by_the_words(prompt: str) -> None:
    assert TIME in read_intents(prompt)


@pytest.mark.parametrize("prompt", ["yesterday", "deploy it today", "a recent bug in the parser"])
def test_a_time_that_is_not_asked_about_is_no_intent(prompt: str) -> None:
    assert TIME not in read_intents(prompt)


@pytest.mark.parametrize("prompt", ["", "   ", "データベースはどれ？", "ما هي قاعدة البيانات؟"])
def test_words_tell_nothing_of_no_words_and_of_other_languages(prompt: str) -> None:
    assert read_intents(prompt) == frozenset()


def test_what_nothing_tells_is_general() -> None:
    assert combine_intents(frozenset(), {}, 0.65) == {GENERAL}
    assert combine_intents(frozenset(), {SELF: 0.64, TALK: 0.1}, 0.65) == {GENERAL}


def test_likeness_from_the_threshold_on_tells_an_intent() -> None:
    assert combine_intents(frozenset(), {SELF: 0.65, TIME: 0.7}, 0.65) == {SELF, TIME}
    assert combine_intents(frozenset({TIME}), {SELF: 0.9}, 0.65) == {SELF, TIME}


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ({SELF: 0.74, TIME: 0.1}, {TALK}),
        ({SELF: 0.80, TIME: 0.1}, {SELF}),
        ({SELF: 0.64, TIME: 0.6}, {TALK}),
    ],
)
def test_likeness_alone_tells_talk_only_if_nothing_else_comes_near(
    others: dict[Intent, float], expected: set[Intent]
) -> None:
    found = combine_intents(frozenset(), {TALK: 0.9, **others}, 0.76)

    assert found == expected


def test_near_to_talk_and_near_to_something_else_is_general() -> None:
    assert combine_intents(frozenset(), {TALK: 0.70, SELF: 0.60}, 0.65) == {GENERAL}


def test_only_talk_is_talk_and_nothing_else() -> None:
    assert is_only_talk(frozenset({TALK}))
    assert not is_only_talk(frozenset({TALK, GOING_ON}))
    assert not is_only_talk(frozenset())


@pytest.mark.parametrize("wanted", [GOING_ON, SELF, TIME])
def test_no_example_of_something_else_is_taken_for_talk(wanted: Intent) -> None:
    assert not [each for each in INTENT_EXAMPLES[wanted] if is_only_talk(read_intents(each))]


@given(st.text())
def test_any_text_can_be_asked_about(text: str) -> None:
    assert read_intents(text) <= set(Intent)


@pytest.mark.parametrize(
    "text",
    [
        "thank you " * 200,
        "good morning " * 150,
        "how are you doing " * 100,
        "so much " * 250,
        "what " * 400,
        " " * 2_000,
        "and so on " * 200,
    ],
    ids=lambda text: text[:12],
)
def test_a_long_prompt_takes_no_time_to_tell(text: str) -> None:
    """Each `thank you` that can be read in two ways doubled the work until it took hours."""
    began = time.perf_counter()
    read_intents(text + "zebra")
    read_intents("zebra" + text)

    assert time.perf_counter() - began < 1.0
