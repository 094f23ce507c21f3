"""How two memories hang together: the shortest ways from one to the other over connections.

The search goes out from both ends at once, over arrows in either direction, and always from the
end that has fewer memories at its edge. It is bounded: so many arrows at each memory, so many
memories in all, so many steps. A way that is not found within these bounds is not said not to
exist.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from madeleine.index.graph import EdgeRow, MemoryGraph

ARROWS_EACH = 100
SEEN_AT_MOST = 4_000
STEPS_AT_MOST = 8
PATHS_AT_MOST = 5
FOLLOWED_AT_MOST = 200  # ways that are put together before the strongest are chosen

ConnectionPath = tuple[EdgeRow, ...]


@dataclass(frozen=True, slots=True)
class ConnectionPaths:
    """The shortest ways, strongest first; each arrow as it is drawn, whichever way it is gone."""

    ways: Sequence[ConnectionPath] = ()
    seen: int = 0
    """How many memories were looked at."""
    whole: bool = True
    """Whether everything within reach was looked at, so that no way means that there is none."""


@dataclass(slots=True)
class _SearchSide:
    """One end, and how each memory was come to from there."""

    edge: list[str]
    steps: dict[str, int]
    before: dict[str, list[tuple[str, EdgeRow]]] = field(default_factory=dict)
    far: int = 0

    @classmethod
    def of(cls, memory_id: str) -> _SearchSide:
        return cls([memory_id], {memory_id: 0})

    def advance(self, graph: MemoryGraph) -> None:
        """Take one more step from all memories at the edge."""
        self.far += 1
        reached: dict[str, None] = {}
        here = set(self.edge)
        for row in graph.arrows(self.edge, ARROWS_EACH):
            for one, other in _both_ways(row):
                if one in here and self.steps.setdefault(other, self.far) == self.far:
                    self.before.setdefault(other, []).append((one, row))
                    reached[other] = None
        self.edge = list(reached)

    def paths_to(self, memory_id: str) -> Iterator[ConnectionPath]:
        """Yield the arrows from this end to there, those nearest to the end first."""
        if self.steps[memory_id] == 0:
            yield ()
        for one, row in self.before.get(memory_id, ()):
            for way in self.paths_to(one):
                yield (*way, row)


def find_paths(graph: MemoryGraph, one: str, other: str) -> ConnectionPaths:
    """Return the shortest ways between two memories that are there."""
    if one == other:
        return ConnectionPaths()
    sides = _SearchSide.of(one), _SearchSide.of(other)
    while not (met := sides[0].steps.keys() & sides[1].steps.keys()):
        seen = len(sides[0].steps) + len(sides[1].steps)
        if not sides[0].edge or not sides[1].edge:
            return ConnectionPaths(seen=seen)
        if seen >= SEEN_AT_MOST or sides[0].far + sides[1].far >= STEPS_AT_MOST:
            return ConnectionPaths(seen=seen, whole=False)
        min(sides, key=lambda side: len(side.edge)).advance(graph)
    return ConnectionPaths(_join_paths(sides, sorted(met)), sum(len(each.steps) for each in sides))


def _join_paths(sides: tuple[_SearchSide, _SearchSide], met: Sequence[str]) -> list[ConnectionPath]:
    """Put the ways from both ends together where they meet, and keep the strongest."""
    found: list[ConnectionPath] = []
    for place in met:
        for begun in sides[0].paths_to(place):
            for ended in sides[1].paths_to(place):
                found.append((*begun, *reversed(ended)))
                if len(found) >= FOLLOWED_AT_MOST:
                    return _select_strongest(found)
    return _select_strongest(found)


def _select_strongest(found: Sequence[ConnectionPath]) -> list[ConnectionPath]:
    """Of the shortest the strongest; a way is as strong as its weakest arrow."""
    least = min(len(each) for each in found)
    short = [each for each in found if len(each) == least]
    return sorted(short, key=lambda way: -min(row.connection.weight for row in way))[:PATHS_AT_MOST]


def _both_ways(row: EdgeRow) -> tuple[tuple[str, str], tuple[str, str]]:
    source, target = row.source, row.connection.target
    return (source, target), (target, source)
