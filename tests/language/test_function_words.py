"""Whether a text is in another language than English, told by its function words."""

from __future__ import annotations

import pytest

from madeleine.language import function_words
from madeleine.language.function_words import read_language

ENGLISH = [
    "the garden in Lisbon costs 40 a month",
    "we say tschüss and danke at the office, nothing else in German",
    "she moved to La Paz with the van, and her husband is in Den Haag",
    "do not write «ne pas toucher» on the boxes, they are ours",
    "Ana and Bram went over the budget with us before the strike",
]
OTHERS = [
    ("der Garten in Lissabon kostet 40 im Monat und ist nicht groß", "de"),
    ("el jardín de Lisboa cuesta 40 al mes, y no es muy grande", "es"),
    ("no reboot before the strike: il faut que nous en parlions avec eux demain", "fr"),
    ("ogród nie jest duży, ale kosztuje tylko 40 na miesiąc", "pl"),
    ("ребёнок ходит в школу у нас во дворе", "ru"),
]


@pytest.mark.parametrize("text", ENGLISH)
def test_words_borrowed_from_elsewhere_leave_a_text_english(text: str) -> None:
    assert read_language(text) is None


@pytest.mark.parametrize(("text", "code"), OTHERS)
def test_function_words_show_the_language(text: str, code: str) -> None:
    found = read_language(text)

    assert found is not None
    assert found.code == code


@pytest.mark.parametrize("text", [*ENGLISH, *(text for text, _ in OTHERS), "", "12:30", "ok"])
def test_the_short_way_says_the_same_as_the_long_one(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = read_language(text)
    monkeypatch.setattr(function_words, "_holds_english", lambda words: False)

    assert read_language(text) == found
