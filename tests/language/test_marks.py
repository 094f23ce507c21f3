"""Signs that change what a text says."""

from __future__ import annotations

import pytest

from madeleine.language.marks import have_same_marks


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the sum is x + y", "the sum is x * y"),
        ("the sum is x - y", "the sum is x * y"),
        ("it costs $10", "it costs €10"),
        ("Version <2.0 is required", "Version >=2.0 is required"),
        ("works if x > 0", "works if x < 0"),
        ("kept in ~/src/atlas", "kept in ~/src/Atlas"),
        ("the mood is 😀", "the mood is 👍"),
        ("matches `^a+b$`", "matches `^a*b$`"),
        ("deploy by git push", "deploy by git push --force"),
        ("set FOO=1", "set FOO=2"),
        ("10 users", "10% users"),
        ("call getName first", "call getname first"),
    ],
)
def test_texts_that_differ_in_a_sign_are_told_apart(one: str, other: str) -> None:
    assert not have_same_marks(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Chose SQLite for Ormah", "Ormah uses SQLite"),
        ("The office is in Rome.", "the office is in Rome!"),
        ("a well-known trick", "a well known trick"),
        ('she said "yes"', "she said yes"),
    ],
)
def test_pointing_and_case_of_plain_words_make_no_difference(one: str, other: str) -> None:
    assert have_same_marks(one, other)
