"""Filters act inside the search (I11), and what is no longer true is left out or marked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from madeleine.model.draft import Draft, MemoryLimits
from madeleine.model.query import Filter, RecallQuery
from madeleine.model.revision import read_revision
from madeleine.model.words import Edge, MemoryType, Tier
from madeleine.recall.recall import recall
from madeleine.write.revise import retire, revise
from madeleine.write.stores import Stores
from tests.fakes import NOON, FakeClock, close, keep, make_stores
from tests.recall.asking import ask, connect, contents, first, hit_of, keep_many, place, services
from tests.sentences import in_words

DAY = timedelta(days=1)
NEARER = 400  # more than any source draws


@pytest.fixture(scope="module", params=["with a model", "without"])
def crowded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stores]:
    """One odd memory among hundreds that fit the question better, and hundreds that do not."""
    with_model = request.param == "with a model"
    opened = make_stores(tmp_path_factory.mktemp("home"), with_model=with_model)
    keep_many(opened, services(NEARER))
    keep_many(opened, (Draft(f"pier {number}", space="atlas") for number in range(NEARER)))
    keep(
        opened,
        "a database, slow",
        type=MemoryType.DECISION,
        tier=Tier.ARCHIVAL,
        space="borneo",
        tags=("rare",),
        created=NOON - 100 * DAY,
    )
    keep(opened, "the database of service 7 was slow once", valid_until=NOON - DAY)
    yield opened
    close(opened)


@pytest.mark.few(8)
@pytest.mark.proves("I11")
@pytest.mark.parametrize(
    "filters",
    [
        {"types": (MemoryType.DECISION,)},
        {"types": (MemoryType.DECISION, MemoryType.GOAL)},
        {"tiers": (Tier.ARCHIVAL,)},
        {"tiers": (Tier.ARCHIVAL, Tier.CORE)},
        {"spaces": ("borneo",)},
        {"spaces": ("borneo", "nowhere")},
        {"tags": ("rare",)},
        {"tags": ("rare", "unused")},
        {"created_before": NOON - 99 * DAY},
        {"created_after": NOON - 101 * DAY, "created_before": NOON - 99 * DAY},
        {"as_of": NOON - 99 * DAY},
        {"spaces": ("borneo", None), "tags": ("rare",)},
        {"types": (MemoryType.DECISION,), "tiers": (Tier.ARCHIVAL,), "outdated": True},
    ],
)
def test_a_filter_finds_the_one_match_among_many(
    crowded: Stores, filters: dict[str, object]
) -> None:
    found = contents(crowded, "database of a service that is fast", **filters)

    assert found == ["a database, slow"]


@pytest.mark.proves("I11")
def test_a_filter_that_leaves_hundreds_still_finds_the_best_of_them(crowded: Stores) -> None:
    """More pass the filter than are drawn, and the nearer ones do not pass it."""
    question = "is the database of service 77 fast?"

    found = contents(crowded, question, spaces=("atlas", "borneo"), limit=100)

    assert {"a database, slow", "pier 77"} <= set(found)
    assert not any("service" in each for each in found)


@pytest.mark.parametrize(
    "filters",
    [
        {"types": (MemoryType.GOAL,)},
        {"spaces": ("nowhere",)},
        {"tags": ("unused",)},
        {"created_after": NOON + DAY},
        {"as_of": NOON - 200 * DAY},
        {"types": (MemoryType.DECISION,), "spaces": ("atlas",)},
    ],
)
def test_a_filter_that_nothing_passes_is_silent(
    crowded: Stores, filters: dict[str, object]
) -> None:
    recalled = ask(crowded, "database", **filters)

    assert (recalled.hits, in_words(recalled.silence)) == ((), "no memory passes the filter")


def test_the_askers_own_space_is_preferred_and_not_required(stores: Stores) -> None:
    here = keep(stores, "the ferry leaves at nine", space="atlas")
    away = keep(stores, "the ferry leaves at nine", space="borneo")
    everywhere = keep(stores, "the ferry leaves at nine")

    recalled = ask(stores, "when does the ferry leave?", space="atlas", explain=True)

    assert place(away, recalled) == 3
    assert {place(here, recalled), place(everywhere, recalled)} == {1, 2}
    factors = {
        hit.memory.id: hit.explained and hit.explained.boosts["space"] for hit in recalled.hits
    }
    assert factors == {here.id: 1.0, everywhere.id: 1.0, away.id: 0.6}


# -- no longer true ------------------------------------------------------------------------


def test_what_is_retired_is_left_out_unless_asked_for(stores: Stores) -> None:
    old = keep(stores, "uses postgres as its database")
    before = stores.clock.now()
    retire(stores, old.id)

    assert contents(stores, "postgres database") == []
    assert contents(stores, "postgres database", outdated=True) == [old.content]
    assert contents(stores, "postgres database", as_of=before) == [old.content]


def test_what_has_expired_is_left_out_by_itself(tmp_path: Path) -> None:
    clock = FakeClock()
    stores = make_stores(tmp_path / "home", clock)
    keep(stores, "the harbour is closed", valid_until=NOON + DAY)

    before = contents(stores, "is the harbour closed?")
    clock.pass_by(days=2)

    assert before == ["the harbour is closed"]
    assert contents(stores, "is the harbour closed?") == []
    close(stores)


def test_what_is_over_says_so_and_since_when(stores: Stores) -> None:
    over = keep(stores, "the harbour is closed", valid_until=NOON - 3 * DAY)
    soon = keep(stores, "the harbour is closed on Sundays", valid_until=NOON + 3 * DAY)

    recalled = ask(stores, "harbour closed", outdated=True)

    assert "no longer true since 2026-11-12" in in_words(hit_of(over, recalled).reasons)
    assert not any("longer" in reason for reason in in_words(hit_of(soon, recalled).reasons))


def moved(stores: Stores, old_text: str, new_text: str) -> tuple[str, str]:
    old, new = keep(stores, old_text, created=NOON - 30 * DAY), keep(stores, new_text)
    retire(stores, old.id, superseded_by=new.id)
    return old.id, new.id


MOVES = [
    ("Anna lives in Berlin", "Anna lives in Dublin"),
    ("Anna lives in Berlin, in a house by the canal", "Anna has moved to Dublin"),
    ("the api key is alpha", "the api key is omega, and alpha is void"),
]


@pytest.mark.parametrize(("old_text", "new_text"), MOVES)
@pytest.mark.parametrize("with_model", [True, False])
def test_a_superseded_memory_stands_below_what_took_its_place(
    tmp_path: Path, old_text: str, new_text: str, with_model: bool
) -> None:
    """Even when the question is the old memory word for word."""
    stores = make_stores(tmp_path / "home", with_model=with_model)
    old, new = moved(stores, old_text, new_text)
    keep_many(stores, services(10))

    now = ask(stores, old_text)
    all_times = ask(stores, old_text, outdated=True)

    assert old not in [hit.memory.id for hit in now.hits]
    assert [hit.memory.id for hit in all_times.hits][:2] == [new, old]
    assert f"superseded by {new[:8]}" in in_words(all_times.hits[1].reasons)
    assert not any("superseded" in reason for reason in in_words(all_times.hits[0].reasons))
    close(stores)


@pytest.mark.parametrize("question", ["where does Anna live?", "Anna lives in Cadiz", "Anna"])
@pytest.mark.parametrize("with_model", [True, False])
def test_of_many_updates_only_the_last_is_ever_first(
    tmp_path: Path, question: str, with_model: bool
) -> None:
    clock = FakeClock()
    stores = make_stores(tmp_path / "home", clock, with_model=with_model)
    ids: list[str] = []
    for town in ("Athens", "Berlin", "Cadiz", "Dublin"):
        ids.append(keep(stores, f"Anna lives in {town}").id)
        if len(ids) > 1:
            retire(stores, ids[-2], superseded_by=ids[-1])
        clock.pass_by(days=1)

    now = [hit.memory.id for hit in ask(stores, question).hits]
    all_times = [hit.memory.id for hit in ask(stores, question, outdated=True).hits]

    assert now == ids[-1:]
    assert all_times[0] == ids[-1]
    assert all_times.index(ids[2]) < all_times.index(ids[1]) < all_times.index(ids[0])
    close(stores)


def test_two_that_supersede_each_other_are_both_answers(stores: Stores) -> None:
    """A file edited by hand may say so; it must not keep anybody waiting."""
    one, two = keep(stores, "the gate is red"), keep(stores, "the gate is blue")
    for each, other in ((one, two), (two, one)):
        revise(stores, each.id, read_revision({"superseded_by": other.id}, MemoryLimits()))

    assert len(ask(stores, "the gate", outdated=True).hits) == 2


# -- as things stood -----------------------------------------------------------------------


def test_as_of_answers_as_things_stood_then(tmp_path: Path) -> None:
    clock = FakeClock(NOON - 20 * DAY)
    stores = make_stores(tmp_path / "home", clock)
    old = keep(stores, "Anna lives in Berlin")
    clock.pass_by(days=10)
    new = keep(stores, "Anna lives in Dublin")
    retire(stores, old.id, superseded_by=new.id)
    clock.pass_by(days=10)

    def answer(days: float) -> list[str]:
        return contents(stores, "where does Anna live?", as_of=NOON - days * DAY)

    assert answer(30) == []
    assert answer(15) == ["Anna lives in Berlin"]
    assert answer(5) == ["Anna lives in Dublin"]
    assert contents(stores, "where does Anna live?") == ["Anna lives in Dublin"]
    close(stores)


def test_what_was_still_true_then_is_neither_marked_nor_lowered(tmp_path: Path) -> None:
    clock = FakeClock(NOON - 20 * DAY)
    stores = make_stores(tmp_path / "home", clock)
    old = keep(stores, "Anna lives in Berlin")
    clock.pass_by(days=10)
    retire(stores, old.id, superseded_by=keep(stores, "Anna lives in Dublin").id)

    hit = first(stores, "where does Anna live?", as_of=NOON - 15 * DAY, explain=True)

    assert not any("superseded" in reason for reason in in_words(hit.reasons))
    assert hit.explained is not None
    assert hit.explained.boosts["validity"] == 1
    close(stores)


def test_as_of_also_bounds_what_connections_bring(tmp_path: Path) -> None:
    clock = FakeClock(NOON - 20 * DAY)
    stores = make_stores(tmp_path / "home", clock)
    seed = keep(stores, "the harbour plan")
    clock.pass_by(days=10)
    later = keep(stores, "quay wall drawings")
    connect(stores, later, Edge.PART_OF, seed, 1.0)

    then = ask(stores, "harbour plan", as_of=NOON - 15 * DAY)
    now = ask(stores, "harbour plan")

    assert [hit.memory.id for hit in then.hits] == [seed.id]
    assert later.id in [hit.memory.id for hit in now.hits]
    close(stores)


def test_the_filter_of_recall_and_of_listing_agree(crowded: Stores) -> None:
    chosen = Filter(spaces=("atlas",), outdated=True)

    listed = {each.id for each in crowded.index.search.listing(chosen, NOON + DAY, 1_000)}
    found = ask(crowded, "pier 3 11 200", spaces=("atlas",), outdated=True, limit=100)

    assert len(found.hits) >= 3
    assert {hit.memory.id for hit in found.hits} <= listed


def test_enough_at_hand_leaves_room_for_what_is_archived(stores: Stores) -> None:
    at_hand = [keep(stores, f"the amber lantern hangs in room {number}") for number in range(4)]
    archived = [
        keep(stores, f"the amber lantern hung in hall {number}", tier=Tier.ARCHIVAL)
        for number in range(3)
    ]
    query = RecallQuery("where does the amber lantern hang?", limit=7, all=True)

    whole = recall(stores, query, touch=False).hits
    found = recall(stores, replace(query, at_hand_limit=2), touch=False).hits

    mine = {each.id for each in at_hand}
    surplus = [each.memory.id for each in whole if each.memory.id in mine][2:]
    assert len(whole) == len(at_hand) + len(archived)
    assert found == tuple(each for each in whole if each.memory.id not in surplus)
