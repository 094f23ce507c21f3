"""Asked recall: words and meaning, a reason for each hit and for silence, any text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from madeleine.errors import MindDown, Rejected
from madeleine.minds.port import Minds
from madeleine.model.draft import Draft
from madeleine.model.query import RecallQuery, read_query
from madeleine.model.words import MemoryType
from madeleine.recall.recall import recall
from madeleine.write.config import RecallConfig
from madeleine.write.reconcile import reconcile_and_embed
from madeleine.write.resolve import get_stored
from madeleine.write.revise import retire
from madeleine.write.stores import Stores
from tests.fakes import NOON, close, keep, make_stores
from tests.recall.asking import ask, contents, keep_many, services
from tests.sentences import in_words


@pytest.fixture
def wordy(tmp_path: Path) -> Iterator[Stores]:
    """Stores without a model."""
    opened = make_stores(tmp_path / "wordy", with_model=False)
    yield opened
    close(opened)


@pytest.fixture(params=["with a model", "without"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stores]:
    """Stores with a model, and without."""
    opened = make_stores(tmp_path / "either", with_model=request.param == "with a model")
    yield opened
    close(opened)


def choosy(stores: Stores) -> Stores:
    """The same stores, where a memory must be quite likely to be an answer."""
    config = replace(stores.config, recall=RecallConfig(least_score=0.9, least_best=0.9))
    return replace(stores, config=config)


# -- answers -------------------------------------------------------------------------------


def test_a_hit_comes_with_score_and_reasons(stores: Stores) -> None:
    keep(stores, "the cat sleeps on the sofa")
    keep(stores, "invoices are due in thirty days")

    hit = recall(stores, RecallQuery("where does the cat sleep?")).hits[0]

    assert hit.memory.content == "the cat sleeps on the sofa"
    assert 0 < hit.score <= 1
    assert any("shares words" in reason for reason in in_words(hit.reasons))
    assert any("close in meaning" in reason for reason in in_words(hit.reasons))
    assert set(hit.match) == {"text", "meaning", "tokens", "chance"}


def test_a_word_in_the_title_outranks_the_same_word_in_the_text(wordy: Stores) -> None:
    keep(wordy, "about sqlite we say little here", title="Notes")
    keep(wordy, "about storage we say little here", title="Sqlite")

    assert contents(wordy, "sqlite")[0] == "about storage we say little here"


def test_a_word_in_the_title_counts_ten_times_where_there_is_no_model(wordy: Stores) -> None:
    for number in range(20):
        keep(wordy, f"other matters are told here, this is number {number}")
    keep(wordy, "about storage this says little more than that and then it ends", title="Sqlite")
    keep(wordy, "sqlite about storage this says little more than that and then ends", title="Once")
    keep(wordy, "sqlite " * 10 + "and more", title="Tenfold")

    hits = recall(wordy, RecallQuery("sqlite", explain=True, all=True)).hits
    words = {hit.memory.title: hit.explained.features["words"] for hit in hits if hit.explained}

    assert words["Sqlite"] > 1.3 * words["Once"]
    assert words["Sqlite"] == pytest.approx(words["Tenfold"], rel=0.01)


def test_the_more_of_the_question_a_memory_holds_the_better(either: Stores) -> None:
    keep(either, "the harbour has a crane")
    keep(either, "the harbour opens at nine")
    keep(either, "the bakery opens at seven")

    found = contents(either, "when does the harbour open?")

    assert found[0] == "the harbour opens at nine"


def test_other_forms_of_a_word_are_the_same_word(wordy: Stores) -> None:
    keep(wordy, "she bought two boxes of tea")

    assert contents(wordy, "buying a box") == ["she bought two boxes of tea"]


def test_never_more_answers_than_asked_for(either: Stores) -> None:
    for number in range(6):
        keep(either, f"the ferry of pier {number} is late")

    assert len(contents(either, "which ferry is late?", limit=4)) == 4
    assert len(contents(either, "which ferry is late?", limit=1)) == 1


def test_of_equal_answers_the_newer_comes_first(wordy: Stores) -> None:
    for colour in ("amber", "beige", "coral"):
        keep(wordy, f"{colour} lantern")

    assert contents(wordy, "lantern") == ["coral lantern", "beige lantern", "amber lantern"]


@pytest.mark.soak
@pytest.mark.proves("I2")
@pytest.mark.parametrize("count", [40, 200, 400])
def test_of_many_equals_the_same_few_come_first_in_every_index(tmp_path: Path, count: int) -> None:
    """Written at one moment and equal to the question; more of them than are drawn, compared
    or shown. Where their rows stand must not decide."""
    numbers = [f"{17 * n % count:04}" for n in range(count)]
    drafts = [
        Draft(f"lantern x{n}", created=NOON, id=f"0000{n}-0000-4000-8000-000000000000")
        for n in numbers
    ]
    answers = []
    for number, stock in enumerate((drafts, sorted(drafts, key=lambda each: each.content))):
        stores = make_stores(tmp_path / f"home{number}", with_model=False)
        keep_many(stores, stock)
        answers.append(contents(stores, "lantern"))
        close(stores)

    assert answers[0] == answers[1] == [f"lantern x{n:04}" for n in range(10)]


def test_without_a_model_words_still_find_and_it_is_said(wordy: Stores) -> None:
    keep(wordy, "the cat sleeps")

    recalled = ask(wordy, "cat")

    assert [hit.memory.content for hit in recalled.hits] == ["the cat sleeps"]
    assert in_words(recalled.notes) == ("text search only: none in this test",)
    assert set(recalled.hits[0].match) == {"text", "chance"}


def test_a_model_that_is_down_leaves_words_and_says_so(stores: Stores) -> None:
    keep(stores, "the cat sleeps")

    class Down:
        """What an embedder looks like whose machine is away."""

        def ask(self, text: str) -> None:
            raise MindDown("the model", "is asleep")

    away = replace(stores, minds=Minds(Down()))  # type: ignore[arg-type]  # nothing else is asked
    recalled = ask(away, "cat")

    assert [hit.memory.content for hit in recalled.hits] == ["the cat sleeps"]
    assert "text search only" in in_words(recalled.notes)[0]
    assert "is asleep" in in_words(recalled.notes)[0]


def test_what_no_model_has_read_yet_is_found_beside_what_one_has(
    tmp_path: Path, stores: Stores
) -> None:
    """A memory without a vector is weighed by its words alone; it must not be lost."""
    keep(stores, "the lantern is red")
    without = replace(stores, minds=Minds(None, "away for a while"))
    keep(without, "the lantern is blue")

    assert set(contents(stores, "lantern")) == {"the lantern is red", "the lantern is blue"}


# -- silence -------------------------------------------------------------------------------


def test_an_empty_store_says_that_there_is_nothing_yet(either: Stores) -> None:
    assert in_words(ask(either, "anything").silence) == "no memory yet"


def test_a_filter_that_lets_nothing_through_is_named_as_the_reason(either: Stores) -> None:
    keep(either, "grandmother's apple pie")

    recalled = ask(either, "apple pie", types=(MemoryType.GOAL,))

    assert (recalled.hits, in_words(recalled.silence)) == ((), "no memory passes the filter")


def test_what_is_all_outdated_is_not_called_nothing_yet(either: Stores) -> None:
    retire(either, keep(either, "grandmother's apple pie").id)

    recalled = ask(either, "apple pie")

    assert recalled.hits == ()
    assert in_words(recalled.silence)
    assert in_words(recalled.silence) != "no memory yet"


def test_nothing_relevant_is_an_empty_answer_with_its_reason(either: Stores) -> None:
    keep(either, "grandmother's apple pie")
    keep(either, "the ferry leaves at nine")

    recalled = ask(choosy(either), "zzz qqq")

    assert recalled.hits == ()
    assert in_words(recalled.silence) == "2 came near, none near enough"


def test_what_shares_words_is_said_even_if_it_is_not_likely(either: Stores) -> None:
    """Who searches for a word wants to see where it stands."""
    keep(either, "grandmother's apple pie")

    assert contents(choosy(either), "zzz qqq vvv www pie") == ["grandmother's apple pie"]


@pytest.mark.parametrize("text", ["?", "…", "***", '""', "-", "\ufe0f"])
def test_a_question_without_a_word_says_so(either: Stores, text: str) -> None:
    keep(either, "the cat sleeps")

    recalled = ask(either, text)

    assert (recalled.hits, in_words(recalled.silence)) == ((), "there is no word in the question")


def test_silence_names_the_best_and_what_it_lacks_when_it_is_explained(stores: Stores) -> None:
    best = keep(stores, "the cat sleeps")

    plain = in_words(ask(choosy(stores), "zzz qqq").silence)
    explained = in_words(ask(choosy(stores), "zzz qqq", explain=True).silence)

    assert plain == "1 came near, none near enough"
    assert explained is not None
    assert explained.startswith(f"{plain}: the nearest, {best.short_id}, is not near enough (0.")
    assert explained.endswith(" where 0.9 is needed)")


def test_silence_for_want_of_a_common_word_says_so(wordy: Stores) -> None:
    easy = replace(wordy.config, recall=RecallConfig(least_score=0.0, least_best=0.0))
    best = keep(wordy, "the cat sleeps")

    recalled = ask(replace(wordy, config=easy), "zzz qqq", explain=True)

    assert in_words(recalled.silence) is not None
    assert f"the nearest, {best.short_id}, has no word in common" in in_words(recalled.silence)


def test_silence_is_said_only_when_nothing_is(stores: Stores) -> None:
    keep(stores, "the cat sleeps")

    assert in_words(ask(stores, "cat").silence) is None


# -- what the model has not read -----------------------------------------------------------


def test_memories_that_the_model_has_not_read_are_counted_in_a_note(tmp_path: Path) -> None:
    """After the model was set, and as long as nothing has had it read them."""
    home = tmp_path / "home"
    before = make_stores(home, with_model=False)
    keep_many(before, services(12))
    assert in_words(ask(before, "database").notes) == ("text search only: none in this test",)
    close(before)
    stores = make_stores(home)
    note = "12 memories are not read by the model yet; run `madeleine reconcile`"

    assert in_words(ask(stores, "database").notes) == (note,)
    report = reconcile_and_embed(stores)

    assert in_words(report.notes) == ["the model has read 12 memories that it had not"]
    assert in_words(ask(stores, "database").notes) == ()
    close(stores)


@pytest.mark.parametrize(
    ("count", "said"), [(1, "1 memory is not read"), (101, "more than 99 memories are not read")]
)
def test_one_and_very_many_that_are_not_read_are_said_in_words(
    tmp_path: Path, count: int, said: str
) -> None:
    before = make_stores(tmp_path / "home", with_model=False)
    keep_many(before, services(count))
    close(before)
    stores = make_stores(tmp_path / "home")

    (note,) = in_words(ask(stores, "database").notes)

    assert note.startswith(said)
    close(stores)


# -- bad questions -------------------------------------------------------------------------


@pytest.mark.few(10)
@pytest.mark.parametrize(
    "text",
    [
        '"', "*", "NEAR(a b)", "a AND", "\x00", "'; DROP TABLE nodes; --", "((", "-", "^x",
        "content:cat", "{title} : cat", 'cat"*', "cat\x00dog", "\ud800 cat", "cat OR dog NOT",
    ],
)  # fmt: skip
def test_no_query_is_taken_for_query_language(either: Stores, text: str) -> None:
    kept = keep(either, "the cat sleeps")

    recalled = ask(either, text)

    assert recalled.hits or in_words(recalled.silence)
    assert get_stored(either, kept.id).memory.content == "the cat sleeps"


def test_search_syntax_is_searched_for_as_words(wordy: Stores) -> None:
    keep(wordy, "the cat sleeps")
    keep(wordy, "the dog barks")

    assert contents(wordy, "NOT cat") == ["the cat sleeps"]
    assert contents(wordy, "title:cat*") == ["the cat sleeps"]
    assert set(contents(wordy, "cat AND dog")) == {"the cat sleeps", "the dog barks"}


@pytest.mark.few(8)
@pytest.mark.parametrize("unit", ["cat ", "x", "猫", '"cat" ', "yesterday ", "97acbe8e ", "\x00"])
def test_a_pasted_page_is_answered_like_a_question(either: Stores, unit: str) -> None:
    keep(either, "the cat sleeps")

    recalled = ask(either, unit * (100_000 // len(unit)))

    assert recalled.hits or in_words(recalled.silence)


@pytest.mark.parametrize(
    "request_body",
    [
        {"query": ""},
        {"query": "   "},
        {},
        {"query": None},
        {"query": 7},
        {"query": "x", "limit": 0},
        {"query": "x", "limit": 101},
        {"query": "x", "limit": "5"},
        {"query": "x", "types": ["fable"]},
        {"query": "x", "tiers": "core"},
        {"query": "x", "created_after": "soon"},
        {"query": "x", "as_of": "then"},
        {"query": "x", "explain": "yes"},
        {"query": "x", "why_not": 97},
        {"query": "x", "limti": 5},
    ],
)
def test_a_bad_query_is_rejected_with_the_field_named(request_body: dict[str, object]) -> None:
    with pytest.raises(Rejected):
        read_query(request_body)
