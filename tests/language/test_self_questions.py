"""What a prompt asks about the person who types it, and what it does not."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.language.self_questions import (
    asks_about_assistant,
    asks_about_person,
    count_content_words,
    read_self_question,
)


@pytest.mark.parametrize(
    "prompt",
    [
        "who am I?",
        "who am i exactly",
        "what do you know about me?",
        "What have you learned about me so far?",
        "tell me about myself",
        "tell me everything you know about me",
        "do you remember anything about me?",
        "describe me in a few words",
        "introduce me to the team",
        "what kind of person am I?",
        "do you still know me?",
        "give me a summary of what you know about me",
        "which facts do you have stored about me?",
        "write a short bio about me",
        "thanks! and who am I?",
        "wer bin ich?",
        "Was weißt du über mich?",
        "qui suis-je ?",
        "¿qué sabes de mí?",
    ],
)
def test_all_of_the_person_is_asked_for(prompt: str) -> None:
    question = read_self_question(prompt)

    assert question is not None
    assert question.whole


@pytest.mark.parametrize(
    ("prompt", "aspect"),
    [
        ("where do I live?", "home"),
        ("tell me where I live, please", "home"),
        ("which city do i live in again", "home"),
        ("what's my home address", "home"),
        ("whats my name", "name"),
        ("what should people call me?", "name"),
        ("what do i do for a living", "job"),
        ("who do I work for?", "job"),
        ("when do i work?", "hours"),
        ("what are my working hours", "hours"),
        ("how old am i", "birthday"),
        ("when was I born?", "birthday"),
        ("where was I born?", "origin"),
        ("where do I come from?", "origin"),
        ("am i married", "spouse"),
        ("what's my wife's name", "spouse"),
        ("how many kids do i have", "children"),
        ("where does my son live?", "children"),
        ("do i have siblings", "siblings"),
        ("what do my parents do?", "parents"),
        ("tell me about my family", "family"),
        ("do I have a dog?", "pets"),
        ("whats my dogs name", "pets"),
        ("do i have any medical conditions?", "health"),
        ("what helps with my migraines", "health"),
        ("what medication am I on?", "medication"),
        ("am I allergic to anything?", "allergy"),
        ("can i eat peanuts?", "allergy"),
        ("do i eat meat", "diet"),
        ("how do i take my coffee", "drink"),
        ("what languages do i speak", "spoken"),
        ("what is my mother tongue?", "spoken"),
        ("which programming languages am i good at", "language"),
        ("which editor do I prefer?", "editor"),
        ("what do I prefer for testing?", "tests"),
        ("which database do I like best?", "database"),
        ("what laptop do i use", "devices"),
        ("what car do I drive", "vehicle"),
        ("what are my hobbies?", "hobbies"),
        ("what is my religion?", "religion"),
        ("how do i like my answers?", "style"),
        ("how should you explain things to me?", "style"),
        ("what are my preferences", "preferences"),
        ("what do I like?", "preferences"),
        ("what are my goals this year", "goals"),
        ("what's my email address?", "contact"),
        ("what's my time zone", "timezone"),
    ],
)
def test_an_attribute_of_the_person_is_asked_for(prompt: str, aspect: str) -> None:
    question = read_self_question(prompt)

    assert question is not None
    assert aspect in question.aspects
    assert not question.whole


@pytest.mark.parametrize(
    "prompt",
    [
        "what do i do?",
        "can i do it?",
        "what should I do next?",
        "how do I write a regex",
        "how do I change my name in git?",
        "how can I get home from here?",
        "where do i start?",
        "which one do I prefer?",
        "what do i call it?",
        "what do i answer him?",
        "what do i write here?",
        "who am i talking to?",
        "what am i working on?",
        "what would you do in my place?",
        "do I have to restart the daemon?",
        "am I right?",
        "my mistake, sorry",
        "my tests fail",
        "my wife says hello",
        "I live in Leipzig now.",
        "I prefer the first one",
        "let me think",
        "i think so",
        "show me about ten rows",
        "what is my ip address?",
        "what is my branch name?",
        "why is my name field undefined?",
        "is my cron job stuck?",
        "fix the about me page",
        "what did Petra say about me?",
        "what is your location",
        "where does Anna live?",
        "",
        "???",
    ],
)
def test_no_known_attribute_of_the_person_is_asked_for(prompt: str) -> None:
    assert not asks_about_person(prompt)


def test_whose_something_is_counts_before_what_it_is() -> None:
    question = read_self_question("when is my wife's birthday?")

    assert question is not None
    assert question.aspects == {"spouse"}


@pytest.mark.parametrize(
    "prompt",
    ["What is your location", "where do you live?", "who are you", "do you have a family?"],
)
def test_the_assistant_is_asked_about(prompt: str) -> None:
    assert asks_about_assistant(prompt)


@pytest.mark.parametrize(
    "prompt", ["what do you know about me?", "do you know my name?", "where do I live?", "you rock"]
)
def test_the_assistant_is_not_asked_about(prompt: str) -> None:
    assert not asks_about_assistant(prompt)


def test_only_words_that_name_something_count() -> None:
    assert count_content_words("what do i do about it?") == 0
    assert count_content_words("in english please") == 1
    assert count_content_words("recommend a vegetarian restaurant in Leipzig") == 3


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    question = read_self_question(text)

    assert question is None or question.whole or question.aspects or question.words


@pytest.mark.parametrize(
    "text", ["what do you know ", "about me ", "my ", "i ", "where do I live? "]
)
def test_a_long_prompt_takes_no_time_to_read(text: str) -> None:
    began = time.perf_counter()
    read_self_question(text * (4_000 // len(text)))

    assert time.perf_counter() - began < 0.5
