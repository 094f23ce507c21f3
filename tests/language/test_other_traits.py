"""Notes that say different things of one thing, beside those that change what is said of it."""

from __future__ import annotations

import pytest

from madeleine.language.other_traits import say_other_things_of_one


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The sailing boat is 9 metres long", "The sailing boat lies in Roskilde in winter"),
        ("The CI pipeline runs on Buildkite", "The CI pipeline takes eleven minutes"),
        ("El contrato del piso prohíbe perros", "El contrato del piso se paga el día 3"),
        ("Die Tomaten im Garten stehen an der Wand", "Die Tomaten im Garten sind Ochsenherzen"),
    ],
)
def test_two_traits_of_one_thing(one: str, other: str) -> None:
    assert say_other_things_of_one(one, other)
    assert say_other_things_of_one(other, one)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The staging database lives on db7", "The staging database sits on db9"),
        ("The nightly backup runs at 02:00", "The nightly backup starts at 03:00"),
        ("The build server uses Jenkins", "The build server runs Buildkite"),
        ("The team wiki needs a login", "The team wiki opens without one now"),
        ("The beta group gets mails", "The beta group does not hear from us"),
        ("Standup is at nine", "Lunch is at noon"),
    ],
)
def test_what_may_have_changed_is_no_other_trait(older: str, newer: str) -> None:
    assert not say_other_things_of_one(older, newer)
