"""Yes and no in somebody's own words, as far as they are plain."""

from __future__ import annotations

import pytest

from madeleine.language.plain_answers import read_plain_answer


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "Yes, that changed",
        "yep!",
        "approved",
        "ja, das hat sich geändert",
        "Oui.",
        "да",
        "はい",
    ],
)
def test_yes(text: str) -> None:
    assert read_plain_answer(text) is True


@pytest.mark.parametrize(
    "text",
    ["no", "No, keep both", "nope, both are still true", "nein, beides gilt", "нет", "no, not yet"],
)
def test_no(text: str) -> None:
    assert read_plain_answer(text) is False


@pytest.mark.parametrize(
    "text",
    [
        *("", "maybe", "perhaps yes", "yes, but only on Fridays", "yes, keep both", "yes and no"),
        *("no, that changed", "yes, it isn't true any more", "!", "yes " + "word " * 20),
    ],
)
def test_what_is_neither_plainly(text: str) -> None:
    assert read_plain_answer(text) is None
