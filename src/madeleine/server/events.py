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
from madeleine.write.event_bus import BusEvent, EventBus

MAX_CLIENTS = 32  # each holds a connection and a queue
MAX_QUEUED_EVENTS = 1_000  # events that a client may be behind
KEEP_ALIVE_SECONDS = 15.0  # between two signs of life, so that nobody in between closes the line
STOP_CHECK_SECONDS = 0.5  # between two looks whether the daemon ends
RECHECK_SECONDS = 5.0  # between two looks whether the client may still listen
STREAM_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


ResolveReach = Callable[[Scope], Awaitable[CallerReach]]
"""Says how far a request reaches, or refuses it."""


class EventStream:
    """The stream of one daemon."""

    def __init__(self, let_in: ResolveReach, ending: Callable[[], bool]) -> None:
        self._resolve_reach = let_in
        self._ending = ending
        self._clients = 0

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send, reach: CallerReach
    ) -> None:
        if self._clients >= MAX_CLIENTS:
            raise TooMany
        self._clients += 1
        try:
            event_buses = await asyncio.to_thread(_find_event_buses, reach)
            stream = self._stream(scope, reach, event_buses)
            answer = StreamingResponse(stream, 200, STREAM_HEADERS, "text/event-stream")
            await answer(scope, receive, send)
        finally:
            self._clients -= 1

    async def _stream(
        self, scope: Scope, reach: CallerReach, event_buses: list[EventBus]
    ) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[BusEvent | None] = asyncio.Queue(MAX_QUEUED_EVENTS)

        def hear(event: BusEvent) -> None:
            with suppress(RuntimeError):  # the loop ended between the look and the call
                loop.call_soon_threadsafe(_enqueue_event, queue, event)

        with ExitStack() as listening:
            for event_bus in event_buses:
                listening.enter_context(event_bus.subscribe(hear))
            yield b": listening\n\n"
            async for part in self._stream_parts(
                queue, _ListeningPermission(self._resolve_reach, scope, reach, event_buses)
            ):
                yield part

    async def _stream_parts(
        self, queue: asyncio.Queue[BusEvent | None], leave: _ListeningPermission
    ) -> AsyncIterator[bytes]:
        quiet = 0.0
        while not self._ending():
            if not await leave.holds():
                yield b'event: lost\ndata: {"why": "what you may hear changed; connect again"}\n\n'
                return
            try:
                event = await asyncio.wait_for(queue.get(), STOP_CHECK_SECONDS)
            except TimeoutError:
                quiet += STOP_CHECK_SECONDS
                if quiet >= KEEP_ALIVE_SECONDS:
                    quiet = 0.0
                    yield b": still here\n\n"
                continue
            quiet = 0.0
            if event is None:
                yield b'event: lost\ndata: {"why": "you read too slowly; connect again"}\n\n'
                return
            yield _encode_event(event)


class _ListeningPermission:
    """The leave that a client has to listen, asked for anew every now and then."""

    def __init__(
        self, let_in: ResolveReach, scope: Scope, reach: CallerReach, event_buses: list[EventBus]
    ) -> None:
        self._resolve_reach = let_in
        self._scope = scope
        self._reach = reach
        self._event_buses = event_buses
        self._asked = time.monotonic()

    async def holds(self) -> bool:
        """Whether the client may still hear what it hears. A database that does not answer
        changes nothing: then nothing happens there either."""
        if self._reach.caller is None or time.monotonic() - self._asked < RECHECK_SECONDS:
            return True
        self._asked = time.monotonic()
        try:
            now = await self._resolve_reach(self._scope)
            event_buses = await asyncio.to_thread(_find_event_buses, now)
        except Unavailable:
            return True
        except MadeleineError:
            return False
        return now.caller == self._reach.caller and event_buses == self._event_buses


def _find_event_buses(reach: CallerReach) -> list[EventBus]:
    """Return where what happens within reach is told."""
    return [place.context.stores.event_bus for place in reach.places()]


def _enqueue_event(queue: asyncio.Queue[BusEvent | None], event: BusEvent) -> None:
    """Add what happened; the last place is for saying that more was lost."""
    if queue.qsize() < MAX_QUEUED_EVENTS - 1:
        queue.put_nowait(event)
    elif not queue.full():
        queue.put_nowait(None)


def _encode_event(event: BusEvent) -> bytes:
    body = {"at": format_time(event.at), **add_silence_sentence(event.body)}
    data = json.dumps(body, ensure_ascii=False)
    return f"event: {event.name}\ndata: {data}\n\n".encode("utf-8", "backslashreplace")
