"""Subjects: the same words about somebody else are no change of mind."""

from __future__ import annotations

import pytest

from madeleine.language.subjects import speak_of_others


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana lives in Ghent", "Bob lives in Ghent"),
        ("Ana Maria has a gecko as a pet", "Tom Cloud has a gecko as a pet"),
        ("The tests of Atlas run with tox", "The tests of Orion run with tox"),
        ("The local server of Atlas uses port 6217", "The local server of Orion uses port 4274"),
        ("Atlas listens on port 7356.", "White Corner listens on port 7557."),
        ("The formatter of Atlas is rustfmt.", "The formatter of Orion is rustfmt."),
        ("The database of Atlas is SQLite", "The database of Orion is SQLite"),
        ("The database of Sun South is DynamoDB.", "The database of Bright Sun is Firestore."),
        ("Brook Blue deploys every merge to Fly.", "Red South deploys every merge to Fly."),
        ("Rose Coast drinks espresso in the morning.", "Rose Lake drinks mate in the morning."),
        ("PR 55 is merged", "PR 56 is merged"),
        ("web-1 has 4 cores", "web-2 has 8 cores"),
        ("Item 3 is in the blue box", "Item 4 is in the blue box"),
        ("Issue #12 is fixed in 2.0", "Issue #13 is fixed in 2.0"),
    ],
)
def test_the_same_said_of_another_is_of_another(one: str, other: str) -> None:
    assert speak_of_others(one, other)
    assert speak_of_others(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Chose SQLite for Ormah", "We switched Ormah to Postgres"),
        ("Chose SQLite for Ormah", "Ormah uses SQLite"),
        ("The database of Ormah is SQLite", "The database of Ormah is Postgres"),
        ("Ana lives in Ghent", "Ana moved to Bruges"),
        ("Tom Cloud lives in Ghent", "Tom moved to Bruges"),
        ("Deploy to Fly from the main branch", "Deploy to Heroku from the main branch"),
        ("I live in Cork with Bob", "I live in Bray with Bob"),
        ("Lives in Ghent", "Lives in Bruges now"),
        ("Works for White Corner", "Works for Gray Fountain"),
        ("The app uses Postgres for storage", "The app uses SQLite for storage"),
        ("Prefers tabs", "Prefers spaces"),
        ("the limit is 100", "the limit is 250"),
        ("We are on step 4", "We are on step 5"),
        ("Use 3 replicas for search", "Use 5 replicas for search"),
        ("web-1 has 4 cores", "web-1 has 8 cores"),
        ("Meetings are best in the morning", "Meetings are worst in the morning"),
        ("", ""),
        ("東京に住んでいる", "大阪に住んでいる"),
    ],
)
def test_what_may_have_changed_is_not(one: str, other: str) -> None:
    assert not speak_of_others(one, other)


def test_of_long_texts_nothing_is_told() -> None:
    more = " and a good deal more about it than fits into one line" * 6

    assert not speak_of_others(f"Ana lives in Ghent{more}", f"Bob lives in Ghent{more}")
