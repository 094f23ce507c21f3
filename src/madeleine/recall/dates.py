"""What speaks of a time, whenever it was written down.

Who asks what happened in March is answered first with what is from March. What was told of
March in May comes after it: it is found by the words for the date, and read for what it says.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from madeleine.language.times import TimeSpan, date_search_terms, names_date
from madeleine.model.memory import Memory
from madeleine.model.query import Filter
from madeleine.write.stores import Stores

LOOKED_AT = 200  # memories that hold a word for the date: reading more takes longer than a recall


def find_speaking_of(
    stores: Stores, spans: Sequence[TimeSpan], chosen: Filter, now: datetime
) -> list[tuple[Memory, TimeSpan]]:
    """Return the memories that name one of these dates, with the one that they name, the best
    by their words first."""
    terms = [word for span in spans for word in date_search_terms(span)]
    if not terms:
        return []
    hits = stores.search.search_text(terms, chosen, now, LOOKED_AT)
    memories = stores.search.memories(each.id for each in hits).values()
    return [
        (each, span) for each in memories if (span := _find_named_date(each, spans)) is not None
    ]


def _find_named_date(memory: Memory, spans: Sequence[TimeSpan]) -> TimeSpan | None:
    text = f"{memory.title or ''}\n{memory.content}"
    return next((each for each in spans if names_date(text, each, memory.created)), None)
