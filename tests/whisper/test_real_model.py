"""Whispering with the model that ships: meaning, talk in other words, conflicts, preferences."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from madeleine.minds.port import Minds
from madeleine.model.words import ABOUT_SELF, Edge, MemoryType
from madeleine.write.identity import ensure_self
from tests.fakes import NOON, keep
from tests.real_model import opened_real
from tests.recall.asking import connect
from tests.whisper.listening import Listener, contents

NOTES = (
    "Chose SQLite over Postgres because everything has to work offline",
    "Marta is allergic to peanuts",
    "The car is serviced every October at the garage by the bridge",
    "Releases are never made on a Friday",
    "Grandmother's apple pie needs cinnamon and a pinch of salt",
    "Standup is at half past nine, except on Wednesdays",
    "The whisper eval pipeline builds an isolated store, runs whisper and scores the ids it told",
)


@pytest.fixture
def listener(tmp_path: Path, minds: Minds) -> Iterator[Listener]:
    """Somebody with a few notes that the real model has read."""
    with opened_real(tmp_path / "home", minds) as stores:
        for each in NOTES:
            keep(stores, each)
        yield Listener(stores)


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("which database did we choose, and why?", NOTES[0]),
        ("can Marta eat a peanut butter sandwich?", NOTES[1]),
        ("when does the car go to the garage?", NOTES[2]),
        ("how does the whisper eval pipeline work?", NOTES[6]),
    ],
)
def test_what_answers_a_prompt_is_whispered_first(
    listener: Listener, prompt: str, expected: str
) -> None:
    assert contents(listener.hears(prompt))[:1] == [expected]


@pytest.mark.parametrize(
    "prompt",
    [
        "thanks, that was wonderful of you",
        "good morning to you my friend",
        "why is my css grid overflowing its container?",
        "write a haiku about autumn leaves",
        "what is the capital of Mongolia?",
        "convert 30 degrees celsius to fahrenheit",
        "explain monads as if I were five",
    ],
)
def test_what_no_memory_helps_with_is_silence(listener: Listener, prompt: str) -> None:
    said = listener.hears(prompt)

    assert (said.text, said.injected) == ("", ())


def test_a_preference_surfaces_for_a_task_that_shares_no_word_with_it(listener: Listener) -> None:
    keep(
        listener.stores,
        "Prefers pytest with plain functions over unittest classes",
        type=MemoryType.PREFERENCE,
    )

    said = listener.hears("can you write tests for the parser module?")

    assert "Prefers pytest with plain functions over unittest classes" in contents(said)


def test_two_that_contradict_each_other_are_both_told(listener: Listener) -> None:
    """The model finds them nearly the same, and yet neither restates the other."""
    old = keep(listener.stores, "Jonas lives in Berlin")
    new = keep(listener.stores, "Jonas lives in Berlin no longer")
    connect(listener.stores, new, Edge.CONTRADICTS, old)

    said = listener.hears("where does Jonas live?")

    assert {old.id, new.id} <= {each.memory.id for each in said.injected}
    assert "These two do not agree" in said.text


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("prompt", "older", "newer"),
    [
        (
            "what does parking cost?",
            "Parking costs 45 euros a month.",
            "Parking costs 52 euros a month.",
        ),
        (
            "when do the bins go out?",
            "The bins go out on Tuesday night.",
            "The bins go out on Sunday night.",
        ),
        (
            "how much is the rent?",
            "The rent is 1,180 euros with heating.",
            "The rent is 1,240 euros with heating.",
        ),
        (
            "who is my dentist?",
            "My dentist is Dr Hale on Mill Street.",
            "My dentist is Dr Osei on Mill Street.",
        ),
    ],
)
def test_an_old_value_and_a_new_one_do_not_silence_each_other(
    listener: Listener, prompt: str, older: str, newer: str
) -> None:
    """Neither is ahead of the other, but both are of the rest."""
    keep(listener.stores, older, created=NOON - timedelta(days=60))
    keep(listener.stores, newer, created=NOON - timedelta(days=30))

    assert contents(listener.hears(prompt))[:2] == [newer, older]


def test_two_that_differ_in_a_number_only_are_told_as_a_conflict(listener: Listener) -> None:
    keep(listener.stores, "The harbour crane lifts 100 tonnes")
    keep(listener.stores, "the harbour crane lifts 250 tonnes")

    assert "These two do not agree" in listener.hears("how much can the harbour crane lift?").text


def test_what_contradicts_something_else_is_not_told_beside_it(listener: Listener) -> None:
    """Only what contradicts a told memory is let in for that."""
    old = keep(listener.stores, "Jonas lives in Berlin")
    new = keep(listener.stores, "Jonas lives in Berlin no longer")
    other = keep(listener.stores, "The barge is moored at the north quay")
    connect(listener.stores, new, Edge.CONTRADICTS, other)

    told = {each.memory.id for each in listener.hears("where does Jonas live?").injected}

    assert old.id in told
    assert other.id not in told


def test_a_restatement_is_told_once(listener: Listener) -> None:
    one = keep(listener.stores, "The deploy key is rotated every ninety days")
    other = keep(listener.stores, "Every ninety days the deploy key is rotated")

    said = listener.hears("how often is the deploy key rotated?")

    told = {each.memory.id for each in said.injected}
    assert len({one.id, other.id} & told) == 1


def test_the_asker_is_recognised_in_other_words(listener: Listener) -> None:
    keep(listener.stores, "Is a vegetarian who runs marathons", tags=(ABOUT_SELF,))
    ensure_self(listener.stores)

    assert "Is a vegetarian who runs marathons" in contents(listener.hears("tell me about myself"))


@pytest.mark.parametrize(
    "prompt",
    [
        "explain what this stack trace means: KeyError: 'id'",
        "TypeError: cannot read 'on' of undefined",
        'what does the flag "a" mean in ffmpeg?',
    ],
)
def test_what_a_prompt_quotes_is_no_question_for_it(listener: Listener, prompt: str) -> None:
    assert listener.hears(prompt).text == ""


@pytest.mark.parametrize(
    ("memory", "prompts"),
    [
        ("السيارة في المرآب الكبير", ("شكرا جزيلا", "اكتب قصيدة عن الخريف")),
        ("Сервер стоит в подвале дома", ("спасибо большое", "напиши хайку об осени")),
    ],
)
def test_talk_in_a_script_the_model_cannot_read_is_met_with_silence(
    listener: Listener, memory: str, prompts: tuple[str, ...]
) -> None:
    keep(listener.stores, memory)

    assert [listener.hears(prompt).text for prompt in prompts] == ["", ""]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        (
            "check which nuts Marta can eat, then book the car service for October",
            {NOTES[1], NOTES[2]},
        ),
        (
            "bake grandmother's apple pie and then plan Friday's release",
            {NOTES[4], NOTES[3]},
        ),
    ],
)
def test_each_part_of_a_prompt_with_several_is_heard(
    listener: Listener, prompt: str, expected: set[str]
) -> None:
    assert set(contents(listener.hears(prompt))) == expected
