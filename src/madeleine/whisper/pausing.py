"""Sessions in which nothing is kept or whispered until somebody says so.

The journal keeps from when to when a session was paused, so that what was said meanwhile is not
taken in later either: a transcript is read long after it was written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from madeleine.model.event import EventKind
from madeleine.model.times import format_time, parse_time
from madeleine.write.record import new_event, record_events
from madeleine.write.stores import Stores


@dataclass(frozen=True, slots=True)
class SessionPause:
    """A time in which a session is nobody's business; without an end it lasts."""

    begun: datetime
    ended: datetime | None = None

    def covers(self, at: datetime) -> bool:
        return self.begun <= at and (self.ended is None or at < self.ended)


def pause_session(stores: Stores, session: str) -> tuple[SessionPause, ...]:
    """Begin a pause, unless one lasts; return all pauses of the session."""
    known = read_pauses(stores, session)
    if is_paused(known):
        return known
    return _write_pauses(stores, session, (*known, SessionPause(stores.clock.now())))


def resume_session(stores: Stores, session: str) -> tuple[SessionPause, ...]:
    """End the pause that lasts, if one does; return all pauses of the session."""
    known = read_pauses(stores, session)
    if not is_paused(known):
        return known
    over = SessionPause(known[-1].begun, stores.clock.now())
    return _write_pauses(stores, session, (*known[:-1], over))


def read_pauses(stores: Stores, session: str | None) -> tuple[SessionPause, ...]:
    """Return when a session was paused, in order."""
    value = None if session is None else stores.log.state(_pause_key(session))
    if not isinstance(value, list):
        return ()
    return tuple(_read_pause(each) for each in value)


def is_paused(pauses: Sequence[SessionPause]) -> bool:
    """Whether the last pause lasts."""
    return bool(pauses) and pauses[-1].ended is None


def _read_pause(value: object) -> SessionPause:
    begun, ended = value if isinstance(value, list) else (value, None)
    return SessionPause(
        parse_time("begun", str(begun)), None if ended is None else parse_time("ended", str(ended))
    )


def _write_pauses(
    stores: Stores, session: str, pauses: tuple[SessionPause, ...]
) -> tuple[SessionPause, ...]:
    told = [
        [format_time(each.begun), None if each.ended is None else format_time(each.ended)]
        for each in pauses
    ]
    mark = new_event(stores, EventKind.STATE, {"key": _pause_key(session), "value": told})
    with stores.writing:
        record_events(stores, [mark], durable=True)
    return pauses


def _pause_key(session: str) -> str:
    return f"paused:{session}"
