"""The admission gate: how much one session and one day may add.

A loop of agents, or one day of pasted logs, must not bury what a person keeps. Beyond the bound
nothing is dropped: who asks is told `IngestLimitReached`, stops there, and goes on when there is
room again. Of each bound a fifth is kept free for what was said outright, so that exchanges cannot
use it up. The day's count is a journal `state`, so that a restart does not open the gate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from madeleine.errors import Unavailable
from madeleine.ingest.config import IngestConfig
from madeleine.model.event import Event, EventKind
from madeleine.write.record import new_event
from madeleine.write.stores import Stores

LOW_SHARE = 0.8  # of a bound that exchanges may use
WAITING_AT_MOST = 200  # transcripts that are named as waiting


class IngestLimitReached(Unavailable):
    """A session or a day has added as many memories as it may."""

    kind = "full"

    def __init__(self, what: str, most: int, setting: str) -> None:
        super().__init__(
            f"{what} has added {most:,} memories, which is all it may",
            hint=f"raise `ingest.{setting}`, or let it wait",
            what=what,
            most=most,
            setting=setting,
        )


@dataclass(frozen=True, slots=True)
class DailyUsage:
    """What this device has taken in today (UTC)."""

    day: str
    kept: int = 0
    tokens: int = 0


@dataclass(slots=True)
class AdmissionGate:
    """Counts what one run adds on top of what its session and the day have."""

    config: IngestConfig
    today: DailyUsage
    session: int = 0
    added: int = 0

    def check(self, low: bool) -> None:
        """Raise `IngestLimitReached` if nothing more may be added."""
        share = LOW_SHARE if low else 1.0
        config = self.config
        if self.session + self.added >= int(config.memories_per_session * share):
            most = int(config.memories_per_session * share)
            raise IngestLimitReached("this session", most, "memories_per_session")
        if self.today.kept + self.added >= int(config.memories_per_day * share):
            raise IngestLimitReached(
                "today", int(config.memories_per_day * share), "memories_per_day"
            )

    def full(self, low: bool) -> IngestLimitReached | None:
        """Return why nothing more may be added; nothing where something may."""
        try:
            self.check(low)
        except IngestLimitReached as error:
            return error
        return None


def read_daily_usage(stores: Stores) -> DailyUsage:
    """Return what was taken in so far today."""
    day = stores.clock.now().date().isoformat()
    value = stores.log.state(_usage_key(stores))
    if not isinstance(value, Mapping) or value.get("day") != day:
        return DailyUsage(day)
    kept, tokens = value.get("kept"), value.get("tokens")
    if not isinstance(kept, int) or not isinstance(tokens, int):
        return DailyUsage(day)
    return DailyUsage(day, kept, tokens)


def build_usage_events(stores: Stores, kept: int, tokens: int) -> list[Event]:
    """Return the event that counts more as taken in today. Hold the lock of writers, so that
    nobody counts at the same time."""
    if not kept and not tokens:
        return []
    known = read_daily_usage(stores)
    value = {"day": known.day, "kept": known.kept + kept, "tokens": known.tokens + tokens}
    return [new_event(stores, EventKind.STATE, {"key": _usage_key(stores), "value": value})]


def _usage_key(stores: Stores) -> str:
    return f"taken_in:{stores.journal.device}"


# -- what waits ----------------------------------------------------------------------------


def read_waiting(stores: Stores) -> dict[str, str]:
    """Return which transcripts of this device wait, and for what. A journal `state` too: what
    waits must not be forgotten with a restart."""
    value = stores.log.state(_waiting_key(stores))
    return {str(path): str(why) for path, why in value.items()} if isinstance(value, dict) else {}


def build_waiting_events(stores: Stores, path: str, why: str | None) -> list[Event]:
    """Return the event that says why a transcript waits, or that it no longer does; none where
    that is known. Hold the lock of writers."""
    known = read_waiting(stores)
    told = {each: known[each] for each in known if each != path} | ({path: why} if why else {})
    if told == known or len(told) > WAITING_AT_MOST:
        return []
    return [new_event(stores, EventKind.STATE, {"key": _waiting_key(stores), "value": told})]


def _waiting_key(stores: Stores) -> str:
    return f"waiting:{stores.journal.device}"
