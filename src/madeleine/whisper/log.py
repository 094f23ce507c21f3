"""What is written down of each whisper and silence, and what is added to it later.

The log is telemetry of a month: nobody may wait for it, and a full disk keeps nobody from being
whispered to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from madeleine.errors import StoreUnwritable, Unavailable
from madeleine.index.port import WhisperEntry
from madeleine.whisper.session import Said
from madeleine.write.bell import Happening
from madeleine.write.stores import Stores

NOTHING_IS_TOO_OLD = datetime(1970, 1, 1, tzinfo=UTC)


def write_down(stores: Stores, entry: WhisperEntry, keep_after: datetime) -> None:
    """Log an entry if that can be done, and drop what is too old."""
    try:
        stores.index.log_whisper(entry, keep_after)
    except (StoreUnwritable, Unavailable):
        return


def told(entry: WhisperEntry, silence: str | None) -> Happening:
    """Return what listeners learn: that there was a whisper or a silence, not what was said."""
    given = {"id": entry.id, "session": entry.session, "space": entry.space}
    body = {**given, "injected": ids_in(entry, "injected"), "silence": silence}
    return Happening("whispered", entry.at, body)


def amend(stores: Stores, entry: WhisperEntry, more: Mapping[str, object]) -> None:
    """Add to what an entry says."""
    body = {**entry.body, **more}
    write_down(stores, replace(entry, body=body), NOTHING_IS_TOO_OLD)


def said_in(entry: WhisperEntry) -> Said:
    """Return the prompt of an entry, and what was told of it; nothing if it came too late."""
    late = bool(entry.body.get("late"))
    told = [] if late else [*ids_in(entry, "injected"), *ids_in(entry, "restated")]
    return Said(str(entry.body.get("prompt") or ""), entry.at, None, frozenset(told))


def ids_in(entry: WhisperEntry, name: str) -> list[str]:
    """Return the memories that an entry lists under a name."""
    return ids_of(entry.body, name)


def ids_of(body: Mapping[str, object], name: str) -> list[str]:
    """Return the memories that what is known of a prompt lists under a name."""
    listed = body.get(name)
    return [str(each) for each in listed] if isinstance(listed, list | dict) else []
