"""What a tool returns: an operation's answer, cut to what an agent can use.

The text is the one that every door gives. Beside it stand the answer's own fields, fewer and
bounded, since hosts put either into a model's context: what memories say is data in JSON strings,
and no longer than in the text (I9).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from madeleine.api.texts import MAX_HIT_CHARS, MAX_WHOLE_CHARS
from madeleine.errors import MadeleineError, NoSuchMemory
from madeleine.model.codec import Json
from madeleine.server.mcp.tools import Tool

ERROR_CHARS = 2_000  # a refusal may quote what was sent, which has no bound
REPORT_PATCHES = 20  # of each job's report; `madeleine sleep` has them all
CONNECTIONS = 50  # of one memory; its text has a line for more of them
NEIGHBOURS = 20
REASON_CHARS = 300
ERROR_META = "madeleine/error"  # where the result of a refused call has its kind
FIND_IT = "find it with the tool `recall`"  # the command of other doors is not for an agent

_MEMORY = (
    "id",
    "short_id",
    "type",
    "tier",
    "space",
    "tags",
    "source",
    "confidence",
    "created",
    "updated",
    "valid_until",
    "superseded_by",
)
_CONNECTION = ("direction", "edge", "weight", "title")

Answer = Mapping[str, Any]


class Said(NamedTuple):
    """What a tool says: texts to read, and the same as fields. A refusal has no fields, which
    would have to fit the tool's schema; what a program needs of it stands in `meta`."""

    texts: tuple[str, ...]
    fields: Json | None
    refused: bool = False
    meta: Json | None = None


def said(tool: Tool, answer: Answer) -> Said:
    """Return what a tool says when its operation answered."""
    chosen = _writable({name: _FIELDS[name](answer) for name in tool.returns})
    texts: tuple[str, ...] = (str(_writable(answer["text"])),)
    if tool.operation != "hand_in":
        return Said(texts, chosen)
    given = _writable(_maintenance(answer))
    if given["status"] == "ready":  # its text only says that there are questions
        texts = (*texts, json.dumps(given, ensure_ascii=False))
    return Said(texts, given)


def refused(error: MadeleineError) -> Said:
    """Return what a tool says when it was refused: what is so, and the next thing to do. The
    error's parts are left out: they quote what was sent, and a model may read along."""
    parts = [error.message[:ERROR_CHARS]]
    hint = FIND_IT if isinstance(error, NoSuchMemory) and not error.near else error.hint
    if hint:
        parts.append(f"hint: {hint[:ERROR_CHARS]}")
    text = str(_writable("\n".join(parts)))
    meta: Json = {ERROR_META: {"code": error.code, "kind": error.kind}}
    return Said((text,), None, refused=True, meta=meta)


# -- fields --------------------------------------------------------------------------------


def _memory(values: Answer) -> Json:
    """Return a memory without what it says."""
    return {name: values[name] for name in _MEMORY} | {"title": values["headline"]}


def _with_content(values: Answer, content: str, limit: int) -> Json:
    cut = {"cut": len(content) - limit} if len(content) > limit else {}
    return {**_memory(values), "content": content[:limit], **cut}


def _changed_memory(answer: Answer) -> Json:
    memory = answer["memory"]
    if "connections" not in answer:  # else it is what was asked for
        return _memory(memory)
    return _with_content(memory, memory["content"], MAX_WHOLE_CHARS)


def _results(answer: Answer) -> list[Json]:
    return [_result(each) for each in answer["results"]]


def _result(hit: Answer) -> Json:
    """Return a hit with what its text shows: the passage that fits, else the beginning."""
    memory, passage = hit["memory"], hit["passage"]
    content = memory["content"] if passage is None else passage["text"]
    told = _with_content(memory, content, MAX_HIT_CHARS)
    if passage is not None:
        told["cut"] = len(memory["content"]) - len(str(told["content"]))
    return {"memory": told, "score": hit["score"], "reasons": hit["reasons"]}


def _connections(answer: Answer) -> list[Json]:
    return [_connection(each) for each in answer["connections"][:CONNECTIONS]]


def _connection(link: Answer) -> Json:
    other = link["target"] if link["direction"] == "out" else link["source"]
    reason = link["reason"] and link["reason"][:REASON_CHARS]
    return {"node_id": other, **{name: link[name] for name in _CONNECTION}, "reason": reason}


def _linked(answer: Answer) -> list[Json]:
    return [
        {"node_id": each["target"], "edge": each["edge"], "weight": each["weight"]}
        for each in answer["linked"]
    ]


def _maintenance(answer: Answer) -> Json:
    """Return a batch of questions, or reports with their first patches only."""
    given: Json = {name: value for name, value in answer.items() if name != "text"}
    given.setdefault("job_id", None)
    if "reports" in given:
        given["reports"] = [_report(each) for each in cast("list[Json]", given["reports"])]
    return given


def _report(report: Answer) -> Json:
    patches = report.get("patches") or []
    return {**report, "patches": patches[:REPORT_PATCHES]}


def _as_it_is(name: str) -> Callable[[Answer], object]:
    return lambda answer: answer.get(name)


_FIELDS: Mapping[str, Callable[[Answer], object]] = MappingProxyType(
    {
        **{
            name: _as_it_is(name)
            for name in (
                "node_id",
                "existing",
                "change",
                "notes",
                "silence",
                "silence_parts",
                "status",
                "job_id",
            )
        },
        "memory": _changed_memory,
        "results": _results,
        "connections": _connections,
        "neighbours": lambda answer: [_memory(each) for each in answer["neighbours"][:NEIGHBOURS]],
        "linked": _linked,
    }
)


def _writable(values: Any) -> Any:
    """Return values that can be written as UTF-8: half a surrogate pair, from a file's name or
    a client's escape, becomes a question mark."""
    text = json.dumps(values, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.loads(text.encode("utf-8", "replace"))
    return values
