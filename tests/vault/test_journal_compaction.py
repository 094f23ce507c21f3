"""Compaction: smaller files that say the same, whenever it is interrupted."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from madeleine.errors import InvalidValue, StoreUnwritable
from madeleine.model.change import Change, FileEdit
from madeleine.model.event import Event, EventKind
from madeleine.vault.journal import CompactionReport, FileJournal, change_to_event

OCTOBER = datetime(2026, 10, 10, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
NAME = "laptop-2026-10.jsonl"


def event(event_id: str, kind: EventKind, at: datetime = OCTOBER, **body: object) -> Event:
    return Event(event_id, at, kind, "laptop", body)


def used(event_id: str, at: datetime = OCTOBER, **body: object) -> Event:
    return event(event_id, EventKind.USED, at, memory="m", how="recall", **body)


@pytest.fixture
def journal(tmp_path: Path) -> FileJournal:
    return FileJournal(tmp_path, "laptop")


def ids(journal: FileJournal) -> list[str]:
    return [each.id for chunk in journal.read({}) for each in chunk.events]


def write_raw(folder: Path, *lines: bytes) -> None:
    with (folder / NAME).open("ab") as file:
        file.write(b"\n".join(lines))


def test_uses_that_do_not_count_go_and_the_first_stays(journal: FileJournal) -> None:
    journal.append(
        [
            used("late", OCTOBER + HOUR, session="s"),
            used("first", session="s"),
            used("later", OCTOBER + 2 * HOUR, session="s"),
            used("other session", OCTOBER + HOUR, session="t"),
            used("no session", OCTOBER + HOUR),
            used("no session again", OCTOBER + 2 * HOUR),
            used("next day", OCTOBER + DAY, session="s"),
            used("odd", session=["s"]),
        ],
        durable=False,
    )

    report = journal.compact("2026-11")

    assert ids(journal) == ["first", "other session", "no session", "next day", "odd"]
    assert report.files == [NAME]
    assert report.dropped == ["late", "later", "no session again"]
    assert report.bytes_saved > 0


def test_scores_go_when_every_value_has_a_later_one(journal: FileJournal) -> None:
    def scored(event_id: str, hours: int, **scores: dict[str, float]) -> Event:
        return event(event_id, EventKind.SCORED, OCTOBER + hours * HOUR, scores=scores)

    journal.append(
        [
            scored("newest of a", 3, a={"importance": 0.3}),
            scored("gone", 1, a={"importance": 0.1}, b={"importance": 0.1}),
            scored("b", 2, b={"importance": 0.2}),
            scored("b, as new", 2, b={"importance": 0.25}),
            scored("another key of a", 1, a={"relevance": 0.1}),
            scored("partly", 1, a={"importance": 0.1}, c={"importance": 0.1}),
            event("odd", EventKind.SCORED, scores=3),
        ],
        durable=False,
    )

    report = journal.compact("2026-11")

    assert report.dropped == ["gone"]


def test_only_the_newest_state_of_a_key_stays(journal: FileJournal) -> None:
    journal.append(
        [
            event("k1", EventKind.STATE, key="k", value=1),
            event("k3", EventKind.STATE, OCTOBER + 2 * HOUR, key="k", value=3),
            event("k2", EventKind.STATE, OCTOBER + HOUR, key="k", value=2),
            event("l1", EventKind.STATE, key="l", value=1),
            event("odd", EventKind.STATE, value=1),
        ],
        durable=False,
    )

    journal.compact("2026-11")

    assert ids(journal) == ["k3", "l1", "odd"]


def test_decisions_changes_and_reports_all_stay(journal: FileJournal, tmp_path: Path) -> None:
    change = Change("c", "revise", (FileEdit("m", "a.md", b"old \xff", "a.md", b"new"),))
    same = {"memory": "m", "proposal": "p", "change": "c", "run": "r"}
    kinds = set(EventKind) - {EventKind.USED, EventKind.SCORED, EventKind.STATE, EventKind.CHANGED}
    events = [
        Event(f"{kind} {n}", OCTOBER, kind, "laptop", same)
        for kind in sorted(kinds)
        for n in range(2)
    ]
    journal.append([*events, change_to_event(change, "e", OCTOBER, "laptop")], durable=False)
    write_raw(tmp_path, b"{broken")
    before = journal.find_change("c", "laptop", OCTOBER)

    report = journal.compact("2026-11")

    assert report.files == [NAME]
    assert report.dropped == []
    assert ids(journal) == [*(each.id for each in events), "e"]
    assert journal.find_change("c", "laptop", OCTOBER) == before


def test_lines_that_stand_twice_and_blank_ones_go(journal: FileJournal, tmp_path: Path) -> None:
    journal.append(
        [event("e1", EventKind.FEEDBACK), event("e2", EventKind.FEEDBACK)], durable=False
    )
    lines = (tmp_path / NAME).read_bytes()
    write_raw(tmp_path, b"", b"  ", lines)

    report = journal.compact("2026-11")

    assert (tmp_path / NAME).read_bytes() == lines
    assert report.dropped == []  # both events are still there


def test_of_one_id_with_two_contents_the_first_is_still_the_first(journal: FileJournal) -> None:
    journal.append(
        [
            used("twice", OCTOBER + HOUR, session="s"),
            used("twice", OCTOBER + 2 * HOUR, session="s"),
            used("earlier", session="s"),
        ],
        durable=False,
    )

    journal.compact("2026-11")

    assert ids(journal) == ["twice", "twice", "earlier"]


def test_broken_lines_are_moved_and_never_thrown_away(journal: FileJournal, tmp_path: Path) -> None:
    write_raw(tmp_path, b"{broken", b"\xff\xfe", b"")
    journal.append([event("e1", EventKind.FEEDBACK)], durable=False)
    write_raw(tmp_path, b'{"v":1,"id":"to')

    report = journal.compact("2026-11")

    damaged = tmp_path / f"{NAME}.damaged"
    assert report.damaged == 3
    assert damaged.read_bytes() == b'{broken\n\xff\xfe\n{"v":1,"id":"to\n'
    assert stat.S_IMODE(damaged.stat().st_mode) == 0o600
    assert [chunk.problems for chunk in journal.read({})] == [[]]
    assert ids(journal) == ["e1"]


def test_lines_of_a_newer_release_stay_as_they_are(journal: FileJournal, tmp_path: Path) -> None:
    newer = b'{"v": 7, "kind": "dreamt", "of": "\xe2\x80\xa8"}'
    write_raw(tmp_path, newer, newer, b"{broken", b"")

    journal.compact("2026-11")

    assert (tmp_path / NAME).read_bytes() == newer + b"\n" + newer + b"\n"


def test_only_closed_months_of_this_device_are_touched(
    journal: FileJournal, tmp_path: Path
) -> None:
    november = OCTOBER + 31 * DAY
    twice = [used("e1"), used("e2"), used("e3", november), used("e4", november)]
    journal.append(twice, durable=False)
    FileJournal(tmp_path, "desktop").append(twice, durable=False)
    FileJournal(tmp_path, "laptop-2").append(twice, durable=False)
    copy = tmp_path / "laptop-2026-10.sync-conflict-1.jsonl"
    copy.write_bytes((tmp_path / NAME).read_bytes())

    assert journal.compact("2026-10").files == []
    assert journal.compact("2026-11").files == [NAME]
    assert journal.compact("2026-11").files == []


def test_a_month_with_nothing_to_gain_is_not_written_anew(
    journal: FileJournal, tmp_path: Path
) -> None:
    journal.append([used("e1"), event("e2", EventKind.RUN)], durable=False)
    before = (tmp_path / NAME).stat()

    assert journal.compact("2026-11") == CompactionReport()
    assert (tmp_path / NAME).stat().st_ino == before.st_ino


@pytest.mark.parametrize("month", ["", "2026", "2026-13", "2026-11-01", "../x"])
def test_a_month_that_is_none_is_rejected(journal: FileJournal, month: str) -> None:
    with pytest.raises(InvalidValue, match="before_month"):
        journal.compact(month)


def test_reading_goes_on_after_compaction_and_misses_nothing(journal: FileJournal) -> None:
    journal.append(
        [used(f"e{n}", OCTOBER + n * HOUR, session="s") for n in range(6)], durable=False
    )
    (chunk,) = journal.read({})
    since = {chunk.name: chunk.position}
    journal.append([event("unread", EventKind.FEEDBACK)], durable=False)

    journal.compact("2026-11")
    journal.append([event("late", EventKind.FEEDBACK)], durable=True)

    found = [each.id for chunk in journal.read(since) for each in chunk.events]
    assert found == ["e0", "unread", "late"]


def test_a_file_that_grows_meanwhile_is_left_for_the_next_time(
    journal: FileJournal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append([used("e1"), used("e2")], durable=False)
    real = os.fsync
    late = [event("late", EventKind.FEEDBACK)]

    def fsync(fd: int) -> None:
        real(fd)
        if late:
            journal.append([late.pop()], durable=False)

    monkeypatch.setattr(os, "fsync", fsync)

    assert journal.compact("2026-11").busy == [NAME]
    assert ids(journal) == ["e1", "e2", "late"]
    assert journal.compact("2026-11").files == [NAME]
    assert ids(journal) == ["e1", "late"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [NAME]


def test_a_full_disk_changes_nothing(
    journal: FileJournal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append([used("e1"), used("e2")], durable=False)

    def full(fd: int, data: bytes) -> int:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(StoreUnwritable, match="No space left"):
        journal.compact("2026-11")

    assert ids(journal) == ["e1", "e2"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [NAME]


# -- killed at every step ------------------------------------------------------------------


class Killed(BaseException):
    """Ends everything at once; no `except` of ours may catch it."""


STEPS = ["open", "write", "fsync", "replace", "unlink", "close"]


def kill_at(step: int, patch: pytest.MonkeyPatch, *, tear: bool) -> None:
    """Let the first `step` calls to the system through and none after; the last may be torn."""
    done = 0

    def watched(name: str, real: Callable[..., object]) -> Callable[..., object]:
        def call(*args: Any, **more: Any) -> object:
            nonlocal done
            done += 1
            if done <= step:
                return real(*args, **more)
            if tear and done == step + 1 and name == "write":
                real(args[0], bytes(args[1])[:5])
            raise Killed

        return call

    for name in STEPS:
        patch.setattr(os, name, watched(name, getattr(os, name)))


@pytest.mark.parametrize("tear", [False, True])
@pytest.mark.proves("I4")
def test_compaction_may_be_killed_at_any_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tear: bool
) -> None:
    steps = 0
    finished = False
    while not finished:
        folder = tmp_path / str(steps)
        journal = prepared(folder)
        with monkeypatch.context() as patch:
            kill_at(steps, patch, tear=tear)
            try:
                journal.compact("2026-11")
                finished = True
            except Killed:
                steps += 1

        again = FileJournal(folder, "laptop")
        assert set(ids(again)) >= {"e1", "f1", "f2"}
        broken = (folder / NAME).read_bytes() + damaged_in(folder)
        assert b"{broken one\n" in broken
        assert b"{broken two\n" in broken
        again.compact("2026-11")
        assert ids(again) == ["e1", "f1", "f2"]
        assert {b"{broken one", b"{broken two"} <= set(damaged_in(folder).split(b"\n"))
        assert sorted(path.name for path in folder.iterdir()) == [NAME, f"{NAME}.damaged"]
    assert steps > 8


def prepared(folder: Path) -> FileJournal:
    journal = FileJournal(folder, "laptop")
    journal.append([used("e1"), used("e2"), event("f1", EventKind.FEEDBACK)], durable=True)
    write_raw(folder, b"{broken one", b"{broken two", b"")
    journal.append([event("f2", EventKind.FEEDBACK)], durable=True)
    return journal


def damaged_in(folder: Path) -> bytes:
    path = folder / f"{NAME}.damaged"
    return path.read_bytes() if path.exists() else b""


def test_what_was_looked_at_again_later_goes_with_verdicts_given_again(
    journal: FileJournal,
) -> None:
    def seen(event_id: str, at: datetime, *memories: str, job: str = "j") -> Event:
        noted = dict.fromkeys(memories, "00")
        return event(event_id, EventKind.JUDGED, at, judge="local", job=job, seen=noted)

    def said(event_id: str, at: datetime, *pair: str) -> Event:
        return event(
            event_id, EventKind.JUDGED, at, judge="llm", job="j", pair=list(pair), verdict={}
        )

    journal.append(
        [
            seen("all again", OCTOBER, "a", "b"),
            seen("one left", OCTOBER, "a", "c"),
            seen("another job", OCTOBER, "a", "b", job="k"),
            seen("later", OCTOBER + HOUR, "a", "b"),
            said("said again", OCTOBER, "a", "b"),
            said("another pair", OCTOBER, "b", "a"),
            said("said later", OCTOBER + HOUR, "a", "b"),
            event("odd", EventKind.JUDGED, seen=["a"], judge="local", job="j"),
        ],
        durable=False,
    )

    report = journal.compact("2026-11")

    assert sorted(report.dropped) == ["all again", "said again"]
