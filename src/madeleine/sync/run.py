"""One sync, whole:

1. What other machines left at the place is fetched, and kept in the ledger.
2. What changed here since the last time becomes versions.
3. Of each memory that is new in any way it is found what holds, and written into the vault.
4. Our new versions and events become segments, in the ledger.
5. They are left at the place.

The network is waited for in the first and the last step only, and no lock is held there (I6).
Wherever this ends, by a kill or because the place is away, the next one goes on: files at the place
are whole or not there, versions are known by what they say, and events by their ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime

from madeleine.model.event import Event
from madeleine.model.memory import Memory
from madeleine.model.times import format_time
from madeleine.sync.capture import Capture
from madeleine.sync.ledger import Ledger
from madeleine.sync.places.port import MeetingPlace
from madeleine.sync.segments import (
    WANTED_SEGMENT_BYTES,
    Record,
    Segment,
    build_segment,
    is_whole,
    parse_line,
    read_segment,
    render_record,
    split_lines,
)
from madeleine.sync.sharing import (
    collect_events,
    describe_held,
    event_from_record,
    event_to_record,
    take_events,
    write_cursors,
)
from madeleine.sync.taking import Taking
from madeleine.sync.versions import (
    PURGED_PATH,
    BadRecord,
    Version,
    VersionState,
    version_from_json,
    version_to_json,
)
from madeleine.vault.purged_memories import PurgedMemories, describe_purged
from madeleine.vault.redaction import parse_former_memory, redact_event
from madeleine.write.pending_repairs import run_pending_repairs
from madeleine.write.reconcile import reconcile
from madeleine.write.stores import Stores

SEGMENTS_JOINED_AT = 200  # small files of ours at the place, from which on they are joined to few
PRIVATE_KEY = "private_spaces"


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did."""

    at: datetime
    place: str
    sent: int = 0
    """Versions of ours that are new at the place."""
    received: int = 0
    """Versions of others that are new here."""
    events_sent: int = 0
    events_received: int = 0
    written: int = 0
    """Memories that were written here."""
    trashed: int = 0
    purged: int = 0
    merged: int = 0
    """Memories that several machines had changed."""
    asked: int = 0
    held: Mapping[str, str] = field(default_factory=dict)
    """Memories that do not leave this machine, and why."""
    events_held: int = 0
    refused: Mapping[str, str] = field(default_factory=dict)
    """Memories that could not be taken, and why."""
    unfinished: tuple[str, ...] = ()
    """Files at the place that are not whole yet."""
    waiting: int = 0
    """Versions that came before those that they were made from."""
    bad: int = 0
    """Lines at the place that nobody of ours wrote."""
    newer: tuple[str, ...] = ()
    """Files that a later release wrote."""


@dataclass(slots=True)
class _Fetched:
    received: int = 0
    events: int = 0
    unfinished: list[str] = field(default_factory=list)
    newer: list[str] = field(default_factory=list)
    bad: int = 0


def synchronise(
    stores: Stores,
    ledger: Ledger,
    place: MeetingPlace,
    private_spaces: AbstractSet[str] = frozenset(),
    tell: Callable[[str], None] = lambda step: None,
) -> SyncReport:
    """Exchange with the place, once. One at a time: the caller sees to it."""
    run_pending_repairs(stores)
    tell("fetching")
    there = place.list_segments()
    fetched = _fetch(stores, ledger, place, there)
    tell("looking at what changed here")
    reconcile(stores)
    _look_again_if_private_spaces_changed(ledger, private_spaces)
    captured = Capture(stores, ledger, private_spaces).run()
    tell("merging")
    taken = Taking(stores, ledger, stores.new_id()).run()
    if taken.emptied:
        _empty(ledger, taken.emptied)
    sent, events = _write_segments(stores, ledger, captured.held)
    _join_segments(ledger, stores.journal.device)
    tell("sending")
    _publish(ledger, place, there)
    report = SyncReport(
        at=stores.clock.now(),
        place=place.name,
        sent=sent,
        received=fetched.received,
        events_sent=events.sent,
        events_received=fetched.events,
        written=taken.written,
        trashed=taken.trashed,
        purged=len(taken.purged),
        merged=taken.merged,
        asked=taken.asked,
        held=captured.held,
        events_held=events.held,
        refused=taken.refused,
        unfinished=tuple(fetched.unfinished),
        waiting=ledger.waiting_versions(),
        bad=fetched.bad,
        newer=tuple(fetched.newer),
    )
    ledger.set_meta("last", format_time(report.at))
    ledger.set_meta("last_place", report.place)
    return report


# -- fetching ------------------------------------------------------------------------------


def _fetch(
    stores: Stores, ledger: Ledger, place: MeetingPlace, there: Mapping[str, int]
) -> _Fetched:
    """Take in the files at the place that were not read yet, each as a whole. What our own device
    left there and the ledger does not know is read too: the ledger may have been lost."""
    fetched = _Fetched()
    gone = _purged_memories(ledger)
    for segment in place.fetch(sorted(there.keys() - ledger.known_segments())):
        if not is_whole(segment.name, segment.data):
            fetched.unfinished.append(segment.name)
            continue
        content = read_segment(segment.data)
        fetched.bad += content.bad
        if content.newer:
            fetched.newer.append(segment.name)
            continue
        versions, events = _sort_records(content.records, fetched)
        # Events first: they are appended to the journal before the file counts as read.
        fetched.events += take_events(stores, ledger, events, gone)
        with ledger.together():
            for version in versions:
                fetched.received += ledger.add_version(version, ours=False)
                ledger.mark_received(version.id)
            ledger.add_segment(segment.name)
    return fetched


def _sort_records(
    records: Iterable[Record], fetched: _Fetched
) -> tuple[list[Version], list[Event]]:
    versions: list[Version] = []
    events: list[Event] = []
    for record in records:
        if record.get("kind") == "event":
            event = event_from_record(record)
            if event is not None:
                events.append(event)
        elif record.get("kind") == "version":
            try:
                versions.append(version_from_json(record))
            except BadRecord:
                fetched.bad += 1
    return versions, events


def _purged_memories(ledger: Ledger) -> set[str]:
    local = ledger.local_files().values()
    return {each.memory for each in local if each.state is VersionState.PURGED}


def _look_again_if_private_spaces_changed(ledger: Ledger, spaces: AbstractSet[str]) -> None:
    told = ",".join(sorted(spaces))
    if (ledger.get_meta(PRIVATE_KEY) or "") != told:
        with ledger.together():
            ledger.forget_looks()
            ledger.set_meta(PRIVATE_KEY, told)


# -- sending -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _SentEvents:
    sent: int
    held: int


def _write_segments(
    stores: Stores, ledger: Ledger, held: Mapping[str, str]
) -> tuple[int, _SentEvents]:
    """Make segments of our new versions and events, in the ledger, all in one step."""
    private = describe_held(_held_memories(stores, held))
    with ledger.together():
        versions = ledger.unsent_versions()
        outgoing = collect_events(stores, ledger, private)
        lines = (
            render_record(each)
            for each in (
                *map(version_to_json, versions),
                *map(event_to_record, outgoing.events),
            )
        )
        for portion in _split_by_size(lines):
            number = ledger.next_number()
            ledger.add_own_segment(build_segment(stores.journal.device, number, portion))
        ledger.mark_sent()
        write_cursors(ledger, outgoing.cursors)
    return len(versions), _SentEvents(len(outgoing.events), outgoing.held)


def _held_memories(stores: Stores, held: Mapping[str, str]) -> list[Memory]:
    found = stores.search.memories(list(held))
    missing = held.keys() - found.keys()
    trashed = [each.memory for each in stores.vault.trashed_memories()] if missing else []
    return [*found.values(), *(each for each in trashed if each.id in missing)]


def _split_by_size(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    portion: list[bytes] = []
    size = 0
    for line in lines:
        portion.append(line)
        size += len(line)
        if size >= WANTED_SEGMENT_BYTES:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


def _join_segments(ledger: Ledger, device: str) -> None:
    """Join many small files of ours to few: sync programs do not love thousands."""
    small = {
        name: size for name, size in ledger.own_segments().items() if size < WANTED_SEGMENT_BYTES
    }
    if len(small) < SEGMENTS_JOINED_AT:
        return
    with ledger.together():
        lines = (line for name in sorted(small) for line in split_lines(ledger.segment_data(name)))
        for portion in list(_split_by_size(lines)):
            ledger.add_own_segment(build_segment(device, ledger.next_number(), portion))
        for name in small:
            ledger.drop_segment(name)


def _publish(ledger: Ledger, place: MeetingPlace, there: Mapping[str, int]) -> None:
    own = ledger.own_segments()
    missing = sorted(name for name, size in own.items() if there.get(name) != size)
    over = sorted(ledger.dropped_segments() & there.keys())
    if missing or over:
        place.publish([Segment(name, ledger.segment_data(name)) for name in missing], over)


# -- purging -------------------------------------------------------------------------------


def _empty(ledger: Ledger, memories: Mapping[str, str]) -> None:
    """Take the texts of memories that are gone for good out of the ledger and out of our own
    segments; every machine does so with its own."""
    waiting = [
        memory
        for memory, version in memories.items()
        if ledger.get_meta(_emptied_key(memory)) != version or ledger.has_texts(memory)
    ]
    if not waiting:
        return
    texts = [
        version.content
        for memory in waiting
        for version in ledger.versions_of(memory).values()
        if version.content is not None
    ]
    former = [each for text in texts if (each := parse_former_memory(text)) is not None]
    gone = describe_purged(frozenset(waiting), former)
    with ledger.together():
        ledger.drop_texts(waiting)
        for name in ledger.own_segments():
            _rewrite_segment(ledger, name, gone)
        for memory in waiting:
            ledger.set_meta(_emptied_key(memory), memories[memory])
    ledger.empty_log()


def _emptied_key(memory: str) -> str:
    return f"emptied:{memory}"


def _rewrite_segment(ledger: Ledger, name: str, gone: PurgedMemories) -> None:
    data = ledger.segment_data(name)
    before = list(split_lines(data))
    after = [kept for line in before if (kept := _redact_line(line, gone))]
    if after == before:
        return
    ledger.drop_segment(name)
    if after:
        device = name.partition("/")[0]
        ledger.add_own_segment(build_segment(device, ledger.next_number(), after))


def _redact_line(line: bytes, gone: PurgedMemories) -> bytes:
    record = parse_line(line)
    if record is None:
        return line
    if record.get("kind") == "version":
        if record.get("memory") not in gone.ids or record.get("text") is None:
            return line
        return render_record({**record, "text": None, "path": PURGED_PATH})
    event = event_from_record(record)
    if event is None:
        return line
    kept = redact_event(event, gone, [])
    if kept is None:
        return b""
    return line if kept is event else render_record(event_to_record(kept))
