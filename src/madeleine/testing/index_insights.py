"""Every index gives the newest arrows of a kind, whose both ends are there."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from madeleine.index.port import Index
from madeleine.model.memory import Connection
from madeleine.model.words import Edge
from madeleine.testing.making import NOON, keep, memory, memory_id


def arrow(target: int, edge: Edge, minutes: int | None) -> Connection:
    at = None if minutes is None else NOON + timedelta(minutes=minutes)
    return Connection(memory_id(target), edge, 0.9, "so it was judged", "conflict_detector", at)


def ends(index: Index, *wanted: Edge, limit: int = 10) -> list[tuple[str, str]]:
    rows = index.graph.newest_edges(wanted, limit)
    return [(row.source, row.connection.target) for row in rows]


def test_the_newest_arrows_of_the_wanted_kinds_come_first(index: Index) -> None:
    keep(index, memory(1), memory(2, connections=(arrow(1, Edge.EVOLVED_FROM, 1),)))
    keep(index, memory(3, connections=(arrow(1, Edge.CONTRADICTS, 5), arrow(2, Edge.SUPPORTS, 9))))
    keep(index, memory(4, connections=(arrow(3, Edge.EVOLVED_FROM, None),)))

    assert ends(index, Edge.EVOLVED_FROM, Edge.CONTRADICTS) == [
        (memory_id(3), memory_id(1)),
        (memory_id(2), memory_id(1)),
        (memory_id(4), memory_id(3)),  # nobody knows when
    ]
    assert ends(index, Edge.EVOLVED_FROM, limit=1) == [(memory_id(2), memory_id(1))]
    assert ends(index) == []


def test_an_arrow_whose_other_end_is_gone_is_left_out(index: Index) -> None:
    keep(index, memory(1, connections=(arrow(7, Edge.CONTRADICTS, 1),)))

    assert ends(index, Edge.CONTRADICTS) == []


def test_an_arrow_comes_back_as_it_was_drawn(index: Index) -> None:
    drawn = arrow(1, Edge.CONTRADICTS, 3)
    keep(index, memory(1), memory(2, connections=(drawn,)))

    (row,) = index.graph.newest_edges([Edge.CONTRADICTS], 5)

    assert row.connection == drawn
    assert row.resolved


def test_arrows_of_one_who_is_left_out_take_no_room(index: Index) -> None:
    contrasts = [
        replace(arrow(1, Edge.CONTRADICTS, number), by="creative", confidence=0.6)
        for number in range(5, 9)
    ]
    keep(index, memory(1), *(memory(n, connections=(c,)) for n, c in enumerate(contrasts, 2)))
    keep(index, memory(7, connections=(arrow(1, Edge.CONTRADICTS, 1),)))
    keep(index, memory(8, connections=(replace(arrow(1, Edge.CONTRADICTS, 2), by=None),)))

    others = index.graph.newest_edges([Edge.CONTRADICTS], 2, but_by="creative")

    assert [row.source for row in others] == [memory_id(8), memory_id(7)]
    assert len(index.graph.newest_edges([Edge.CONTRADICTS], 9)) == 6
