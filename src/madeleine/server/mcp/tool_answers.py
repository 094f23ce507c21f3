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

from madeleine.api.answer_texts import MAX_HIT_CHARS, MAX_WHOLE_CHARS
from madeleine.api.sleep_operations import hand_in_verdicts
from madeleine.errors import MadeleineError, NoSuchMemory
from madeleine.model.codec import Json
from madeleine.server.mcp.tools import McpTool

MAX_ERROR_CHARS = 2_000  # a refusal may quote what was sent, which has no bound
MAX_REPORT_PATCHES = 20  # of each job's report; `madeleine sleep` has them all
MAX_CONNECTIONS = 50  # of one memory; its text has a line for more of them
MAX_NEIGHBOURS = 20
MAX_REASON_CHARS = 300
ERROR_META = "madeleine/error"  # where the result of a refused call has its kind
FIND_HINT = "find it with the tool `recall`"  # the command of other doors is not for an agent

_MEMORY_FIELDS = (
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
_CONNECTION_FIELDS = ("direction", "edge", "weight", "title")

OperationAnswer = Mapping[str, Any]


class ToolAnswer(NamedTuple):
    """What a tool says: texts to read, and the same as fields. A refusal has no fields, which
    would have to fit the tool's schema; what a program needs of it stands in `meta`."""

    texts: tuple[str, ...]
    fields: Json | None
    refused: bool = False
    meta: Json | None = None


def render_tool_answer(tool: McpTool, answer: OperationAnswer) -> ToolAnswer:
    """Return what a tool says when its operation answered."""
    chosen = _replace_surrogates({name: _FIELD_READERS[name](answer) for name in tool.returns})
    texts: tuple[str, ...] = (str(_replace_surrogates(answer["text"])),)
    if tool.operation is not hand_in_verdicts:
        return ToolAnswer(texts, chosen)
    given = _replace_surrogates(_cut_maintenance(answer))
    if given["status"] == "ready":  # its text only says that there are questions
        texts = (*texts, json.dumps(given, ensure_ascii=False))
    return ToolAnswer(texts, given)


def render_tool_error(error: MadeleineError) -> ToolAnswer:
    """Return what a tool says when it was refused: what is so, and the next thing to do. The
    error's parts are left out: they quote what was sent, and a model may read along."""
    parts = [error.message[:MAX_ERROR_CHARS]]
    hint = FIND_HINT if isinstance(error, NoSuchMemory) and not error.near else error.hint
    if hint:
        parts.append(f"hint: {hint[:MAX_ERROR_CHARS]}")
    text = str(_replace_surrogates("\n".join(parts)))
    meta: Json = {ERROR_META: {"code": error.code, "kind": error.kind}}
    return ToolAnswer((text,), None, refused=True, meta=meta)


# -- fields --------------------------------------------------------------------------------


def _select_memory(values: OperationAnswer) -> Json:
    """Return a memory without what it says."""
    return {name: values[name] for name in _MEMORY_FIELDS} | {"title": values["headline"]}


def _add_content(values: OperationAnswer, content: str, limit: int) -> Json:
    cut = {"cut": len(content) - limit} if len(content) > limit else {}
    return {**_select_memory(values), "content": content[:limit], **cut}


def _select_changed_memory(answer: OperationAnswer) -> Json:
    memory = answer["memory"]
    if "connections" not in answer:  # else it is what was asked for
        return _select_memory(memory)
    return _add_content(memory, memory["content"], MAX_WHOLE_CHARS)


def _select_results(answer: OperationAnswer) -> list[Json]:
    return [_select_result(each) for each in answer["results"]]


def _select_result(hit: OperationAnswer) -> Json:
    """Return a hit with what its text shows: the passage that fits, else the beginning."""
    memory, passage = hit["memory"], hit["passage"]
    content = memory["content"] if passage is None else passage["text"]
    told = _add_content(memory, content, MAX_HIT_CHARS)
    if passage is not None:
        told["cut"] = len(memory["content"]) - len(str(told["content"]))
    around = {"around": hit["around"]} if hit.get("around") else {}
    return {"memory": told, "score": hit["score"], "reasons": hit["reasons"], **around}


def _select_connections(answer: OperationAnswer) -> list[Json]:
    return [_select_connection(each) for each in answer["connections"][:MAX_CONNECTIONS]]


def _select_connection(link: OperationAnswer) -> Json:
    other = link["target"] if link["direction"] == "out" else link["source"]
    reason = link["reason"] and link["reason"][:MAX_REASON_CHARS]
    return {"node_id": other, **{name: link[name] for name in _CONNECTION_FIELDS}, "reason": reason}


def _select_linked(answer: OperationAnswer) -> list[Json]:
    return [
        {"node_id": each["target"], "edge": each["edge"], "weight": each["weight"]}
        for each in answer["linked"]
    ]


def _cut_maintenance(answer: OperationAnswer) -> Json:
    """Return a batch of questions, or reports with their first patches only."""
    given: Json = {name: value for name, value in answer.items() if name != "text"}
    given.setdefault("job_id", None)
    if "reports" in given:
        given["reports"] = [_cut_report(each) for each in cast("list[Json]", given["reports"])]
    return given


def _cut_report(report: OperationAnswer) -> Json:
    patches = report.get("patches") or []
    return {**report, "patches": patches[:MAX_REPORT_PATCHES]}


def _make_field_reader(name: str) -> Callable[[OperationAnswer], object]:
    return lambda answer: answer.get(name)


_FIELD_READERS: Mapping[str, Callable[[OperationAnswer], object]] = MappingProxyType(
    {
        **{
            name: _make_field_reader(name)
            for name in (
                "node_id",
                "existing",
                "change",
                "notes",
                "similar",
                "silence",
                "silence_parts",
                "folded",
                "status",
                "job_id",
            )
        },
        "memory": _select_changed_memory,
        "results": _select_results,
        "connections": _select_connections,
        "neighbours": lambda answer: [
            _select_memory(each) for each in answer["neighbours"][:MAX_NEIGHBOURS]
        ],
        "linked": _select_linked,
    }
)


def _replace_surrogates(values: Any) -> Any:
    """Return values that can be written as UTF-8: half a surrogate pair, from a file's name or
    a client's escape, becomes a question mark."""
    text = json.dumps(values, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.loads(text.encode("utf-8", "replace"))
    return values
