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

TOLD_AT_MOST = 100  # memories that one happening names
SAID_AT_MOST = 7_900  # bytes that a database passes on, with some room for whose it is
VERBS = {
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
class Happening:
    """What happened, by its name, when, and to whom. `body` is plain JSON without any text of
    a memory."""

    name: str
    at: datetime
    body: Mapping[str, object]


Listener = Callable[[Happening], None]


class Bell:
    """Rings for every listener. Any thread may ring it."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._lock = threading.Lock()

    def ring(self, happenings: Iterable[Happening]) -> None:
        """Tell everybody who listens."""
        with self._lock:
            listeners = list(self._listeners)
        if not listeners:
            return
        for each in happenings:
            for listener in listeners:
                listener(each)

    @contextmanager
    def heard_by(self, listener: Listener) -> Iterator[None]:
        """Let somebody listen for a while."""
        with self._lock:
            self._listeners.append(listener)
        try:
            yield
        finally:
            with self._lock:
                self._listeners.remove(listener)


class FarBell(Bell):
    """Rings at every server on one database. What happens is told to all of them, once it is
    kept, and rings here when it comes back from there (`hear`)."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__()
        self._tell = tell

    def ring(self, happenings: Iterable[Happening]) -> None:
        for each in happenings:
            said = _to_text(each)
            if len(said.encode("utf-8")) <= SAID_AT_MOST:
                self._tell(said)
            else:
                self._tell(_to_text(Happening(each.name, each.at, {"more": True})))

    def hear(self, text: str) -> None:
        """Ring for what some server told."""
        super().ring([_from_text(text)])


def _to_text(happening: Happening) -> str:
    told = [happening.name, format_time(happening.at), dict(happening.body)]
    return json.dumps(told, ensure_ascii=True, separators=(",", ":"))


def _from_text(text: str) -> Happening:
    name, at, body = json.loads(text)
    return Happening(name, parse_time("at", at), body)


def told(events: Iterable[Event]) -> Iterator[Happening]:
    """Yield what journal events tell to listeners. A change is told when it is done, by
    `done`: its event is written before anything changes."""
    for event in events:
        if event.kind in _TOLD:
            name, parts = _TOLD[event.kind]
            body = {ours: event.body[theirs] for theirs, ours in parts if theirs in event.body}
            yield Happening(name, event.at, body)


def done(verb: str, at: datetime, body: Mapping[str, object]) -> Happening:
    """Return the happening that a change by this verb is."""
    return Happening(VERBS.get(verb, "changed"), at, {"verb": verb, **body})


_TOLD: Mapping[EventKind, tuple[str, tuple[tuple[str, str], ...]]] = {
    EventKind.REMEMBERED: (
        "remembered",
        (("memory", "node_id"), ("by", "by"), ("change", "change")),
    ),
    EventKind.FEEDBACK: ("feedback", (("memory", "node_id"), ("signal", "signal"))),
    EventKind.PROPOSED: ("proposal", (("proposal", "id"), ("type", "type"))),
    EventKind.DECIDED: ("decided", (("proposal", "id"), ("status", "status"), ("by", "by"))),
}
