"""A flood is stopped at the gate, told of, and lost nothing of."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from madeleine.ingest import keeping
from madeleine.ingest.config import IngestConfig
from madeleine.ingest.context import IngestContext
from madeleine.ingest.gate import read_daily_usage
from madeleine.ingest.transcripts import Transcript, ingest_transcript, ingest_transcript_by_hand
from madeleine.model.draft import Draft
from madeleine.model.event import EventKind
from madeleine.model.query import Filter
from madeleine.write.remember import RememberResult, remember
from madeleine.write.stores import Stores
from tests.fakes import FakeClock, reopened
from tests.ingest.writing import a_line, an_answer


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "flood.jsonl"


def flood(path: Path, start: int, count: int) -> None:
    with path.open("ab") as file:
        for number in range(start, start + count):
            file.write(a_line(f"What is the story of barrel number {number} in the cellar?"))
            file.write(an_answer(f"Barrel {number} was filled in the year {1800 + number}."))


def an_intake(stores: Stores, per_session: int = 10, per_day: int = 1_000) -> IngestContext:
    config = IngestConfig(memories_per_session=per_session, memories_per_day=per_day)
    return IngestContext(stores, config)


def count(stores: Stores) -> int:
    return stores.search.count(Filter(exchanges=True), stores.clock.now())


def test_one_session_adds_no_more_than_it_may_and_says_so(stores: Stores, path: Path) -> None:
    flood(path, 0, 100)
    intake = an_intake(stores)

    report = ingest_transcript(intake, Transcript(path))

    assert len(report.kept) == count(stores) == 8
    assert report.stopped == "this session has added 8 memories, which is all it may"
    assert report.held_back >= 50
    assert intake.problems() == [f"{path}: waits: {report.stopped}"]
    [run] = stores.log.recent_events([EventKind.RUN.value], 5)
    told = run.body["report"]
    assert isinstance(told, dict)
    assert told["stopped"] == report.stopped


def test_room_is_kept_for_what_is_said_outright(stores: Stores, path: Path) -> None:
    flood(path, 0, 100)
    intake = an_intake(stores)
    ingest_transcript(intake, Transcript(path))
    with path.open("ab") as file:
        file.write(a_line("Remember that the cellar floods in March."))

    ingest_transcript(intake, Transcript(path))

    listed = stores.search.listing(Filter(exchanges=True), stores.clock.now(), 100)
    assert "The cellar floods in March." in [each.content for each in listed]
    assert len(listed) == 9


def test_what_waits_is_taken_in_once_there_is_room(stores: Stores, path: Path) -> None:
    flood(path, 0, 20)
    ingest_transcript(an_intake(stores), Transcript(path))
    assert count(stores) == 8

    intake = an_intake(stores, per_session=1_000)
    report = ingest_transcript(intake, Transcript(path))

    assert count(stores) == 20
    assert (report.stopped, report.held_back) == (None, 0)
    assert intake.problems() == []
    flood(path, 20, 1)
    ingest_transcript(intake, Transcript(path))
    assert count(stores) == 21


def test_while_there_is_no_room_the_rest_is_not_read_again_and_again(
    stores: Stores, path: Path
) -> None:
    flood(path, 0, 50)
    intake = an_intake(stores)
    ingest_transcript(intake, Transcript(path))
    flood(path, 50, 2)

    report = ingest_transcript(intake, Transcript(path))

    assert (report.lines, report.kept) == (4, [])
    ingest_transcript(an_intake(stores, per_session=1_000), Transcript(path))
    assert count(stores) == 52


def test_statements_beyond_the_bound_keep_the_cursor_before_them(
    stores: Stores, path: Path
) -> None:
    with path.open("ab") as file:
        for number in range(30):
            file.write(a_line(f"Remember that shelf {number} holds jar number {number * 7}."))
    intake = an_intake(stores)

    report = ingest_transcript(intake, Transcript(path))

    assert (len(report.kept), report.lines) == (10, 10)
    assert report.stopped is not None
    assert "this session" in report.stopped
    ingest_transcript(an_intake(stores, per_session=100), Transcript(path))
    assert count(stores) == 30


def test_a_day_adds_no_more_than_it_may_over_all_sessions(stores: Stores, tmp_path: Path) -> None:
    intake = an_intake(stores, per_session=100, per_day=20)
    for number in range(4):
        flood(tmp_path / f"{number}.jsonl", number * 10, 10)
        ingest_transcript(intake, Transcript(tmp_path / f"{number}.jsonl"))

    assert count(stores) == 16
    assert read_daily_usage(stores).kept == 16
    assert len(intake.problems()) == 3


def test_the_next_day_goes_on_where_the_day_before_was_full(
    tmp_path: Path, stores: Stores, path: Path
) -> None:
    flood(path, 0, 30)
    ingest_transcript(an_intake(stores, 100, 20), Transcript(path))
    assert count(stores) == 16
    fresh = reopened(stores, tmp_path / "home", without_index=True)
    assert read_daily_usage(fresh).kept == 16

    ingest_transcript(an_intake(fresh, 100, 20), Transcript(path))
    assert count(fresh) == 16
    assert isinstance(fresh.clock, FakeClock)
    fresh.clock.pass_by(days=1)
    ingest_transcript(an_intake(fresh, 100, 20), Transcript(path))

    assert count(fresh) == 30


def test_a_file_written_anew_does_not_open_the_gate(stores: Stores, path: Path) -> None:
    flood(path, 0, 20)
    intake = an_intake(stores)
    ingest_transcript(intake, Transcript(path))
    path.unlink()
    flood(path, 100, 40)

    report = ingest_transcript(intake, Transcript(path))

    assert report.anew
    assert count(stores) == 8


def test_bounds_of_nothing_keep_everything_out(stores: Stores, path: Path) -> None:
    flood(path, 0, 3)
    intake = IngestContext(stores, replace(IngestConfig(), memories_per_session=0))

    assert ingest_transcript(intake, Transcript(path)).kept == []
    assert count(stores) == 0


def test_what_waits_is_counted_and_told_again_and_after_a_restart(
    tmp_path: Path, stores: Stores, path: Path
) -> None:
    flood(path, 0, 100)
    first = ingest_transcript_by_hand(an_intake(stores), Transcript(path, ended=True))
    assert (len(first.kept), first.held_back) == (8, 92)
    flood(path, 100, 3)

    fresh = reopened(stores, tmp_path / "home", without_index=True)
    intake = an_intake(fresh)
    assert intake.problems() == [f"{path}: waits: {first.stopped}"]
    again = ingest_transcript_by_hand(intake, Transcript(path, ended=True))

    assert (again.kept, again.held_back, again.stopped) == ([], 95, first.stopped)
    ingest_transcript(an_intake(fresh, per_session=1_000), Transcript(path, ended=True))
    assert count(fresh) == 103
    assert intake.problems() == []


def test_another_spelling_of_the_path_does_not_open_the_gate(stores: Stores, path: Path) -> None:
    flood(path, 0, 40)
    (path.parent / "aside").mkdir()
    (path.parent / "link.jsonl").symlink_to(path)
    intake = an_intake(stores)

    for spelt in (path, path.parent / "aside" / ".." / path.name, path.parent / "link.jsonl"):
        ingest_transcript(intake, Transcript(spelt))

    assert count(stores) == 8


class Killed(BaseException):
    """What ends a run without a word, as SIGKILL does."""


def test_a_run_that_is_killed_does_not_open_the_gate(
    stores: Stores, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flood(path, 0, 40)

    def killed_after(most: int) -> None:
        def remember_some(to: Stores, draft: Draft, by: str) -> RememberResult:
            if count(to) >= most:
                raise Killed
            return remember(to, draft)

        monkeypatch.setattr(keeping, "remember_as", remember_some)

    for most in (3, 6, 9, 12):
        killed_after(most)
        with suppress(Killed):
            ingest_transcript(an_intake(stores), Transcript(path))
    monkeypatch.undo()
    ingest_transcript(an_intake(stores), Transcript(path))

    assert count(stores) == 8
    assert read_daily_usage(stores).kept == 8
