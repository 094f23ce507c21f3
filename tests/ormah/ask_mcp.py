"""Run by the Python that has Ormah: calls tools of `ormah mcp` with the official client.

Reads JSON lines `[tool, arguments]` from stdin and writes each answer's text as a JSON line. The
first line that it writes holds the names of the tools.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main() -> None:
    ormah = Path(sys.executable).with_name("ormah")
    server = StdioServerParameters(command=str(ormah), args=["mcp"], env=dict(os.environ))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        say(sorted(tool.name for tool in (await session.list_tools()).tools))
        while line := await asyncio.to_thread(sys.stdin.readline):
            tool, arguments = json.loads(line)
            done = await session.call_tool(tool, arguments)
            say("\n".join(part.text for part in done.content))


def say(value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


asyncio.run(main())
