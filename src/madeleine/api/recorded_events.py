"""What stands in the journal about changes: the newest events, and what became of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from madeleine.api.answers import event_change_id
from madeleine.model.event import Event, EventKind
from madeleine.model.request_reader import RequestReader
from madeleine.write.show import read_history

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.write.stores import Stores

DEFAULT_EVENTS = 100
MAX_EVENTS = 10_000

ReadEvents = Callable[[Sequence[EventKind], int], Sequence[Event]]
"""Reads a number of events, newest first, at least those of these kinds."""


def make_event_reader(stores: Stores, memory: str | None) -> ReadEvents:
    """Return how a number of events is read, newest first: of one memory, or of all."""
    if memory is None:
        return lambda kinds, many: stores.log.recent_events(kinds, many)
    return lambda kinds, many: read_history(stores, memory, many)[1]


def find_newest_events(
    read: ReadEvents, limit: int, kinds: Sequence[EventKind], verb: str | None = None
) -> list[Event]:
    """Return the newest events of these kinds and this verb, whatever lies between them."""
    looked = limit
    while True:
        events = read(kinds, looked)
        found = [each for each in events if each.kind in kinds]
        if verb is not None:
            found = [each for each in found if each.body.get("verb") == verb]
        if len(found) >= limit or len(events) < looked:
            return found[:limit]
        looked *= 8


def read_outcomes(stores: Stores, events: Sequence[Event]) -> dict[str, str | None]:
    """Return what became of the changes that the events are about."""
    changes = {change for each in events if (change := event_change_id(each))}
    return {change: stores.log.outcome(change) for change in changes}


def read_event_limit(call: OperationCall) -> int:
    """Return how many events a request asks for, which it asks for nothing beside."""
    reader = RequestReader(call.query)
    limit = reader.whole("limit", DEFAULT_EVENTS, 1, MAX_EVENTS)
    reader.done()
    return limit
