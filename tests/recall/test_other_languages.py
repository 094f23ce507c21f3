"""What was kept in another language than English is found by any form of its words."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from madeleine import Madeleine

NOTES = {
    "de": [
        "Die Ersatzschlüssel für die Kellertür liegen im blauen Schrank",
        "Oma bringt am Sonntag ihre Apfelkuchen mit",
        "Der Hund hat Angst vor Gewittern",
    ],
    "pl": [
        "Zapasowe klucze do piwnicy leżą w niebieskiej szafie",
        "Babcia przynosi w niedzielę swoje szarlotki",
        "Pies boi się burzy",
    ],
    "es": [
        "Las llaves de repuesto del sótano están en el armario azul",
        "La abuela trae el domingo sus tartas de manzana",
        "El perro tiene miedo a las tormentas",
    ],
    "ru": [
        "Запасные ключи от подвала лежат в синем шкафу",
        "Бабушка приносит в воскресенье свои пироги",
        "Собака боится грозы",
    ],
}
QUESTIONS = [
    ("de", "welcher Ersatzschlüssel ist das im Schränken?", 0),
    ("de", "wer bringt den Apfelkuchen?", 1),
    ("de", "wovor haben Hunde Angst, vor einem Gewitter?", 2),
    ("pl", "gdzie leży zapasowy klucz?", 0),
    ("pl", "kto przynosi szarlotkę?", 1),
    ("pl", "czego boją się psy, burz?", 2),
    ("es", "¿dónde está la llave de repuesto?", 0),
    ("es", "¿quién trae la tarta de manzanas?", 1),
    ("es", "¿a qué tienen miedo los perros, a una tormenta?", 2),
    ("ru", "где лежит запасной ключ?", 0),
    ("ru", "кто приносит пирог?", 1),
    ("ru", "чего боятся собаки, гроз?", 2),
]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Madeleine]:
    home = tmp_path_factory.mktemp("languages")
    with Madeleine.open(home, in_process=True) as made:
        for language, notes in NOTES.items():
            for note in notes:
                made.remember(note, space=language)
        for note in ("The spare keys hang in the hall", "Grandma's cakes are the best"):
            made.remember(note)
        yield made


@pytest.mark.parametrize(("language", "question", "place"), QUESTIONS)
def test_a_question_finds_other_forms_of_its_words(
    opened: Madeleine, language: str, question: str, place: int
) -> None:
    hits = opened.recall(question, space=language, limit=1)

    assert [each.memory.content for each in hits] == [NOTES[language][place]]


def test_an_index_whose_words_were_made_by_other_rules_is_made_anew(tmp_path: Path) -> None:
    with Madeleine.open(tmp_path, in_process=True) as made:
        made.remember("Die Ersatzschlüssel liegen unter den Blumentöpfen")
    with sqlite3.connect(tmp_path / "index.db") as file:
        file.execute("UPDATE meta SET value = 'of old' WHERE key = 'analyser'")
        file.execute("UPDATE passages SET stems = x''")

    with Madeleine.open(tmp_path, in_process=True) as made:
        (hit,) = made.recall("wo ist der Ersatzschlüssel, im Blumentopf?", limit=1)

    assert "Blumentöpfen" in hit.memory.content
    with sqlite3.connect(tmp_path / "index.db") as file:
        assert file.execute("SELECT length(stems) > 0 FROM passages").fetchone() == (1,)
