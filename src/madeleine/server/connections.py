"""How a connection is kept from costing others theirs.

Every connection is a descriptor of the process, and index, files and the unix socket need some
too. So TCP, where anybody on the machine may knock, gets a share of them, and of that share those
get a quarter who have not shown yet that they may ask; where there are more, the oldest has to go.
Whoever may open the unix socket is the owner, and is never turned away.

Whoever sends a request has to send it: its head within `HEAD_SECONDS`, all of it within
`BODY_SECONDS`. What a proxy before us might cut into requests at other places than we do is refused
before anything reads it: folded headers, lines that end without CR, two lengths at once. A
connection on which a second request came before the first was answered is closed after that answer.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import resource
import time
from collections.abc import MutableMapping
from email.utils import formatdate
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from madeleine.api.error_codec import error_to_json
from madeleine.errors import BadFraming, MadeleineError, RequestTooSlow
from madeleine.server.background import OUT_OF_DESCRIPTORS

HEAD_SECONDS = 10.0
BODY_SECONDS = 120.0
GRACE_SECONDS = 1.0  # a client that only just came is not turned away for an older one
MAX_HEAD_BYTES = 65_536  # of names and values before the body; a token takes 100
TCP_SHARE = 0.4  # of the descriptors that the process may have
UNKNOWN_SHARE = 0.25  # of those, for connections that have not shown yet that they may ask
WANTED_DESCRIPTORS = 4_096  # what the process raises its own bound to, where it may
MAX_CONNECTIONS = 1_024
LOG_SECONDS = 60.0  # between two lines about the same trouble
CONNECTION_KEY = "madeleine.connection"  # under which a request's state has its connection

_HEAD_END = b"\r\n\r\n"
_BARE_LINE_END = re.compile(rb"(?<!\r)\n|\r(?!\n|\Z)")
_FOLDED_HEADER = re.compile(rb"\r\n[ \t]")
_HEADER_NAME = re.compile(rb"\r\n([^:\r\n]+?)[ \t]*:")
_LENGTHS = {b"content-length", b"transfer-encoding"}

log = logging.getLogger("madeleine.connections")


class OpenConnections:
    """The TCP connections of one daemon. Only the event loop touches it."""

    def __init__(self, at_most: int) -> None:
        self.at_most = at_most
        self.unknown_at_most = max(8, int(at_most * UNKNOWN_SHARE))
        self._open: dict[GuardedConnection, float] = {}
        self._logged_at: dict[str, float] = {}

    def admit(self, connection: GuardedConnection) -> bool:
        """Take a connection in, if need be in the place of another; whether it may stay."""
        now = time.monotonic()
        unknown = [each for each in self._open if not each.is_known]
        if unknown and len(unknown) >= self.unknown_at_most:
            oldest = unknown[0]
            if len(self._open) >= self.at_most or now - self._open[oldest] > GRACE_SECONDS:
                self.leave(oldest)
                oldest.hang_up()
                self.complain(
                    "crowd", "too many connections that sent no request; the oldest were closed"
                )
        if len(self._open) >= self.at_most:
            self.complain("crowd", f"more than {self.at_most:,} connections; new ones are closed")
            return False
        self._open[connection] = now
        return True

    def leave(self, connection: GuardedConnection) -> None:
        self._open.pop(connection, None)

    def complain(self, kind: str, problem: str) -> None:
        """Log a trouble, once a minute for each kind."""
        now = time.monotonic()
        if now - self._logged_at.get(kind, -LOG_SECONDS) >= LOG_SECONDS:
            self._logged_at[kind] = now
            log.warning("%s", problem)


class GuardedConnection(H11Protocol):
    """One connection: uvicorn's, with bounds."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        pool: OpenConnections,
    ) -> None:
        super().__init__(config, server_state, {**app_state, CONNECTION_KEY: self}, _loop)
        self.is_known = False
        """Whether a request on it has shown that it may ask."""
        self._pool = pool
        self._head = b""
        self._timer: asyncio.TimerHandle | None = None
        self._awaited: object = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        over_unix = self.server is not None and self.server[1] is None
        if over_unix:
            self.is_known = True
        elif not self._pool.admit(self):
            transport.abort()
            return
        self._await(h11.IDLE, HEAD_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        self._pool.leave(self)
        self._await(None, 0)
        super().connection_lost(exc)

    def hang_up(self) -> None:
        """Close at once, whatever was sent."""
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self.conn.their_state is h11.IDLE:
            self._date_answers()
            self._head += data
            if fault := find_framing_fault(self._head):
                self._refuse(BadFraming(fault), HTTPStatus.BAD_REQUEST)
                return
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._head = b""
        if self.cycle is not None and self.conn.trailing_data[0] and not self._is_reading:
            self.cycle.keep_alive = False
        self._watch()

    def _date_answers(self) -> None:
        """Give the answers to come the time of now: uvicorn would look at the clock all day."""
        date = formatdate(time.time(), usegmt=True).encode()
        self.server_state.default_headers = [(b"date", date), *self.config.encoded_headers]

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.transport.is_closing():
            self._watch()

    def send_400_response(self, msg: str) -> None:
        """Answer what h11 refuses as everything else is refused."""
        self._refuse(BadFraming("is no HTTP/1.1 request"), HTTPStatus.BAD_REQUEST)

    @property
    def _is_reading(self) -> bool:
        """Whether some of a request is still to come."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def _watch(self) -> None:
        """Wait for the rest of a request no longer than it may take."""
        state = self.conn.their_state
        if state is h11.SEND_BODY:
            self._await(state, BODY_SECONDS)
        elif state is h11.IDLE and self._head:
            self._await(state, HEAD_SECONDS)
        else:
            self._await(None, 0)

    def _await(self, what: object, seconds: float) -> None:
        if what is self._awaited and what is not None:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._awaited = what
        self._timer = None if what is None else self.loop.call_later(seconds, self._give_up)

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self._refuse(RequestTooSlow(), HTTPStatus.REQUEST_TIMEOUT)

    def _refuse(self, error: MadeleineError, status: HTTPStatus) -> None:
        """Say what is wrong, unless an answer has begun, and close."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = json.dumps({"error": error_to_json(error)}).encode()
            head = (
                f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + body)
        self.transport.close()


def find_framing_fault(head: bytes) -> str:
    """Return what is wrong with the head of a request, as far as it is here; empty if nothing is.
    What comes after the head is not looked at."""
    end = head.find(_HEAD_END)
    section = head if end < 0 else head[: end + 2]
    if len(section) > MAX_HEAD_BYTES:
        return f"has a head of more than {MAX_HEAD_BYTES:,} bytes"
    if _BARE_LINE_END.search(section):
        return "has a line in its head that does not end with CR LF"
    if _FOLDED_HEADER.search(section):
        return "has a folded header"
    names = {each.lower() for each in _HEADER_NAME.findall(section)}
    if names >= _LENGTHS:
        return "has both Content-Length and Transfer-Encoding"
    return ""


def note_authenticated(state: MutableMapping[str, Any]) -> None:
    """Note that whoever sent a request may ask."""
    connection = state.get(CONNECTION_KEY)
    if isinstance(connection, GuardedConnection):
        connection.is_known = True


def raise_descriptor_limit() -> int:
    """Have as many descriptors as the system lets us, up to what we want; return how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, WANTED_DESCRIPTORS)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return WANTED_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted


def count_admissible(descriptors: int) -> int:
    """Return how many TCP connections may be open beside everything else."""
    return max(8, min(MAX_CONNECTIONS, int(descriptors * TCP_SHARE)))


def handle_loop_trouble(
    pool: OpenConnections, loop: asyncio.AbstractEventLoop, context: dict[str, Any]
) -> None:
    """Log a want of descriptors once a minute, and everything else as asyncio does."""
    error = context.get("exception")
    if isinstance(error, OSError) and error.errno in OUT_OF_DESCRIPTORS:
        pool.complain(
            "descriptors", f"no descriptor is free for a new connection: {error.strerror}"
        )
        return
    loop.default_exception_handler(context)
