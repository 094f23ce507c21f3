"""Use: what is recalled or opened counts, once per session and day, as it is documented."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from madeleine.model.memory import Memory
from madeleine.model.words import Edge
from madeleine.rules.strength import stability_after_use
from madeleine.write.record_use import record_use
from madeleine.write.resolve import get_stored
from madeleine.write.stores import Stores
from tests.fakes import FakeClock, close, keep, make_stores, reopened, vault_bytes
from tests.recall.asking import ask, connect


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def kept(tmp_path: Path, clock: FakeClock) -> Iterator[Stores]:
    opened = make_stores(tmp_path / "kept", clock)
    yield opened
    close(opened)


def recalled(stores: Stores, session: str | None = None, text: str = "cat") -> None:
    ask(stores, text, touch=True, session_id=session)


def now_of(stores: Stores, memory: Memory) -> Memory:
    return get_stored(stores, memory.id).memory


def test_recall_counts_as_use_once_per_session_and_day(kept: Stores) -> None:
    memory = keep(kept, "the cat sleeps")
    for _ in range(3):
        recalled(kept, "s1")
    recalled(kept, "s2")
    ask(kept, "cat", session_id="s3")

    after = now_of(kept, memory)

    assert after.access_count == 2
    assert after.stability > memory.stability


def test_without_a_session_a_day_counts_once(kept: Stores, clock: FakeClock) -> None:
    memory = keep(kept, "the cat sleeps")
    recalled(kept)
    recalled(kept)
    assert now_of(kept, memory).access_count == 1

    clock.pass_by(days=1)
    recalled(kept)

    assert now_of(kept, memory).access_count == 2


def test_the_next_day_counts_again_in_the_same_session(kept: Stores, clock: FakeClock) -> None:
    memory = keep(kept, "the cat sleeps")
    recalled(kept, "s1")
    clock.pass_by(days=1)
    recalled(kept, "s1")

    assert now_of(kept, memory).access_count == 2


def test_a_use_changes_the_counters_as_documented(kept: Stores, clock: FakeClock) -> None:
    memory = keep(kept, "the cat sleeps")
    assert (memory.access_count, memory.last_review, memory.stability) == (0, None, 1.0)
    assert memory.last_accessed == memory.created

    clock.pass_by(days=3)
    before = clock.at
    recalled(kept, "s1")
    after = now_of(kept, memory)

    assert after.access_count == 1
    assert before < after.last_accessed <= clock.at
    assert after.last_review == after.last_accessed
    days = (after.last_accessed - memory.created).total_seconds() / 86_400
    assert after.stability == pytest.approx(stability_after_use(1.0, days))


def test_asking_without_touching_changes_nothing(kept: Stores) -> None:
    memory = keep(kept, "the cat sleeps")

    ask(kept, "cat", session_id="s1")

    assert now_of(kept, memory) == memory


def test_opening_counts_and_recalling_the_same_day_does_not_count_again(kept: Stores) -> None:
    memory = keep(kept, "the cat sleeps")

    record_use(kept, [memory.id], "opened", "s1")
    recalled(kept, "s1")
    record_use(kept, [memory.id], "opened", "s1")

    assert now_of(kept, memory).access_count == 1


def test_only_what_is_shown_counts(kept: Stores) -> None:
    kept_ones = [keep(kept, f"the cat of house {number} sleeps") for number in range(4)]
    shown = ask(kept, "cat", touch=True, limit=2).hits

    counts = {each.id: now_of(kept, each).access_count for each in kept_ones}

    assert sum(counts.values()) == 2
    assert all(counts[hit.memory.id] == 1 for hit in shown)


def test_what_a_connection_brought_counts_like_any_answer(kept: Stores) -> None:
    seed = keep(kept, "the cat sleeps on the sofa")
    neighbour = keep(kept, "bought in Lisbon")
    connect(kept, neighbour, Edge.PART_OF, seed)

    shown = [hit.memory.id for hit in ask(kept, "where does the cat sleep?", touch=True).hits]

    assert neighbour.id in shown
    assert now_of(kept, neighbour).access_count == 1


def test_silence_counts_for_nobody(kept: Stores) -> None:
    memory = keep(kept, "the cat sleeps")

    recalled(kept, "s1", "???")

    assert now_of(kept, memory).access_count == 0


@pytest.mark.proves("I3")
def test_recall_writes_no_file(kept: Stores) -> None:
    keep(kept, "the cat sleeps")
    before = vault_bytes(kept)

    recalled(kept, "s1")

    assert vault_bytes(kept) == before


@pytest.mark.proves("I2")
def test_use_outlives_the_index(tmp_path: Path, clock: FakeClock) -> None:
    stores = make_stores(tmp_path / "home", clock)
    memory = keep(stores, "the cat sleeps")
    recalled(stores, "s1")
    clock.pass_by(days=2)
    recalled(stores, "s1")
    before = now_of(stores, memory).usage

    fresh = reopened(stores, tmp_path / "home", without_index=True)

    assert now_of(fresh, memory).usage == before
    recalled(fresh, "s1")
    assert now_of(fresh, memory).access_count == before.access_count
    close(fresh)
