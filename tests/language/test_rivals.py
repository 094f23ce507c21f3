"""Whether two notes may tell one matter twice."""

from __future__ import annotations

import pytest

from madeleine.language.rivals import RIVAL_CHARS, RIVAL_SIMILARITY, are_rivals
from tests.recall.rival_cases import LOOKALIKES, RIVALS

CLOSE = 0.8


@pytest.mark.parametrize(("older", "newer"), [case[1:] for case in RIVALS])
def test_the_same_matter_told_twice_is_known(older: str, newer: str) -> None:
    assert are_rivals(older, newer, CLOSE)


@pytest.mark.parametrize(("older", "newer"), [case[1:] for case in LOOKALIKES])
def test_two_matters_in_the_same_words_are_none(older: str, newer: str) -> None:
    assert not are_rivals(older, newer, 0.95)


@pytest.mark.parametrize(("older", "newer"), [case[1:] for case in LOOKALIKES])
def test_nor_are_they_the_other_way_round(older: str, newer: str) -> None:
    if "also" not in newer:
        assert not are_rivals(newer, older, 0.95)


def test_what_is_far_in_meaning_is_no_rival() -> None:
    _, older, newer = RIVALS[0]

    assert not are_rivals(older, newer, RIVAL_SIMILARITY - 0.01)


def test_without_a_model_words_in_common_decide() -> None:
    assert are_rivals("The rent is 1,180 euros.", "The rent is 1,240 euros.", None)
    assert not are_rivals("The rent is 1,180 euros.", "Rent a boat on Sunday in Cork.", None)


def test_a_told_change_needs_no_likeness() -> None:
    assert are_rivals("CI runs on Buildkite.", "CI was moved from Buildkite to Actions.", 0.1)


def test_of_a_long_text_nothing_is_told() -> None:
    _, older, newer = RIVALS[0]

    assert not are_rivals(older, f"{newer} {'More is said. ' * RIVAL_CHARS}", CLOSE)
