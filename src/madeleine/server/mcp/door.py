"""The door to the tools, in the application. It is light: the MCP library takes a second to load,
and does so in a thread when the first client comes, so that a hook that waits meanwhile is heard.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from madeleine.api.operations import Call
from madeleine.errors import WrongMethod
from madeleine.model.codec import Json

PATH = "/mcp"

Carry = Callable[[Scope, str, Call], Awaitable[Json]]
"""Carries out an operation by its name, for whose request it is."""


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
                name = "madeleine.server.mcp.serving"
                module: Any = await asyncio.to_thread(importlib.import_module, name)
                self._serving = module.Serving(self._carry, self._max_body_bytes)
            return self._serving
