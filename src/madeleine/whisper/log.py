"""What is written down of each whisper and silence, and what is added to it later.

The log is telemetry of a month: nobody may wait for it, and a full disk keeps nobody from being
whispered to.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from madeleine.errors import StoreUnwritable, Unavailable
from madeleine.index.log import WhisperEntry
from madeleine.model.cause import Cause
from madeleine.model.times import parse_time
from madeleine.whisper.session import WhisperTurn
from madeleine.write.event_bus import BusEvent
from madeleine.write.stores import Stores

NOTHING_IS_TOO_OLD = datetime(1970, 1, 1, tzinfo=UTC)


class WhisperMoment(enum.StrEnum):
    """When something was told. An entry that does not say so is about a prompt."""

    START = "start"
    """When a session or a sub-agent began."""
    DEED = "deed"
    """When an agent was about to do something, or something had failed."""


class DeliveryState(enum.StrEnum):
    """What is known about whether a whisper reached anybody. A log of an earlier release says
    nothing about it; what stands there without being late counts as delivered."""

    AWAITED = "awaited"
    """The client that asked confirms what it printed, and has not done so yet."""
    DELIVERED = "delivered"
    MISSED = "not delivered"
    """Nobody got to read it."""


def log_entry(stores: Stores, entry: WhisperEntry, keep_after: datetime) -> None:
    """Log an entry if that can be done, and drop what is too old."""
    try:
        stores.log.log_whisper(entry, keep_after)
    except (StoreUnwritable, Unavailable):
        return


def whisper_notice(entry: WhisperEntry, silence: Cause | None) -> BusEvent:
    """Return what listeners learn: that there was a whisper or a silence, not what was said."""
    given = {"id": entry.id, "session": entry.session, "space": entry.space}
    injected = entry_ids(entry, "injected") if is_delivered(entry.body) else []
    parts = silence.to_json() if silence else None
    body = {**given, "injected": injected, "silence_parts": parts}
    return BusEvent("whispered", entry.at, body)


def amend_entry(stores: Stores, entry: WhisperEntry, more: Mapping[str, object]) -> None:
    """Add to what an entry says."""
    body = {**entry.body, **more}
    log_entry(stores, replace(entry, body=body), NOTHING_IS_TOO_OLD)


def is_about_prompt(body: Mapping[str, object]) -> bool:
    """Whether somebody typed something; else it was told at another moment."""
    return body.get("moment") is None


def is_about_start(body: Mapping[str, object]) -> bool:
    """Whether it was told when a session or a sub-agent began."""
    return body.get("moment") == WhisperMoment.START


def is_delivered(body: Mapping[str, object]) -> bool:
    """Whether somebody got to read what an entry says was whispered."""
    return (
        not body.get("late")
        and body.get("delivery", DeliveryState.DELIVERED) == DeliveryState.DELIVERED
    )


def is_awaited(body: Mapping[str, object], now: datetime) -> bool:
    """Whether a confirmation may still come: until then nobody else tells the same."""
    until = body.get("awaited_until")
    is_open = body.get("delivery") == DeliveryState.AWAITED and isinstance(until, str)
    return is_open and now < parse_time("awaited_until", until)


def read_turn(entry: WhisperEntry, now: datetime) -> WhisperTurn:
    """Return the prompt of an entry, and what was told of it; nothing if nobody got it."""
    awaited = is_awaited(entry.body, now)
    is_told = awaited or is_delivered(entry.body)
    told = [*entry_ids(entry, "injected"), *entry_ids(entry, "restated")] if is_told else []
    prompt = str(entry.body.get("prompt") or "")
    return WhisperTurn(prompt, entry.at, None, frozenset(told), awaited)


def entry_ids(entry: WhisperEntry, name: str) -> list[str]:
    """Return the memories that an entry lists under a name."""
    return listed_ids(entry.body, name)


def listed_ids(body: Mapping[str, object], name: str) -> list[str]:
    """Return the memories that what is known of a prompt lists under a name."""
    listed = body.get(name)
    return [str(each) for each in listed] if isinstance(listed, list | dict) else []
