"""The session watcher: transcripts are followed without any hook."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from madeleine.ingest.config import IngestConfig
from madeleine.ingest.context import IngestContext
from madeleine.ingest.sessions import SessionWatcher, TranscriptFolder
from madeleine.model.query import Filter
from madeleine.write.stores import Stores
from tests.fakes import FakeClock
from tests.ingest.test_exchanges import ANSWERED, ASKED, codex_lines
from tests.ingest.writing import a_line, an_answer


@pytest.fixture
def claude(tmp_path: Path) -> Path:
    folder = tmp_path / ".claude" / "projects" / "-nowhere-atlas"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def intake(stores: Stores) -> IngestContext:
    return IngestContext(stores, IngestConfig(session_min_turns=1))


@pytest.fixture
def sessions(intake: IngestContext, tmp_path: Path) -> SessionWatcher:
    return SessionWatcher(
        intake,
        [
            TranscriptFolder(tmp_path / ".claude" / "projects", "claude-code"),
            TranscriptFolder(tmp_path / ".codex" / "sessions", "codex"),
        ],
    )


def write(
    intake: IngestContext, path: Path, *lines: bytes, ago: timedelta = timedelta(minutes=2)
) -> None:
    """Add lines to a transcript that was last touched so long ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.writelines(lines)
    at = (intake.stores.clock.now() - ago).timestamp()
    os.utime(path, (at, at))


def texts(intake: IngestContext) -> list[str]:
    stores = intake.stores
    return sorted(
        each.content
        for each in stores.search.listing(Filter(exchanges=True), stores.clock.now(), 100)
    )


def sources(intake: IngestContext) -> set[str]:
    stores = intake.stores
    return {
        each.source
        for each in stores.search.listing(Filter(exchanges=True), stores.clock.now(), 100)
    }


def test_sessions_of_both_hosts_are_followed(
    intake: IngestContext, sessions: SessionWatcher, claude: Path, tmp_path: Path
) -> None:
    rollout = tmp_path / ".codex/sessions/2026/11/15/rollout-2026-11-15T13-00-00-0199.jsonl"
    write(intake, claude / "s1.jsonl", a_line(ASKED), an_answer(ANSWERED))
    write(
        intake, rollout, *codex_lines("Where does the tide table come from, by the way?", ANSWERED)
    )

    assert sessions.look() == 2
    assert sources(intake) == {"agent:claude-code", "agent:codex"}
    assert sessions.look() == 0


def test_sub_agents_sessions_are_not_followed(
    intake: IngestContext, sessions: SessionWatcher, claude: Path
) -> None:
    path = claude / "s1" / "subagents" / "agent-1.jsonl"
    write(intake, path, a_line("Remember that sub-agents talk a lot."))

    assert sessions.look() == 0


def test_a_session_that_is_not_quiet_is_left_for_later(
    intake: IngestContext, sessions: SessionWatcher, claude: Path, stores: Stores
) -> None:
    write(intake, claude / "s1.jsonl", a_line("Never push to main"), ago=timedelta(seconds=5))
    assert sessions.look() == 0

    assert isinstance(stores.clock, FakeClock)
    stores.clock.pass_by(minutes=2)
    assert sessions.look() == 1
    assert texts(intake) == ["Never push to main"]


def test_old_sessions_are_left_alone(
    intake: IngestContext, sessions: SessionWatcher, claude: Path
) -> None:
    write(intake, claude / "s1.jsonl", a_line("Never push to main"), ago=timedelta(days=4))

    assert sessions.look() == 0


def test_a_session_that_goes_on_is_read_on(
    intake: IngestContext, sessions: SessionWatcher, claude: Path
) -> None:
    write(intake, claude / "s1.jsonl", a_line("Never push to main"))
    sessions.look()
    write(
        intake,
        claude / "s1.jsonl",
        a_line("Always sign commits with gpg"),
        ago=timedelta(minutes=1.5),
    )

    assert sessions.look() == 1
    assert texts(intake) == ["Always sign commits with gpg", "Never push to main"]


def test_a_session_that_is_quiet_for_long_is_over(
    intake: IngestContext, sessions: SessionWatcher, claude: Path, stores: Stores
) -> None:
    write(intake, claude / "s1.jsonl", a_line(ASKED), an_answer(ANSWERED, ends=False))
    sessions.look()
    assert texts(intake) == []

    assert isinstance(stores.clock, FakeClock)
    stores.clock.pass_by(minutes=31)
    assert sessions.look() == 1
    assert texts(intake) == [f"User: {ASKED}\n\nAgent: {ANSWERED}"]


def test_exchanges_of_a_session_in_passing_are_not_kept_but_statements_are(
    intake: IngestContext, sessions: SessionWatcher, claude: Path
) -> None:
    intake.config = IngestConfig(session_min_turns=5)
    write(intake, claude / "s1.jsonl", a_line(f"{ASKED}\nNever push to main."), an_answer(ANSWERED))

    sessions.look()

    assert texts(intake) == ["Never push to main."]


def test_a_hook_and_the_watcher_share_the_cursor(
    intake: IngestContext, sessions: SessionWatcher, claude: Path, stores: Stores
) -> None:
    write(intake, claude / "s1.jsonl", a_line("Never push to main"), an_answer("I will not."))
    sessions.look()
    fresh = SessionWatcher(intake, [TranscriptFolder(claude.parent, "claude-code")])

    assert fresh.look() == 1
    assert texts(intake) == ["Never push to main"]


def test_a_folder_that_is_not_there_is_no_trouble(intake: IngestContext, tmp_path: Path) -> None:
    assert SessionWatcher(intake, [TranscriptFolder(tmp_path / "absent", "codex")]).look() == 0
    assert intake.problems() == []


def test_what_waits_for_room_is_taken_in_on_the_next_days(
    intake: IngestContext, sessions: SessionWatcher, claude: Path, stores: Stores
) -> None:
    intake.config = IngestConfig(session_min_turns=1, memories_per_day=10)
    for number in range(30):
        lines = a_line(f"{ASKED} And number {number}?"), an_answer(f"{ANSWERED} Yes, {number}.")
        write(intake, claude / "s1.jsonl", *lines, ago=timedelta(minutes=40))
    assert isinstance(stores.clock, FakeClock)

    kept = []
    for _ in range(5):
        sessions.look()
        sessions.look()
        kept.append(len(texts(intake)))
        stores.clock.pass_by(days=1)

    assert kept == [8, 16, 24, 30, 30]
    assert intake.problems() == []
    assert sessions.look() == 0
