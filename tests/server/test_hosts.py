"""What each host's hook sends, and the exact JSON that each host understands."""

from __future__ import annotations

import json
from typing import Any

import pytest

from madeleine.server.hook_hosts import (
    HOST_BY_NAME,
    BadHook,
    HookCall,
    read_hook_call,
    render_reply,
)

CLAUDE = {
    "session_id": "s1",
    "transcript_path": "/home/ana/.claude/projects/-work-atlas/s1.jsonl",
    "cwd": "/ana/atlas",
    "prompt_id": "7c9b6c1e-8f5e-4f7e-9f43-000000000000",
    "permission_mode": "default",
    "hook_event_name": "UserPromptSubmit",
    "prompt": "which database?",
    "source": "user",
}
CODEX = {
    "session_id": "s2",
    "turn_id": "t1",
    "transcript_path": None,
    "cwd": "/ana/atlas",
    "hook_event_name": "UserPromptSubmit",
    "model": "gpt",
    "permission_mode": "default",
    "prompt": "which database?",
}
CURSOR = {
    "conversation_id": "s3",
    "generation_id": "g1",
    "hook_event_name": "beforeSubmitPrompt",
    "workspace_roots": ["/ana/atlas", "/ana/other"],
    "model": "m",
    "cursor_version": "3.20.17",
    "user_email": "ana@example.com",
    "transcript_path": None,
    "prompt": "which database?",
    "attachments": [],
}
GEMINI = {
    "session_id": "s4",
    "transcript_path": "/home/ana/.gemini/tmp/x/chats/session-1.jsonl",
    "cwd": "/ana/atlas",
    "hook_event_name": "BeforeAgent",
    "timestamp": "2026-11-15T12:00:00Z",
    "prompt": "which database?",
}
AGY = {
    "conversationId": "s5",
    "transcriptPath": "/x.jsonl",
    "cwd": "/ana/atlas",
    "prompt": "p",
}
COPILOT = {"sessionId": "s6", "timestamp": 1, "cwd": "/ana/atlas", "prompt": "which database?"}


def call(host: str, values: object) -> HookCall:
    return read_hook_call(host, json.dumps(values).encode())


def answered(host: str, values: object, text: str = "told") -> Any:
    return json.loads(render_reply(call(host, values), text))


@pytest.mark.parametrize(
    ("host", "values", "event"),
    [
        ("claude", CLAUDE, "UserPromptSubmit"),
        ("claude-code", CLAUDE, "UserPromptSubmit"),
        ("claude", {**CLAUDE, "hook_event_name": "UserPromptExpansion"}, "UserPromptExpansion"),
        ("codex", CODEX, "UserPromptSubmit"),
        ("gemini", GEMINI, "BeforeAgent"),
        ("vscode", CLAUDE, "UserPromptSubmit"),
        ("claude@copilot", CLAUDE, "UserPromptSubmit"),
        ("claude", {"prompt": "which database?"}, "UserPromptSubmit"),
        ("gemini", {"prompt": "which database?"}, "BeforeAgent"),
    ],
)
def test_these_hosts_read_additional_context_with_the_events_name(
    host: str, values: object, event: str
) -> None:
    """Codex refuses any key beside these."""
    assert answered(host, values) == {
        "hookSpecificOutput": {"hookEventName": event, "additionalContext": "told"}
    }


@pytest.mark.parametrize(("host", "values"), [("cursor", CURSOR), ("claude@cursor", CLAUDE)])
def test_cursor_reads_a_field_of_its_own(host: str, values: object) -> None:
    assert answered(host, values) == {"continue": True, "additional_context": "told"}


def test_antigravity_reads_steps() -> None:
    assert answered("agy", AGY) == {"injectSteps": [{"ephemeralMessage": "told"}]}


def test_copilot_reads_additional_context_at_the_top() -> None:
    assert answered("copilot", COPILOT) == {"additionalContext": "told"}


@pytest.mark.parametrize("host", HOST_BY_NAME)
def test_silence_is_no_byte_at_all_for_every_host(host: str) -> None:
    assert render_reply(call(host, CLAUDE), "") == b""


@pytest.mark.parametrize("host", HOST_BY_NAME)
def test_any_text_reaches_every_host_unchanged(host: str) -> None:
    told = 'quotes " and \\ and </system-reminder> and\nlines, 日本語, عربي, \U0001f41a'
    rendered = render_reply(call(host, CLAUDE), told)

    assert rendered.isascii()
    assert told in _leaves(json.loads(rendered))


def _leaves(value: Any) -> list[object]:
    if isinstance(value, dict):
        return [leaf for each in value.values() for leaf in _leaves(each)]
    if isinstance(value, list):
        return [leaf for each in value for leaf in _leaves(each)]
    return [value]


@pytest.mark.parametrize(
    ("host", "values", "session", "transcript"),
    [
        ("claude", CLAUDE, "s1", CLAUDE["transcript_path"]),
        ("codex", CODEX, "s2", None),
        ("cursor", CURSOR, "s3", None),
        ("gemini", GEMINI, "s4", GEMINI["transcript_path"]),
        ("agy", AGY, "s5", "/x.jsonl"),
        ("copilot", COPILOT, "s6", None),
    ],
)
def test_session_folder_and_transcript_are_found_whatever_they_are_called(
    host: str, values: object, session: str, transcript: str | None
) -> None:
    heard = call(host, values)

    assert (heard.session, heard.folder, heard.transcript) == (
        session,
        "/ana/atlas",
        transcript,
    )
    assert heard.prompt is not None
    assert heard.skip is None


@pytest.mark.parametrize("source", ["system", "loop_wakeup", "schedule_wakeup", "poll_event"])
def test_a_prompt_that_no_person_sent_is_told_by_its_source(source: str) -> None:
    assert call("claude", {**CLAUDE, "source": source}).skip == f"sent by `{source}`"


@pytest.mark.parametrize("source", ["user", "sdk", None])
def test_a_person_or_a_program_for_a_person_may_be_whispered_to(source: str | None) -> None:
    assert call("claude", {**CLAUDE, "source": source}).skip is None


def test_inside_a_sub_agent_nobody_is_whispered_to() -> None:
    assert call("codex", {**CODEX, "agent_id": "a1"}).skip == "inside a sub-agent"
    assert call("claude", {**CLAUDE, "agent_type": "main"}).skip is None


@pytest.mark.parametrize("host", ["", "clade", "claude@clade", "@", "cursor@"])
def test_a_host_that_nobody_knows_is_named(host: str) -> None:
    if host == "cursor@":
        assert call(host, CURSOR).host is HOST_BY_NAME["cursor"]
        return
    with pytest.raises(BadHook, match="known hosts are claude, codex"):
        call(host, CLAUDE)


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        (b"", "does not parse"),
        (b"{", "does not parse"),
        (b"\xff", "does not parse"),
        (b'{"prompt": NaN}', "does not parse"),
        (b"[" * 100_000, "does not parse"),
        (b"[]", "is no object"),
        (b"null", "is no object"),
        (b'{"prompt": 1}', "`prompt` that is no text"),
        (b'{"prompt": "x", "cwd": {}}', "`cwd` that is no text"),
        (b'{"prompt": "x", "conversation_id": 3}', "`conversation_id` that is no text"),
        (b'{"prompt": "\\ud800"}', "`prompt` that is no valid Unicode"),
    ],
)
def test_what_is_not_the_hosts_json_is_refused_by_name(sent: bytes, problem: str) -> None:
    with pytest.raises(BadHook, match=problem):
        read_hook_call("claude", sent)


def test_a_byte_order_mark_and_unknown_fields_do_no_harm() -> None:
    heard = read_hook_call("claude", b"\xef\xbb\xbf" + json.dumps({**CLAUDE, "new": [1]}).encode())

    assert heard.prompt == "which database?"
