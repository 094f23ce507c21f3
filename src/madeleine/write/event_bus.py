"""Telling those who listen that something happened, as it happens.

A page that is open, or anybody at `GET /events`, wants to know what was remembered, changed,
whispered, run and proposed. Nothing depends on it: what happened stands in vault and journal, and
who was not there reads it there. A listener is called by whoever did it, so it must be quick.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from madeleine.model.event import Event, EventKind
from madeleine.model.times import format_time, parse_time

MAX_MEMORIES_NAMED = 100  # memories that one event names
MAX_PAYLOAD_BYTES = 7_900  # bytes that a database passes on, with some room for whose it is
EVENT_NAME_BY_VERB = {
    "revise": "revised",
    "retire": "retired",
    "forget": "forgotten",
    "restore": "restored",
    "link": "linked",
    "unlink": "unlinked",
    "merge": "merged",
    "undo": "undone",
}


@dataclass(frozen=True, slots=True)
class BusEvent:
    """What happened, by its name, when, and to whom. `body` is plain JSON without any text of
    a memory."""

    name: str
    at: datetime
    body: Mapping[str, object]


EventListener = Callable[[BusEvent], None]


class EventBus:
    """Hands every event to every listener. Any thread may publish."""

    def __init__(self) -> None:
        self._listeners: list[EventListener] = []
        self._lock = threading.Lock()

    def publish(self, events: Iterable[BusEvent]) -> None:
        """Tell everybody who listens."""
        with self._lock:
            listeners = list(self._listeners)
        if not listeners:
            return
        for each in events:
            for listener in listeners:
                listener(each)

    @contextmanager
    def subscribe(self, listener: EventListener) -> Iterator[None]:
        """Let somebody listen for a while."""
        with self._lock:
            self._listeners.append(listener)
        try:
            yield
        finally:
            with self._lock:
                self._listeners.remove(listener)


class SharedEventBus(EventBus):
    """Reaches every server on one database. An event is told to all of them once it is kept, and
    is published here when it comes back from there (`receive`)."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__()
        self._tell = tell

    def publish(self, events: Iterable[BusEvent]) -> None:
        for each in events:
            said = _encode_bus_event(each)
            if len(said.encode("utf-8")) <= MAX_PAYLOAD_BYTES:
                self._tell(said)
            else:
                self._tell(_encode_bus_event(BusEvent(each.name, each.at, {"more": True})))

    def receive(self, text: str) -> None:
        """Publish here what some server told."""
        super().publish([_decode_bus_event(text)])


def _encode_bus_event(event: BusEvent) -> str:
    told = [event.name, format_time(event.at), dict(event.body)]
    return json.dumps(told, ensure_ascii=True, separators=(",", ":"))


def _decode_bus_event(text: str) -> BusEvent:
    name, at, body = json.loads(text)
    return BusEvent(name, parse_time("at", at), body)


def bus_events_from_journal(events: Iterable[Event]) -> Iterator[BusEvent]:
    """Yield what journal events tell to listeners. A change is told when it is done, by
    `done`: its event is written before anything changes."""
    for event in events:
        if event.kind in _BUS_EVENT_BY_KIND:
            name, parts = _BUS_EVENT_BY_KIND[event.kind]
            body = {ours: event.body[theirs] for theirs, ours in parts if theirs in event.body}
            yield BusEvent(name, event.at, body)


def change_bus_event(verb: str, at: datetime, body: Mapping[str, object]) -> BusEvent:
    """Return the event that a change by this verb is."""
    return BusEvent(EVENT_NAME_BY_VERB.get(verb, "changed"), at, {"verb": verb, **body})


_BUS_EVENT_BY_KIND: Mapping[EventKind, tuple[str, tuple[tuple[str, str], ...]]] = {
    EventKind.REMEMBERED: (
        "remembered",
        (("memory", "node_id"), ("by", "by"), ("change", "change")),
    ),
    EventKind.FEEDBACK: ("feedback", (("memory", "node_id"), ("signal", "signal"))),
    EventKind.PROPOSED: ("proposal", (("proposal", "id"), ("type", "type"))),
    EventKind.DECIDED: ("decided", (("proposal", "id"), ("status", "status"), ("by", "by"))),
}
