"""Lines of transcripts as the hosts write them."""

from __future__ import annotations

import itertools
import json

_numbers = itertools.count(1)


def a_line(text: object, **more: object) -> bytes:
    """Return a line of Claude Code in which a person says this."""
    number = next(_numbers)
    return encoded(
        {
            "parentUuid": None,
            "isSidechain": False,
            "type": "user",
            "message": {"role": "user", "content": text},
            "uuid": f"u{number}",
            "timestamp": _at(number),
            "promptSource": "user",
            "origin": {"kind": "human"},
            "userType": "external",
            "cwd": "/nowhere/atlas",
            "sessionId": "session-1",
            "version": "2.1.215",
            "isMeta": False,
            **more,
        }
    )


def a_reply(text: str) -> bytes:
    """Return a line of Claude Code in which the agent says this."""
    content = [{"type": "text", "text": text}]
    return encoded({"type": "assistant", "message": {"role": "assistant", "content": content}})


def an_answer(text: str, *, ends: bool = True, tool: str | None = None, **more: object) -> bytes:
    """Return a line of Claude Code in which the agent answers, as its newer releases write it."""
    number = next(_numbers)
    content: list[object] = [{"type": "text", "text": text}] if text else []
    if tool is not None:
        content.append({"type": "tool_use", "id": "t1", "name": tool, "input": {"command": "ls"}})
    stop = "tool_use" if tool else "end_turn" if ends else None
    message = {
        "id": f"msg_{number}",
        "role": "assistant",
        "model": "claude",
        "content": content,
        "stop_reason": stop,
        "usage": {"input_tokens": 1},
    }
    return encoded(
        {
            "parentUuid": f"u{number - 1}",
            "isSidechain": False,
            "type": "assistant",
            "message": message,
            "requestId": "r",
            "uuid": f"u{number}",
            "timestamp": _at(number),
            "sessionId": "session-1",
            **more,
        }
    )


def a_tool_result(text: str) -> bytes:
    """Return a line of Claude Code in which a tool answers."""
    return a_line([{"type": "tool_result", "tool_use_id": "t1", "content": text}])


def a_codex_line(text: str, role: str = "user", kind: str = "input_text") -> bytes:
    """Return a line of a Codex rollout."""
    number = next(_numbers)
    content = [{"type": kind, "text": text}]
    payload = {"type": "message", "role": role, "content": content}
    return encoded({"timestamp": _at(number), "type": "response_item", "payload": payload})


def _at(number: int) -> str:
    """Return when a line was written: each after the one before, however many tests ran."""
    return f"2026-11-15T12:{number // 60 % 60:02d}:{number % 60:02d}.000Z"


def encoded(values: object) -> bytes:
    return json.dumps(values).encode() + b"\n"
