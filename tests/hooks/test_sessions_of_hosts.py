"""A whole session of each host: every event it tells of, byte for byte, against a real daemon."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hooks import host_calls as calls
from tests.hooks.running import Ran, client, variables
from tests.ingest.writing import a_line, an_answer
from tests.server.running import Daemon, eventually, running

pytestmark = pytest.mark.timeout(120)
RULE = "Use uv, never pip"
FERRY = "The ferry to Bergen leaves at half past nine"
LEGACY = "legacy/ is not touched without asking Tom"
CACHE = "ENOSPC in the build means: run make clean-cache"
ASKED = "when does the ferry to Bergen leave?"
NOTHING = Ran(0, b"", b"")


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemon]:
    known = variables(nudge_interval=0)
    for name, value in {**known, "MADELEINE_EMBEDDER_KIND": "fake"}.items():
        monkeypatch.setenv(name, value)
    with running(tmp_path / "home") as started:
        started.remember(RULE, type="preference", space="atlas")
        started.remember(FERRY, space="atlas")
        started.remember(LEGACY, type="decision", space="atlas")
        started.remember(CACHE, space="atlas")
        yield started


class HostSession:
    """A session in a folder of the project, as its host tells of it."""

    def __init__(self, daemon: Daemon, host: str, folder: Path) -> None:
        self.daemon, self.host, self.name = daemon, host, f"{host}-1"
        (folder / "atlas" / ".git").mkdir(parents=True)
        self.folder = folder / "atlas"
        self.transcript = folder / f"{self.name}.jsonl"
        said = a_line("we take the blue connector for the pump, not the grey one")
        self.transcript.write_bytes(said + an_answer("All right."))

    def tells(self, template: bytes, verb: str = "inject", **more: str) -> Ran:
        given = {"transcript": str(self.transcript), **more}
        written = calls.written(template, self.name, str(self.folder), **given)
        return client(self.daemon.home, written, verb, self.host)

    def hears(self, template: bytes, event: str, **more: str) -> str:
        ran = self.tells(template, **more)
        assert (ran.code, ran.err) == (0, b"")
        answer: Any = json.loads(ran.out)
        assert answer == {
            "hookSpecificOutput": {
                "hookEventName": event,
                "additionalContext": answer["hookSpecificOutput"]["additionalContext"],
            }
        }
        text = str(answer["hookSpecificOutput"]["additionalContext"])
        eventually(lambda: not self._is_awaited())
        return text

    def _is_awaited(self) -> bool:
        lines: Any = self.daemon.door.call("page_whispers")["whispers"]
        return any(each["outcome"] == "awaited" for each in lines)

    def kept(self) -> list[str]:
        listed: Any = self.daemon.door.call("list")["memories"]
        return [each["content"] for each in listed if "blue connector" in each["content"]]

    @property
    def edit(self) -> dict[str, str]:
        path = self.folder / "legacy" / "pay.py"
        return {"input": json.dumps({"file_path": str(path), "new_string": "b"})}


def test_a_session_of_claude_code(daemon: Daemon, tmp_path: Path) -> None:
    session = HostSession(daemon, "claude", tmp_path)
    failing = {"tool": "Bash", "input": '{"command":"make build"}', "error": "ENOSPC in the build"}

    assert RULE in session.hears(calls.CLAUDE_SESSION, "SessionStart")
    assert FERRY in session.hears(calls.CLAUDE_PROMPT, "UserPromptSubmit", prompt=ASKED)
    assert session.tells(calls.CLAUDE_DEED, tool="Edit", **session.edit) == NOTHING  # in the brief
    assert CACHE in session.hears(calls.CLAUDE_FAILURE, "PostToolUseFailure", **failing)
    assert RULE in session.hears(calls.CLAUDE_SUBAGENT, "SubagentStart")
    assert session.tells(calls.CLAUDE_COMPACT, "store") == NOTHING
    anew = session.hears(calls.CLAUDE_SESSION, "SessionStart", source="compact")
    assert all(each in anew for each in (RULE, FERRY, CACHE))
    assert session.tells(calls.CLAUDE_STATUS, "statusline").out.startswith(b"madeleine: ")
    assert session.tells(calls.CLAUDE_END, "store") == NOTHING
    eventually(lambda: bool(session.kept()))


def test_a_session_of_codex(daemon: Daemon, tmp_path: Path) -> None:
    session = HostSession(daemon, "codex", tmp_path)

    assert LEGACY in session.hears(calls.CODEX_SESSION, "SessionStart")
    assert FERRY in session.hears(calls.CODEX_PROMPT, "UserPromptSubmit", prompt=ASKED)
    assert session.tells(calls.CODEX_DEED, tool="Edit", **session.edit) == NOTHING
    assert RULE in session.hears(calls.CODEX_SUBAGENT, "SubagentStart")
    assert session.tells(calls.CODEX_COMPACT, "store") == NOTHING
    anew = session.hears(calls.CODEX_SESSION, "SessionStart", source="compact")
    assert all(each in anew for each in (RULE, FERRY, LEGACY))
    assert session.tells(calls.CODEX_STOP, "store", active="false") == NOTHING
    assert session.tells(calls.CODEX_END, "store") == NOTHING


def test_a_session_of_gemini_cli(daemon: Daemon, tmp_path: Path) -> None:
    session = HostSession(daemon, "gemini", tmp_path)
    failing = {"tool": "run_shell_command", "input": '{"command":"make build"}'}

    assert RULE in session.hears(calls.GEMINI_SESSION, "SessionStart")
    assert FERRY in session.hears(calls.GEMINI_PROMPT, "BeforeAgent", prompt=ASKED)
    assert session.tells(calls.GEMINI_DEED, tool="replace", **session.edit) == NOTHING
    told = session.hears(calls.GEMINI_FAILURE, "AfterTool", error="ENOSPC in the build", **failing)
    assert CACHE in told
    assert session.tells(calls.GEMINI_COMPACT) == NOTHING
    assert FERRY in session.hears(calls.GEMINI_PROMPT, "BeforeAgent", prompt=f"again, {ASKED}")
    assert LEGACY in session.hears(calls.GEMINI_DEED, "AfterTool", tool="replace", **session.edit)
    assert session.tells(calls.GEMINI_STOP, "store", prompt=ASKED, active="false") == NOTHING
    assert session.tells(calls.GEMINI_END, "store") == NOTHING
