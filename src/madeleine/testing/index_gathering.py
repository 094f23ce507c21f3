"""The port's promises to consolidation: samples, all with their vectors, uses together."""

from __future__ import annotations

from dataclasses import fields
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from madeleine.index.port import Index, IndexBatch
from madeleine.index.search import MemoryColumns, RelevanceThreshold
from madeleine.model.digest import text_digest
from madeleine.model.event import EventKind
from madeleine.model.memory import Connection, Memory
from madeleine.model.words import META_SOURCE, SELF_SOURCE, Edge, MemoryType, Tier
from madeleine.testing.engines import Maker
from madeleine.testing.making import NOON, event, long_text, memory, memory_id, put, unit

EAST, NORTH = unit(1, 0, 0, 0), unit(0, 1, 0, 0)
BAR = RelevanceThreshold(0.3, lambda page: np.ones(len(page)))


def place(index: Index, *memories: Memory) -> None:
    index.write(IndexBatch(puts=[put(each, EAST) for each in memories]))


def score(index: Index, number: int, relevance: float) -> None:
    body = {"scores": {"relevance": {memory_id(number): relevance}}}
    index.write(IndexBatch(events=[event(EventKind.SCORED, number, **body)]))


def use(index: Index, number: int, session: str, minutes: float) -> None:
    key = int(number * 1_000 + minutes)
    body = {"memory": memory_id(number), "how": "recalled", "session": session}
    used = event(EventKind.USED, key, minutes, **body)
    index.write(IndexBatch(events=[used]))


def fill(index: Index) -> None:
    """One memory that takes part, and one for each reason not to."""
    place(
        index,
        memory(1),
        memory(2, tier=Tier.ARCHIVAL),
        memory(3, valid_until=NOON - timedelta(days=1)),
        memory(4, superseded_by=memory_id(1)),
        memory(5, source=SELF_SOURCE),
        memory(6, source=META_SOURCE),
        memory(7, source="job:consolidator"),
        memory(8, connections=(Connection(memory_id(1), Edge.DERIVED_FROM),)),
        memory(9, connections=(Connection(memory_id(1), Edge.SUMMARIZES),)),
        memory(10),
        memory(12, tier=Tier.CORE),
    )
    index.write(IndexBatch(puts=[put(memory(11))]))
    score(index, 10, 0.3)
    score(index, 12, 0.31)


# -- who takes part ------------------------------------------------------------------------


def test_an_empty_index_has_nobody(index: Index) -> None:
    assert index.search.sample(BAR, NOON, 20, 1) == []
    assert len(index.search.gather_all(BAR, NOON)) == 0
    assert index.log.used_together([], []) == set()
    assert index.graph.edges_between([]) == []


def test_an_index_without_a_model_has_nobody(make_index: Maker, tmp_path: Path) -> None:
    index = make_index(tmp_path, model=None)
    index.write(IndexBatch(puts=[put(memory(1))]))

    assert index.search.sample(BAR, NOON, 20, 1) == []
    assert len(index.search.gather_all(BAR, NOON)) == 0
    index.close()


def test_what_is_archival_outdated_made_irrelevant_or_without_a_vector_takes_no_part(
    index: Index,
) -> None:
    fill(index)

    assert sorted(index.search.sample(BAR, NOON, 20, 1)) == [memory_id(1), memory_id(12)]
    assert list(index.search.gather_all(BAR, NOON).ids) == [memory_id(1), memory_id(12)]


def test_whoever_is_asked_for_comes_even_archival_or_irrelevant(index: Index) -> None:
    fill(index)
    wanted = [memory_id(number) for number in range(1, 13)]

    found = index.search.gather_all(BAR, NOON, wanted)

    assert list(found.ids) == [memory_id(number) for number in (1, 2, 10, 12)]


def test_what_has_no_score_is_weighed_by_who_asks(index: Index) -> None:
    arrow = Connection(memory_id(1), Edge.SUPPORTS, by="agent:me")
    place(index, memory(1), memory(2, connections=(arrow,)), memory(3), memory(4))
    score(index, 4, 0.9)
    use(index, 3, "s", 0)
    weighed: list[tuple[list[str], list[int], list[int]]] = []

    def reckon(page: MemoryColumns) -> NDArray[np.float64]:
        weighed.append((list(page.ids), page.connections.tolist(), page.uses.tolist()))
        return np.where(page.connections > 0, 0.31, 0.3)

    bar = RelevanceThreshold(0.3, reckon)
    assert sorted(index.search.sample(bar, NOON, 20, 1)) == [
        memory_id(1),
        memory_id(2),
        memory_id(4),
    ]
    assert list(index.search.gather_all(bar, NOON, [memory_id(3)]).ids) == [
        memory_id(number) for number in range(1, 5)
    ]
    first, second = weighed
    assert first == ([memory_id(number) for number in (1, 2, 3)], [1, 1, 0], [0, 0, 1])
    assert second[0] == [memory_id(1), memory_id(2)]


def test_a_part_of_the_memories_stands_as_in_the_whole(index: Index) -> None:
    there = memory(2, connections=(Connection(memory_id(1)), Connection(memory_id(99))))
    place(index, memory(1, tags=("about_self",)), there, memory(3), memory(5, source=SELF_SOURCE))
    use(index, 1, "s", 0)
    parts: list[MemoryColumns] = []

    def reckon(page: MemoryColumns) -> NDArray[np.float64]:
        parts.append(page)
        return np.ones(len(page))

    index.search.sample(RelevanceThreshold(0.3, reckon), NOON, 20, 1)

    whole = index.search.standings()
    places = [list(whole.ids).index(each) for each in parts[0].ids]
    assert len(places) == 3
    for each in fields(MemoryColumns):
        column = getattr(whole, each.name)
        assert [column[at] for at in places] == pytest.approx(
            list(getattr(parts[0], each.name)), nan_ok=True
        )


def test_all_of_a_source_are_found_also_retired_ones(index: Index) -> None:
    past = NOON - timedelta(days=1)
    place(index, memory(2, source=META_SOURCE), memory(1, source=META_SOURCE, valid_until=past))
    place(index, memory(3))

    assert index.search.of_source(META_SOURCE) == [memory_id(1), memory_id(2)]


def test_the_columns_tell_what_clusters_are_made_of(index: Index) -> None:
    first = memory(1, "one", type=MemoryType.GOAL, space="atlas")
    second, third = memory(2, "two"), memory(3, long_text("a", "b"), space="atlas")
    index.write(IndexBatch(puts=[put(third, NORTH, EAST), put(second, NORTH), put(first, EAST)]))

    found = index.search.gather_all(BAR, NOON)

    assert list(found.ids) == [each.id for each in (first, second, third)]
    assert [each.hex() for each in found.digests] == [
        text_digest(each) for each in (first, second, third)
    ]
    assert found.spaces[1] == 0
    assert found.spaces[0] == found.spaces[2] != 0
    assert list(MemoryType)[found.types[0]] is MemoryType.GOAL
    assert found.created[0] == first.created.timestamp() * 1_000_000
    np.testing.assert_allclose(found.matrix[found.rows], [EAST, NORTH, NORTH], atol=1e-3)


def test_what_was_gathered_stays_as_it_was(index: Index) -> None:
    place(index, memory(1), memory(2))
    found = index.search.gather_all(BAR, NOON)

    index.write(IndexBatch(puts=[put(memory(1, "other"), NORTH)], drops=[memory_id(2)]))

    np.testing.assert_allclose(found.matrix[found.rows], [EAST, EAST], atol=1e-3)
    assert list(index.search.gather_all(BAR, NOON).ids) == [memory_id(1)]


# -- samples -------------------------------------------------------------------------------


def test_a_seed_gives_one_sample_and_another_seed_another(index: Index) -> None:
    place(index, *(memory(number) for number in range(1, 101)))

    one = index.search.sample(BAR, NOON, 20, 7)

    assert len(set(one)) == 20
    assert index.search.sample(BAR, NOON, 20, 7) == one
    assert index.search.sample(BAR, NOON, 20, 8) != one


def test_a_sample_is_the_same_in_an_index_made_anew(make_index: Maker, tmp_path: Path) -> None:
    there = [memory(number) for number in range(1, 61)]
    (tmp_path / "other").mkdir()
    one, other = make_index(tmp_path), make_index(tmp_path / "other")
    place(one, *there)
    place(other, *reversed(there))

    assert one.search.sample(BAR, NOON, 10, 7) == other.search.sample(BAR, NOON, 10, 7)
    one.close()
    other.close()


def test_each_has_its_turn(index: Index) -> None:
    place(index, *(memory(number) for number in range(1, 41)))

    drawn = [each for seed in range(60) for each in index.search.sample(BAR, NOON, 5, seed)]

    assert len(set(drawn)) == 40


def test_the_few_that_are_relevant_are_found_among_many(index: Index) -> None:
    place(index, *(memory(number) for number in range(1, 301)))
    for number in range(1, 301):
        score(index, number, 0.9 if number % 100 == 0 else 0.1)

    wanted = {memory_id(number) for number in (100, 200, 300)}
    assert set(index.search.sample(BAR, NOON, 20, 1)) == wanted


# -- edges and uses ------------------------------------------------------------------------


def test_edges_between_some_are_those_with_both_ends_among_them(index: Index) -> None:
    out = (Connection(memory_id(2), Edge.SUPPORTS, 0.7), Connection(memory_id(3)))
    place(index, memory(1, connections=out), memory(2), memory(3, connections=out[:1]))

    found = index.graph.edges_between([memory_id(1), memory_id(2)])

    assert [(row.source, row.connection) for row in found] == [(memory_id(1), out[0])]
    assert len(index.graph.edges_between([memory_id(number) for number in (1, 2, 3)])) == 3


def test_associations_are_the_discovered_arrows_with_both_ends(index: Index) -> None:
    drawn = tuple(
        Connection(memory_id(target), Edge.DISCOVERED, 0.5, "why", "creative", at, kind, 0.7)
        for target, at, kind in (
            (2, NOON, "explains"),
            (3, NOON - timedelta(days=1), "shares_theme"),
            (9, NOON, "explains"),
        )
    )
    related = Connection(memory_id(2), Edge.RELATED_TO, at=NOON)
    place(index, memory(1, connections=(*drawn, related)), memory(2), memory(3))

    found = index.graph.associations()

    assert [row.connection for row in found] == [drawn[1], drawn[0]]
    assert {row.source for row in found} == {memory_id(1)}


def test_the_contrasts_that_creative_drew_are_associations_too(index: Index) -> None:
    contrast = Connection(memory_id(2), Edge.CONTRADICTS, 0.1, "why", "creative", NOON, None, 0.6)
    judged = Connection(memory_id(3), Edge.CONTRADICTS, 0.9, "why", "conflict_detector", NOON)
    later = NOON + timedelta(days=1)
    found = Connection(memory_id(3), Edge.DISCOVERED, 0.5, "why", "creative", later, "explains")
    place(index, memory(1, connections=(contrast, judged, found)), memory(2), memory(3))

    assert [row.connection for row in index.graph.associations()] == [contrast, found]


def test_used_together_means_in_one_session_since_then(index: Index) -> None:
    place(index, *(memory(number) for number in range(1, 5)))
    for number, session, minutes in (
        (1, "a", 10),
        (2, "a", 20),
        (3, "b", 10),
        (4, "c", 5),
        (1, "c", 6),
    ):
        use(index, number, session, minutes)
    ids = {number: memory_id(number) for number in range(1, 5)}
    pairs = [(ids[1], ids[2]), (ids[2], ids[1]), (ids[1], ids[3]), (ids[1], ids[4])]

    assert index.log.used_together(pairs, [NOON] * 4) == {pairs[0], pairs[1], pairs[3]}
    later = [NOON + timedelta(minutes=8)] * 4
    assert index.log.used_together(pairs, later) == {pairs[0], pairs[1]}


def test_what_was_whispered_together_was_not_used_together(index: Index) -> None:
    place(index, memory(1), memory(2))
    told = {"how": "whispered", "session": "a", "n": 0}
    whispers = [event(EventKind.USED, each, memory=memory_id(each), **told) for each in (1, 2)]
    index.write(IndexBatch(events=whispers))

    assert index.log.used_together([(memory_id(1), memory_id(2))], [NOON]) == set()


def test_uses_without_a_session_are_not_together(index: Index) -> None:
    place(index, memory(1), memory(2))
    for number in (1, 2):
        body = {"memory": memory_id(number), "how": "recalled"}
        index.write(IndexBatch(events=[event(EventKind.USED, number, number, **body)]))

    assert index.log.used_together([(memory_id(1), memory_id(2))], [NOON]) == set()
