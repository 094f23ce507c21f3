"""The circuit breaker: a run that would change too much of the store asks about all of it."""

from __future__ import annotations

from madeleine.sleep.values import Night


def tripped(night: Night, patches: int, changed: int) -> str | None:
    """Return why so many patches about so many memories are not simply carried out; nothing
    if they are."""
    habits = night.habits
    if patches < habits.breaker_least:
        return None
    total = max(night.stores.index.counts().memories, 1)
    if changed <= habits.breaker_share * total:
        return None
    return f"{changed} of {total} memories would change, more than {habits.breaker_share:.0%}"
