"""The official MCP client against real daemons, and the protocol by hand where it must be exact."""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, Implementation, TextContent

from tests.server.running import Answer, Daemon

ERAS = ("legacy", "2026-07-28")
"""The handshake that clients know since the beginning, and the revision without one."""
HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
SECONDS = 50.0

T = TypeVar("T")

_numbers = itertools.count(1)


def talk(story: Callable[[], Awaitable[T]]) -> T:
    """Run an asynchronous story to its end, within bounds."""

    async def bounded() -> T:
        return await asyncio.wait_for(story(), SECONDS)

    return asyncio.run(bounded())


@asynccontextmanager
async def over_http(daemon: Daemon, era: str, name: str = "tester") -> AsyncIterator[Client]:
    shown = {"Authorization": f"Bearer {daemon.token}"}
    async with httpx2.AsyncClient(headers=shown, timeout=SECONDS) as http:
        address = f"http://127.0.0.1:{daemon.launched.port}/mcp"
        transport = streamable_http_client(address, http_client=http)
        async with Client(transport, mode=era, client_info=_named(name)) as client:
            yield client


@asynccontextmanager
async def over_stdio(
    home: Path, era: str, name: str = "tester", cwd: Path | None = None, **options: Any
) -> AsyncIterator[Client]:
    command = StdioServerParameters(
        command=sys.executable,
        args=["-P", "-m", "madeleine", "mcp", "--home", str(home)],
        env=dict(os.environ),
        cwd=cwd,
    )
    transport = stdio_client(command)
    async with Client(transport, mode=era, client_info=_named(name), **options) as client:
        yield client


def _named(name: str) -> Implementation:
    return Implementation(name=name, version="1")


def said(result: CallToolResult) -> str:
    """Return the text of a result."""
    return "\n".join(each.text for each in result.content if isinstance(each, TextContent))


def fields(result: CallToolResult) -> dict[str, Any]:
    """Return what a result says beside its text; it must have worked."""
    assert not result.is_error, said(result)
    assert isinstance(result.structured_content, dict)
    return result.structured_content


def message(method: str, **params: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": next(_numbers), "method": method, "params": params}


def introduction(version: str, name: str = "tester") -> dict[str, object]:
    info = {"name": name, "version": "1"}
    return message("initialize", protocolVersion=version, capabilities={}, clientInfo=info)


def post(
    daemon: Daemon, body: object, headers: dict[str, str] | None = None, **more: Any
) -> Answer:
    """Send one message by hand."""
    accept = {"Accept": "application/json, text/event-stream"}
    return daemon.ask("POST", "/mcp", body, headers=accept | (headers or {}), **more)
