"""The journal on real files: what is acknowledged is there whole, and is read once."""

from __future__ import annotations

import errno
import json
import os
import stat
import threading
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import IO

import pytest

from madeleine.errors import InvalidValue, StoreUnwritable, Unavailable
from madeleine.model.event import Event, EventKind
from madeleine.rules.usage import MemoryUse, fold_uses, read_use
from madeleine.vault import journal_lines
from madeleine.vault.journal import FileJournal, JournalChunk, JournalCursor

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
NOVEMBER = "laptop-2026-11.jsonl"


def used(event_id: str, at: datetime = NOON, **body: object) -> Event:
    return Event(event_id, at, EventKind.USED, "laptop", {"memory": "m", "how": "recall", **body})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "home" / "journal"


@pytest.fixture
def journal(folder: Path) -> FileJournal:
    return FileJournal(folder, "laptop")


def events_in(chunks: Iterable[JournalChunk]) -> list[Event]:
    return [event for chunk in chunks for event in chunk.events]


def ids(chunks: Iterable[JournalChunk]) -> list[str]:
    return [event.id for event in events_in(chunks)]


def problems(journal: FileJournal) -> list[str]:
    return [each.message for chunk in journal.read({}) for each in chunk.problems]


def read_on(journal: FileJournal, since: dict[str, JournalCursor]) -> list[str]:
    """Read what is new and move the positions, as the index does."""
    found = list(journal.read(since))
    since.update({chunk.name: chunk.position for chunk in found})
    return ids(found)


# -- what stands in the files --------------------------------------------------------------


def test_a_line_is_compact_json_in_the_documented_order(journal: FileJournal, folder: Path) -> None:
    journal.append([used("e1", session="Grüße 🎉")], durable=True)

    assert (folder / NOVEMBER).read_text(encoding="utf-8") == (
        '{"v":1,"id":"e1","at":"2026-11-15T12:00:00Z","kind":"used","device":"laptop",'
        '"body":{"memory":"m","how":"recall","session":"Grüße 🎉"}}\n'
    )


def test_an_event_stands_in_the_file_of_its_month_in_utc(
    journal: FileJournal, folder: Path
) -> None:
    honolulu = timezone(timedelta(hours=-10))
    evening = datetime(2026, 11, 30, 20, tzinfo=honolulu)  # December in UTC

    journal.append([used("e1"), used("e2", evening)], durable=True)

    assert sorted(path.name for path in folder.iterdir()) == [NOVEMBER, "laptop-2026-12.jsonl"]
    assert ids(journal.read({})) == ["e1", "e2"]


def test_only_the_owner_may_read_the_journal(journal: FileJournal, folder: Path) -> None:
    folder.mkdir(parents=True, mode=0o755)
    (folder / NOVEMBER).touch(mode=0o644)

    journal.append([used("e1")], durable=False)

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / NOVEMBER).stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "text", ["a\nb", "\u2028 \u2029 \x85 \x0b", "\r\n", "\x00\x1f", "‏שלום", "\ud83d", '"\\']
)
def test_any_text_survives_a_line(journal: FileJournal, text: str) -> None:
    event = used("e1", session=text)

    journal.append([event, used("e2")], durable=False)

    assert events_in(journal.read({})) == [event, used("e2")]


def test_an_event_without_a_device_is_of_this_one(journal: FileJournal) -> None:
    journal.append(
        [Event("e1", NOON, EventKind.STATE, body={"key": "k", "value": 1})], durable=False
    )

    assert events_in(journal.read({}))[0].device == "laptop"


@pytest.mark.parametrize("device", ["", "../up", "a/b", ".hidden", "a b", "x" * 101])
def test_a_device_name_that_is_no_file_name_is_rejected(tmp_path: Path, device: str) -> None:
    with pytest.raises(InvalidValue, match="device"):
        FileJournal(tmp_path, device)


def test_an_event_that_is_not_json_is_not_half_written(journal: FileJournal, folder: Path) -> None:
    with pytest.raises(TypeError):
        journal.append([used("e1"), used("e2", how=object())], durable=True)

    assert not folder.exists()


# -- reading -------------------------------------------------------------------------------


def test_a_journal_that_is_not_there_is_empty(journal: FileJournal, folder: Path) -> None:
    assert list(journal.read({})) == []
    assert journal.names() == []
    journal.flush()
    assert not folder.exists()


def test_reading_goes_on_where_it_stopped(journal: FileJournal) -> None:
    since: dict[str, JournalCursor] = {}
    journal.append([used("e1"), used("e2")], durable=False)
    assert read_on(journal, since) == ["e1", "e2"]

    assert list(journal.read(since)) == []
    journal.append([used("e3")], durable=False)
    assert read_on(journal, since) == ["e3"]


def test_the_position_after_an_append_is_the_one_reading_gives(journal: FileJournal) -> None:
    appended = journal.append([used("e1")], durable=False)
    appended |= journal.append([used(f"long {n}", how="x" * 700) for n in range(9)], durable=True)

    (chunk,) = journal.read({})
    assert {chunk.name: chunk.position} == appended
    assert list(journal.read(appended)) == []


@pytest.mark.soak
def test_a_long_file_is_read_in_bounded_chunks(
    journal: FileJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_lines, "MAX_CHUNK_BYTES", 20_000)
    many = [used(f"e{n}") for n in range(4_500)]
    large = [used(f"large {n}", how="x" * 15_000) for n in range(4)]
    journal.append([*many, *large], durable=False)

    found = list(journal.read({}))

    assert events_in(found) == [*many, *large]
    assert all(len(chunk.events) <= journal_lines.MAX_CHUNK_LINES for chunk in found)
    assert all(sum(len(str(each.body)) for each in chunk.events) < 40_000 for chunk in found)
    for chunk in found:
        rest = events_in(journal.read({chunk.name: chunk.position}))
        assert rest == [*many, *large][-len(rest) :] or not rest


def test_a_file_that_shrank_is_read_from_its_start(journal: FileJournal, folder: Path) -> None:
    since = journal.append([used("e1"), used("e2")], durable=False)
    lines = (folder / NOVEMBER).read_bytes().splitlines(keepends=True)
    (folder / NOVEMBER).write_bytes(lines[1])

    assert read_on(journal, since) == ["e2"]
    assert list(journal.read(since)) == []


def test_a_file_that_was_replaced_is_read_from_its_start(
    journal: FileJournal, folder: Path
) -> None:
    """All these lines look alike but for their ids, which stand far from the line's end."""
    journal.append([used(f"e{n}", how="x" * 200) for n in range(4)], durable=False)
    (whole,) = journal.read({})
    journal.append([used(f"e{n}", how="x" * 200) for n in range(4, 9)], durable=False)
    lines = (folder / NOVEMBER).read_bytes().splitlines(keepends=True)
    (folder / NOVEMBER).write_bytes(b"".join(lines[1:]))

    found = ids(journal.read({whole.name: whole.position}))

    assert found == [f"e{n}" for n in range(1, 9)]


def test_a_file_that_became_empty_moves_its_position_back(
    journal: FileJournal, folder: Path
) -> None:
    since = journal.append([used("e1")], durable=False)
    (folder / NOVEMBER).write_bytes(b"")
    assert read_on(journal, since) == []

    journal.append([used("e2")], durable=False)
    assert read_on(journal, since) == ["e2"]


def test_copies_made_by_a_sync_program_are_read_too(journal: FileJournal, folder: Path) -> None:
    journal.append([used("e1")], durable=False)
    (folder / "laptop-2026-11.sync-conflict-20261115-AB12.jsonl").write_bytes(
        (folder / NOVEMBER).read_bytes()
    )
    FileJournal(folder, "laptop").append([used("e2")], durable=False)
    (folder / "laptop-2026-11 (1).jsonl").write_bytes((folder / NOVEMBER).read_bytes())
    (folder / ".syncthing.laptop-2026-11.jsonl.tmp").write_bytes(b"half a li")
    (folder / ".hidden.jsonl").write_bytes(b"half a li")

    assert len(journal.names()) == 3
    assert {event.id for event in events_in(journal.read({}))} == {"e1", "e2"}
    assert problems(journal) == []


def test_two_devices_beside_one_vault_count_every_use_once(folder: Path) -> None:
    laptop, desktop = FileJournal(folder, "laptop"), FileJournal(folder, "desktop")
    hour = timedelta(hours=1)
    laptop.append([used("l1", session="a"), used("l2", NOON + hour, session="a")], durable=True)
    desktop.append([used("d1", NOON - hour, session="a"), used("d2", session="b")], durable=True)
    # The sync program leaves a copy of the laptop's file from a moment ago.
    copy = folder / "laptop-2026-11.sync-conflict-20261115.jsonl"
    copy.write_bytes((folder / NOVEMBER).read_bytes())

    def usage_seen_by(journal: FileJournal) -> object:
        known = {event.id: event for event in events_in(journal.read({}))}
        return fold_uses(NOON - 2 * hour, [use for e in known.values() if (use := read_use(e))])

    expected = fold_uses(NOON - 2 * hour, [MemoryUse(NOON - hour, "a"), MemoryUse(NOON, "b")])
    assert usage_seen_by(laptop) == usage_seen_by(desktop) == expected


def test_a_corrupt_line_costs_only_itself(journal: FileJournal, folder: Path) -> None:
    journal.append([used("e1")], durable=False)
    garbage = [
        b"{broken",
        b"\xff\xfe",
        b"[1, 2]",
        b"[" * 100_000,
        b'{"v":1,"kind":"used","id":"x","device":"d","body":{},"at":"yesterday"}',
        b'{"v":1,"kind":"used","id":"","device":"d","body":{},"at":"2026-11-15"}',
        b'{"v":1,"kind":"used","id":"x","at":"2026-11-15","device":"d","body":3}',
        b'{"id":"x"}',
        b"\x00" * 64,
    ]
    with (folder / NOVEMBER).open("ab") as file:
        file.write(b"".join(line + b"\n" for line in garbage) + b"\n  \n")
    journal.append([used("e2")], durable=False)

    assert ids(journal.read({})) == ["e1", "e2"]
    found = problems(journal)
    assert [message.split(": ")[0] for message in found] == [
        f"{NOVEMBER}:{line}" for line in range(2, 2 + len(garbage))
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"v":"\t"}', "is not JSON: Invalid control character at column 7"),
        (b'{"v" 1}', "is not JSON: Expecting ':' delimiter at column 6"),
    ],
)
def test_what_is_wrong_with_a_line_is_said_in_plain_words(line: bytes, problem: str) -> None:
    assert journal_lines.parse_line(line) == journal_lines.BrokenLine(problem)


def test_a_corrupt_line_is_numbered_from_the_start_of_its_file(
    journal: FileJournal, folder: Path
) -> None:
    since = journal.append([used(f"e{n}") for n in range(10)], durable=False)
    with (folder / NOVEMBER).open("ab") as file:
        file.write(b"{broken\n")
    journal.append([used("last")], durable=False)

    (chunk,) = journal.read(since)

    assert (chunk.problems[0].path, chunk.problems[0].line) == (NOVEMBER, 11)
    assert ids([chunk]) == ["last"]


def test_lines_of_a_newer_release_are_counted_and_passed_over(
    journal: FileJournal, folder: Path
) -> None:
    journal.append([used("e1")], durable=False)
    newer = [
        {"v": 1, "id": "n1", "at": "2026-11-15", "kind": "dreamt", "device": "d", "body": {}},
        {"v": 2, "id": "n2", "when": 5, "kind": "used"},
    ]
    with (folder / NOVEMBER).open("ab") as file:
        file.write(b"".join(json.dumps(line).encode() + b"\n" for line in newer))
    journal.append([used("e2")], durable=False)

    (chunk,) = journal.read({})

    assert ids([chunk]) == ["e1", "e2"]
    assert chunk.newer == {"dreamt": 1, "used": 1}
    assert chunk.problems == []


def test_a_file_that_cannot_be_opened_is_reported_and_the_others_are_read(
    journal: FileJournal, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    since = journal.append([used("e1")], durable=False)
    FileJournal(folder, "desktop").append([used("d1")], durable=False)
    real = Path.open

    def refuse(path: Path, mode: str) -> IO[bytes]:
        if path.name == NOVEMBER:
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(path, mode)

    monkeypatch.setattr(Path, "open", refuse)
    desktop, laptop = journal.read(since)

    assert ids([desktop, laptop]) == ["d1"]
    assert laptop.position == since[NOVEMBER]
    assert laptop.problems[0].message == f"{NOVEMBER}:1: cannot be read: Permission denied"


def test_a_folder_that_cannot_be_listed_is_not_an_empty_journal(
    journal: FileJournal, folder: Path
) -> None:
    folder.parent.mkdir()
    folder.write_bytes(b"a file, not a folder")

    with pytest.raises(Unavailable, match="cannot read"):
        list(journal.read({}))


# -- torn lines ----------------------------------------------------------------------------


def test_a_torn_last_line_is_reported_and_waited_for(journal: FileJournal, folder: Path) -> None:
    since = journal.append([used("e1")], durable=False)
    whole = journal_lines.render_line(used("e2"), "laptop")
    with (folder / NOVEMBER).open("ab") as file:
        file.write(whole[:50])
    (chunk,) = journal.read(since)
    assert (chunk.events, chunk.position) == ([], since[NOVEMBER])
    assert chunk.problems[0].line == 2

    with (folder / NOVEMBER).open("ab") as file:
        file.write(whole[50:])
    assert read_on(journal, since) == ["e2"]
    assert list(journal.read(since)) == []


def test_a_last_line_of_zeros_is_waited_for_although_it_ends(
    journal: FileJournal, folder: Path
) -> None:
    since = journal.append([used("e1")], durable=False)
    with (folder / NOVEMBER).open("ab") as file:
        file.write(b"\x00" * 40 + b"\n")

    (chunk,) = journal.read(since)

    assert chunk.position == since[NOVEMBER]
    assert len(chunk.problems) == 1


def test_a_whole_event_that_lacks_its_line_feed_is_read_once(
    journal: FileJournal, folder: Path
) -> None:
    since = journal.append([used("e1")], durable=False)
    with (folder / NOVEMBER).open("ab") as file:
        file.write(journal_lines.render_line(used("e2"), "laptop").rstrip(b"\n"))

    assert read_on(journal, since) == ["e2"]
    journal.append([used("e3")], durable=False)
    assert read_on(journal, since) == ["e3"]
    assert ids(journal.read({})) == ["e1", "e2", "e3"]
    assert problems(journal) == []


def test_an_append_after_a_torn_line_loses_nothing(journal: FileJournal, folder: Path) -> None:
    journal.append([used("e1")], durable=False)
    with (folder / NOVEMBER).open("ab") as file:
        file.write(b'{"v":1,"id":"torn","at":"2026-')

    journal.append([used("e2")], durable=True)

    assert ids(journal.read({})) == ["e1", "e2"]
    assert [message.split(": ")[0] for message in problems(journal)] == [f"{NOVEMBER}:2"]


# -- the disk refuses ----------------------------------------------------------------------


Refuse = Callable[[int], None]


@pytest.fixture
def tiny_disk(monkeypatch: pytest.MonkeyPatch) -> Refuse:
    """Let the next writes take `room` bytes between them, in parts of 7, then be full."""
    real = os.write

    def limit(room: int) -> None:
        left = [room]

        def write(fd: int, data: bytes) -> int:
            if left[0] <= 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            written = real(fd, bytes(data[: min(7, left[0])]))
            left[0] -= written
            return written

        monkeypatch.setattr(os, "write", write)

    return limit


def test_a_full_disk_leaves_no_half_line(
    journal: FileJournal, folder: Path, tiny_disk: Refuse, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append([used("e1")], durable=True)
    before = (folder / NOVEMBER).read_bytes()
    tiny_disk(len(before) + 20)

    with pytest.raises(StoreUnwritable, match="No space left"):
        journal.append([used("e2"), used("e3")], durable=True)

    assert (folder / NOVEMBER).read_bytes() == before
    monkeypatch.undo()
    journal.append([used("e2")], durable=True)
    assert ids(journal.read({})) == ["e1", "e2"]


def test_a_write_taken_in_parts_is_finished(journal: FileJournal, tiny_disk: Refuse) -> None:
    tiny_disk(100_000)

    journal.append([used("e1"), used("e2")], durable=True)

    assert ids(journal.read({})) == ["e1", "e2"]


def test_events_of_two_months_are_written_both_or_not_at_all(
    journal: FileJournal, folder: Path, tiny_disk: Refuse
) -> None:
    journal.append([used("e1")], durable=True)
    size = (folder / NOVEMBER).stat().st_size
    tiny_disk(size + 10)

    with pytest.raises(StoreUnwritable):
        journal.append([used("e2"), used("e3", NOON + timedelta(days=20))], durable=True)

    assert ids(journal.read({})) == ["e1"]


def test_an_event_whose_fsync_fails_is_not_there(
    journal: FileJournal, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append([used("e1")], durable=True)

    def fail(fd: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StoreUnwritable, match="Input/output error"):
        journal.append([used("e2")], durable=True)

    assert ids(journal.read({})) == ["e1"]


def test_a_disk_that_cannot_even_cut_back_leaves_a_torn_line(
    journal: FileJournal, tiny_disk: Refuse, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append([used("e1")], durable=True)
    tiny_disk(20)

    def fail(fd: int, size: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "ftruncate", fail)
    with pytest.raises(StoreUnwritable, match="No space left"):
        journal.append([used("e2")], durable=True)

    monkeypatch.undo()
    journal.append([used("e3")], durable=True)
    assert ids(journal.read({})) == ["e1", "e3"]
    assert len(problems(journal)) == 1


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    journal = FileJournal(tmp_path / "file" / "journal", "laptop")

    with pytest.raises(StoreUnwritable, match="Not a directory"):
        journal.append([used("e1")], durable=False)


# -- waiting for the disk ------------------------------------------------------------------


@pytest.fixture
def synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of what was fsync'd, in order."""
    names: list[str] = []
    real = os.fsync

    def fsync(fd: int) -> None:
        inode = os.fstat(fd).st_ino
        names.extend(each.name for each in tmp_path.rglob("*") if each.stat().st_ino == inode)
        real(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    return names


@pytest.mark.proves("I4")
def test_a_durable_append_waits_for_file_and_folder(
    journal: FileJournal, synced: list[str]
) -> None:
    journal.append([used("e1")], durable=True)
    assert synced == ["home", NOVEMBER, "journal"]

    synced.clear()
    journal.append([used("e2")], durable=True)
    assert synced == [NOVEMBER]

    synced.clear()
    journal.append([used("e3", NOON + timedelta(days=20))], durable=True)
    assert synced == ["laptop-2026-12.jsonl", "journal"]


def test_uses_wait_for_the_next_flush_together(journal: FileJournal, synced: list[str]) -> None:
    for n in range(50):
        journal.append([used(f"e{n}")], durable=False)
    assert NOVEMBER not in synced

    journal.flush()
    assert synced.count(NOVEMBER) == synced.count("journal") == 1
    journal.flush()
    assert synced.count(NOVEMBER) == 1


def test_a_durable_append_to_a_file_made_in_passing_waits_for_the_folder(
    journal: FileJournal, synced: list[str]
) -> None:
    journal.append([used("e1")], durable=False)

    journal.append([used("e2")], durable=True)

    assert synced[-2:] == [NOVEMBER, "journal"]
    journal.flush()
    assert synced.count(NOVEMBER) == 1


def test_a_flush_that_failed_is_tried_again(
    journal: FileJournal, synced: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append([used("e1")], durable=False)
    with monkeypatch.context() as patch:

        def fail(fd: int) -> None:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

        patch.setattr(os, "fsync", fail)
        with pytest.raises(StoreUnwritable):
            journal.flush()

    journal.flush()

    assert NOVEMBER in synced


def test_a_flush_after_the_file_was_taken_away_has_nothing_to_do(
    journal: FileJournal, folder: Path
) -> None:
    journal.append([used("e1")], durable=False)
    (folder / NOVEMBER).unlink()

    journal.flush()


def test_appends_from_eight_threads_lose_nothing(journal: FileJournal) -> None:
    start = threading.Barrier(9)

    def work(worker: int) -> None:
        start.wait()
        for n in range(150):
            batch = [used(f"{worker}-{n}-{part}") for part in range(2)]
            journal.append(batch, durable=n % 50 == 0)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    start.wait()
    since: dict[str, JournalCursor] = {}
    seen: list[str] = []
    while any(thread.is_alive() for thread in threads):
        seen += read_on(journal, since)
        journal.flush()
    seen += read_on(journal, since)

    expected = {f"{w}-{n}-{part}" for w in range(8) for n in range(150) for part in range(2)}
    assert len(seen) == len(expected)
    assert set(seen) == expected
    assert problems(journal) == []
