"""`GET /events`: what happens, as it happens, as server-sent events.

Each event has a name (`remembered`, `whispered`, `job_finished` …) and a small JSON body. Who
connects late has missed what was before; vault and journal have it. A client that reads too
slowly is sent a last event that says so, and may connect again.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from madeleine.errors import TooMany
from madeleine.model.times import format_time
from madeleine.write.bell import Bell, Happening

CLIENTS = 32  # each holds a connection and a queue
WAITING = 1_000  # events that a client may be behind
ALIVE_SECONDS = 15.0  # between two signs of life, so that nobody in between closes the line
LOOK_SECONDS = 0.5  # between two looks whether the daemon ends
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class Events:
    """The stream of one daemon."""

    def __init__(self, bell: Bell, ending: Callable[[], bool]) -> None:
        self._bell = bell
        self._ending = ending
        self._clients = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._clients >= CLIENTS:
            raise TooMany
        self._clients += 1
        try:
            answer = StreamingResponse(self._stream(), 200, HEADERS, "text/event-stream")
            await answer(scope, receive, send)
        finally:
            self._clients -= 1

    async def _stream(self) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[Happening | None] = asyncio.Queue(WAITING)

        def hear(happening: Happening) -> None:
            with suppress(RuntimeError):  # the loop ended between the look and the call
                loop.call_soon_threadsafe(_put, queue, happening)

        with self._bell.heard_by(hear):
            yield b": listening\n\n"
            async for part in self._parts(queue):
                yield part

    async def _parts(self, queue: asyncio.Queue[Happening | None]) -> AsyncIterator[bytes]:
        quiet = 0.0
        while not self._ending():
            try:
                happening = await asyncio.wait_for(queue.get(), LOOK_SECONDS)
            except TimeoutError:
                quiet += LOOK_SECONDS
                if quiet >= ALIVE_SECONDS:
                    quiet = 0.0
                    yield b": still here\n\n"
                continue
            quiet = 0.0
            if happening is None:
                yield b'event: lost\ndata: {"why": "you read too slowly; connect again"}\n\n'
                return
            yield _encoded(happening)


def _put(queue: asyncio.Queue[Happening | None], happening: Happening) -> None:
    """Add what happened; the last place is for saying that more was lost."""
    if queue.qsize() < WAITING - 1:
        queue.put_nowait(happening)
    elif not queue.full():
        queue.put_nowait(None)


def _encoded(happening: Happening) -> bytes:
    body = {"at": format_time(happening.at), **happening.body}
    data = json.dumps(body, ensure_ascii=False)
    return f"event: {happening.name}\ndata: {data}\n\n".encode("utf-8", "backslashreplace")
