"""What tells two texts apart that look the same."""

from __future__ import annotations

import pytest

from madeleine.language.distinctions import are_told_apart, have_same_wording


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana's T-shirt size is M", "Ana's T-shirt size is L"),
        ("Team A won the final", "Team B won the final"),
        ("Variable x holds the width", "Variable y holds the width"),
        ("Use the flag -v for the build", "Use the flag -q for the build"),
        ("Press Ctrl+C to copy", "Press Ctrl+V to copy"),
        ("Exam grade was A+", "Exam grade was A-"),
        ("Trains run from Oslo to Bergen", "Trains run to Oslo from Bergen"),
        ("The dog sleeps in the house", "The dog sleeps out of the house"),
        ("The parcel is at the door", "The parcel is by the door"),
        ("Turn the pump on at noon", "At noon turn the pump off"),
        ("We can ship on Friday", "We could ship on Friday"),
        ("I owe Ben money", "Ben owes me money"),
        ("The car belongs to you", "The car belongs to me"),
        ("Use 3 replicas for the search service", "The search service should use 5 replicas"),
        ("The limit is 10", "The limit is 10 %"),
        ("The server was up", "The server is up"),
        ("She is with the team", "She is against the team"),
        ("Some tests pass", "All tests pass"),
    ],
)
def test_what_is_told_apart(one: str, other: str) -> None:
    assert are_told_apart(one, other)
    assert are_told_apart(other, one)
    assert not have_same_wording(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Chose SQLite for Ormah", "Ormah uses SQLite"),
        ("Marta lives in Turin.", "Marta moved to Turin and stayed."),
        ("Atlas is deployed to Fly.io.", "In production Atlas lives on Fly.io."),
        ("My manager is Ben", "My manager is Ben Smith"),
        ("Lunch is at noon", "Lunch is at noon, and it takes 30 minutes"),
    ],
)
def test_other_words_and_more_of_them_tell_nothing_apart(one: str, other: str) -> None:
    assert not are_told_apart(one, other)
    assert not are_told_apart(other, one)
    assert not have_same_wording(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The office isn't in Rome", "the office is not in Rome!"),
        ("On Mondays we deploy", "We deploy on Mondays"),
        ("At night the valve is open", "The valve is open at night."),
        ("Version v1.2 is stable", "Version V1.2 is stable"),
    ],
)
def test_what_is_the_same(one: str, other: str) -> None:
    assert have_same_wording(one, other)
    assert have_same_wording(other, one)
