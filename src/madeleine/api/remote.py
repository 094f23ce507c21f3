"""The way to the daemon: one HTTP request over its unix socket per call.

Light on purpose: every command that goes through the daemon waits for these imports. What is
spoken is the little of HTTP that our own daemon speaks, because `http.client` alone would take
as long to load as all of this. Errors come back as the base they belong to, with the daemon's
own message and hint.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import cast
from urllib.parse import quote, urlencode

from madeleine.api.error_codec import error_from_json
from madeleine.api.home_paths import (
    fits_socket_address,
    is_private,
    own_socket_path,
    run_folder,
    socket_path,
)
from madeleine.api.routes import ROUTE_BY_NAME, Route
from madeleine.errors import DaemonDown, MadeleineError, Unavailable

Json = dict[str, object]

CONNECT_TIMEOUT_SECONDS = 5.0
ANSWER_TIMEOUT_SECONDS = 600.0  # a daemon that is alive but stuck; one that dies hangs up at once
STOP_TIMEOUT_SECONDS = 60.0
STOP_REPLY_TIMEOUT_SECONDS = (
    10.0  # for a daemon to say that it was told to end; one that is stuck never does
)
SIGNAL_TIMEOUT_SECONDS = 5.0  # after SIGTERM, before SIGKILL
POLL_SECONDS = 0.02


class RemoteDoor:
    """Calls operations of the daemon behind a socket. Any thread may use it."""

    def __init__(self, where: Path, patience: float = ANSWER_TIMEOUT_SECONDS) -> None:
        self.where = where
        self._patience = patience

    def call(
        self,
        name: str,
        id: str | None = None,
        query: Mapping[str, object] | None = None,
        body: Mapping[str, object] | None = None,
        by: str = "python",
    ) -> Json:
        """Ask the daemon and return its answer; what it refuses is raised."""
        route = ROUTE_BY_NAME[name]
        seconds = None if route.unbounded else self._patience
        status, answer = self._ask(_build_request(route, id, query, body, by), seconds)
        if status >= 400:
            raise _build_error(status, _parse_json(answer))
        return _parse_json(answer)

    perform = call
    """In this process an answer is a dataclass (`LocalDoor.perform`); a daemon's is JSON."""

    def close(self) -> None:
        """Nothing stays open between calls."""

    def _ask(self, request: bytes, seconds: float | None) -> tuple[int, bytes]:
        try:
            with _connect(self.where) as connection:
                connection.settimeout(seconds)
                connection.sendall(request)
                return _read_response(connection)
        except (FileNotFoundError, ConnectionRefusedError) as error:
            raise DaemonDown(str(self.where)) from error
        except (OSError, EOFError, ValueError) as error:
            raise _connection_lost_error(self.where) from error


def find_daemon(home: Path) -> RemoteDoor | None:
    """Return the door to the daemon on this home, or None if none is running."""
    where = socket_path(home)
    if not fits_socket_address(where) or (
        where != own_socket_path(home) and not is_private(where.parent)
    ):
        return None
    try:
        _connect(where).close()
    except OSError:
        return None
    return RemoteDoor(where)


def stop_daemon(home: Path, wait_seconds: float = STOP_TIMEOUT_SECONDS) -> bool:
    """Ask the daemon to end and wait until it let go of the home; False if none was running.

    One that does not hear us, or does not end in time, is ended by its process id: what it
    acknowledged is on the disk (I4), and the next one tidies up.
    """
    door = find_daemon(home)
    if door is None:
        return False
    heard = _ask_to_stop(door.where, min(STOP_REPLY_TIMEOUT_SECONDS, wait_seconds))
    if heard and _wait_until_free(home, wait_seconds):
        return True
    for number in (signal.SIGTERM, signal.SIGKILL):
        _send_signal(home, number)
        if _wait_until_free(home, SIGNAL_TIMEOUT_SECONDS):
            return True
    raise Unavailable("the daemon does not end", hint="see logs/daemon.log")


def _ask_to_stop(where: Path, seconds: float) -> bool:
    try:
        RemoteDoor(where, seconds).call("stop")
    except Unavailable:
        return False
    return True


def _wait_until_free(home: Path, wait_seconds: float) -> bool:
    """Whether nobody has the home open, waiting at most `wait_seconds` for that."""
    deadline = time.monotonic() + wait_seconds
    while _is_lock_held(run_folder(home) / "lock"):
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def _send_signal(home: Path, number: signal.Signals) -> None:
    """Send a signal to the daemon, if it is the one that has the home open: whoever holds the
    lock wrote its process id there, and a daemon also announces it."""
    run = run_folder(home)
    try:
        pid, holder = ((run / name).read_text(encoding="ascii").strip() for name in ("pid", "lock"))
        if pid == holder and pid.isdigit() and _is_lock_held(run / "lock"):
            os.kill(int(pid), number)
    except (FileNotFoundError, ProcessLookupError):
        return  # it ended meanwhile


def _connect(where: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(CONNECT_TIMEOUT_SECONDS)
        connection.connect(os.fspath(where))
    except OSError:
        connection.close()
        raise
    return connection


def _is_lock_held(lock: Path) -> bool:
    try:
        handle = os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def _build_request(
    route: Route,
    id: str | None,
    query: Mapping[str, object] | None,
    body: Mapping[str, object] | None,
    by: str,
) -> bytes:
    data = json.dumps(dict(body or {})).encode("ascii") if route.method == "POST" else b""
    head = (
        f"{route.method} {_build_target(route, id, query)} HTTP/1.1\r\n"
        f"Host: localhost\r\nX-Agent-Id: {' '.join(by.split())}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
    )
    return head.encode("utf-8") + data


def _read_response(connection: socket.socket) -> tuple[int, bytes]:
    """Read one answer whole; one that breaks off is an EOFError."""
    with connection.makefile("rb") as stream:
        first = stream.readline().split(b" ", 2)
        if len(first) < 2:
            raise EOFError
        length = 0
        while line := stream.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        answer = stream.read(length)
    if len(answer) < length:
        raise EOFError
    return int(first[1]), answer


def _build_target(route: Route, id: str | None, query: Mapping[str, object] | None) -> str:
    path = route.path.replace("{id}", quote(id or "", safe=""))
    pairs = [(name, text) for name, value in (query or {}).items() for text in _query_values(value)]
    return f"{path}?{urlencode(pairs)}" if pairs else path


def _query_values(value: object) -> list[str]:
    """Return a value as query parameters: none, one, or one for each item of a list."""
    if value is None:
        return []
    if isinstance(value, list | tuple):
        return [str(each) for each in value]
    return [str(value).lower() if isinstance(value, bool) else str(value)]


def _parse_json(data: bytes) -> Json:
    try:
        return cast("Json", json.loads(data))
    except (ValueError, RecursionError) as error:
        raise Unavailable("the daemon's answer is not JSON", hint="see logs/daemon.log") from error


def _build_error(status: int, answer: Json) -> MadeleineError:
    given = answer.get("error")
    error = error_from_json(given if isinstance(given, dict) else {"message": f"HTTP {status}"})
    error.http_status = status
    return error


def _connection_lost_error(where: Path) -> Unavailable:
    return Unavailable(
        f"the daemon at {where} went away before it answered",
        hint="look whether it was done, then try again",
    )
