"""The floor: the tail of an answer is folded, counted, and shown to whoever asks for all of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from madeleine.model.cause import SilenceKind
from madeleine.model.draft import Draft
from madeleine.model.memory import Origin
from madeleine.model.query import OVERVIEW_HITS, RecallQuery, read_query
from madeleine.model.revision import Revision
from madeleine.model.words import ABOUT_SELF, SELF_SOURCE
from madeleine.recall.explaining import Absence
from madeleine.recall.recall import recall
from madeleine.write.config import RecallConfig
from madeleine.write.identity import ensure_self
from madeleine.write.revise import revise
from madeleine.write.stores import Stores
from tests.fakes import NOON, close, keep, make_stores
from tests.recall.asking import ask, contents, keep_many, services


def with_floor(stores: Stores, floor: float, relative: float = 0.0) -> Stores:
    config = RecallConfig(floor=floor, floor_relative=relative)
    return replace(stores, config=replace(stores.config, recall=config))


@pytest.fixture
def harbour(stores: Stores) -> Stores:
    """What answers, and what shares a word with the question."""
    keep(stores, "the harbour opens at nine in the morning")
    keep(stores, "a crane stands near the harbour")
    keep(stores, "invoices are due in thirty days")
    return stores


QUESTION = "when does the harbour open in the morning?"


def test_what_is_far_below_the_best_is_folded_and_counted(harbour: Stores) -> None:
    every = ask(harbour, QUESTION)
    best = every.hits[0]

    shown = ask(with_floor(harbour, best.score / 2), QUESTION, all=False)

    assert [hit.memory.id for hit in shown.hits] == [best.memory.id]
    assert shown.folded == len(every.hits) - 1 > 0
    assert every.folded == 0


def test_the_floor_is_a_share_of_the_best_too(harbour: Stores) -> None:
    every = ask(harbour, QUESTION)

    shown = ask(with_floor(harbour, 0.0, relative=1.0), QUESTION, all=False)

    assert len(shown.hits) == 1
    assert shown.folded == len(every.hits) - 1


def test_sharing_a_word_is_no_reason_to_be_shown(harbour: Stores) -> None:
    """A question that nothing answers is told so, though a word of it stands somewhere."""
    strict = with_floor(harbour, 0.9)

    nothing = ask(strict, "who painted the harbour?", all=False)

    assert nothing.hits == ()
    assert nothing.silence is not None
    assert nothing.silence.kind is SilenceKind.NONE_NEAR_ENOUGH
    assert nothing.folded == len(ask(strict, "who painted the harbour?").hits) > 0


def test_silence_below_the_floor_says_what_was_needed(harbour: Stores) -> None:
    nothing = ask(with_floor(harbour, 0.99), QUESTION, all=False, explain=True)

    assert nothing.silence is not None
    assert nothing.silence.parts["needed"] == 0.99
    assert nothing.silence.parts["lacks"] == "score"


def test_folded_counts_no_more_than_all_would_show(stores: Stores) -> None:
    keep_many(stores, services(30))

    nothing = ask(with_floor(stores, 1.0), "database service", all=False, limit=7)

    assert nothing.folded == 7
    assert len(ask(stores, "database service", limit=7).hits) == 7


def test_what_is_named_or_quoted_is_shown_whatever_its_score(harbour: Stores) -> None:
    far = keep(harbour, "violins are tuned to four hundred and forty")
    strict = with_floor(harbour, 1.0, 1.0)

    named = ask(strict, f"the harbour and {far.short_id}", all=False)
    quoted = ask(strict, 'the harbour, "violins are tuned"', all=False)

    assert far.id in [hit.memory.id for hit in named.hits]
    assert far.id in [hit.memory.id for hit in quoted.hits]


def test_what_is_listed_by_its_time_is_shown(stores: Stores) -> None:
    keep(stores, "bought a lantern", created=NOON - timedelta(days=1))

    assert contents(with_floor(stores, 1.0, 1.0), "what happened yesterday?", all=False) == [
        "bought a lantern"
    ]


@pytest.fixture
def wordy(tmp_path: Path) -> Iterator[Stores]:
    opened = make_stores(tmp_path / "wordy", with_model=False)
    yield opened
    close(opened)


def test_without_a_model_any_word_in_common_is_enough(wordy: Stores) -> None:
    keep(wordy, "the harbour opens at nine")
    keep_many(wordy, services(5))

    assert contents(with_floor(wordy, 0.99, 0.15), "harbour", all=False) == [
        "the harbour opens at nine"
    ]


def test_without_a_model_the_relative_part_holds(wordy: Stores) -> None:
    keep(wordy, "the harbour opens at nine in the morning")
    keep(wordy, "nine days went by")

    assert len(ask(with_floor(wordy, 0.0, 1.0), QUESTION + " nine", all=False).hits) == 1


def test_a_missed_memory_is_said_to_be_folded(harbour: Stores) -> None:
    every = ask(harbour, QUESTION)
    strict = with_floor(harbour, every.hits[0].score / 2)

    absent = ask(strict, QUESTION, all=False, why_not=every.hits[1].memory.id).absent

    assert absent is not None
    assert (absent.how, absent.rank) == (Absence.FOLDED, 2)
    assert "below the floor" in absent.text


def test_only_what_is_shown_counts_as_used(harbour: Stores) -> None:
    every = ask(harbour, QUESTION)
    strict = with_floor(harbour, every.hits[0].score / 2)

    recall(strict, RecallQuery(QUESTION))
    harbour.executor.wait()

    used = harbour.search.memories(hit.memory.id for hit in every.hits)
    counts = [used[hit.memory.id].usage.access_count for hit in every.hits]
    assert counts == [1] + [0] * (len(counts) - 1)


# -- the self ------------------------------------------------------------------------------


def is_self_found(stores: Stores, question: str) -> bool:
    return any(hit.memory.source == SELF_SOURCE for hit in ask(stores, question).hits)


@pytest.fixture
def myself(stores: Stores) -> Stores:
    """Stores with a self that says something, and with what is about it."""
    named = Revision({"title": "Ada Quill", "content": "a clockmaker who lives in Galway"})
    revise(stores, ensure_self(stores), named)
    keep(stores, "the clockmaker in Galway is closed today")
    keep(stores, "likes green tea", about_self=True, tags=(ABOUT_SELF,))
    return stores


@pytest.mark.parametrize(
    "question", ["which clockmaker is open today?", "how do I find a clockmaker in Galway?"]
)
def test_the_self_is_no_answer_to_what_is_about_others(myself: Stores, question: str) -> None:
    assert not is_self_found(myself, question)


@pytest.mark.parametrize("question", ["where do I live in Galway?", "do I live in Galway?"])
def test_the_self_answers_what_is_about_the_asker(myself: Stores, question: str) -> None:
    assert is_self_found(myself, question)


def test_the_self_is_found_by_its_id_its_words_and_its_name(myself: Stores) -> None:
    assert is_self_found(myself, ensure_self(myself)[:8])
    assert is_self_found(myself, 'who is "a clockmaker who lives in Galway"?')
    assert is_self_found(myself, "where does the clockmaker Quill live?")


def test_a_self_without_a_name_is_not_found_by_its_title(stores: Stores) -> None:
    ensure_self(stores)

    assert not is_self_found(stores, "which self service has the memory of a person?")


# -- overviews -----------------------------------------------------------------------------


def visits(stores: Stores, days: int, each: int) -> None:
    """Keep conversations about the lighthouse: the first says much, the others a little."""
    drafts = [
        Draft(
            f"we talked of the lighthouse lamp and stair {day}-{turn}",
            origin=Origin(f"s{day}", turn, "Ann" if turn % 2 else "Ben"),
            created=NOON - timedelta(days=40 - day, minutes=60 - turn),
        )
        for day in range(days)
        for turn in range(each if day else 4 * each)
    ]
    keep_many(stores, drafts)


def sessions_of(stores: Stores, question: str, **fields: object) -> list[str]:
    hits = ask(stores, question, **fields).hits
    return [hit.memory.origin.session or "" for hit in hits if hit.memory.origin]


def test_what_was_said_in_a_conversation_is_not_folded(stores: Stores) -> None:
    visits(stores, days=2, each=3)
    question = "who talked of the lighthouse lamp?"

    shown = ask(with_floor(stores, 0.99, relative=1.0), question, all=False)

    assert len(shown.hits) == len(ask(stores, question).hits) > 1
    assert shown.folded == 0


@pytest.mark.parametrize(
    "question",
    [
        "summarise what was said of the lighthouse lamp",
        "list all talk of the lighthouse lamp",
        "in what order did we talk of the lighthouse lamp?",
        "all the times we talked of the lighthouse lamp",
    ],
)
def test_an_overview_has_more_answers_from_all_conversations(stores: Stores, question: str) -> None:
    visits(stores, days=10, each=5)

    found = sessions_of(stores, question, overview_limit=OVERVIEW_HITS)

    assert len(found) == OVERVIEW_HITS
    assert set(found) == {f"s{day}" for day in range(10)}


def test_who_says_how_many_is_given_so_many(stores: Stores) -> None:
    visits(stores, days=4, each=5)

    assert len(sessions_of(stores, "summarise the lighthouse lamp", limit=6)) == 6


def test_another_question_has_ten_answers(stores: Stores) -> None:
    visits(stores, days=4, each=5)

    assert len(sessions_of(stores, "lighthouse lamp", overview_limit=OVERVIEW_HITS)) == 10


def test_a_request_without_a_limit_leaves_room_for_an_overview() -> None:
    assert read_query({"query": "x"}).overview_limit == OVERVIEW_HITS
    assert read_query({"query": "x", "limit": 10}).overview_limit is None


# --- several languages -----------------------------------------------------------------------


@pytest.fixture
def household(real: Stores) -> Stores:
    """What a household keeps, in English and in German."""
    for note in (
        "Mila is allergic to peanuts and kiwi",
        "Background jobs run on Arq with Redis, three workers",
        "Rent is 1240 euros a month, paid on the 3rd",
        "Die Waschmaschine ist eine Miele, gekauft im Mai 2024 bei Euronics",
        "Der Schlüssel zum Keller liegt bei Frau Yilmaz im zweiten Stock",
    ):
        keep(real, note)
    return real


def test_what_is_in_another_language_is_folded_as_everything_else(household: Stores) -> None:
    answer = ask(household, "what does the teacher of the choir earn?", all=False)

    assert answer.hits == ()
    assert answer.folded > 0
    assert answer.silence is not None
    assert answer.silence.kind is SilenceKind.NONE_NEAR_ENOUGH


def test_what_is_in_another_language_is_behind_what_answers_well(household: Stores) -> None:
    every = ask(household, "how many workers run the background jobs?", is_question=True)

    assert every.hits[0].memory.content.startswith("Background jobs")
    assert every.hits[0].score > 0.6
    assert max(hit.score for hit in every.hits[1:]) < 0.3


def test_a_question_in_another_language_has_the_floor_too(household: Stores) -> None:
    answer = ask(household, "Warum wurde das Konzert im Stadtpark abgesagt?", all=False)
    found = ask(household, "Bei wem liegt der Schlüssel zum Keller?", all=False)

    assert answer.hits == ()
    assert "Frau Yilmaz" in found.hits[0].memory.content
