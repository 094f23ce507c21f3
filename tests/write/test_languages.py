"""Which languages a vault is written in shows from its newest memories."""

from __future__ import annotations

from madeleine.model.draft import Draft
from madeleine.write.languages import find_other_languages, find_text_to_warm_with
from madeleine.write.remember import remember
from madeleine.write.stores import Stores


def keep(stores: Stores, *texts: str) -> None:
    for text in texts:
        remember(stores, Draft(content=text))


ENGLISH = ("The spare key hangs behind the fuse box", "Rent goes up by fifty euros in April")
GERMAN = ("Der Ersatzschlüssel hängt hinter dem Sicherungskasten", "Oma verträgt keine Nüsse")
JAPANESE = (
    "子どもの保育園は六時に閉まります",
    "父は牛乳を飲むとお腹が痛くなる",
    "会議は木曜日に変わった",
)


def test_an_english_vault_has_no_other_language(stores: Stores) -> None:
    keep(stores, *ENGLISH)

    assert find_other_languages(stores) == []
    assert find_text_to_warm_with(stores) is None


def test_languages_beside_english_are_named_by_how_often_they_stand(stores: Stores) -> None:
    keep(stores, *ENGLISH, *GERMAN, *JAPANESE)

    assert find_other_languages(stores) == ["ja", "de"]
    assert find_text_to_warm_with(stores) not in ENGLISH


def test_a_single_text_in_another_language_makes_no_vault_of_it(stores: Stores) -> None:
    keep(stores, *ENGLISH, GERMAN[0])

    assert find_other_languages(stores) == []
