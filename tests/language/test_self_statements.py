"""What a memory states about the person, and which statements answer a question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.language.self_questions import SelfQuestion, read_self_question
from madeleine.language.self_statements import rank_primary, read_self_statement, select_answers

KNOWN = (
    "Lives in Leipzig, in a flat near the canal",
    "User is a data scientist at a startup called Pennywise",
    "My son Chidi lives in Toronto and my daughter Ruth lives in York",
    "User's husband is named Arjun and works as an architect",
    "Her parents run a bakery in Izmir",
    "Speaks Turkish with her parents and Dutch at work",
    "Has type 1 diabetes",
    "Allergic to shellfish and penicillin",
    "Prefers pytest with plain functions over unittest classes",
    "Prefers Neovim as the editor",
    "Most at home in Python and Rust",
    "Works on a ThinkPad with Fedora; the desktop at home is for games",
    "Saves 400 euros a month for a flat of her own",
    "A stray cat named Shoyu sleeps in the shop",
    "Has a dog called Bolt",
    "Takes tea with milk and no sugar",
    "Works night shifts from Thursday to Sunday",
)


@pytest.mark.parametrize(
    ("prompt", "answers"),
    [
        ("where do I live?", [0]),
        ("what do I do for a living?", [1]),
        ("where do my children live?", [2]),
        ("what does my husband do?", [3]),
        ("what do my parents do?", [4]),
        ("which languages do I speak?", [5]),
        ("do I have any illnesses?", [6]),
        ("what am I allergic to?", [7]),
        ("what do I prefer for testing?", [8]),
        ("which editor do I use?", [9]),
        ("which programming languages do I know?", [10]),
        ("what os do I run?", [11]),
        ("what am I saving for?", [12]),
        ("do I have a cat?", [13]),
        ("do I have any pets?", [13, 14]),
        ("how do I take my tea?", [15]),
        ("when do I work?", [16]),
        ("tell me about my family", [2, 3, 4]),
        ("what is my name?", []),
        ("what is my religion?", []),
    ],
)
def test_what_states_the_attribute_of_the_person_answers(prompt: str, answers: list[int]) -> None:
    question = read_self_question(prompt)
    statements = {text: read_self_statement(text) for text in KNOWN}

    assert question is not None
    assert select_answers(question, statements) == {KNOWN[each] for each in answers}


def test_what_only_mentions_it_answers_where_nothing_states_it() -> None:
    question = SelfQuestion(aspects=frozenset({"home"}))
    statements = {
        "dublin": read_self_statement("Dublin, third floor"),
        "tea": read_self_statement("Tea"),
    }

    assert select_answers(question, statements) == {"dublin"}


def test_everything_answers_who_one_is() -> None:
    statements = {text: read_self_statement(text) for text in KNOWN}

    assert select_answers(SelfQuestion(whole=True), statements) == set(KNOWN)


def test_a_name_and_a_job_say_more_of_who_one_is_than_a_dog() -> None:
    name, job, dog = map(read_self_statement, ("My name is Peg", "Works as a nurse", "Has a dog"))

    assert rank_primary(name) > rank_primary(job) > rank_primary(dog) == 0


def test_a_goal_states_what_is_wanted_and_not_what_is() -> None:
    assert "job" not in read_self_statement("Become a staff engineer", goal=True).aspects
    assert "home" not in read_self_statement("Wants to move to Lisbon").aspects


@given(st.text(), st.booleans())
def test_any_text_can_be_read(text: str, flag: bool) -> None:
    statement = read_self_statement(text, preference=flag, goal=flag)

    assert not flag or {"preferences", "goals"} <= statement.aspects
