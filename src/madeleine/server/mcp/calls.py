"""Who asks, from where, and what a call of a tool means as an operation.

A client says its name once, when it introduces itself. Nothing is kept about it here: its name
goes into the session id that it is given, so that a session outlives the daemon. The address may
say more: `/mcp?space=atlas`, or `folder=…` and `session=…`, which the stdio side adds.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from starlette.requests import Request

from madeleine.api.call import OperationCall
from madeleine.api.memory_operations import revise_memory
from madeleine.api.reach import CallerReach
from madeleine.api.remember_operations import remember_memory
from madeleine.errors import InvalidValue, Rejected
from madeleine.model.draft import read_space
from madeleine.model.request_reader import RequestReader
from madeleine.model.spaces import split_space
from madeleine.server.guard import REACH_KEY, read_header
from madeleine.server.mcp.tools import MAX_HITS, NODE_ID, McpTool, tool_fields
from madeleine.server.request_reading import MAX_AGENT_CHARS, parse_query, read_agent_name
from madeleine.write.branches import find_working_space
from madeleine.write.projects import choose_space

SESSION_HEADER = b"mcp-session-id"
UNKNOWN_CLIENT = "unknown"

_NOT_REVISED = {NODE_ID.wire, "if_updated"}  # what says which memory to revise, not how
_BREAKS_PATTERN = re.compile(r"[\x00-\x20\x7f-\xa0\ud800-\udfff\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class McpClient:
    """The client behind a call."""

    name: str = UNKNOWN_CLIENT
    space: str | None = None
    session: str | None = None
    folder: str | None = None


def read_client(request: Request, named: str | None) -> McpClient:
    """Return who asks; `named` is the name that came with the call itself, if any did."""
    reader = RequestReader(parse_query(request.scope["query_string"]), "the address")
    folder, space = _folder_path(reader.text("folder")), read_space(reader.text("space"))
    session = reader.text("session")
    reader.done()
    found = space or _find_space(request, folder)
    return McpClient(_read_client_name(request, named), found, session, folder)


def _find_space(request: Request, folder: str | None) -> str | None:
    if folder is None:
        return None
    reach: CallerReach = request.scope[REACH_KEY]
    return find_working_space(reach.context.stores, folder, reach.is_local)


def _folder_path(folder: str | None) -> str | None:
    """Return a folder's path, also where a client calls it by its address."""
    if folder is None or not folder.startswith("file://"):
        return folder
    return f"/{unquote(folder.removeprefix('file://').partition('/')[2])}"


def _read_client_name(request: Request, named: str | None) -> str:
    if read_header(request.scope, b"x-agent-id"):
        return read_agent_name(request)
    return clean_client_name(
        named or unquote(read_header(request.scope, SESSION_HEADER).partition(".")[2])
    )


def new_session_id(name: str) -> bytes:
    """Return a session id that holds its client's name."""
    return f"{secrets.token_urlsafe(16)}.{quote(clean_client_name(name), safe='')}".encode("ascii")


def clean_client_name(given: object) -> str:
    """Return a client's name on one line; whatever else it sent is no name."""
    return _BREAKS_PATTERN.sub(" ", str(given or "")).strip()[:MAX_AGENT_CHARS] or UNKNOWN_CLIENT


def build_call(tool: McpTool, arguments: Mapping[str, object], who: McpClient) -> OperationCall:
    """Return the operation's request. The operation checks what is in it."""
    operation, given = tool.operation, dict(arguments)
    _check_arguments(tool, given)
    named = given.pop(NODE_ID.wire) if "{id}" in operation.path else None
    there = {field.wire for field in operation.fields}
    if who.session and "session_id" in there:
        given["session_id"] = who.session
    query: dict[str, object] = {}
    if who.space and "default_space" in there:
        query["default_space"] = _choose_default_space(tool, given, who)
    by = f"agent:{who.name}"
    if operation.method == "POST":
        return OperationCall(_require_text(named), query, given, by)
    return OperationCall(_require_text(named), {**query, **given}, {}, by)


def _choose_default_space(tool: McpTool, given: Mapping[str, object], who: McpClient) -> str | None:
    """Return the space of a call that names none. What is remembered is the project's, unless it
    says that it holds on the branch; what is asked is asked on the branch."""
    if tool.operation is not remember_memory or who.space is None:
        return who.space
    return choose_space(who.folder, split_space(who.space)[0], str(given.get("content") or ""))


def _check_arguments(tool: McpTool, given: Mapping[str, object]) -> None:
    """Refuse what this door does not take, though the operation would."""
    reader = RequestReader(given, f"`{tool.name}`")
    for field in tool_fields(tool):
        reader.raw(field.wire)
    reader.done()
    reader.whole("limit", 1, 1, MAX_HITS)
    if "{id}" in tool.operation.path:
        reader.required_text(NODE_ID.wire)
    for field in tool_fields(tool):
        if field.is_required and given.get(field.wire) is None:
            raise InvalidValue(field.wire, "is missing", hint=field.help)
    if tool.operation is revise_memory and not set(given) - _NOT_REVISED:
        words = ", ".join(name for name in tool.takes if name not in _NOT_REVISED)
        raise Rejected("the revision changes nothing", hint=f"name one of: {words}")


def _require_text(value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise InvalidValue(NODE_ID.wire, f"is {value!r}, not a text")
    return value
