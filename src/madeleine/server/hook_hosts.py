"""The hosts: what each one's hook says, and the exact JSON that each one understands.

A hook's entry names its host, but other hosts load Claude Code's entries too: the client then adds
the one it really runs in, `claude@cursor`. The answer is rendered for that one, never as a union
for all: Codex refuses keys it does not know, and Cursor has another name for the same thing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple, NoReturn

from madeleine.errors import Rejected
from madeleine.model.codec import Json
from madeleine.whisper.brief import SessionStart

MAX_CONTEXT_BYTES = 10_000  # the least of the hosts' limits: 10,000 characters, 10 KB, 2,500 tokens


class BadHook(Rejected):
    """What a hook sent is not what its host sends for a prompt."""

    kind = "bad_hook"

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"the hook's JSON {problem}", hint="see docs/guides/whisper-hooks.md", problem=problem
        )


class HookCall(NamedTuple):
    """What a host's hook says. `entry` is the host as its entry names it."""

    host: HookHost
    entry: str
    event: str | None = None
    prompt: str | None = None
    session: str | None = None
    folder: str | None = None
    transcript: str | None = None
    skip: str | None = None
    """Of a prompt, why no person is behind it, as far as the host says so."""
    source: str | None = None
    """Of a session's start, why it starts."""
    agent_id: str | None = None
    """Which sub-agent it is about; a sub-agent has nothing of what the session was told."""
    task: str | None = None
    """What a sub-agent is to do, as far as the host says so."""
    tool: str | None = None
    given: Mapping[str, object] = MappingProxyType({})
    """Of a deed, the tool and what it is given."""
    error: str | None = None
    is_continued: bool = False
    """Of a turn's end, whether a hook had the agent go on already."""

    @property
    def conversation(self) -> str | None:
        """The session, or the part of it that a sub-agent has before it."""
        if self.session is None or self.agent_id is None:
            return self.session
        return f"{self.session}/{self.agent_id}"


class HookHost(NamedTuple):
    """One host: its name as a source of memories, and how it wants to be told something."""

    agent: str
    render: Callable[[str | None, str], Json]
    once_a_turn: bool = False
    """Whether it calls the hook again and again in one turn."""
    can_ask: bool = False
    """Whether a hook may have it ask its user before a tool is used."""
    render_request: Callable[[str], Json] | None = None
    """How a hook has its agent do something before its turn is over, where it can."""


def _render_for_claude(event: str | None, text: str) -> Json:
    named = event or "UserPromptSubmit"
    return {"hookSpecificOutput": {"hookEventName": named, "additionalContext": text}}


def _render_for_gemini(event: str | None, text: str) -> Json:
    return _render_for_claude(event or "BeforeAgent", text)


def _render_for_cursor(event: str | None, text: str) -> Json:
    asked = {"continue": True} if event in (None, "beforeSubmitPrompt", "UserPromptSubmit") else {}
    return {**asked, "additional_context": text}


def _render_for_antigravity(event: str | None, text: str) -> Json:
    return {"injectSteps": [{"ephemeralMessage": text}]}


def _render_for_copilot(event: str | None, text: str) -> Json:
    """An event named as VS Code names it is answered as VS Code is."""
    named_as_in_vscode = event is not None and event[:1].isupper()
    return _render_for_claude(event, text) if named_as_in_vscode else {"additionalContext": text}


def _render_claude_request(text: str) -> Json:
    return {"decision": "block", "reason": text}


def _render_gemini_request(text: str) -> Json:
    return {"decision": "deny", "reason": text}


def _render_cursor_request(text: str) -> Json:
    return {"followup_message": text}


HOST_BY_NAME: Mapping[str, HookHost] = {
    "claude": HookHost(
        "claude-code", _render_for_claude, can_ask=True, render_request=_render_claude_request
    ),
    "codex": HookHost("codex", _render_for_claude, render_request=_render_claude_request),
    "cursor": HookHost("cursor", _render_for_cursor, render_request=_render_cursor_request),
    "gemini": HookHost("gemini-cli", _render_for_gemini, render_request=_render_gemini_request),
    "agy": HookHost("antigravity", _render_for_antigravity, once_a_turn=True),
    "copilot": HookHost("copilot", _render_for_copilot),
    "vscode": HookHost("vscode", _render_for_claude, can_ask=True),
    "opencode": HookHost("opencode", _render_for_claude),
}
_HOST_BY_AGENT = {host.agent: host for host in HOST_BY_NAME.values()}

PROMPT_EVENTS = frozenset(
    [
        "UserPromptSubmit",
        "UserPromptExpansion",
        "beforeSubmitPrompt",
        "BeforeAgent",
        "PreInvocation",
        "userPromptSubmitted",
    ]
)
DEED_EVENTS = frozenset(
    ["PreToolUse", "PostToolUseFailure", "BeforeTool", "AfterTool", "preToolUse"]
)
"""Before a tool is used or after it failed; Gemini CLI takes a word only when it was used."""
START_EVENTS = frozenset(["SessionStart", "sessionStart"])
SUBAGENT_EVENTS = frozenset(["SubagentStart", "subagentStart"])
_START_BY_SOURCE = {each.value: each for each in SessionStart}
SHORTENING_EVENTS = frozenset(
    ["PreCompact", "PostCompact", "PreCompress", "preCompact", "postCompact"]
)
"""When a host shortens what its agent has before it, whispers included."""
ENDING_EVENTS = frozenset(["SessionEnd", "sessionEnd"])
TURN_END_EVENTS = frozenset(["Stop", "stop", "AfterAgent"])
_PEOPLE_SOURCES = ("user", "sdk")  # a prompt's `source`; any other is a timetable or a machine


def read_hook_call(words: str, body: bytes) -> HookCall:
    """Return what a hook of the host named by `words` says in its JSON."""
    entry, _, inside = words.partition("@")
    host = HOST_BY_NAME.get(inside or entry) or _HOST_BY_AGENT.get(inside or entry)
    if host is None:
        raise BadHook(f"comes from `{words[:50]}`; known hosts are {', '.join(HOST_BY_NAME)}")
    values = _parse_object(body)
    return HookCall(
        host=host,
        entry=words,
        event=_read_text(values, "hook_event_name", "hookEventName") or None,
        prompt=_read_text(values, "prompt"),
        session=_read_text(values, "session_id", "conversation_id", "sessionId", "conversationId")
        or None,
        folder=_read_text(values, "cwd") or _read_first_text(values, "workspace_roots"),
        transcript=_read_text(values, "transcript_path", "transcriptPath") or None,
        skip=_find_skip_reason(values),
        source=_read_text(values, "source"),
        agent_id=_read_text(values, "agent_id", "agentId") or None,
        tool=_read_text(values, "tool_name", "toolName"),
        given=_read_object(values, "tool_input", "toolInput", "toolArgs"),
        error=_read_error(values),
        is_continued=_is_continued(values),
        task=_read_text(values, "task", "prompt", "description", "agent_type", "agentType"),
    )


def read_start(call: HookCall) -> SessionStart:
    """Return why a session starts. A word that we do not know is a start like any other."""
    if call.event in SUBAGENT_EVENTS:
        return SessionStart.SUBAGENT
    return _START_BY_SOURCE.get(call.source or "", SessionStart.STARTUP)


def render_reply(call: HookCall, text: str) -> bytes:
    """Return the host's JSON; for a text that says nothing, nothing."""
    return json.dumps(call.host.render(call.event, text)).encode("ascii") if text else b""


def render_word(call: HookCall, text: str, asked: str | None) -> bytes:
    """Return the host's JSON for a word before a deed. Where a person is to be asked first, and the
    host can do that, it says so too, with what they read; nothing is ever refused by us."""
    if not text:
        return b""
    answer = call.host.render(call.event, text)
    inside = answer.get("hookSpecificOutput")
    if asked and call.host.can_ask and call.event == "PreToolUse" and isinstance(inside, dict):
        inside |= {"permissionDecision": "ask", "permissionDecisionReason": asked}
    return json.dumps(answer).encode("ascii")


def render_request(call: HookCall, text: str) -> bytes:
    """Return the host's JSON that has its agent do something before its turn is over; nothing for
    a host that has none."""
    render = call.host.render_request
    return b"" if render is None or not text else json.dumps(render(text)).encode("ascii")


def fits_context(text: str) -> bool:
    """Whether every host takes a text of this length whole."""
    return len(text.encode("utf-8")) <= MAX_CONTEXT_BYTES


def cut_to_context(text: str) -> str:
    """Return as many whole lines as fit; each of them stands for itself."""
    kept = text.encode("utf-8")[:MAX_CONTEXT_BYTES]
    return kept[: kept.rfind(b"\n") + 1].decode("utf-8")


def _find_skip_reason(values: Mapping[str, object]) -> str | None:
    if _read_text(values, "agent_id") is not None:
        return "inside a sub-agent"
    source = _read_text(values, "source")
    return None if source is None or source in _PEOPLE_SOURCES else f"sent by `{source[:50]}`"


def _is_continued(values: Mapping[str, object]) -> bool:
    """Whether a hook had the agent go on already; Cursor counts how often, others say so. One that
    was broken off is not asked to go on either."""
    if values.get("status") in ("aborted", "error"):
        return True
    return bool(values.get("stop_hook_active", values.get("loop_count", False)))


def _read_object(values: Mapping[str, object], *names: str) -> Mapping[str, object]:
    found = next((each for name in names if isinstance(each := values.get(name), dict)), None)
    return found or {}


def _read_error(values: Mapping[str, object]) -> str | None:
    """Return what went wrong with a tool; a host may say it as a text, inside an object, or, as
    Gemini CLI does, in what the tool answered."""
    given = values.get("error") or _read_object(values, "tool_response").get("error")
    if isinstance(given, dict):
        given = given.get("message")
    return given if isinstance(given, str) and given else None


def _parse_object(body: bytes) -> Mapping[str, object]:
    try:
        values = json.loads(body.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadHook("does not parse") from error
    if not isinstance(values, dict):
        raise BadHook("is no object")
    return values


def _read_text(values: Mapping[str, object], *names: str) -> str | None:
    """Return the first of these fields that is there; none of them may be anything but text."""
    found = next((name for name in names if values.get(name) is not None), None)
    if found is None:
        return None
    value = values[found]
    if not isinstance(value, str):
        raise BadHook(f"has a `{found}` that is no text")
    if not value.isascii() and value.encode("utf-8", "replace").decode("utf-8") != value:
        raise BadHook(f"has a `{found}` that is no valid Unicode")
    return value


def _read_first_text(values: Mapping[str, object], name: str) -> str | None:
    given = values.get(name)
    return given[0] if isinstance(given, list) and given and isinstance(given[0], str) else None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")
