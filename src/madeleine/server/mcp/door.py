"""The door to the tools, in the application. It is light: the MCP library takes a second to load,
and does so in a thread when the first client comes, so that a hook that waits meanwhile is heard.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Receive, Scope, Send

from madeleine.errors import WrongMethod

if TYPE_CHECKING:
    from madeleine.server.mcp.server import PerformOperation

MCP_PATH = "/mcp"


class McpDoor:
    """POST /mcp. There is no stream to GET and no session to DELETE: every call stands alone."""

    def __init__(self, perform: PerformOperation, max_body_bytes: int) -> None:
        self._perform = perform
        self._max_body_bytes = max_body_bytes
        self._loading = asyncio.Lock()
        self._server: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            raise WrongMethod(scope["method"], scope["path"], ["POST"])
        server = self._server or await self._load_once()
        await server(scope, receive, send)

    async def _load_once(self) -> ASGIApp:
        async with self._loading:
            if self._server is None:
                self._server = await asyncio.to_thread(self._load)
            return self._server

    def _load(self) -> ASGIApp:
        from madeleine.server.mcp.server import McpServer

        return McpServer(self._perform, self._max_body_bytes)
