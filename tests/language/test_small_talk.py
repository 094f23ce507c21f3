"""Prompts that name nothing, and which of them ask for more."""

from __future__ import annotations

import time

import pytest

from madeleine.language.small_talk import asks_to_go_on, names_nothing


@pytest.mark.parametrize(
    "prompt",
    [
        "tell me more",
        "explain more",
        "why?",
        "what else?",
        "elaborate",
        "how so?",
        "please go into more detail",
        "what do you mean by that?",
        "can you give me an example?",
        "what do i do?",
        "and then what happens?",
        "walk me through it again",
        "erzähl mir mehr",
        "pourquoi ?",
        "¿por qué?",
        "dimmi di più",
        "vertel me meer",
    ],
)
def test_it_names_nothing_and_asks_for_more(prompt: str) -> None:
    assert names_nothing(prompt)
    assert asks_to_go_on(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "let me think",
        "i think so",
        "let me know when done",
        "tell me when it's ready",
        "i'll take a look",
        "that makes sense to me",
        "i need a coffee first",
        "give me a minute",
        "oh my god, my bad",
        "ich weiß nicht",
        "laisse-moi réfléchir",
        "creo que sí",
    ],
)
def test_it_names_nothing_and_asks_for_nothing(prompt: str) -> None:
    assert names_nothing(prompt)
    assert not asks_to_go_on(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "?!",
        "sql",
        "tell me more about the ferry",
        "why sqlite?",
        "what about the tests?",
        "explain the deploy",
        "海水",
        "warum postgres?",
        "run the migration again",
        "what should I use instead of Express?",
        "give me a summary of what changed",
        "more please " * 200,
    ],
)
def test_it_names_something(prompt: str) -> None:
    assert not names_nothing(prompt)


def test_a_long_prompt_takes_no_time() -> None:
    began = time.perf_counter()
    for text in ("so and " * 400, "please can you " * 200, "need a " * 300):
        names_nothing(text)
        asks_to_go_on(text)

    assert time.perf_counter() - began < 0.5
