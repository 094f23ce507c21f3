"""Writing events down: into the journal, then into the index, in that order and together.

The index remembers how far it has read each journal file. Both steps happen under one lock,
so that the position never runs ahead of an event that was not applied.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from madeleine.index.port import Index, IndexBatch
from madeleine.model.event import Event, EventKind
from madeleine.vault.journal_changes import without_file_texts
from madeleine.vault.journal_lines import month_of_file
from madeleine.vault.port import Journal
from madeleine.write.event_bus import bus_events_from_journal
from madeleine.write.stores import Stores

EMPTY_BATCH = IndexBatch()
TICK = timedelta(microseconds=1)


def new_event(
    stores: Stores, kind: EventKind, body: Mapping[str, object], event_id: str = ""
) -> Event:
    """Return an event of this device that happens now."""
    return Event(
        id=event_id or stores.new_id(),
        at=stores.clock.now(),
        kind=kind,
        device=stores.journal.device,
        body=body,
    )


def record_events(
    stores: Stores,
    events: Sequence[Event],
    *,
    durable: bool,
    batch: IndexBatch = EMPTY_BATCH,
    note_positions: bool = True,
) -> None:
    """Append the events to the journal and apply them, with `batch`, to the index.

    When the index cannot follow it reads on from where it was before the next write. An index
    that has not read everything before these events must not note how far it is now.
    """
    with stores.writing:
        positions = stores.journal.append(events, durable=durable)
        noted = positions if note_positions and not stores.pending_repairs.events else {}
        stores.pending_repairs.events, owed = True, stores.pending_repairs.events
        known = [without_file_texts(each) for each in events]
        stores.index.write(replace(batch, events=known, positions=noted))
        stores.pending_repairs.events = owed
        stores.event_bus.publish(bus_events_from_journal(events))


def settle_changes(
    stores: Stores, outcomes: Mapping[str, str], batch: IndexBatch = EMPTY_BATCH
) -> None:
    """Note what became of changes, all of them together.

    Of two notes about one change the later counts, so a clock that was set back must not make
    this one seem the earlier.
    """
    last = stores.log.recent_events([EventKind.SETTLED.value], 1)
    at = max([stores.clock.now(), *(each.at + TICK for each in last)])
    marks = [
        replace(new_event(stores, EventKind.SETTLED, {"change": change, "outcome": outcome}), at=at)
        for change, outcome in outcomes.items()
    ]
    record_events(stores, marks, durable=False, batch=batch)


def read_outcomes(details: Mapping[str, object]) -> dict[str, str]:
    """Return what a change says about other changes once it is done, as an undo does."""
    given = details.get("outcomes")
    return {str(k): str(v) for k, v in given.items()} if isinstance(given, Mapping) else {}


def file_sha256(data: bytes | None) -> str | None:
    """Return the SHA-256 of a file's bytes; a file that is not there has none."""
    return None if data is None else hashlib.sha256(data).hexdigest()


def replay_journal(journal: Journal, index: Index) -> list[str]:
    """Bring the index up to date with every journal file; return what waits to be read.

    Lines that cannot be read are passed over and kept in the index's list of torn lines. A
    last line that may yet be completed by a program that syncs the folder, and lines of a newer
    release, are only returned. Nobody completes a line of this device's own files: our next append
    goes on after it.
    """
    waiting: list[str] = []
    for chunk in journal.read(index.log.positions()):
        waits = chunk.waits and month_of_file(chunk.name, journal.device) is None
        torn = chunk.problems[:-1] if waits else chunk.problems
        waiting.extend(each.message for each in chunk.problems[-1:] if chunk.waits)
        waiting.extend(
            f"{chunk.name}: {count} `{kind}` lines of a newer release were passed over"
            for kind, count in chunk.newer.items()
        )
        index.write(
            IndexBatch(
                events=[without_file_texts(each) for each in chunk.events],
                positions={chunk.name: chunk.position},
                torn={chunk.name: [(each.line, each.problem) for each in torn]},
                read_anew=[chunk.name] if chunk.start == 0 else (),
            )
        )
    return waiting
