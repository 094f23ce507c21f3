"""The status line of a host: what was whispered in a session, and what it cost to read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from madeleine.hooks import whisper as client
from tests.server.running import Daemon, running

FERRY = "The ferry to Bergen leaves at half past nine"


def run_client(home: Path, verb: str, given: dict[str, object]) -> str:
    """Run the thin client as a host does."""
    words = [sys.executable, "-I", "-S", str(client.__file__), os.fspath(home), verb]
    return _run(words, given)


def _run(words: list[str], given: dict[str, object]) -> str:
    done = subprocess.run(words, input=json.dumps(given).encode(), capture_output=True, timeout=50)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def status_of(session: str) -> dict[str, object]:
    """What Claude Code sends, as it sends it, shortened by what nobody reads here."""
    return {
        "hook_event_name": "Status",
        "session_id": session,
        "cwd": "/tmp",
        "model": {"id": "claude-opus-4-1", "display_name": "Opus"},
        "workspace": {"current_dir": "/tmp", "project_dir": "/tmp"},
    }


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setenv("MADELEINE_WHISPER_DEADLINE_MS", "20000")
    with running(tmp_path / "home") as daemon:
        daemon.remember(FERRY)
        yield daemon


def test_the_line_says_what_a_session_was_told(served: Daemon, tmp_path: Path) -> None:
    home = tmp_path / "home"
    prompt = {"hook_event_name": "UserPromptSubmit", "session_id": "one", "cwd": ""}
    before = run_client(home, "statusline", status_of("one"))

    told = run_client(home, "inject", {**prompt, "prompt": "when does the ferry to Bergen leave?"})
    after = run_client(home, "statusline", status_of("one"))
    other = run_client(home, "statusline", status_of("two"))
    command = [sys.executable, "-m", "madeleine", "--home", str(home), "statusline"]
    by_command = _run(command, status_of("one"))

    text = json.loads(told)["hookSpecificOutput"]["additionalContext"]
    assert before == other == "madeleine: nothing whispered yet"
    assert after == by_command == f"madeleine: 1 memory whispered, {-(-len(text) // 4)} tokens"


def test_a_line_that_nobody_can_answer_is_empty(tmp_path: Path, served: Daemon) -> None:
    assert run_client(tmp_path / "home", "statusline", {"cwd": "/tmp"}) == ""
