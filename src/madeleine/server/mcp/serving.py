"""The tools over streamable HTTP, spoken by the MCP library. It takes a second to load: only
`door` loads it, when the first client comes.

Both eras of the protocol are served: clients that introduce themselves with `initialize` and
those that send their name along with every request. To neither is a promise made that a restart
would break. Each request is answered by itself, as one JSON document.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)
from mcp_types import Tool as ListedTool
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from madeleine.api.call import OperationCall
from madeleine.errors import MadeleineError
from madeleine.model.codec import Json
from madeleine.server.guard import header
from madeleine.server.mcp.asking import SESSION, asker, call_of, new_session
from madeleine.server.mcp.tools import (
    BY_TOOL,
    INSTRUCTIONS,
    TOOLS,
    Tool,
    input_schema,
    tool_to_json,
)
from madeleine.server.mcp.wording import Said, refused, said
from madeleine.server.reading import read_body
from madeleine.version import __version__

LIST_MILLISECONDS = 300_000  # how long a client may keep the list of tools

Message = MutableMapping[str, Any]
Carry = Callable[[Scope, str, OperationCall], Awaitable[Json]]
"""Carries out an operation by its name, for whose request it is."""


class Serving:
    """The MCP server of one daemon, as an ASGI application."""

    def __init__(self, carry: Carry, max_body_bytes: int) -> None:
        self._tools = _Tools(carry)
        self._max_body_bytes = max_body_bytes
        self._starting = asyncio.Lock()
        self._manager: StreamableHTTPSessionManager | None = None
        self._life: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await read_body(Request(scope, receive), self._max_body_bytes)
        manager = await self._running()
        await manager.handle_request(scope, _again(body, receive), _introduced(scope, body, send))

    async def _running(self) -> StreamableHTTPSessionManager:
        """Return the library's manager, which lives in a task until the daemon ends."""
        async with self._starting:
            if self._manager is None or self._life is None or self._life.done():
                self._manager = self._new_manager()
                begun = asyncio.Event()
                self._life = asyncio.create_task(_live(self._manager, begun))
                await begun.wait()
            return self._manager

    def _new_manager(self) -> StreamableHTTPSessionManager:
        return StreamableHTTPSessionManager(
            self._tools.server(),
            json_response=True,
            stateless=True,
            max_request_body_size=self._max_body_bytes,
        )


async def _live(manager: StreamableHTTPSessionManager, begun: asyncio.Event) -> None:
    async with manager.run():
        begun.set()
        await asyncio.Event().wait()


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives a body that was read already."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receiving() -> Message:
        return messages.pop() if messages else await receive()

    return receiving


def _introduced(scope: Scope, body: bytes, send: Send) -> Send:
    """Return a `send` that gives a client that introduces itself its session id."""
    name = None if header(scope, SESSION) else _introduction(body)
    if name is None:
        return send

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 200:
            message["headers"] = [*message["headers"], (SESSION, new_session(name))]
        await send(message)

    return sending


def _introduction(body: bytes) -> str | None:
    """Return the name in an `initialize`; nothing if the message is another one."""
    if b'"initialize"' not in body:
        return None
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return None  # the library says what is wrong with it
    match message:
        case {"method": "initialize", "params": {"clientInfo": {"name": str() as name}}}:
            return name
        case _:
            return None


class _Tools:
    """What the library is told, and what it asks."""

    def __init__(self, carry: Carry) -> None:
        self._carry = carry
        self._listed = [ListedTool.model_validate(tool_to_json(each)) for each in TOOLS]
        self._schemas = {each.name: input_schema(each) for each in TOOLS}

    def server(self) -> Server[Any]:
        hint = CacheHint(LIST_MILLISECONDS, "private")
        return Server(
            "madeleine",
            version=__version__,
            title="Madeleine",
            instructions=INSTRUCTIONS,
            cache_hints={"tools/list": hint, "server/discover": hint},
            get_tool_input_schema=self._schemas.get,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )

    async def _list(
        self, context: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=self._listed)

    async def _call(
        self, context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult:
        tool = BY_TOOL.get(params.name)
        if tool is None:
            known = ", ".join(BY_TOOL)
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name[:100]}; there are {known}")
        try:
            return _result(said(tool, await self._performed(context, tool, params)))
        except MadeleineError as error:
            return _result(refused(error))

    async def _performed(
        self, context: ServerRequestContext[Any], tool: Tool, params: CallToolRequestParams
    ) -> dict[str, object]:
        assert isinstance(context.request, Request)
        client = context.session.client_params
        who = asker(context.request, client.client_info.name if client else None)
        call = call_of(tool, params.arguments or {}, who)
        return await self._carry(context.request.scope, tool.operation, call)


def _result(told: Said) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=each) for each in told.texts],
        structured_content=told.fields,
        is_error=told.refused,
        _meta=told.meta,
    )
