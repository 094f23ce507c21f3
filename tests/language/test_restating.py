"""Texts that are the same but for a number, and those that only look so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.language.restatements import differs_in_numbers, find_added_roots


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The API rate limit is 100 calls a minute", "API rate limit: 250 calls a minute"),
        ("Staging listens on port 8080", "staging listens on port 8081."),
        ("The daemon needs Python 3.11", "The daemon needs Python 3.12"),
        ("Backups are kept for 30 days", "backups kept for 90 days"),
        ("The ferry leaves at nine", "The ferry leaves at ten"),
        ("standup is at 9:30 in the blue room", "Standup is at 10:15 in the blue room"),
    ],
)
def test_the_same_but_for_a_number_does_not_agree(one: str, other: str) -> None:
    assert differs_in_numbers(one, other)
    assert differs_in_numbers(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Staging listens on port 8080", "on port 8080 staging listens"),
        ("Staging listens on port 8080", "Production listens on port 9090"),
        ("Marta has 2 cats", "Marta has 3 sisters and a dog"),
        ("step 1 of the release is the tag", "step 2 of the release is the tag"),
        ("On 2026-01-03 the backup took 4 minutes", "On 2026-02-03 the backup took 5 minutes"),
        ("In May 4 people left the team", "In June 6 people left the team"),
        ("The budget for 2025 is 10 ducats", "The budget for 2026 is 12 ducats"),
        ("crane oiled by person1 in month1", "crane oiled by person2 in month2"),
        ("100", "200"),
        ("The office has a green door", "The office has a green door"),
        ("Backups are kept", "Backups are kept for 30 days"),
        (f"limit 1 {'x ' * 400}", f"limit 2 {'x ' * 400}"),
        ("", ""),
    ],
)
def test_what_speaks_of_another_thing_or_time_does_not_disagree(one: str, other: str) -> None:
    assert not differs_in_numbers(one, other)


@given(st.text(max_size=700))
def test_no_text_disagrees_with_itself(text: str) -> None:
    assert not differs_in_numbers(text, text)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Backups are kept for 30 days", "We keep backups for thirty days"),
        ("Invoices go out on the 5th of each month", "On the fifth of every month invoices go out"),
        ("The course has twelve lessons", "There are 12 lessons in the course"),
    ],
)
def test_a_number_is_one_word_however_it_is_written(older: str, newer: str) -> None:
    assert not find_added_roots(older, newer)
    assert not find_added_roots(newer, older)


def test_another_number_is_another_word() -> None:
    assert find_added_roots("Backups are kept for 30 days", "Backups: kept forty days") == {"40"}
