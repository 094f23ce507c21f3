"""The circuit breaker: a run that would change too much of the store asks about all of it.

Moving to the trash is measured by what is offered: of the memories that are not archived. More
than half of those are never moved there unasked, however few they are.
"""

from __future__ import annotations

from madeleine.index.port import Counts
from madeleine.model.words import Tier
from madeleine.sleep.values import Night

TINY = 5  # memories; whoever has fewer is trying it out and sees what happens


def tripped(night: Night, patches: int, changed: int, trashed: int = 0) -> str | None:
    """Return why so many patches about so many memories, of which so many go to the trash, are
    not simply carried out; nothing if they are."""
    if not patches and not trashed:
        return None
    habits, counts = night.habits, night.stores.index.counts()
    total, share = max(counts.memories, 1), habits.breaker_share
    if patches >= habits.breaker_least and changed > share * total:
        whole = max(total, changed)  # what an earlier round merged is no longer there
        return f"{changed} of {whole} memories would change, more than {share:.0%}"
    there = _not_archived(counts)
    many = patches >= habits.breaker_least or (2 * trashed > there >= TINY)
    if many and trashed > share * there:
        those = f"{trashed} of {there} memories that are not archived"
        return f"{those} would go to the trash, more than {share:.0%}"
    return None


def _not_archived(counts: Counts) -> int:
    return counts.memories - counts.by_tier.get(Tier.ARCHIVAL.value, 0)
