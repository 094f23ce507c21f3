"""The hosts: what each one's hook says, and the exact JSON that each one understands.

A hook's entry names its host, but other hosts load Claude Code's entries too: the client then adds
the one it really runs in, `claude@cursor`. The answer is rendered for that one, never as a union
for all: Codex refuses keys it does not know, and Cursor has another name for the same thing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import NamedTuple, NoReturn

from madeleine.errors import Rejected
from madeleine.model.codec import Json

CONTEXT_BYTES = 10_000  # the least of the hosts' limits: 10,000 characters, 10 KB, 2,500 tokens


class BadHook(Rejected):
    """What a hook sent is not what its host sends for a prompt."""

    kind = "bad_hook"

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"the hook's JSON {problem}", hint="see docs/guides/whisper-hooks.md", problem=problem
        )


class HookCall(NamedTuple):
    """What a host's hook says. `entry` is the host as its entry names it."""

    host: Host
    entry: str
    event: str | None = None
    prompt: str | None = None
    session: str | None = None
    folder: str | None = None
    transcript: str | None = None
    skip: str | None = None
    """Why no person is behind it, as far as the host says so."""


class Host(NamedTuple):
    """One host: its name as a source of memories, and how it wants to be told something."""

    agent: str
    render: Callable[[str | None, str], Json]
    once_a_turn: bool = False
    """Whether it calls the hook again and again in one turn."""


def _claude(event: str | None, text: str) -> Json:
    named = event or "UserPromptSubmit"
    return {"hookSpecificOutput": {"hookEventName": named, "additionalContext": text}}


def _gemini(event: str | None, text: str) -> Json:
    return _claude(event or "BeforeAgent", text)


def _cursor(event: str | None, text: str) -> Json:
    return {"continue": True, "additional_context": text}


def _antigravity(event: str | None, text: str) -> Json:
    return {"injectSteps": [{"ephemeralMessage": text}]}


def _copilot(event: str | None, text: str) -> Json:
    """An event named as VS Code names it is answered as VS Code is."""
    return _claude(event, text) if event == "UserPromptSubmit" else {"additionalContext": text}


HOSTS: Mapping[str, Host] = {
    "claude": Host("claude-code", _claude),
    "codex": Host("codex", _claude),
    "cursor": Host("cursor", _cursor),
    "gemini": Host("gemini-cli", _gemini),
    "agy": Host("antigravity", _antigravity, once_a_turn=True),
    "copilot": Host("copilot", _copilot),
    "vscode": Host("vscode", _claude),
    "opencode": Host("opencode", _claude),
}
_BY_AGENT = {host.agent: host for host in HOSTS.values()}

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
SHORTENING_EVENTS = frozenset(
    ["PreCompact", "PostCompact", "PreCompress", "preCompact", "postCompact"]
)
"""When a host shortens what its agent has before it, whispers included."""
ENDING_EVENTS = frozenset(["SessionEnd", "sessionEnd"])
_BY_PEOPLE = ("user", "sdk")  # a prompt's `source`; any other is a timetable or a machine


def read_call(words: str, body: bytes) -> HookCall:
    """Return what a hook of the host named by `words` says in its JSON."""
    entry, _, inside = words.partition("@")
    host = HOSTS.get(inside or entry) or _BY_AGENT.get(inside or entry)
    if host is None:
        raise BadHook(f"comes from `{words[:50]}`; known hosts are {', '.join(HOSTS)}")
    values = _object(body)
    return HookCall(
        host=host,
        entry=words,
        event=_text(values, "hook_event_name", "hookEventName") or None,
        prompt=_text(values, "prompt"),
        session=_text(values, "session_id", "conversation_id", "sessionId", "conversationId")
        or None,
        folder=_text(values, "cwd") or _first_text(values, "workspace_roots"),
        transcript=_text(values, "transcript_path", "transcriptPath") or None,
        skip=_skip(values),
    )


def render(call: HookCall, text: str) -> bytes:
    """Return the host's JSON; for a text that says nothing, nothing."""
    return json.dumps(call.host.render(call.event, text)).encode("ascii") if text else b""


def fits(text: str) -> bool:
    """Whether every host takes a text of this length whole."""
    return len(text.encode("utf-8")) <= CONTEXT_BYTES


def cut(text: str) -> str:
    """Return as many whole lines as fit; each of them stands for itself."""
    kept = text.encode("utf-8")[:CONTEXT_BYTES]
    return kept[: kept.rfind(b"\n") + 1].decode("utf-8")


def _skip(values: Mapping[str, object]) -> str | None:
    if _text(values, "agent_id") is not None:
        return "inside a sub-agent"
    source = _text(values, "source")
    return None if source is None or source in _BY_PEOPLE else f"sent by `{source[:50]}`"


def _object(body: bytes) -> Mapping[str, object]:
    try:
        values = json.loads(body.decode("utf-8-sig"), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise BadHook("does not parse") from error
    if not isinstance(values, dict):
        raise BadHook("is no object")
    return values


def _text(values: Mapping[str, object], *names: str) -> str | None:
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


def _first_text(values: Mapping[str, object], name: str) -> str | None:
    given = values.get(name)
    return given[0] if isinstance(given, list) and given and isinstance(given[0], str) else None


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")
