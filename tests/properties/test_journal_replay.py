"""Whatever happens to journal files, each event counts once and means the same."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from madeleine.model.event import Event, EventKind
from madeleine.rules.usage import MemoryUse, fold_uses, read_use
from madeleine.vault import journal_lines
from madeleine.vault.journal import FileJournal, JournalCursor
from tests.examples import some_of

START = datetime(2026, 10, 1, tzinfo=UTC)
NAME = "laptop-2026-10.jsonl"

moments = st.timedeltas(timedelta(0), timedelta(days=45)).map(lambda wait: START + wait)
few = st.sampled_from(["a", "b", "c"])
scores = st.dictionaries(
    few, st.dictionaries(st.sampled_from(["importance", "relevance"]), st.floats(0, 1))
)
bodies = st.one_of(
    st.tuples(
        st.just(EventKind.USED),
        st.builds(
            lambda m, s, n: {"memory": m, "session": s, "n": n},
            few,
            st.none() | few,
            st.integers(1, 2),
        ),
    ),
    st.tuples(st.just(EventKind.SCORED), scores.map(lambda each: {"scores": each})),
    st.tuples(
        st.just(EventKind.STATE), st.builds(lambda k, v: {"key": k, "value": v}, few, st.text())
    ),
    st.tuples(
        st.sampled_from([EventKind.FEEDBACK, EventKind.DECIDED, EventKind.SETTLED]),
        st.dictionaries(st.text(), st.text() | st.none() | st.integers(), max_size=2),
    ),
)


@st.composite
def journals(draw: st.DrawFn) -> list[Event]:
    drawn = draw(st.lists(st.tuples(moments, bodies), max_size=25))
    return [
        Event(f"e{number}", at, kind, "laptop", body)
        for number, (at, (kind, body)) in enumerate(drawn)
    ]


@contextmanager
def new_journal() -> Iterator[tuple[FileJournal, Path]]:
    with tempfile.TemporaryDirectory() as folder:
        yield FileJournal(Path(folder), "laptop"), Path(folder)


def meaning(events: Iterable[Event]) -> dict[object, object]:
    """Return all that follows from events, as an index would fold it."""
    known = {event.id: event for event in events}
    uses: dict[str, list[MemoryUse]] = {}
    values: dict[object, object] = {}
    for event in sorted(known.values(), key=lambda each: (each.at, each.id)):
        match event.kind, event.body:
            case EventKind.USED, {"memory": str(memory)}:
                uses.setdefault(memory, []).extend(use for use in [read_use(event)] if use)
            case EventKind.SCORED, {"scores": dict(scored)}:
                values |= {(m, key): v for m, each in scored.items() for key, v in each.items()}
            case EventKind.STATE, {"key": key, "value": value}:
                values[key] = value
            case _:
                values[event.id] = event
    return values | {memory: fold_uses(START, each) for memory, each in uses.items()}


def all_events(journal: FileJournal) -> list[Event]:
    return [event for chunk in journal.read({}) for event in chunk.events]


# What may happen to a file between two reads.
APPEND, TEAR, TEAR_AND_FINISH, GARBAGE, READ = "append", "tear", "tear, finish", "garbage", "read"
acts = st.lists(
    st.tuples(
        st.sampled_from([APPEND, TEAR, TEAR_AND_FINISH, GARBAGE, READ]),
        st.integers(1, 5),
        st.floats(0, 1),
    ),
    max_size=20,
)


@given(acts, st.integers(1, 4), st.integers(1, 2_000))
def test_any_appends_tears_and_reads_give_each_event_once(
    played: list[tuple[str, int, float]], chunk_lines: int, chunk_bytes: int
) -> None:
    with (
        new_journal() as (journal, folder),
        mock.patch.object(journal_lines, "MAX_CHUNK_LINES", chunk_lines),
        mock.patch.object(journal_lines, "MAX_CHUNK_BYTES", chunk_bytes),
    ):
        written: list[str] = []
        seen: list[str] = []
        since: dict[str, JournalCursor] = {}

        def read() -> None:
            for chunk in journal.read(since):
                seen.extend(event.id for event in chunk.events)
                since[chunk.name] = chunk.position

        def raw(data: bytes) -> None:
            with (folder / NAME).open("ab") as file:
                file.write(data)

        def fresh(number: int) -> Event:
            event_id = f"e{len(written)}-{number}"
            return Event(event_id, START, EventKind.FEEDBACK, "laptop", {"text": "\u2028" * number})

        def append(number: int) -> None:
            events = [fresh(each) for each in range(number)]
            journal.append(events, durable=False)
            written.extend(event.id for event in events)

        append(1)
        for act, number, share in played:
            line = journal_lines.render_line(fresh(number), "laptop")
            cut = 1 + int(share * (len(line) - 3))  # at least one byte there and one missing
            if act == APPEND:
                append(number)
            elif act == TEAR:
                raw(line[:cut])
                read()
                append(number)  # closes the torn line
            elif act == TEAR_AND_FINISH:
                append(1)  # a sync program starts on a line of its own
                line = journal_lines.render_line(fresh(number), "laptop")
                raw(line[:cut])
                read()
                raw(line[cut:])
                written.append(f"e{len(written)}-{number}")
            elif act == GARBAGE:
                raw(b"\xff{" * number + b"\n")
            else:
                read()
        read()

        assert seen == written
        assert [event.id for event in all_events(journal)] == written


@settings(max_examples=some_of(200))
@given(
    journals(),
    st.lists(st.sampled_from([b"{broken\n", b"\n", b'{"v":9,"kind":"dreamt"}\n']), max_size=3),
    st.booleans(),
)
def test_compaction_keeps_the_meaning(
    events: list[Event], noise: list[bytes], doubled: bool
) -> None:
    with new_journal() as (journal, folder):
        for event in events:
            journal.append([event], durable=False)
        if doubled:
            journal.append(events[::2], durable=False)
        for line in noise:
            with (folder / NAME).open("ab") as file:
                file.write(line)
        before = meaning(all_events(journal))

        report = journal.compact("2027-01")

        left = all_events(journal)
        assert meaning(left) == before == meaning(events)
        assert {event.id for event in left} == {event.id for event in events} - {*report.dropped}
        assert journal.compact("2027-01").files == []


@given(journals(), journals(), st.booleans())
def test_two_devices_mean_the_same_to_both_before_and_after_compaction(
    ours: list[Event], theirs: list[Event], compacted_first: bool
) -> None:
    theirs = [Event(f"d-{e.id}", e.at, e.kind, "desktop", e.body) for e in theirs]
    with new_journal() as (journal, folder):
        desktop = FileJournal(folder, "desktop")
        journal.append(ours, durable=False)
        desktop.append(theirs, durable=False)
        copy = folder / "laptop-2026-10.sync-conflict-20261101.jsonl"
        if (folder / NAME).exists():
            copy.write_bytes((folder / NAME).read_bytes())

        if compacted_first:
            desktop.compact("2027-01")
        journal.compact("2027-01")
        with_copy = meaning(all_events(journal))
        copy.unlink(missing_ok=True)

        assert with_copy == meaning(all_events(desktop)) == meaning([*theirs, *ours])
