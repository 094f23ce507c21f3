"""Sharing the journal: events of this machine go out as they stand there, and those of others are
appended here, each once by its id.

What stays here: what a sync itself did, how far this machine has read its transcripts and notes,
events about memories that do not leave it, and events whose text holds a secret.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from madeleine.language.secrets import redact_secrets
from madeleine.model.event import Event, EventKind, JournalCursor
from madeleine.model.memory import Memory
from madeleine.sync.ledger import Ledger
from madeleine.sync.segments import Record
from madeleine.sync.taking import SYNC_VERB
from madeleine.vault.journal_lines import parse_line, render_line
from madeleine.vault.purged_memories import PurgedMemories, describe_purged
from madeleine.vault.redaction import redact_event
from madeleine.write.record import record_events
from madeleine.write.stores import Stores

CURSORS_KEY = "journal"
DIGEST_BYTES = 16
EVENTS_PER_WRITE = 500
# State that is about files of one machine, or about what it has done by itself.
_LOCAL_STATES = ("transcript:", "document:", "taken_in:", "creative.seed")
# Kinds that hold no text of anybody.
_PLAIN_KINDS = frozenset(
    {EventKind.USED, EventKind.SCORED, EventKind.ADOPTED, EventKind.SETTLED, EventKind.REVIEWED}
)


@dataclass(slots=True)
class OutgoingEvents:
    """Events to be sent, and how far the journal was read for them."""

    events: list[Event] = field(default_factory=list)
    cursors: dict[str, JournalCursor] = field(default_factory=dict)
    held: int = 0
    """Events that hold a secret and stay here."""


def describe_held(memories: Collection[Memory]) -> PurgedMemories:
    """Return what tells memories that do not leave this machine."""
    return describe_purged({each.id for each in memories}, memories)


def collect_events(stores: Stores, ledger: Ledger, held: PurgedMemories) -> OutgoingEvents:
    """Return the events of this machine that were not shared yet."""
    found = OutgoingEvents(cursors=read_cursors(ledger))
    for chunk in stores.journal.read(found.cursors):
        for event in chunk.events:
            if _is_ours(stores, event) and _is_shared_kind(stores, event):
                _add_event(ledger, event, held, found)
        found.cursors[chunk.name] = chunk.position
    return found


def _add_event(ledger: Ledger, event: Event, held: PurgedMemories, found: OutgoingEvents) -> None:
    if not ledger.is_new_event(event_digest(event.id)):
        return
    kept = redact_event(event, held, []) if held.ids else event
    if kept is None:
        return
    if event.kind not in _PLAIN_KINDS and _holds_secret(kept):
        found.held += 1
        return
    found.events.append(kept)


def _holds_secret(event: Event) -> bool:
    """Whether any text of an event holds a secret. Each is read as it stands, not as JSON."""
    return any(redact_secrets(text).secrets for text in _texts_of(event.body))


def _texts_of(value: object) -> Iterator[str]:
    match value:
        case str():
            if len(value) > 8:  # characters; nothing shorter is a secret, and most are words
                yield value
        case Mapping():
            for each in value.values():
                yield from _texts_of(each)
        case list():
            for each in value:
                yield from _texts_of(each)
        case _:
            return


def _is_ours(stores: Stores, event: Event) -> bool:
    """Whether this machine wrote an event; its name may have changed, the mark in it not."""
    own = stores.journal.device.rpartition("-")[2]
    return event.device.rpartition("-")[2] == own


def _is_shared_kind(stores: Stores, event: Event) -> bool:
    match event.kind:
        case EventKind.CHANGED | EventKind.REMEMBERED:
            return event.body.get("verb") != SYNC_VERB
        case EventKind.SETTLED:
            about = stores.log.changes(str(event.body.get("change")))
            return not any(each.body.get("verb") == SYNC_VERB for each in about)
        case EventKind.STATE:
            return not str(event.body.get("key")).startswith(_LOCAL_STATES)
        case _:
            return True


def event_to_record(event: Event) -> Record:
    """Return an event as a record."""
    return {"kind": "event", "line": render_line(event, event.device).decode("utf-8").rstrip("\n")}


def event_from_record(record: Record) -> Event | None:
    """Return the event of a record; nothing if it is none that this release knows."""
    line = record.get("line")
    event = parse_line(line.encode("utf-8", "surrogatepass")) if isinstance(line, str) else None
    return event if isinstance(event, Event) else None


def take_events(
    stores: Stores, ledger: Ledger, events: Sequence[Event], gone: Collection[str]
) -> int:
    """Append events of others to the journal here; return how many were new. What they say about
    memories that were purged here is left out."""
    told = PurgedMemories(frozenset(gone))
    fresh: dict[str, Event] = {}
    for event in events:
        if event.id in fresh or stores.log.event(event.id) is not None:
            continue
        kept = redact_event(event, told, []) if gone else event
        if kept is not None:
            fresh[event.id] = kept
    listed = list(fresh.values())
    for start in range(0, len(listed), EVENTS_PER_WRITE):
        record_events(stores, listed[start : start + EVENTS_PER_WRITE], durable=True)
    with ledger.together():
        for each in events:
            ledger.is_new_event(event_digest(each.id))
    return len(listed)


def event_digest(event_id: str) -> bytes:
    """Return the hash by which an event is known to have been shared."""
    found = event_id.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(found, digest_size=DIGEST_BYTES).digest()


def read_cursors(ledger: Ledger) -> dict[str, JournalCursor]:
    """Return how far the journal was read."""
    told = json.loads(ledger.get_meta(CURSORS_KEY) or "{}")
    return {name: JournalCursor(int(offset), str(check)) for name, (offset, check) in told.items()}


def write_cursors(ledger: Ledger, cursors: Mapping[str, JournalCursor]) -> None:
    told = {name: [each.offset, each.check] for name, each in cursors.items()}
    ledger.set_meta(CURSORS_KEY, json.dumps(told))
