"""English texts stay English whatever they name; others are told from it."""

from __future__ import annotations

import pytest

from madeleine.language.english import is_surely_other, may_be_english
from tests.language.test_identification import NOTES


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ok",
        "config.toml",
        "git push origin main",
        "The word 会議 means meeting",
        "La Bohème on Friday at eight",
        "Zoë likes tea and Irène does not",
        "bump grpc-java to 1.71, please",
        "Is Oscar Melanie's pet?",
        "Rahmen & Söhne sent the invoice on Tuesday",
        "17 times 109 less ten per cent",
        "Our VPN drops idle connections after 20 minutes",
    ],
)
def test_an_english_text_is_not_taken_for_another_language(text: str) -> None:
    assert may_be_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "Termin beim Zahnarzt am Donnerstag",
        "kubectl get pods, почему всё упало?",
        "консьюмер посыпался\n\nERROR sink clickhouse_driver.errors.ServerException: Code 252",
        "调 /order/submit 的 read timeout 统一 600ms，不重试",
        "会議は木曜日",
        "¿Dónde guardamos las llaves del almacén?",
        "on a déplacé la réunion à jeudi",
        "gdzie są klucze do piwnicy",
        "il gatto dorme sul divano",
        "de sleutels liggen in de la",
        "내일 회의는 세 시",
        "الاجتماع يوم الخميس",
    ],
)
def test_a_text_in_another_language_is_told_from_english(text: str) -> None:
    assert not may_be_english(text)


@pytest.mark.parametrize("language", sorted(set(NOTES) - {"en"}))
def test_short_notes_of_each_language_are_told_from_english(language: str) -> None:
    foreign = [not may_be_english(note) for note in NOTES[language]]

    assert foreign.count(True) >= 0.9 * len(foreign)


def test_short_notes_in_english_stay_english() -> None:
    assert all(may_be_english(note) for note in NOTES["en"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Agnieszka's birthday", False),
        ("slava date", False),
        ("where is the key", False),
        ("wo ist der Schlüssel für die Garage", True),
        ("где ключ", True),
        ("鍵はどこ", True),
    ],
)
def test_a_few_latin_words_are_not_surely_of_another_language(text: str, expected: bool) -> None:
    assert is_surely_other(text) is expected
