"""The port's promises to the graph: regions, the strongest of a space, arrows within bounds."""

from __future__ import annotations

from datetime import timedelta

from madeleine.index.port import Index, IndexBatch
from madeleine.model.event import EventKind
from madeleine.model.memory import Connection, Memory
from madeleine.model.words import ABOUT_SELF, SELF_SOURCE, Edge, MemoryType, Tier
from madeleine.recall.paths import find_paths
from madeleine.testing.making import NOON, event, ids, keep, memory, memory_id


def test_an_empty_index_has_no_regions(index: Index) -> None:
    assert index.graph.regions(NOON) == {}
    assert index.graph.strongest("atlas", NOON, 10) == []


def test_regions_are_the_spaces_with_the_largest_first(index: Index) -> None:
    keep(index, memory(1), memory(2, space="atlas"), memory(3, space="atlas"))

    assert list(index.graph.regions(NOON).items()) == [("atlas", 2), (None, 1)]


def test_the_strongest_come_first_and_what_is_outdated_last(index: Index) -> None:
    keep(
        index,
        memory(1, valid_until=NOON - timedelta(days=1), tier=Tier.CORE),
        memory(2, tier=Tier.ARCHIVAL),
        memory(3),
        memory(4),
        memory(5, tier=Tier.CORE),
    )
    index.write(
        IndexBatch(events=[event(EventKind.SCORED, 1, scores={memory_id(4): {"importance": 0.9}})])
    )
    index.graph.regions(NOON)

    found = index.graph.strongest(None, NOON, 10)

    assert ids(found) == [memory_id(number) for number in (5, 4, 3, 2, 1)]
    assert [each.outdated for each in found] == [False] * 4 + [True]


def test_pages_of_a_space_fit_together_while_memories_come(index: Index) -> None:
    keep(index, *(memory(number) for number in range(1, 7)))
    index.graph.regions(NOON)
    first = index.graph.strongest(None, NOON, 3)

    keep(index, memory(7, tier=Tier.CORE))
    rest = index.graph.strongest(None, NOON, 10, offset=3)

    assert sorted(ids([*first, *rest])) == [memory_id(number) for number in range(1, 7)]
    assert index.graph.regions(NOON) == {None: 7}
    assert ids(index.graph.strongest(None, NOON, 1)) == [memory_id(7)]


def test_a_sketch_says_what_is_drawn(index: Index) -> None:
    keep(index, memory(1, "# Heading\n\nand text", type=MemoryType.GOAL, space="atlas"))

    (found,) = index.graph.sketches([memory_id(9), memory_id(1)], NOON)

    assert (found.headline, found.type, found.space) == ("Heading", MemoryType.GOAL, "atlas")


def test_of_very_many_arrows_the_strongest_are_told(index: Index) -> None:
    spokes = [_leaning(number, 1, weight=number / 100) for number in range(2, 60)]
    keep(index, memory(1), *spokes)

    found = index.graph.arrows([memory_id(1)], 5)

    assert [row.connection.weight for row in found] == [0.55, 0.56, 0.57, 0.58, 0.59]
    assert index.graph.arrows([memory_id(1)], 5, incoming=False) == []


def test_an_arrow_to_nothing_is_not_drawn(index: Index) -> None:
    keep(index, _leaning(2, 77))

    assert index.graph.arrows([memory_id(2)], 5) == []


def test_the_self_is_connected_with_what_describes_the_user(index: Index) -> None:
    about = memory(2, tags=(ABOUT_SELF,))
    keep(index, memory(1, type=MemoryType.PERSON, source=SELF_SOURCE), about, memory(3))

    for asked in ([memory_id(1)], [memory_id(2)]):
        (row,) = index.graph.arrows(asked, 5)
        assert (row.source, row.connection.target) == (memory_id(1), memory_id(2))
        assert row.implied


# -- the ways between two memories -----------------------------------------------------------


def test_the_shortest_way_is_found_against_arrows_too(index: Index) -> None:
    keep(index, memory(1), _leaning(2, 1), _leaning(3, 2), _leaning(3, 2), _leaning(4, 3))

    (way,) = find_paths(index.graph, memory_id(1), memory_id(4)).ways

    assert [row.source for row in way] == [memory_id(2), memory_id(3), memory_id(4)]


def test_of_ways_of_one_length_the_strongest_comes_first(index: Index) -> None:
    both = memory(4, connections=(_arrow(2, 0.9), _arrow(3, 0.4)))
    keep(index, memory(1), _leaning(2, 1, weight=0.5), _leaning(3, 1), both)

    found = find_paths(index.graph, memory_id(1), memory_id(4)).ways

    assert [[row.source for row in way] for way in found] == [
        [memory_id(2), memory_id(4)],
        [memory_id(3), memory_id(4)],
    ]


def test_memories_that_do_not_hang_together_have_no_way(index: Index) -> None:
    keep(index, memory(1), _leaning(2, 1), memory(3), _leaning(4, 3))

    found = find_paths(index.graph, memory_id(2), memory_id(4))

    assert (list(found.ways), found.whole) == ([], True)


def test_a_way_too_long_to_look_for_is_not_said_not_to_exist(index: Index) -> None:
    keep(index, memory(1), *(_leaning(number, number - 1) for number in range(2, 41)))

    found = find_paths(index.graph, memory_id(1), memory_id(40))

    assert (list(found.ways), found.whole) == ([], False)


def _arrow(target: int, weight: float = 0.7) -> Connection:
    return Connection(memory_id(target), Edge.RELATED_TO, weight)


def _leaning(number: int, target: int, weight: float = 0.7) -> Memory:
    return memory(number, connections=(_arrow(target, weight),))
