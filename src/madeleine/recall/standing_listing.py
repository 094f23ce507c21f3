"""All standing notes at once, for who asks for their preferences or rules.

They are looked up by their key, not by the words of the question, and come grouped by what they are
about: what holds for everything first, then one activity after the other.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from madeleine.language.activities import (
    EVERYTHING,
    count_activity_words,
    measure_activities,
    name_activities,
)
from madeleine.language.standing import (
    STANDING_FROM,
    STANDING_KEYS,
    is_standing,
    standing_chance,
)
from madeleine.model.memory import Memory
from madeleine.model.query import Filter
from madeleine.model.vector import Vector
from madeleine.write.stores import Stores

LISTED_MOST = 200


@dataclass(frozen=True, slots=True)
class ListedNote:
    """A standing note, the chance that it is one, and the activity that it is most about."""

    memory: Memory
    chance: float
    activity: str


def list_standing_notes(
    stores: Stores, chosen: Filter, now: datetime, limit: int
) -> list[ListedNote]:
    """Return the standing notes that pass the filter, group by group."""
    embedder, search = stores.minds.embedder, stores.search
    model = "" if embedder is None else embedder.name
    ids = search.triggered_memories(STANDING_KEYS, chosen, now, 2 * LISTED_MOST)
    vectors = search.vectors(ids)
    found = []
    for memory in search.memories(ids).values():
        vector = vectors.get(memory.id)
        chance = standing_chance(memory, vector, model)
        if chance >= STANDING_FROM:
            found.append(ListedNote(memory, chance, name_activity(memory, vector, model)))
    sizes = Counter(each.activity for each in found)
    found.sort(
        key=lambda each: (
            each.activity != EVERYTHING,
            -sizes[each.activity],
            each.activity,
            -each.memory.importance,
            each.memory.id,
        )
    )
    return found[:limit]


def name_activity(memory: Memory, vector: Vector | None, model: str) -> str:
    """Return the activity that a standing note is most about."""
    words = count_activity_words(memory.content)
    return name_activities(words, measure_activities(vector, model))[0]


def find_standing_activity(stores: Stores, memory: Memory) -> str | None:
    """Return the activity that a memory is most about, if it is a standing note."""
    embedder = stores.minds.embedder
    model = "" if embedder is None else embedder.name
    vector = stores.search.vectors([memory.id]).get(memory.id)
    return name_activity(memory, vector, model) if is_standing(memory, vector, model) else None
