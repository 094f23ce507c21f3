"""What was said around a hit: the turns before and after it in its conversation.

An answer of a conversation often lies in the question before it. The candidates are drawn with the
two turns before and after each of them (`index/search.py`), so nothing is searched for again. Turns
are context, not answers: a filter by type, tier or tag does not hold for them; being retired, or
later than the moment asked about, does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from madeleine.model.memory import Memory
from madeleine.model.query import Filter
from madeleine.recall.ranking import RankedHit
from madeleine.recall.scoring import ScoredCandidates
from madeleine.write.stores import Stores

TURNS_EACH_SIDE = 2
TURN_CHARS = 400  # of one turn: about 100 tokens
MISSING = -1  # the place of a neighbour that is not there


@dataclass(frozen=True, slots=True)
class SurroundingTurn:
    """A turn of the conversation that a hit is from; a long one is cut."""

    id: str
    turn: int | None
    speaker: str | None
    text: str


def find_surroundings(
    stores: Stores,
    hits: Sequence[RankedHit],
    scored: ScoredCandidates | None,
    chosen: Filter,
    now: datetime,
) -> dict[str, tuple[SurroundingTurn, ...]]:
    """Return the turns around each hit that is from a conversation, in their order, by its id."""
    if scored is None or (np.maximum(scored.pool.before, scored.pool.after) == MISSING).all():
        return {}
    nodes = {each.id: _nodes_beside(each, scored) for each in hits}
    wanted = {node for beside in nodes.values() for node in beside}
    if not wanted:
        return {}
    ids = stores.search.ids(sorted(wanted))
    valid = Filter(as_of=chosen.as_of, outdated=chosen.outdated)
    memories = stores.search.memories(stores.search.select_allowed(ids.values(), valid, now))
    found = {
        hit: tuple(_build_turn(memories[ids[node]]) for node in beside if ids.get(node) in memories)
        for hit, beside in nodes.items()
    }
    return {hit: turns for hit, turns in found.items() if turns}


def _nodes_beside(hit: RankedHit, scored: ScoredCandidates) -> list[int]:
    """Return the nodes of the turns around a hit, the earliest first."""
    if hit.spot is None:
        return []
    pool, here = scored.pool, int(scored.places[hit.spot])
    before = _walk(pool.before, here)[::-1]
    around = [int(pool.nodes[place]) for place in (*before, *_walk(pool.after, here))]
    return [node for node in dict.fromkeys(around) if node != pool.nodes[here]]


def _walk(beside: NDArray[np.int64], place: int) -> list[int]:
    """Return the places that are reached from one, step by step."""
    found: list[int] = []
    for _ in range(TURNS_EACH_SIDE):
        place = int(beside[place])
        if place == MISSING:
            break
        found.append(place)
    return found


def _build_turn(memory: Memory) -> SurroundingTurn:
    origin, text = memory.origin, memory.content
    cut = text if len(text) <= TURN_CHARS else f"{text[: TURN_CHARS - 1]}…"
    return SurroundingTurn(
        memory.id, origin.turn if origin else None, origin.speaker if origin else None, cut
    )
