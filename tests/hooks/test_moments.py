"""Moments other than a prompt, as hosts tell of them: real hooks against a real daemon."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hooks.host_calls import (
    CLAUDE_DEED,
    CLAUDE_FAILURE,
    CLAUDE_PROMPT,
    CLAUDE_SESSION,
    CLAUDE_SUBAGENT,
    CODEX_DEED,
    CODEX_SESSION,
    CURSOR_SESSION,
    GEMINI_DEED,
    GEMINI_SESSION,
    written,
)
from tests.hooks.running import Ran, client, variables
from tests.server.running import Daemon, eventually, running

pytestmark = pytest.mark.timeout(90)
RULE = "Use uv, never pip"
FERRY = "The ferry to Bergen leaves at half past nine"
NOTHING = Ran(0, b"", b"")


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with pytest.MonkeyPatch.context() as patch:
        known = variables(nudge_interval=0)
        for name, value in {**known, "MADELEINE_EMBEDDER_KIND": "fake"}.items():
            patch.setenv(name, value)
        patch.delenv("MADELEINE_HOME", raising=False)
        with running(tmp_path_factory.mktemp("home")) as started:
            started.remember(RULE, type="preference", space="atlas")
            started.remember(FERRY, space="atlas")
            yield started


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A folder of the project `atlas`."""
    (tmp_path / "atlas" / ".git").mkdir(parents=True)
    return str(tmp_path / "atlas")


def said(ran: Ran) -> Any:
    assert (ran.code, ran.err) == (0, b"")
    return json.loads(ran.out)


def context(ran: Ran, event: str) -> str:
    """Return what a host of Claude Code's kind hands to the model, which takes nothing else."""
    answer = said(ran)
    assert list(answer) == ["hookSpecificOutput"]
    assert sorted(answer["hookSpecificOutput"]) == ["additionalContext", "hookEventName"]
    assert answer["hookSpecificOutput"]["hookEventName"] == event
    return str(answer["hookSpecificOutput"]["additionalContext"])


def is_delivered(daemon: Daemon, session: str) -> bool:
    lines: Any = daemon.door.call("page_whispers")["whispers"]
    return any(each["outcome"] == "whispered" for each in lines if each["session"] == session)


# --- when a session starts ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "call"),
    [("claude", CLAUDE_SESSION), ("codex", CODEX_SESSION), ("gemini", GEMINI_SESSION)],
)
def test_a_session_is_told_the_rules_of_its_project_when_it_starts(
    daemon: Daemon, folder: str, host: str, call: bytes
) -> None:
    ran = client(daemon.home, written(call, f"start-{host}", folder), "inject", host)

    assert RULE in context(ran, "SessionStart")
    eventually(lambda: is_delivered(daemon, f"start-{host}"))


def test_cursor_gets_the_brief_in_its_own_field(daemon: Daemon, folder: str) -> None:
    ran = client(daemon.home, written(CURSOR_SESSION, "cursor-1", folder), "inject", "cursor")

    assert list(said(ran)) == ["additional_context"]
    assert RULE in said(ran)["additional_context"]


def test_a_session_elsewhere_hears_nothing_of_the_project(daemon: Daemon) -> None:
    ran = client(daemon.home, written(CLAUDE_SESSION, "elsewhere", "/nowhere"), "inject", "claude")

    assert ran == NOTHING


def test_what_was_told_at_the_start_is_told_again_only_after_a_compaction(
    daemon: Daemon, folder: str
) -> None:
    def start(source: str) -> Ran:
        call = written(CLAUDE_SESSION, "compacted", folder, source=source)
        return client(daemon.home, call, "inject", "claude")

    def ask(prompt: str) -> Ran:
        call = written(CLAUDE_PROMPT, "compacted", folder, prompt=prompt)
        return client(daemon.home, call, "inject", "claude")

    start("startup")
    eventually(lambda: is_delivered(daemon, "compacted"))
    assert FERRY in context(ask("when does the ferry to Bergen leave?"), "UserPromptSubmit")
    assert ask("do we use uv, or never, and pip?") == NOTHING
    assert start("resume") == NOTHING

    again = context(start("compact"), "SessionStart")

    assert RULE in again
    assert FERRY in again
    assert ask("and do we use uv and pip, or never?") == NOTHING


def test_a_sub_agent_is_told_what_its_session_was_told(daemon: Daemon, folder: str) -> None:
    prompt = written(CLAUDE_PROMPT, "parent", folder, prompt="when does the ferry to Bergen leave?")
    client(daemon.home, written(CLAUDE_SESSION, "parent", folder), "inject", "claude")
    client(daemon.home, prompt, "inject", "claude")

    ran = client(daemon.home, written(CLAUDE_SUBAGENT, "parent", folder), "inject", "claude")

    text = context(ran, "SubagentStart")
    assert RULE in text
    assert FERRY in text


def test_a_session_whose_start_two_entries_tell_is_briefed_once(
    daemon: Daemon, folder: str
) -> None:
    """Cursor runs Claude Code's hooks beside its own."""
    call = written(CURSOR_SESSION, "twice", folder)
    inside = {"CURSOR_VERSION": "3.20.17"}

    first = client(daemon.home, call, "inject", "cursor")
    second = client(
        daemon.home,
        written(CLAUDE_SESSION, "twice", folder),
        "inject",
        "claude",
        environment=inside,
    )

    assert first.out
    assert second == NOTHING


# --- before a deed --------------------------------------------------------------------------

EDIT = '{"file_path":"%s/legacy/pay.py","old_string":"a","new_string":"b"}'
PATCH = (
    '{"command":"*** Begin Patch\\n*** Update File: legacy/pay.py\\n@@\\n-a\\n+b\\n*** End Patch"}'
)


@pytest.fixture(scope="module")
def knowing(daemon: Daemon) -> Daemon:
    """A daemon that knows what must not be done."""
    for each in (
        "legacy/ is not touched without asking Tom",
        "Never terraform apply -auto-approve by hand",
    ):
        daemon.remember(each, type="decision", space="atlas")
    daemon.remember("ENOSPC in the build means: run make clean-cache", space="atlas")
    return daemon


def deed(daemon: Daemon, host: str, call: bytes, session: str, folder: str, **more: str) -> Ran:
    return client(daemon.home, written(call, session, folder, **more), "inject", host)


@pytest.mark.parametrize(
    ("host", "call", "event", "tool", "given"),
    [
        ("claude", CLAUDE_DEED, "PreToolUse", "Edit", EDIT),
        ("codex", CODEX_DEED, "PreToolUse", "apply_patch", PATCH),
        ("gemini", GEMINI_DEED, "AfterTool", "replace", EDIT),
    ],
)
def test_a_constraint_about_a_path_is_told_once_beside_the_deed(
    knowing: Daemon, folder: str, host: str, call: bytes, event: str, tool: str, given: str
) -> None:
    session, about = f"deed-{host}", given.replace("%s", folder)

    first = deed(knowing, host, call, session, folder, tool=tool, input=about)
    eventually(lambda: is_delivered(knowing, session))
    second = deed(knowing, host, call, session, folder, tool=tool, input=about)

    assert "without asking Tom" in context(first, event)
    assert second == NOTHING


def test_a_deed_elsewhere_is_silent(knowing: Daemon, folder: str) -> None:
    about = EDIT.replace("%s/legacy", f"{folder}/colours")

    ran = deed(knowing, "claude", CLAUDE_DEED, "away", folder, tool="Edit", input=about)

    assert ran == NOTHING


def test_the_very_text_of_every_moment_stands_in_the_log(knowing: Daemon, folder: str) -> None:
    about, question = EDIT.replace("%s", folder), "when does the ferry to Bergen leave?"
    prompt = written(CLAUDE_PROMPT, "log-prompt", folder, prompt=question)

    start = client(knowing.home, written(CLAUDE_SESSION, "log-start", folder), "inject", "claude")
    asked = client(knowing.home, prompt, "inject", "claude")
    done = deed(knowing, "claude", CLAUDE_DEED, "log-deed", folder, tool="Edit", input=about)

    got = {
        "start": context(start, "SessionStart"),
        "prompt": context(asked, "UserPromptSubmit"),
        "deed": context(done, "PreToolUse"),
    }
    for moment, text in got.items():
        (line,) = listed(knowing, moment)
        detail: Any = knowing.door.call("page_whisper", id=line["id"])
        assert (line["outcome"], detail["text"]) == ("whispered", text)
        assert detail["tokens"] >= len(text) // 5
        assert line["told"]
        assert all(each["title"] for each in line["told"])
        assert bool(detail["stages"]) == (moment == "prompt")
        assert line["start"] == ("startup" if moment == "start" else None)


def listed(daemon: Daemon, moment: str) -> list[Any]:
    """Return what the page lists of one kind of moment, in a session of that name, once it is
    known to be delivered."""
    session = f"log-{moment}"
    eventually(lambda: is_delivered(daemon, session))
    page: Any = daemon.door.call("page_whispers", query={"moment": moment})
    return [each for each in page["whispers"] if each["session"] == session]


def test_a_command_is_told_about_and_reading_is_not(knowing: Daemon, folder: str) -> None:
    def run(tool: str, given: str) -> Ran:
        call = written(CLAUDE_DEED, "commands", folder, tool=tool, input=given)
        return client(knowing.home, call, "inject", "claude")

    assert run("Read", '{"file_path":"%s/legacy/pay.py"}' % folder) == NOTHING  # noqa: UP031
    told = context(run("Bash", '{"command":"terraform apply -auto-approve"}'), "PreToolUse")
    assert "by hand" in told


def test_after_a_failure_what_was_learnt_about_it_is_told(knowing: Daemon, folder: str) -> None:
    given = {"tool": "Bash", "input": '{"command":"make build"}', "error": "ENOSPC in the build"}

    ran = deed(knowing, "claude", CLAUDE_FAILURE, "failing", folder, **given)

    assert "make clean-cache" in context(ran, "PostToolUseFailure")


@pytest.mark.parametrize(("host", "asks"), [("claude", True), ("codex", False)])
def test_a_guarded_rule_has_the_host_ask_its_user_where_a_person_wants_that(
    tmp_path: Path, folder: str, host: str, asks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = variables(nudge_interval=0, guard="ask")
    for name, value in {**known, "MADELEINE_EMBEDDER_KIND": "fake"}.items():
        monkeypatch.setenv(name, value)
    with running(tmp_path / "h") as daemon:
        rule = "legacy/ is not touched without asking Tom"
        daemon.remember(rule, type="decision", tags=["guard"], space="atlas")
        call = CLAUDE_DEED if host == "claude" else CODEX_DEED
        given = {"tool": "Edit", "input": EDIT.replace("%s", folder)}

        told = said(deed(daemon, host, call, "guarded", folder, **given))["hookSpecificOutput"]

    assert rule in told["additionalContext"]
    assert (told.get("permissionDecision") == "ask") is asks
    if asks:
        assert told["permissionDecisionReason"].startswith(f"Madeleine: {rule} (id: ")
        assert "\n" not in told["permissionDecisionReason"]
