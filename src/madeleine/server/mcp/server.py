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

from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    TextContent,
    TextResourceContents,
)
from mcp_types import Tool as ListedTool
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from madeleine.api.call import OperationCall
from madeleine.api.moment_operations import brief_session
from madeleine.api.operation import Operation
from madeleine.api.reach import CallerReach
from madeleine.api.remember_operations import remember_memory
from madeleine.errors import MadeleineError
from madeleine.model.codec import Json
from madeleine.server.guard import REACH_KEY, read_header
from madeleine.server.mcp.calls import SESSION_HEADER, build_call, new_session_id, read_client
from madeleine.server.mcp.reference import render_tools_guide
from madeleine.server.mcp.tool_answers import ToolAnswer, render_tool_answer, render_tool_error
from madeleine.server.mcp.tools import (
    MCP_INSTRUCTIONS,
    TOOL_BY_NAME,
    TOOLS,
    McpTool,
    input_schema,
    tool_to_json,
)
from madeleine.server.request_reading import check_keys, read_body
from madeleine.version import __version__
from madeleine.write.agent_writes import refuse_excluded_folder

TOOL_LIST_CACHE_MS = 300_000  # how long a client may keep the list of tools, and other lists
BRIEF_CACHE_MS = 60_000  # and a brief
CACHED_LISTS: tuple[CacheableMethod, ...] = (
    "server/discover",
    "tools/list",
    "resources/list",
    "prompts/list",
)
"""What does not change while the daemon runs."""
BRIEF_URI = "madeleine://brief"
TOOLS_URI = "madeleine://tools"
TOOLS_NAME = "tools"
TOOLS_TITLE = "What the tools take"
TOOLS_HELP = "Every argument of every tool, with what it means; the list of tools is shorter."
BRIEF_NAME = "brief"
BRIEF_TITLE = "Where things stand"
BRIEF_HELP = (
    "What a session in this project should know at its start: how things are done here, what was "
    "decided, what was worked on last. For hosts without a hook at the start of a session."
)
NOTHING_TO_TELL = "Nothing is remembered that a session here should know at its start."

AsgiMessage = MutableMapping[str, Any]
PerformOperation = Callable[[Scope, Operation[Any], OperationCall], Awaitable[Json]]
"""Carries out an operation by its name, for whose request it is."""


class McpServer:
    """The MCP server of one daemon, as an ASGI application."""

    def __init__(self, perform: PerformOperation, max_body_bytes: int) -> None:
        self._tools = _ToolHandlers(perform)
        self._max_body_bytes = max_body_bytes
        self._starting = asyncio.Lock()
        self._manager: StreamableHTTPSessionManager | None = None
        self._life: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await read_body(Request(scope, receive), self._max_body_bytes)
        check_keys(body)
        manager = await self._running_manager()
        await manager.handle_request(
            scope, _replay_body(body, receive), _add_session_id(scope, body, send)
        )

    async def _running_manager(self) -> StreamableHTTPSessionManager:
        """Return the library's manager, which lives in a task until the daemon ends."""
        async with self._starting:
            if self._manager is None or self._life is None or self._life.done():
                self._manager = self._new_manager()
                begun = asyncio.Event()
                self._life = asyncio.create_task(_run_manager(self._manager, begun))
                await begun.wait()
            return self._manager

    def _new_manager(self) -> StreamableHTTPSessionManager:
        return StreamableHTTPSessionManager(
            self._tools.server(),
            json_response=True,
            stateless=True,
            max_request_body_size=self._max_body_bytes,
        )


async def _run_manager(manager: StreamableHTTPSessionManager, begun: asyncio.Event) -> None:
    async with manager.run():
        begun.set()
        await asyncio.Event().wait()


def _replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives a body that was read already."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receiving() -> AsgiMessage:
        return messages.pop() if messages else await receive()

    return receiving


def _add_session_id(scope: Scope, body: bytes, send: Send) -> Send:
    """Return a `send` that gives a client that introduces itself its session id."""
    name = None if read_header(scope, SESSION_HEADER) else _read_introduction(body)
    if name is None:
        return send

    async def sending(message: AsgiMessage) -> None:
        if message["type"] == "http.response.start" and message["status"] == 200:
            message["headers"] = [*message["headers"], (SESSION_HEADER, new_session_id(name))]
        await send(message)

    return sending


def _read_introduction(body: bytes) -> str | None:
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


class _ToolHandlers:
    """What the library is told, and what it asks."""

    def __init__(self, perform: PerformOperation) -> None:
        self._perform = perform
        self._listed = [ListedTool.model_validate(tool_to_json(each)) for each in TOOLS]
        self._schemas = {each.name: input_schema(each) for each in TOOLS}

    def server(self) -> Server[Any]:
        hint = CacheHint(TOOL_LIST_CACHE_MS, "private")
        return Server(
            "madeleine",
            version=__version__,
            title="Madeleine",
            instructions=MCP_INSTRUCTIONS,
            cache_hints=dict.fromkeys(CACHED_LISTS, hint),
            get_tool_input_schema=self._schemas.get,
            on_list_tools=self._list,
            on_call_tool=self._call,
            on_list_resources=self._list_resources,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )

    async def _list(
        self, context: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=self._listed)

    async def _call(
        self, context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult:
        tool = TOOL_BY_NAME.get(params.name)
        if tool is None:
            known = ", ".join(TOOL_BY_NAME)
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name[:100]}; there are {known}")
        try:
            return _build_tool_result(
                render_tool_answer(tool, await self._perform_tool(context, tool, params))
            )
        except MadeleineError as error:
            return _build_tool_result(render_tool_error(error))

    async def _list_resources(
        self, context: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        brief = Resource(
            uri=BRIEF_URI,
            name=BRIEF_NAME,
            title=BRIEF_TITLE,
            description=BRIEF_HELP,
            mime_type="text/markdown",
        )
        tools = Resource(
            uri=TOOLS_URI,
            name=TOOLS_NAME,
            title=TOOLS_TITLE,
            description=TOOLS_HELP,
            mime_type="text/markdown",
        )
        return ListResourcesResult(resources=[brief, tools])

    async def _read_resource(
        self, context: ServerRequestContext[Any], params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        if params.uri == TOOLS_URI:
            return _build_resource(TOOLS_URI, render_tools_guide(), TOOL_LIST_CACHE_MS)
        if params.uri == BRIEF_URI:
            return _build_resource(BRIEF_URI, await self._brief(context), BRIEF_CACHE_MS)
        problem = f"Unknown resource: {params.uri[:100]}; there are {BRIEF_URI} and {TOOLS_URI}"
        raise MCPError(INVALID_PARAMS, problem)

    async def _list_prompts(
        self, context: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        brief = Prompt(name=BRIEF_NAME, title=BRIEF_TITLE, description=BRIEF_HELP)
        return ListPromptsResult(prompts=[brief])

    async def _get_prompt(
        self, context: ServerRequestContext[Any], params: GetPromptRequestParams
    ) -> GetPromptResult:
        if params.name != BRIEF_NAME:
            problem = f"Unknown prompt: {params.name[:100]}; there is {BRIEF_NAME}"
            raise MCPError(INVALID_PARAMS, problem)
        text = await self._brief(context) or NOTHING_TO_TELL
        said = PromptMessage(role="user", content=TextContent(type="text", text=text))
        return GetPromptResult(description=BRIEF_HELP, messages=[said])

    async def _brief(self, context: ServerRequestContext[Any]) -> str:
        """Return the brief of the folder or space that the client's address names."""
        assert isinstance(context.request, Request)
        client = context.session.client_params
        who = read_client(context.request, client.client_info.name if client else None)
        query: dict[str, object] = {"cwd": who.folder, "space": who.space}
        given = {name: each for name, each in query.items() if each}
        call = OperationCall(query=given, by=f"agent:{who.name}")
        answer = await self._perform(context.request.scope, brief_session, call)
        return str(answer["text"])

    async def _perform_tool(
        self, context: ServerRequestContext[Any], tool: McpTool, params: CallToolRequestParams
    ) -> dict[str, object]:
        assert isinstance(context.request, Request)
        client = context.session.client_params
        who = read_client(context.request, client.client_info.name if client else None)
        call = build_call(tool, params.arguments or {}, who)
        if tool.operation is remember_memory:
            reach: CallerReach = context.request.scope[REACH_KEY]
            refuse_excluded_folder(reach.context.stores.config, who.folder)
        return await self._perform(context.request.scope, tool.operation, call)


def _build_resource(uri: str, text: str, kept_ms: int) -> ReadResourceResult:
    content = TextResourceContents(uri=uri, mime_type="text/markdown", text=text)
    return ReadResourceResult(contents=[content], ttl_ms=kept_ms, cache_scope="private")


def _build_tool_result(told: ToolAnswer) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=each) for each in told.texts],
        structured_content=told.fields,
        is_error=told.refused,
        _meta=told.meta,
    )
