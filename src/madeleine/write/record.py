"""Writing events down: into the journal, then into the index, in that order and together.

The index remembers how far it has read each journal file. Both steps happen under one lock,
so that the position never runs ahead of an event that was not applied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from madeleine.index.port import Batch, Index, Put
from madeleine.model.event import Event, Kind
from madeleine.vault.journal import Journal, light
from madeleine.write.stores import Stores


def event(stores: Stores, kind: Kind, body: Mapping[str, object], event_id: str = "") -> Event:
    """Return an event of this device that happens now."""
    return Event(
        id=event_id or stores.new_id(),
        at=stores.clock.now(),
        kind=kind,
        device=stores.journal.device,
        body=body,
    )


def record(
    stores: Stores,
    events: Sequence[Event],
    *,
    durable: bool,
    puts: Sequence[Put] = (),
    drops: Sequence[str] = (),
) -> None:
    """Append the events to the journal and apply them, with `puts` and `drops`, to the index.

    When the index could not follow once, it reads on from where it was before anything else,
    so that no event is passed over.
    """
    with stores.writing:
        if stores.behind.is_set():
            replay(stores.journal, stores.index)
            stores.behind.clear()
        positions = stores.journal.append(events, durable=durable)
        known = [light(each) for each in events]
        stores.behind.set()
        stores.index.write(Batch(puts=puts, drops=drops, events=known, positions=positions))
        stores.behind.clear()


def replay(journal: Journal, index: Index) -> list[str]:
    """Bring the index up to date with every journal file; return what waits to be read.

    Lines that cannot be read are passed over and kept in the index's list of torn lines. A
    last line that may yet be completed, and lines of a newer release, are only returned.
    """
    waiting: list[str] = []
    for chunk in journal.read(index.positions()):
        torn = chunk.problems[:-1] if chunk.waits else chunk.problems
        waiting.extend(each.message for each in chunk.problems[len(torn) :])
        waiting.extend(
            f"{chunk.name}: {count} `{kind}` lines of a newer release were passed over"
            for kind, count in chunk.newer.items()
        )
        index.write(
            Batch(
                events=[light(each) for each in chunk.events],
                positions={chunk.name: chunk.position},
                torn={chunk.name: [(each.line, each.problem) for each in torn]},
                read_anew=[chunk.name] if chunk.start == 0 else (),
            )
        )
    return waiting
