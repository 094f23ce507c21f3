"""Asked recall: words and meaning, filters inside, a reason for each hit and for silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from madeleine.errors import Rejected
from madeleine.model.query import Filter, Query, read_query
from madeleine.model.words import ABOUT_SELF, MemoryType, Tier
from madeleine.recall.recall import recall
from madeleine.recall.words import search_words
from madeleine.write.resolve import get
from madeleine.write.revise import retire
from madeleine.write.stores import Stores
from tests.fakes import close, keep, make_stores


def contents(stores: Stores, text: str, **filters: object) -> list[str]:
    query = Query(text, filter=Filter(**filters))  # type: ignore[arg-type]  # tests name real fields
    return [hit.memory.content for hit in recall(stores, query).hits]


def test_a_hit_comes_with_score_and_reasons(stores: Stores) -> None:
    keep(stores, "the cat sleeps on the sofa")
    keep(stores, "invoices are due in thirty days")

    hit = recall(stores, Query("where does the cat sleep?")).hits[0]

    assert hit.memory.content == "the cat sleeps on the sofa"
    assert 0 < hit.score <= 1
    assert any("shares words" in reason for reason in hit.reasons)
    assert any("close in meaning" in reason for reason in hit.reasons)


def test_a_word_in_the_title_outranks_the_same_word_in_the_text(tmp_path: Path) -> None:
    stores = make_stores(tmp_path / "home", with_model=False)
    keep(stores, "about sqlite we say little here", title="Notes")
    keep(stores, "about storage we say little here", title="Sqlite")

    assert contents(stores, "sqlite")[0] == "about storage we say little here"
    close(stores)


@pytest.mark.proves("I11")
@pytest.mark.parametrize(
    "filters",
    [
        {"types": (MemoryType.DECISION,)},
        {"tiers": (Tier.ARCHIVAL,)},
        {"spaces": ("atlas",)},
        {"tags": ("rare",)},
    ],
)
def test_a_filter_finds_the_one_match_among_many(
    stores: Stores, filters: dict[str, object]
) -> None:
    for number in range(70):
        keep(stores, f"the database of service {number} is fast")
    wanted = keep(
        stores,
        "a database, slow",
        type=MemoryType.DECISION,
        tier=Tier.ARCHIVAL,
        space="atlas",
        tags=("rare",),
    )

    assert contents(stores, "database of a service that is fast", **filters) == [wanted.content]


def test_what_is_retired_is_left_out_unless_asked_for(stores: Stores) -> None:
    old = keep(stores, "uses postgres as its database")
    before = stores.clock.now()
    retire(stores, old.id)

    assert contents(stores, "postgres database") == []
    assert contents(stores, "postgres database", outdated=True) == [old.content]
    assert contents(stores, "postgres database", as_of=before) == [old.content]


def test_nothing_relevant_is_an_empty_answer_with_its_reason(stores: Stores) -> None:
    assert recall(stores, Query("anything")).silence == "no memory passes the filter"

    keep(stores, "grandmother's apple pie")

    assert recall(stores, Query("zzz qqq")).hits == ()
    assert recall(stores, Query("zzz qqq")).silence


def test_without_a_model_words_still_find_and_it_is_said(tmp_path: Path) -> None:
    stores = make_stores(tmp_path / "home", with_model=False)
    keep(stores, "the cat sleeps")

    recalled = recall(stores, Query("cat"))

    assert [hit.memory.content for hit in recalled.hits] == ["the cat sleeps"]
    assert "text search only" in recalled.notes[0]
    close(stores)


def test_an_id_in_the_query_brings_that_memory(stores: Stores) -> None:
    memory = keep(stores, "the cat sleeps")

    assert recall(stores, Query(f"what is {memory.short_id}?")).hits[0].memory.id == memory.id


def test_recall_counts_as_use_once_per_session_and_day(stores: Stores) -> None:
    memory = keep(stores, "the cat sleeps")
    for _ in range(3):
        recall(stores, Query("cat", session_id="s1"))
    recall(stores, Query("cat", session_id="s2"))
    recall(stores, Query("cat", session_id="s3"), touch=False)

    after = get(stores, memory.id).memory
    assert after.access_count == 2
    assert after.stability > memory.stability


@pytest.mark.parametrize(
    "text", ['"', "*", "NEAR(a b)", "a AND", "\x00", "'; DROP", "((", "-", "^x"]
)
def test_no_query_is_taken_for_query_language(stores: Stores, text: str) -> None:
    keep(stores, "the cat sleeps")

    recall(stores, Query(text))


@pytest.mark.parametrize("text", ["私は猫が好きです", "القط ينام", "кошка спит", "แมวนอน"])
def test_any_script_is_found_by_its_words(tmp_path: Path, text: str) -> None:
    stores = make_stores(tmp_path / "home", with_model=False)
    keep(stores, text)

    assert contents(stores, text) == [text]
    close(stores)


def test_a_query_of_stop_words_keeps_them() -> None:
    assert search_words("to be or not to be") == ["to", "be", "or", "not"]
    assert search_words("what is the plan") == ["plan"]
    assert ABOUT_SELF in search_words("where do I live")


@pytest.mark.parametrize(
    "request_body",
    [
        {"query": ""},
        {"query": "   "},
        {},
        {"query": "x", "limit": 0},
        {"query": "x", "limit": 101},
        {"query": "x", "limit": "5"},
        {"query": "x", "types": ["fable"]},
        {"query": "x", "tiers": "core"},
        {"query": "x", "created_after": "soon"},
        {"query": "x", "explain": "yes"},
        {"query": "x", "limti": 5},
    ],
)
def test_a_bad_query_is_rejected_with_the_field_named(request_body: dict[str, object]) -> None:
    with pytest.raises(Rejected):
        read_query(request_body)
