"""What is known for a standing note, by its text or by its author, and how all are asked for."""

from __future__ import annotations

import pytest

from madeleine.language import standing_questions
from madeleine.language.activities import (
    EVERYTHING,
    activity_names,
    activity_sentences,
    count_activity_words,
    name_activities,
)
from madeleine.language.lookup_keys import lookup_keys
from madeleine.language.standing import (
    PREFERENCE_KEY,
    READ_KEY,
    SET_KEY,
    is_standing,
    standing_keys,
)
from madeleine.language.standing_questions import asks_for_standing_notes
from madeleine.language.standing_signs import read_standing_signs
from madeleine.model.memory import Memory
from madeleine.model.words import SELF_SOURCE, MemoryKind, MemoryType
from madeleine.testing.making import memory

STANDING = [
    "Never deploy on a Friday afternoon",
    "Please keep answers under five lines",
    "Always write to Ms Kowalska in Polish",
    "don't use mocks for the database",
    "Bitte niemals direkt auf main pushen",
    "Siempre en español con los proveedores",
    "Jamais de commit sans test",
    "Никогда не пиши в логах телефоны клиентов",
    "コミットは必ず小さくしてください",
    "周末不要上线",
]
PLAIN = [
    "Tomasz moved to Gdynia last year",
    "The invoice service was rewritten in Go",
    "Marta's flight lands at 14:20",
    "Wir haben 2021 auf Kubernetes gewechselt",
    "El taller de Lucía está en Valencia",
    "Ma sœur habite à Nantes",
    "Сервер переехал в другой дата-центр",
]


def note(content: str, **fields: object) -> Memory:
    return memory(1, content=content, **fields)


@pytest.mark.parametrize("text", STANDING)
def test_what_says_how_things_are_done_is_known_by_its_form(text: str) -> None:
    assert is_standing(note(text))
    assert standing_keys(note(text)) == [READ_KEY]


@pytest.mark.parametrize(
    "text",
    [
        "The newsletter goes out on Fridays now, not Mondays",
        "Marek is on call now, no longer Ana",
        "Payments run through Adyen now instead of Stripe",
        "Falke läuft jetzt auf Hetzner, nicht mehr bei Fly",
        "Los pedidos ya no van por Correos, ahora van por SEUR",
        "Le chantier n'est plus à Lyon mais à Dijon",
    ],
)
def test_news_of_what_changed_is_no_standing_note(text: str) -> None:
    assert not is_standing(note(text))


@pytest.mark.parametrize(
    "text",
    [
        "From now on use ruff, no longer black",
        "Never send drafts to the customer any more",
        "Ab jetzt immer mit zwei Unterschriften, nie mehr mit einer",
    ],
)
def test_a_rule_that_takes_the_place_of_another_is_a_standing_note(text: str) -> None:
    assert is_standing(note(text))


@pytest.mark.parametrize("text", PLAIN)
def test_what_tells_or_happened_is_no_standing_note(text: str) -> None:
    assert not is_standing(note(text))


def test_what_its_author_says_has_the_last_word() -> None:
    said, denied = (
        note(PLAIN[0], kind=MemoryKind.STANDING),
        note(STANDING[0], kind=MemoryKind.PLAIN),
    )

    assert is_standing(said)
    assert standing_keys(said) == [SET_KEY]
    assert not is_standing(denied)
    assert standing_keys(denied) == []


def test_a_preference_has_a_key_of_its_own_and_the_self_has_none() -> None:
    assert standing_keys(note(STANDING[1], type=MemoryType.PREFERENCE)) == [PREFERENCE_KEY]
    assert standing_keys(note(STANDING[1], source=SELF_SOURCE)) == []


def test_a_memory_stands_under_what_triggers_it_and_under_what_it_is() -> None:
    assert {"path:legacy", READ_KEY} <= set(
        lookup_keys(note("Never touch legacy/ without asking Tom"))
    )


def test_every_sign_is_a_number_from_0_to_1() -> None:
    for text in (*STANDING, *PLAIN, "", "?" * 2_000):
        assert all(0 <= each <= 1 for each in read_standing_signs(text).values())


@pytest.mark.parametrize(
    ("text", "activity"),
    [
        ("cover the parser with tests", "test"),
        ("schreib Tests für den Import", "test"),
        ("write the commit message", "commit"),
        ("reply to the landlord's mail", "email"),
        ("find me a recipe for dinner", "cook"),
        ("предложи рецепт на ужин", "cook"),
        ("部署到生产环境并上线", "deploy"),
    ],
)
def test_an_activity_is_known_by_its_words_in_many_languages(text: str, activity: str) -> None:
    assert activity in count_activity_words(text)


def test_what_is_about_no_activity_holds_for_everything() -> None:
    assert name_activities(count_activity_words("no emojis please"), None) == (EVERYTHING,)


def test_each_activity_has_words_and_sentences() -> None:
    said = activity_sentences()

    assert set(said) == set(activity_names())
    assert all(len(each) >= 4 for each in said.values())


@pytest.mark.parametrize(
    "text",
    [
        "what are my preferences?",
        "What rules do I have here?",
        "list all my standing instructions",
        "which conventions and rules apply in this project?",
        "was sind meine Vorlieben?",
        "welche Regeln gelten hier?",
        "¿cuáles son mis preferencias?",
        "quelles sont nos règles ici ?",
        "quali regole ho qui?",
        "quais são as minhas preferências?",
        "welke regels gelden hier?",
        "jakie mam zasady?",
        "какие у меня предпочтения?",
        "我的规则有哪些？",
        "私のルールは何ですか？",
        "kurallarım neler?",
    ],
)
def test_all_standing_notes_are_asked_for_in_many_languages(text: str) -> None:
    assert asks_for_standing_notes(text)


@pytest.mark.parametrize(
    "text",
    [
        "what is the rule for dates?",
        "what are the rules of chess?",
        "what are Marta's preferences?",
        "which preferences does the settings page store?",
        "welche Regel gilt für Datumsangaben?",
        "add a rule to the firewall",
        "",
    ],
)
def test_a_question_about_one_rule_asks_for_that_one(text: str) -> None:
    assert not asks_for_standing_notes(text)


def test_a_pattern_for_all_standing_notes_is_read_only_where_rules_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It takes 20 ms to compile, and the first question would wait for it."""
    monkeypatch.delattr(standing_questions, "_ASKED")

    assert not asks_for_standing_notes("what does Ana drink at noon?")
    with pytest.raises(NameError):
        asks_for_standing_notes("what are my rules?")
