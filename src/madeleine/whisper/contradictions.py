"""Which memories are known to contradict each other, by the arrows between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from madeleine.model.memory import Memory
from madeleine.model.words import Edge
from madeleine.rules.associations import is_contrast
from madeleine.write.stores import Stores

Pair = frozenset[str]


def find_contradictions(
    places: Iterable[Stores], memories: Sequence[Memory]
) -> dict[Pair, tuple[Memory, Memory]]:
    """Return the pairs that contradict each other, each once. A contrast is none."""
    by_id = {each.id: each for each in memories}
    if len(by_id) < 2:
        return {}
    edges = [edge for stores in places for edge in stores.graph.edges_between(list(by_id))]
    return {
        frozenset((each.source, each.connection.target)): (
            by_id[each.source],
            by_id[each.connection.target],
        )
        for each in edges
        if each.connection.edge is Edge.CONTRADICTS
        and not is_contrast(each.connection)
        and each.source in by_id
        and each.connection.target in by_id
    }
