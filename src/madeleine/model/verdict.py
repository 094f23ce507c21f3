"""What a judge is asked about memories, and what it answers.

There is one question about two memories: what are they to each other? Each job asks it about
pairs that it has reasons to look at, and acts on the answers that are its business, so a pair
that one job had judged need not be judged again for another.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from madeleine.model.memory import Memory


class Relation(enum.StrEnum):
    """What two memories are to each other."""

    DUPLICATE = "duplicate"
    """Both say the same; one of them is enough."""
    EVOLUTION = "evolution"
    """The newer one replaces what the older one says about the same subject."""
    TENSION = "tension"
    """Both are meant to hold, and both cannot."""
    SUPPORTS = "supports"
    PART_OF = "part_of"
    DEPENDS_ON = "depends_on"
    RELATED_TO = "related_to"
    NONE = "none"


SUSPECTED = "suspected"
"""Under which judge's name it is kept what may replace what, while nobody is asked about it."""


@dataclass(frozen=True, slots=True)
class SharedWords:
    """What two memories have in common, each word weighed by how rare it is in their store."""

    cover: float
    """The share of the words of the one with less that the other has too."""
    total: float
    """The weight of all that both have."""
    rare: int
    """How many of them hardly any other memory has."""


@dataclass(frozen=True, slots=True)
class MemoryPair:
    """Two memories, the older first (created, then id), and how alike a model finds them."""

    older: Memory
    newer: Memory
    similarity: float
    shared: SharedWords | None = None
    """Which words of their store both have; None where nobody looked."""
    for_links: bool = False
    """Whether it matters how the two hang together too, and not only whether both say the same or
    the newer one replaces the older."""

    @property
    def ids(self) -> tuple[str, str]:
        return self.older.id, self.newer.id


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's answer about a pair.

    `sure` is a calibrated probability (I10): of a hundred verdicts at 0.9 about ninety are
    right. For `supports`, `part_of` and `depends_on` the arrow starts at the newer memory,
    unless `from_older`. A duplicate may come with the wording that unites both.
    """

    relation: Relation
    sure: float
    reason: str
    from_older: bool = False
    title: str | None = None
    content: str | None = None


@dataclass(frozen=True, slots=True)
class Synthesis:
    """One text that says what several memories say."""

    title: str
    content: str


def verdict_to_json(verdict: Verdict) -> dict[str, object]:
    """Return a verdict as plain values; what is not set is left out."""
    values: dict[str, object] = {
        "relation": verdict.relation.value,
        "sure": verdict.sure,
        "reason": verdict.reason,
        "from_older": verdict.from_older or None,
        "title": verdict.title,
        "content": verdict.content,
    }
    return {key: value for key, value in values.items() if value is not None}


def verdict_from_json(values: Mapping[str, object]) -> Verdict | None:
    """Return the verdict that plain values describe; nothing if they describe none."""
    relation, sure = values.get("relation"), values.get("sure")
    if not isinstance(relation, str) or relation not in set(Relation):
        return None
    if isinstance(sure, bool) or not isinstance(sure, int | float) or not 0 <= sure <= 1:
        return None
    return Verdict(
        Relation(relation),
        float(sure),
        str(values.get("reason") or ""),
        values.get("from_older") is True,
        _text_or_none(values.get("title")),
        _text_or_none(values.get("content")),
    )


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None
