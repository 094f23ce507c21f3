"""Private facts come when they are asked for, and only those that answer.

The prompts and people are those of `bench/harm`, which `bench/_harm_identity.py` measures whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import pytest

from madeleine import Madeleine
from madeleine.minds.local import load_built_in, why_not_built_in
from tests.bench.test_recall_bench import bench
from tests.sentences import in_words
from tests.whisper.listening import CONFIG

harm: Any = bench("_harm_identity")
PEOPLE = ("dev", "teacher", "nurse")

Person = tuple[Madeleine, Mapping[str, str]]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Person]]:
    """Three people, each with a home that the real model has read."""
    if load_built_in(threads=1) is None:
        pytest.skip(why_not_built_in())
    folder = tmp_path_factory.mktemp("people")
    with ExitStack() as stack:
        yield {each: stack.enter_context(harm.open_person(folder, each)) for each in PEOPLE}


@pytest.fixture
def dev(people: Mapping[str, Person]) -> Person:
    return people["dev"]


def brought(person: Person, prompt: str, session: str | None = None) -> list[str]:
    """Return the keys of what a prompt brings about the person."""
    opened, keys = person
    said = opened.whisper(prompt, session_id=session)
    return sorted(keys[each.memory.id] for each in said.injected if each.memory.id in keys)


def test_no_filler_brings_anything_about_the_self(people: Mapping[str, Person]) -> None:
    """Each filler is typed by one of the three; the benchmark has each of them type all."""
    leaking = {
        row["prompt"]: found
        for number, row in enumerate(harm.read_rows("fillers"))
        if (found := brought(people[PEOPLE[number % len(PEOPLE)]], row["prompt"]))
    }

    assert leaking == {}


def test_questions_about_oneself_bring_what_was_asked_and_nothing_else(
    people: Mapping[str, Person],
) -> None:
    rows = harm.read_rows("identity")
    answers = [harm.type_prompts(*people[row["person"]], row["person"], [row])[0] for row in rows]

    missed = [each.row["prompt"] for each in answers if not each.is_exact]
    assert len(rows) == 100
    assert len(missed) <= 15, missed


@pytest.mark.parametrize(
    "prompt",
    [
        "tell me more",
        "explain more",
        "why?",
        "what else?",
        "elaborate",
        "how so?",
        "go into more detail please",
        "and why is that?",
        "can you say more about this?",
        "give me another example",
        "what makes you think so?",
        "walk me through it once more",
    ],
)
def test_what_asks_for_more_is_silent_where_nothing_was_spoken_of(dev: Person, prompt: str) -> None:
    said = dev[0].whisper(prompt)

    assert said.injected == ()
    assert (
        in_words(said.silence)
        == "the prompt goes on with something, and nothing was said before it"
    )


@pytest.mark.parametrize("prompt", ["tell me more", "what else?", "please elaborate", "why?"])
def test_what_asks_for_more_goes_on_with_the_topic_of_the_session(dev: Person, prompt: str) -> None:
    session = f"topic {prompt}"
    first = dev[0].whisper("how are failed webhooks retried?", session_id=session)

    then = dev[0].whisper(prompt, session_id=session, explain=True)

    assert [each.memory.content for each in first.injected] == [
        "Failed webhooks are retried five times with exponential backoff."
    ]
    assert then.explained is not None
    assert then.explained["intents"] == ["continuation"]
    assert then.explained["stage"] not in ("conversation", "topic")
    assert not {each.memory.id for each in then.injected} & set(dev[1])


def test_asking_for_more_about_oneself_brings_more(dev: Person) -> None:
    first = brought(dev, "what do you know about me?", "more")
    second = brought(dev, "what else?", "more")

    assert first
    assert second
    assert not set(first) & set(second)


def test_asking_for_more_about_one_thing_brings_no_other(dev: Person) -> None:
    assert brought(dev, "where do I live?", "home") == ["home"]
    assert brought(dev, "tell me more", "home") == []


@pytest.mark.parametrize(
    "prompt",
    [
        "What is your location",
        "where are you?",
        "what's your name?",
        "who are you?",
        "how old are you?",
        "are you married?",
        "do you have any children?",
        "which editor do you prefer?",
        "what languages do you speak?",
        "do you drink coffee?",
        "what do you do for a living?",
        "when is your birthday?",
        "tell me about yourself",
    ],
)
def test_a_question_about_the_assistant_brings_nothing_about_the_person(
    dev: Person, prompt: str
) -> None:
    assert brought(dev, prompt) == []


@pytest.mark.parametrize(
    "prompt",
    [
        "what do i do?",
        "can i do it?",
        "how do I write a regex",
        "how do I center a div?",
        "what is my ip address?",
        "what's my branch name?",
        "why is my name field undefined?",
        "how do I change my name in git?",
        "is my job queue stuck?",
        "rename my home directory",
        "where is my config file?",
        "am i on the right branch?",
        "do i have a typo here?",
        "what do i tell them?",
        "should i restart it?",
        "that works for me",
        "this is driving me crazy",
        "happy birthday!",
    ],
)
def test_a_word_for_oneself_is_not_enough(dev: Person, prompt: str) -> None:
    assert brought(dev, prompt) == []


def test_where_one_lives_brings_neither_the_editor_nor_the_test_runner(
    people: Mapping[str, Person],
) -> None:
    for person in people.values():
        assert brought(person, "where do I live?") == ["home"]


def test_a_preference_still_comes_where_something_is_to_be_done(dev: Person) -> None:
    assert "tests" in brought(dev, "can you write tests for the parser module?")


def test_a_silence_about_the_person_says_nothing_of_a_good_score(dev: Person) -> None:
    """The home would pass the gate; it is held back because nobody asked for it."""
    opened, _ = dev
    opened.whisper("where do you live?", session_id="why")

    why = opened.whisper_why("why")

    best = re.search(r"Silent: nothing is relevant enough \(best ([\d.]+)\)", why)
    assert best is not None
    assert float(best[1]) < CONFIG.injection_gate
    assert "Lives in Leipzig" in why
