"""How strong a memory was at any time, by its uses, and how long it will last if nobody uses it.

The same rules that decide at night what has faded, asked about other moments than now.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from madeleine.model.memory import Usage
from madeleine.rules.lifecycle import Lifecycle, LifecycleState
from madeleine.rules.strength import DAY, idle_days
from madeleine.rules.usage import AdoptedCounters, MemoryUse, apply_use, fold_uses

MAX_AHEAD = timedelta(days=36_500)
PRECISION = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class UseHistory:
    """What is known of a memory's use: the uses that count, oldest first, and what it brought."""

    created: datetime
    uses: Sequence[MemoryUse] = ()
    adopted: AdoptedCounters | None = None


def retrievability_at(
    past: UseHistory, lifecycle: Lifecycle, moments: Iterable[datetime]
) -> Iterator[float]:
    """Yield the chance that the memory came to mind at each moment; these go forward."""
    usage, done = fold_uses(past.created, (), past.adopted), 0
    for moment in moments:
        while done < len(past.uses) and past.uses[done].at <= moment:
            usage = apply_use(usage, past.created, past.uses[done])
            done += 1
        yield lifecycle.retrievability(_lifecycle_state(past, usage, past.uses[:done], moment))


def _lifecycle_state(
    past: UseHistory, usage: Usage, uses: Sequence[MemoryUse], at: datetime
) -> LifecycleState:
    since = max(past.created, usage.last_accessed or past.created)
    after, whispers = use_days(past.created, uses)
    return LifecycleState(
        idle_days(past.created, at), idle_days(since, at), usage.stability, after, whispers
    )


def use_days(
    created: datetime, uses: Sequence[MemoryUse]
) -> tuple[tuple[float, ...], frozenset[float]]:
    """Return how many days after its birth a memory was used, and which of these were whispers."""
    days = [((each.at - created) / DAY, each) for each in uses if each.at >= created]
    whispers = frozenset(day for day, each in days if each.is_whisper)
    return tuple(day for day, _ in days), whispers


def find_fading_time(
    past: UseHistory, lifecycle: Lifecycle, least: float, now: datetime
) -> datetime | None:
    """Return when the chance will fall below `least` if nobody uses the memory; nothing if it is
    below it already, or never will be within a lifetime."""

    def holds(ahead: timedelta) -> bool:
        return next(retrievability_at(past, lifecycle, [now + ahead])) >= least

    near, far = timedelta(0), timedelta(days=1)
    if not holds(near):
        return None
    while holds(far):
        if far > MAX_AHEAD:
            return None
        near, far = far, far * 2
    while far - near > PRECISION:
        middle = near + (far - near) / 2
        near, far = (middle, far) if holds(middle) else (near, middle)
    return now + far
