"""Words in other languages than English: every engine finds their forms, and scores them alike."""

from __future__ import annotations

import pytest

from madeleine.index.port import Index
from madeleine.index.search import IndexedTerm
from madeleine.language.word_stems import ANY_LANGUAGE, language_mark, mark_stem
from madeleine.model.query import Filter
from madeleine.testing.making import NOON, keep, memory, memory_id

GERMAN = "Die Katzen schlafen auf dem Sofa und fressen nur abends"
POLISH = "Klucze do piwnicy leżą w szufladzie, a nie na haczyku"
ENGLISH = "The cats sleep on the sofa and eat at night only"


def find_ids(index: Index, *words: str) -> list[str]:
    return [each.id for each in index.search.search_text(words, Filter(), NOON, 10)]


@pytest.mark.parametrize(
    ("text", "word", "language"),
    [
        (GERMAN, "Katze", "de"),
        ("Ich habe die Äpfel im Keller gelagert", "Apfel", "de"),
        (POLISH, "klucz", "pl"),
        ("Los perros de mi hermana son muy viejos", "perro", "es"),
        ("Les clés de la cave sont dans le tiroir", "clé", "fr"),
        ("Запасные ключи лежат под горшком у двери", "ключ", "ru"),
        ("I gatti di mia sorella dormono sul divano", "gatto", "it"),
        ("As chaves da garagem estão na gaveta", "chave", "pt"),
        ("De sleutels van de schuur liggen in de lade", "sleutel", "nl"),
        ("Katten sover på soffan och äter bara på kvällen", "katt", "sv"),
    ],
)
def test_a_form_of_a_word_is_found_by_the_stem_of_its_language(
    index: Index, text: str, word: str, language: str
) -> None:
    keep(index, memory(1, text), memory(2, ENGLISH))

    assert find_ids(index, mark_stem(word, language)) == [memory_id(1)]


def test_an_index_tells_which_languages_it_holds(index: Index) -> None:
    keep(index, memory(1, GERMAN), memory(2, GERMAN), memory(3, POLISH), memory(4, ENGLISH))

    words = [ANY_LANGUAGE, *map(language_mark, ("de", "pl", "es"))]
    holders = [sum(each.holders for each in found) for found in index.search.terms(words)]
    assert holders == [3, 2, 1, 0]


def test_english_texts_hold_no_marked_stems(index: Index) -> None:
    keep(index, memory(1, ENGLISH))

    (anything,) = index.search.terms([ANY_LANGUAGE])
    assert [each.holders for each in anything] == [0]
    assert find_ids(index, mark_stem("cats", "de")) == []


def test_a_marked_stem_is_one_term(index: Index) -> None:
    keep(index, memory(1, GERMAN))

    (found,) = index.search.terms([mark_stem("Katze", "de")])
    assert [(type(each), each.holders) for each in found] == [(IndexedTerm, 1)]


def test_a_title_is_read_in_the_language_of_its_text(index: Index) -> None:
    keep(index, memory(1, GERMAN, title="Fütterung"), memory(2, POLISH, title="Piwnica"))

    assert find_ids(index, mark_stem("Fütterungen", "de")) == [memory_id(1)]
    assert find_ids(index, mark_stem("piwnicy", "pl"))[0] == memory_id(2)


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("Call Sørensen about the boat", "Sorensen"),
        ("Call Sorensen about the boat", "Sørensen"),
        ("Meet at Hauptstraße 5", "Hauptstrasse"),
        ("Meet at Hauptstrasse 5", "Hauptstraße"),
        ("The ｗｉｆｉ is down", "wifi"),
        ("Ask Łukasz for the key", "Lukasz"),
    ],
)
def test_letters_are_found_as_they_are_typed_in_a_hurry(
    index: Index, written: str, asked: str
) -> None:
    keep(index, memory(1, written), memory(2, "nothing of it"))

    assert find_ids(index, asked) == [memory_id(1)]


def test_a_misspelt_word_is_never_taken_for_a_marked_stem(index: Index) -> None:
    keep(index, memory(1, GERMAN))

    meant = index.search.spellings(["schlafem", "katzem"])
    assert all(each.isalpha() and each.isprintable() for each in meant.values()), meant
