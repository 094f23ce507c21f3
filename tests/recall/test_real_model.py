"""Recall with the model that ships: meaning without shared words, silence, and passages."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from madeleine.model.draft import Draft
from madeleine.model.memory import Origin
from madeleine.model.words import ABOUT_SELF
from madeleine.write.config import RecallConfig
from madeleine.write.stores import Stores
from tests.fakes import keep
from tests.recall.asking import ask, contents, first, keep_many, place
from tests.sentences import in_words

NOTES = [
    "Chose SQLite over Postgres because everything has to work offline",
    "Marta is allergic to peanuts",
    "The car is serviced every October at the garage by the bridge",
    "Releases are never made on a Friday",
    "Grandmother's apple pie needs cinnamon and a pinch of salt",
    "The flat in Dublin is on the third floor",
    "Standup is at half past nine, except on Wednesdays",
    "The router's password is on a note inside the kitchen cupboard",
]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("which database did we pick?", NOTES[0]),
        ("who has a nut allergy?", NOTES[1]),
        ("when does the vehicle get its inspection?", NOTES[2]),
        ("on which day do we not ship?", NOTES[3]),
        ("how do I bake the dessert?", NOTES[4]),
        ("where is the apartment?", NOTES[5]),
        ("what time is the daily meeting?", NOTES[6]),
        ("where do I find the wifi password?", NOTES[7]),
    ],
)
def test_a_question_in_other_words_finds_its_answer(
    real: Stores, question: str, answer: str
) -> None:
    keep_many(real, map(Draft, NOTES))

    assert contents(real, question)[0] == answer


@pytest.mark.parametrize(
    "question", ["zzz qqq xkcd", "quarterly revenue of the steel industry in Brazil"]
)
def test_nothing_relevant_is_silence_with_its_reason(real: Stores, question: str) -> None:
    keep_many(real, map(Draft, NOTES))

    recalled = ask(real, question, all=False)

    assert recalled.hits == ()
    assert in_words(recalled.silence)


def test_a_good_answer_is_likelier_than_a_poor_one_in_every_store(real: Stores) -> None:
    """A score is absolute: what surrounds a memory hardly changes it (I10)."""
    wanted = keep(real, NOTES[1])
    question = "what is Marta allergic to?"
    alone = first(real, question).score
    keep_many(real, (Draft(text) for text in NOTES if text != NOTES[1]))

    recalled = ask(real, question)

    assert place(wanted, recalled) == 1
    assert recalled.hits[0].score == pytest.approx(alone, abs=0.2)
    assert all(hit.score < alone / 2 for hit in recalled.hits[1:])


def test_an_answer_alone_is_as_good_as_one_beside_what_is_unrelated(real: Stores) -> None:
    keep(real, NOTES[1])
    question = "what is Marta allergic to?"
    alone = first(real, question).score

    keep(real, NOTES[5])

    assert first(real, question).score == pytest.approx(alone, abs=0.1)


def test_two_values_of_one_thing_score_about_as_well_as_one(real: Stores) -> None:
    keep_many(real, map(Draft, NOTES))
    keep(real, "Parking costs 45 euros a month.")
    alone = first(real, "what does parking cost?").score

    keep(real, "Parking costs 52 euros a month.")

    both = ask(real, "what does parking cost?").hits[:2]
    assert [hit.score for hit in both] == pytest.approx([alone, alone], abs=0.15)


def test_of_a_long_list_of_like_things_none_is_surely_the_answer(real: Stores) -> None:
    keep_many(real, map(Draft, NOTES))
    keep_many(real, (Draft(f"Locker {n} belongs to team {n + 20}") for n in range(8)))

    assert first(real, "which team has a locker?").score < first(real, "who is allergic?").score


ABOUT_ME = [
    "Prefers the window seat",
    "Works at a shipyard in Bergen",
    "Born in 1988",
    "Has two sisters",
]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("how do I bake the dessert?", NOTES[4]),
        ("where do I find the wifi password?", NOTES[7]),
        ("when does my car go to the garage?", NOTES[2]),
        ("what time is my daily meeting?", NOTES[6]),
        ("where am I employed?", ABOUT_ME[1]),
        ("do I have siblings?", ABOUT_ME[3]),
        ("which seat do I like?", ABOUT_ME[0]),
    ],
)
def test_what_is_about_the_asker_is_first_only_where_it_fits(
    real: Stores, question: str, answer: str
) -> None:
    """Most questions say `I` and are about something else."""
    keep_many(real, map(Draft, NOTES))
    keep_many(real, (Draft(text, about_self=True, tags=(ABOUT_SELF,)) for text in ABOUT_ME))

    assert contents(real, question)[0] == answer


def test_an_answer_in_a_conversation_is_found_by_its_question(real: Stores) -> None:
    keep_many(real, map(Draft, NOTES))
    turns = [
        ("Anna", "Hello! How was your week?"),
        ("Boris", "Long. And yours?"),
        ("Anna", "Fine. Did you go to the lighthouse museum in the end?"),
        ("Boris", "Yes, last Friday!"),
        ("Anna", "I should go as well some day."),
    ]
    kept = keep_many(
        real,
        (Draft(text, origin=Origin("s1", n, who)) for n, (who, text) in enumerate(turns)),
    )

    recalled = ask(real, "When did Boris visit the lighthouse museum?", limit=3)

    assert place(kept[3], recalled) <= 2


def test_a_passage_is_found_by_its_meaning(real: Stores) -> None:
    filler = "\n\n".join(
        f"Minutes of the meeting number {n}: the budget was discussed and put off again. " * 6
        for n in range(10)
    )
    needle = "By the way, Marta is allergic to peanuts."
    keep(real, f"{filler}\n\n{needle}\n\n{filler}", title="Minutes")
    keep_many(real, (Draft(text) for text in NOTES if "Marta" not in text))

    patient = replace(real.config, recall=RecallConfig(least_score=0.0, least_best=0.0))
    hit = first(replace(real, config=patient), "who has a nut allergy?")

    assert hit.memory.title == "Minutes"
    assert hit.passage is not None
    assert needle in hit.passage.text


@pytest.mark.parametrize(
    ("wanted", "question"),
    [
        ("猫の名前はタマです", "猫の名前は何ですか？"),
        ("кошка Мурка спит на диване", "где спит Мурка?"),
        ("القط ينام على السرير", "أين ينام القط؟"),
    ],
)
def test_other_scripts_are_found_beside_english(real: Stores, wanted: str, question: str) -> None:
    keep_many(real, map(Draft, [*NOTES, "犬は庭で寝ています", "поезд уходит утром", "الكتاب جديد"]))
    keep(real, wanted)

    assert contents(real, question)[0] == wanted


def test_a_script_that_the_model_cannot_read_is_found_by_its_letters(real: Stores) -> None:
    """The model makes the same of every such text: similarity must not decide."""
    for text in ("猫の名前はミケです", "鍵は引き出しの中", "🦊", "ราคาน้ำมันวันนี้"):
        assert keep(real, text).connections == ()

    assert contents(real, "猫")[:1] == ["猫の名前はミケです"]
    assert contents(real, "鍵")[:1] == ["鍵は引き出しの中"]


def test_the_note_of_the_day_that_is_named_comes_first(real: Stores) -> None:
    now = real.clock.now()
    for days in range(12):
        keep(real, f"worked on ticket {days} of the cache", created=now - timedelta(days=7 * days))
    wanted = now - timedelta(days=35)

    hit = first(real, f"which ticket did I work on on {wanted:%d %B %Y}?")

    assert hit.memory.created == wanted


def test_a_plain_answer_scores_well_in_a_store_of_three(real: Stores) -> None:
    for text in NOTES[:3]:
        keep(real, text)

    assert first(real, "what is Marta allergic to?").score > 0.5


def test_a_misspelt_question_is_answered_as_it_was_meant(real: Stores) -> None:
    keep_many(real, [Draft(each) for each in NOTES])

    found, meant = first(real, "pasword of the routre"), first(real, "password of the router")

    assert found.memory.content.startswith("The router's password")
    assert found.score == meant.score
