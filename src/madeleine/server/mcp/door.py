"""The door to the tools, in the application. It is light: the MCP library takes a second to load,
and does so in a thread when the first client comes, so that a hook that waits meanwhile is heard.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Receive, Scope, Send

from madeleine.errors import WrongMethod

if TYPE_CHECKING:
    from madeleine.server.mcp.serving import Carry

PATH = "/mcp"


class McpDoor:
    """POST /mcp. There is no stream to GET and no session to DELETE: every call stands alone."""

    def __init__(self, carry: Carry, max_body_bytes: int) -> None:
        self._carry = carry
        self._max_body_bytes = max_body_bytes
        self._loading = asyncio.Lock()
        self._serving: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            raise WrongMethod(scope["method"], scope["path"], ["POST"])
        serving = self._serving or await self._loaded()
        await serving(scope, receive, send)

    async def _loaded(self) -> ASGIApp:
        async with self._loading:
            if self._serving is None:
                self._serving = await asyncio.to_thread(self._load)
            return self._serving

    def _load(self) -> ASGIApp:
        from madeleine.server.mcp.serving import Serving

        return Serving(self._carry, self._max_body_bytes)
