"""Whether two short texts speak of the same thing, and whether they agree about it."""

from __future__ import annotations

import pytest

from madeleine.language.shared_subject import (
    agree_in_denial,
    have_different_subjects,
    is_addition,
    name_different_things,
    name_other_directions,
    say_the_same,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I downloaded The Stand, 1,150 pages", "I downloaded The Shining, 450 pages"),
        ("I invested $1,000 in the Vanguard fund", "I added $100 to the Fidelity fund"),
        ("The VAT on books is 7%.", "The VAT on stationery is 19%."),
        ("Canary pods get 5% in Frankfurt.", "Canary pods get 20% in Singapore."),
        ("Learning rate for the backbone is 1e-5.", "Learning rate for the head is 1e-3."),
    ],
)
def test_numbers_of_another_thing_are_told_by_what_each_names(one: str, other: str) -> None:
    assert name_different_things(one, other)
    assert name_different_things(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The limit is 100", "The limit is 250 now"),
        ("The API key rotates every 30 days", "The API key rotates every 90 days"),
        ("My library has 45 sources", "I've added 52 sources to my library"),
    ],
)
def test_a_number_of_the_same_thing_may_change(one: str, other: str) -> None:
    assert not name_different_things(one, other)


def test_what_stands_before_the_verb_tells_who_is_spoken_of() -> None:
    assert have_different_subjects("My wife drinks oat milk.", "My daughter drinks cow milk.")
    assert have_different_subjects("Customer 11 is on Pro.", "Customer 12 moved to Pro.")
    assert not have_different_subjects("Ormah uses SQLite", "Ormah uses Postgres")
    assert not have_different_subjects("Mira leads Harbor", "Tom took over Harbor", names=False)


def test_another_direction_is_another_thing() -> None:
    assert name_other_directions("The train to Oslo takes 3 h.", "The train from Oslo takes 4 h.")
    assert not name_other_directions("The train to Oslo takes 3 h.", "The train to Oslo takes 4 h.")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The ferry leaves pier four at nine", "The ferry leaves from pier four at 9"),
        ("We chose Hetzner.", "We chose Hetzner because it is cheap."),
        ("The cache holds 1,024 items", "The cache holds 1024 items"),
        ("It takes thirty minutes", "It takes 30 minutes"),
        ("The boat has a diesel engine", "The boat has a diesel engine, 20 horsepower"),
    ],
)
def test_a_restatement_says_the_same(one: str, other: str) -> None:
    assert say_the_same(one, other)
    assert say_the_same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The limit is 100", "The limit is 100, now 250"),
        ("Deploys run on Friday", "Deploys do not run on Friday"),
        ("We use Celery", "We no longer use Celery"),
        ("We use Celery", "We use Arq"),
    ],
)
def test_what_changes_or_denies_is_no_restatement(one: str, other: str) -> None:
    assert not say_the_same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("In the ledger floats are forbidden", "The ledger uses integers, never floats"),
        ("Force pushing to main is forbidden.", "Never force-push main."),
        ("The bucket is not public.", "Public access to the bucket is denied."),
        ("No meetings on Wednesdays", "Wednesday is a meeting-free day."),
        ("Players can't trade items", "Trading of items isn't possible."),
    ],
)
def test_two_denials_agree(one: str, other: str) -> None:
    assert agree_in_denial(one, other)


def test_what_is_not_forbidden_is_not_denied() -> None:
    assert not agree_in_denial("Floats are not forbidden", "Floats are forbidden")
    assert not agree_in_denial("We deploy on Friday", "Never deploy on Friday")


def test_what_comes_beside_something_replaces_nothing() -> None:
    assert is_addition("The parser now handles TOML too.")
    assert not is_addition("The parser now handles TOML.")
