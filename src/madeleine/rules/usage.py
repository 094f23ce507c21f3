"""What the uses of a memory add up to.

A use counts once, strengthens the memory and makes it fresh. Within one session and one UTC
day the first use counts and the others say nothing new, so an agent that recalls the same
memory twenty times in an hour does not make it last for a year. The uses may arrive in any
order, from any number of devices: they are put in order of time first.

There are two grades. A recall was asked for; a whisper was delivered and nobody asked for it, so
it strengthens less. Of a recall and a whisper on the same occasion the recall counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

from madeleine.errors import InvalidValue
from madeleine.model.event import Event
from madeleine.model.memory import DEFAULT_IMPORTANCE, DEFAULT_STABILITY_DAYS, Usage
from madeleine.model.times import parse_time
from madeleine.rules.strength import (
    MAX_STABILITY_DAYS,
    WHISPER_SHARE,
    idle_days,
    stability_after_use,
)

WHISPER_USE = "whispered"
"""How a memory is used that was delivered unasked; recalls are named otherwise."""
WHISPER_COUNT = 0
"""The count of a whisper: it stands for no recall."""


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """A memory helped. No session counts as one session a day; `count` says for how many
    recalls this one stands, and it strengthens like one. None at all: it was whispered."""

    at: datetime
    session: str | None = None
    count: int = 1

    @property
    def is_whisper(self) -> bool:
        """Whether the memory was delivered to somebody who had not asked for it."""
        return self.count == WHISPER_COUNT


@dataclass(frozen=True, slots=True)
class AdoptedCounters:
    """Counters that a foreign file brought along. Uses come on top of them."""

    access_count: int = 0
    last_accessed: datetime | None = None
    last_review: datetime | None = None
    stability: float = DEFAULT_STABILITY_DAYS
    importance: float = DEFAULT_IMPORTANCE


def fold_uses(
    created: datetime, uses: Iterable[MemoryUse], adopted: AdoptedCounters | None = None
) -> Usage:
    """Return the usage of a memory from all that the journal says about it."""
    usage = Usage() if adopted is None else _adopt_counters(adopted)
    for use in select_counting_uses(uses):
        usage = apply_use(usage, created, use)
    return usage


def select_counting_uses(uses: Iterable[MemoryUse]) -> list[MemoryUse]:
    """Return the uses that count, oldest first: one for each session and UTC day."""
    first: dict[tuple[str | None, date], MemoryUse] = {}
    for use in sorted(uses, key=_precedence_key):
        first.setdefault(use_occasion(use), use)
    return sorted(first.values(), key=_time_order_key)


def use_occasion(use: MemoryUse) -> tuple[str | None, date]:
    """Return what at most one use counts for: its session and UTC day."""
    return use.session, use.at.astimezone(UTC).date()


def precedes(use: MemoryUse, other: MemoryUse) -> bool:
    """Whether `use` is the one that counts when both fall on the same occasion."""
    return _precedence_key(use)[:3] < _precedence_key(other)[:3]


def read_use(event: Event) -> MemoryUse | None:
    """Return the use that a `used` event speaks of; nothing if its body has another shape."""
    session, count = event.body.get("session"), event.body.get("n", 1)
    if session is not None and not isinstance(session, str):
        return None
    if event.body.get("how") == WHISPER_USE:
        return MemoryUse(at=event.at, session=session, count=WHISPER_COUNT)
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        return None
    return MemoryUse(at=event.at, session=session, count=count)


def apply_use(usage: Usage, created: datetime, use: MemoryUse) -> Usage:
    """Return the usage after one more use that counts.

    The same as folding again as long as the use is not older than the ones before it.
    """
    since = max(created, usage.last_accessed or created)
    share = WHISPER_SHARE if use.is_whisper else 1.0
    return replace(
        usage,
        access_count=usage.access_count + max(use.count, 1),
        last_accessed=_later_time(usage.last_accessed, use.at),
        last_review=_later_time(usage.last_review, use.at),
        stability=stability_after_use(usage.stability, idle_days(since, use.at), share),
    )


def _time_order_key(use: MemoryUse) -> tuple[datetime, int, str]:
    return use.at, -use.count, use.session or ""


def _precedence_key(use: MemoryUse) -> tuple[bool, datetime, int, str]:
    return use.is_whisper, *_time_order_key(use)


def _later_time(one: datetime | None, other: datetime) -> datetime:
    return other if one is None else max(one, other)


def _adopt_counters(adopted: AdoptedCounters) -> Usage:
    """Return adopted counters as far as they make sense: foreign files hold all sorts."""
    stable = math.isfinite(adopted.stability) and adopted.stability > 0
    weighed = math.isfinite(adopted.importance)
    return Usage(
        access_count=max(0, adopted.access_count),
        last_accessed=adopted.last_accessed,
        last_review=adopted.last_review,
        stability=min(adopted.stability, MAX_STABILITY_DAYS) if stable else DEFAULT_STABILITY_DAYS,
        importance=min(1.0, max(0.0, adopted.importance)) if weighed else DEFAULT_IMPORTANCE,
    )


def read_adopted_counters(body: Mapping[str, object]) -> AdoptedCounters:
    """Return the counters that make sense; foreign files hold all sorts."""
    return AdoptedCounters(
        access_count=int(_number_or_default(body.get("access_count"), 0)),
        last_accessed=_time_or_none(body.get("last_accessed")),
        last_review=_time_or_none(body.get("last_review")),
        stability=_number_or_default(body.get("stability"), DEFAULT_STABILITY_DAYS),
        importance=_number_or_default(body.get("importance"), DEFAULT_IMPORTANCE),
    )


def _number_or_default(value: object, default: float) -> float:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15
    return float(value) if usable else default  # type: ignore[arg-type]  # narrowed by `usable`


def _time_or_none(value: object) -> datetime | None:
    try:
        return None if value is None else parse_time("time", value)
    except InvalidValue:
        return None
