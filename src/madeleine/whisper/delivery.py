"""Whether a whisper reached anybody (I13).

What was found for a prompt is said only once somebody got to read it. The hook's client confirms
what it printed; until then the whisper is *awaited*: its memories are claimed for the session, so
that no other prompt tells them at the same time, and count as nothing else. Without a confirmation
the whisper is *not delivered*: its memories may be told again, and no reply is read for them. A
confirmation that comes after all is the truth, whatever was assumed before.

Who does not confirm (an older client, `POST /agent/whisper`, Python) counts as having read the
answer when it was handed over while they were still there.

`deliver` is the one place where a whisper becomes delivered. Its memories count as used then: a
memory that is whispered is alive, however rarely anybody asks for it, and must not fade.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from madeleine.errors import StoreUnwritable, Unavailable
from madeleine.index.log import WhisperEntry
from madeleine.model.cause import Cause, WhisperSilence
from madeleine.model.event import EventKind
from madeleine.model.times import format_time
from madeleine.rules.usage import WHISPER_USE
from madeleine.whisper.composing import question_state_key, review_key
from madeleine.whisper.log import (
    NOTHING_IS_TOO_OLD,
    DeliveryState,
    amend_entry,
    entry_ids,
    is_delivered,
    log_entry,
    whisper_notice,
)
from madeleine.whisper.session import WhisperSessions
from madeleine.write.record import new_event, record_events
from madeleine.write.record_use import record_use
from madeleine.write.stores import Stores

DELIVERY_FIELDS = ("delivery", "awaited_until", "not_delivered", "not_delivered_kind", "late")
"""What an entry says about its delivery."""


class Loss(enum.StrEnum):
    """Why nobody got to read a whisper."""

    LATE = "late"
    UNCONFIRMED = "unconfirmed"
    GONE = "gone"
    FAILED = "failed"


LOSSES: Mapping[Loss, str] = {
    Loss.LATE: "the answer came after the deadline",
    Loss.UNCONFIRMED: "the hook did not confirm that it printed it",
    Loss.GONE: "whoever asked had hung up",
    Loss.FAILED: "the answer could not be written",
}
"""As the log and the doors say it."""


def deliver(
    everywhere: Sequence[Stores],
    sessions: WhisperSessions,
    entry: WhisperEntry,
    keep_after: datetime = NOTHING_IS_TOO_OLD,
) -> None:
    """Note that somebody got to read a whisper: the session counts its memories as told, the log
    says so, each memory counts as used where it is kept, and a memory that it asked about is not
    asked about again. `everywhere` is the person's own stores, then those of the spaces they share.
    Of the log only what is younger than `keep_after` stays."""
    stores = everywhere[0]
    if entry.body.get("delivery") == DeliveryState.MISSED:
        sessions.note_told(entry.session, entry.at, _told_ids(entry))
    rest = {name: value for name, value in entry.body.items() if name not in DELIVERY_FIELDS}
    delivered = replace(entry, body={**rest, "delivery": DeliveryState.DELIVERED.value})
    log_entry(stores, delivered, keep_after)
    _record_asked(stores, entry)
    _record_use(everywhere, entry_ids(entry, "injected"), entry.session)
    stores.event_bus.publish([whisper_notice(delivered, None)])


def _record_asked(stores: Stores, entry: WhisperEntry) -> None:
    """Note that somebody was asked about a memory or a proposal."""
    named = (("reviewed", review_key), ("questioned", question_state_key))
    asked = [key(str(entry.body[name])) for name, key in named if entry.body.get(name) is not None]
    events = [
        new_event(stores, EventKind.STATE, {"key": each, "value": format_time(entry.at)})
        for each in asked
    ]
    if not events:
        return
    try:
        record_events(stores, events, durable=False)
    except (StoreUnwritable, Unavailable):
        pass  # then it may be asked about once more


def confirm_delivery(
    everywhere: Sequence[Stores], sessions: WhisperSessions, whisper_id: str
) -> bool:
    """Deliver a whisper that its client printed; whether there was one to deliver."""
    entry = everywhere[0].index.log.whisper(whisper_id)
    if entry is None or is_delivered(entry.body):
        return False
    if not entry_ids(entry, "injected") and not entry.body.get("text"):
        return False
    deliver(everywhere, sessions, entry)
    return True


def mark_undelivered(stores: Stores, sessions: WhisperSessions, whisper_id: str, why: Loss) -> bool:
    """Note that nobody got to read a whisper: its memories, and no others, may be told again, and
    it counts neither as whispered nor as held out. Whether there was one to give up."""
    entry = stores.log.whisper(whisper_id)
    if entry is None or entry.body.get("delivery") == DeliveryState.MISSED:
        return False
    sessions.take_back(entry.session, _told_ids(entry))
    missed: dict[str, object] = {
        "delivery": DeliveryState.MISSED.value,
        "not_delivered": LOSSES[why],
        "not_delivered_kind": why.value,
    }
    missed |= {"late": True} if why is Loss.LATE else {}
    amend_entry(stores, entry, missed)
    if entry_ids(entry, "injected"):
        body = {**entry.body, **missed}
        silence = Cause(WhisperSilence.NOT_DELIVERED, {"why": why.value})
        stores.event_bus.publish([whisper_notice(replace(entry, body=body), silence)])
    return True


def _record_use(everywhere: Sequence[Stores], ids: Sequence[str], session: str | None) -> None:
    """Note that these memories were whispered, at most once for each memory, session and day, as a
    recall is."""
    for stores in everywhere:
        here = ids if len(everywhere) == 1 else [*stores.search.memories(ids)]
        if here:
            record_use(stores, here, WHISPER_USE, session)


def _told_ids(entry: WhisperEntry) -> list[str]:
    return [*entry_ids(entry, "injected"), *entry_ids(entry, "restated")]
