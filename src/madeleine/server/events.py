"""`GET /events`: what happens, as it happens, as server-sent events.

Each event has a name (`remembered`, `whispered`, `job_finished` …) and a small JSON body. Who
connects late has missed what was before; vault and journal have it. A client that reads too
slowly is sent a last event that says so, and may connect again. So is one whose token was revoked
meanwhile, or who shares other spaces than when they came.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, suppress

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from madeleine.api.reach import CallerReach
from madeleine.api.wording import add_silence_sentence
from madeleine.errors import MadeleineError, TooMany, Unavailable
from madeleine.model.times import format_time
from madeleine.write.bell import BusEvent, EventBus

CLIENTS = 32  # each holds a connection and a queue
WAITING = 1_000  # events that a client may be behind
ALIVE_SECONDS = 15.0  # between two signs of life, so that nobody in between closes the line
LOOK_SECONDS = 0.5  # between two looks whether the daemon ends
ASK_SECONDS = 5.0  # between two looks whether the client may still listen
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


LetIn = Callable[[Scope], Awaitable[CallerReach]]
"""Says how far a request reaches, or refuses it."""


class Events:
    """The stream of one daemon."""

    def __init__(self, let_in: LetIn, ending: Callable[[], bool]) -> None:
        self._let_in = let_in
        self._ending = ending
        self._clients = 0

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send, reach: CallerReach
    ) -> None:
        if self._clients >= CLIENTS:
            raise TooMany
        self._clients += 1
        try:
            bells = await asyncio.to_thread(_bells, reach)
            stream = self._stream(scope, reach, bells)
            answer = StreamingResponse(stream, 200, HEADERS, "text/event-stream")
            await answer(scope, receive, send)
        finally:
            self._clients -= 1

    async def _stream(
        self, scope: Scope, reach: CallerReach, bells: list[EventBus]
    ) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[BusEvent | None] = asyncio.Queue(WAITING)

        def hear(happening: BusEvent) -> None:
            with suppress(RuntimeError):  # the loop ended between the look and the call
                loop.call_soon_threadsafe(_put, queue, happening)

        with ExitStack() as listening:
            for bell in bells:
                listening.enter_context(bell.subscribe(hear))
            yield b": listening\n\n"
            async for part in self._parts(queue, _Leave(self._let_in, scope, reach, bells)):
                yield part

    async def _parts(
        self, queue: asyncio.Queue[BusEvent | None], leave: _Leave
    ) -> AsyncIterator[bytes]:
        quiet = 0.0
        while not self._ending():
            if not await leave.holds():
                yield b'event: lost\ndata: {"why": "what you may hear changed; connect again"}\n\n'
                return
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


class _Leave:
    """The leave that a client has to listen, asked for anew every now and then."""

    def __init__(
        self, let_in: LetIn, scope: Scope, reach: CallerReach, bells: list[EventBus]
    ) -> None:
        self._let_in = let_in
        self._scope = scope
        self._reach = reach
        self._bells = bells
        self._asked = time.monotonic()

    async def holds(self) -> bool:
        """Whether the client may still hear what it hears. A database that does not answer
        changes nothing: then nothing happens there either."""
        if self._reach.caller is None or time.monotonic() - self._asked < ASK_SECONDS:
            return True
        self._asked = time.monotonic()
        try:
            now = await self._let_in(self._scope)
            bells = await asyncio.to_thread(_bells, now)
        except Unavailable:
            return True
        except MadeleineError:
            return False
        return now.caller == self._reach.caller and bells == self._bells


def _bells(reach: CallerReach) -> list[EventBus]:
    """Return where what happens within reach is told."""
    return [place.context.stores.event_bus for place in reach.places()]


def _put(queue: asyncio.Queue[BusEvent | None], happening: BusEvent) -> None:
    """Add what happened; the last place is for saying that more was lost."""
    if queue.qsize() < WAITING - 1:
        queue.put_nowait(happening)
    elif not queue.full():
        queue.put_nowait(None)


def _encoded(happening: BusEvent) -> bytes:
    body = {"at": format_time(happening.at), **add_silence_sentence(happening.body)}
    data = json.dumps(body, ensure_ascii=False)
    return f"event: {happening.name}\ndata: {data}\n\n".encode("utf-8", "backslashreplace")
