"""Of two that say different things of the same, the newer comes first; look-alikes stay."""

from __future__ import annotations

from datetime import timedelta

import pytest

from madeleine.model.cause import ReasonKind
from madeleine.model.draft import Draft
from madeleine.model.memory import Memory, Origin
from madeleine.write.stores import Stores
from tests.fakes import NOON, keep
from tests.recall.asking import ask, hit_of, keep_many, place
from tests.recall.rival_cases import LOOKALIKES, RIVALS
from tests.sentences import in_words

OTHERS = (
    "Marta is allergic to peanuts",
    "Releases are never made on a Friday",
    "The flat in Dublin is on the third floor",
    "Grandmother's apple pie needs cinnamon and a pinch of salt",
)
QUESTION = "what does parking cost?"
OLD, NEW = "Parking costs 52 euros a month.", "Parking costs 45 euros a month."


def keep_pair(stores: Stores, older: str, newer: str, **fields: object) -> tuple[Memory, Memory]:
    """Keep two notes a month apart, among others."""
    keep_many(stores, (Draft(text, created=NOON - timedelta(days=90)) for text in OTHERS))
    old = keep(stores, older, created=NOON - timedelta(days=60), **fields)
    return old, keep(stores, newer, created=NOON - timedelta(days=30), **fields)


def kinds(stores: Stores, question: str, **fields: object) -> set[str]:
    hits = ask(stores, question, **fields).hits
    return {str(reason.kind) for hit in hits for reason in hit.reasons}


@pytest.mark.parametrize(("question", "older", "newer"), RIVALS)
def test_the_newer_of_two_comes_first(real: Stores, question: str, older: str, newer: str) -> None:
    old, new = keep_pair(real, older, newer)

    recalled = ask(real, question)

    assert place(new, recalled) < place(old, recalled)


@pytest.mark.parametrize(("question", "older", "newer"), LOOKALIKES)
def test_look_alikes_stay_where_they_are(
    real: Stores, question: str, older: str, newer: str
) -> None:
    keep_pair(real, older, newer)

    assert ReasonKind.NEWER_OF_TWO not in kinds(real, question)


def test_the_reason_names_the_other(stores: Stores) -> None:
    """The older one fits a little better, and is used often besides."""
    old, new = keep_pair(stores, OLD, NEW)
    for session in range(5):
        ask(stores, old.id, touch=True, limit=1, session_id=f"s{session}")
    stores.executor.wait()

    recalled = ask(stores, QUESTION)

    assert place(new, recalled) < place(old, recalled)
    hit = hit_of(new, recalled)
    assert f"newer than {old.short_id}" in in_words(hit.reasons)
    assert old.id in hit.mentioned
    assert hit.score >= hit_of(old, recalled).score


def used_often(stores: Stores, memory: Memory) -> None:
    for session in range(5):
        ask(stores, memory.id, touch=True, limit=1, session_id=f"s{session}")
    stores.executor.wait()


def test_at_an_earlier_moment_the_newest_of_then_comes_first(stores: Stores) -> None:
    old, new = keep_pair(stores, OLD, NEW)
    newest = keep(stores, "Parking costs 60 euros a month.", created=NOON - timedelta(days=2))
    used_often(stores, old)

    then = ask(stores, QUESTION, as_of=NOON - timedelta(days=10))

    assert newest.id not in [hit.memory.id for hit in then.hits]
    assert place(new, then) < place(old, then)


def test_memories_of_two_spaces_stay(stores: Stores) -> None:
    old = keep(stores, OLD, space="home", created=NOON - timedelta(days=60))
    keep(stores, NEW, space="work", created=NOON - timedelta(days=30))
    used_often(stores, old)

    assert ReasonKind.NEWER_OF_TWO not in kinds(stores, QUESTION)


def test_what_two_people_say_of_themselves_stays(stores: Stores) -> None:
    for number, speaker in enumerate(("Anna", "Boris")):
        said = OLD if number == 0 else NEW
        origin = Origin(f"s{number}", 1, speaker)
        memory = keep(stores, said, origin=origin, created=NOON - timedelta(days=60 - number))
        if number == 0:
            used_often(stores, memory)

    assert ReasonKind.NEWER_OF_TWO not in kinds(stores, QUESTION)


@pytest.mark.parametrize(
    "question",
    ["what did parking previously cost?", "what did parking use to cost before the move?"],
)
def test_who_asks_how_it_was_is_not_told_how_it_is_first(stores: Stores, question: str) -> None:
    old, _ = keep_pair(stores, OLD, NEW)
    used_often(stores, old)

    assert ReasonKind.NEWER_OF_TWO not in kinds(stores, question)


def test_what_is_named_stays_first(stores: Stores) -> None:
    old, new = keep_pair(stores, OLD, NEW)

    recalled = ask(stores, f"{QUESTION} {old.short_id}")

    assert place(old, recalled) < place(new, recalled)


def test_what_nobody_is_sure_of_takes_no_place(stores: Stores) -> None:
    old = keep(stores, OLD, created=NOON - timedelta(days=60))
    new = keep(stores, NEW, created=NOON - timedelta(days=30), confidence=0.7)

    recalled = ask(stores, QUESTION)

    assert place(old, recalled) < place(new, recalled)


def test_what_people_say_to_each_other_keeps_its_order(real: Stores) -> None:
    """They come back to a matter; that replaces nothing."""
    drafts = [
        Draft(text, origin=Origin("s1", turn, speaker), created=NOON - timedelta(minutes=60 - turn))
        for turn, (speaker, text) in enumerate(
            [("Ann", OLD), ("Ben", "that is a lot"), ("Ann", NEW), ("Ben", "oh dear")]
        )
    ]
    keep_many(real, drafts)

    assert ReasonKind.NEWER_OF_TWO not in kinds(real, QUESTION)


def test_an_exact_answer_stays_before_a_newer_relative(real: Stores) -> None:
    exact, relative = keep_pair(
        real,
        "The ferry to Bergen leaves at half past nine",
        "The ferry to Bergen is late at half moon",
    )

    recalled = ask(real, "the ferry to Bergen leaves at half past nine")

    assert place(exact, recalled) < place(relative, recalled)
