"""The way from `madeleine mcp` to the daemon: one HTTP request over its socket for each message.

If no daemon runs one is started and waited for. What was surely not carried out is tried again;
what may have been is the caller's business (`Lost`). Only what starts quickly is imported here.
"""

from __future__ import annotations

import threading
from _socket import AF_UNIX, SHUT_RDWR, SOCK_STREAM, socket
from posix import WNOHANG, waitpid, waitstatus_to_exitcode
from time import monotonic, sleep

from madeleine.hooks.whisper import Directions, start, whole

START_SECONDS = 60.0  # how long a daemon may take until it can be reached
PAUSE_SECONDS = 5.0  # after somebody else tried to start one
POLL_SECONDS = 0.02
CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 600.0  # of a daemon that is alive but stuck; one that dies hangs up at once
ATTEMPTS = 3
UNAVAILABLE = 5  # the exit code of a daemon that found the home open elsewhere


class NoDaemon(Exception):
    """None can be reached, and none could be started."""


class Lost(Exception):
    """The daemon went away before it answered; what was asked may have been done."""


class Flight:
    """One message on its way; another thread may call it off."""

    def __init__(self) -> None:
        self.called_off = False
        self._connection: socket | None = None
        self._lock = threading.Lock()

    def take(self, connection: socket) -> None:
        with self._lock:
            self._connection = connection
            if self.called_off:
                hang_up(connection)

    def call_off(self) -> None:
        with self._lock:
            self.called_off = True
            if self._connection is not None:
                hang_up(self._connection)

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None


class Daemon:
    """The daemon of one home, whether it runs or not. Any thread may ask."""

    def __init__(self, home: str) -> None:
        self._home = home.rstrip("/")
        self._lock = threading.Lock()
        self._child = 0
        self._reached = False

    def ask(self, request: bytes, safe: bool, flight: Flight) -> tuple[int, bytes]:
        """Return the status and body of the answer. What is `safe` may be asked twice."""
        for attempt in range(ATTEMPTS):
            connection = self._connected()
            flight.take(connection)
            try:
                sent, answer = exchanged(connection, request)
            finally:
                flight.close()
            if answer is not None:
                return answer
            if flight.called_off or (sent and not safe) or attempt == ATTEMPTS - 1:
                break
        raise Lost

    def _connected(self) -> socket:
        """Return a connection, if need be to a daemon that is started for it."""
        until = monotonic() + START_SECONDS
        while True:
            directions = Directions(self._home)
            try:
                connection = connected(directions.socket)
            except OSError as error:
                problem = str(error)
            else:
                self._reached = True
                return connection
            self._start(directions)
            if monotonic() >= until:
                raise NoDaemon(f"no daemon can be reached: {problem}")
            sleep(POLL_SECONDS)

    def _start(self, directions: Directions) -> None:
        """Start a daemon, unless one that was started a moment ago is on its way."""
        with self._lock:
            ended = self._ended()
            if self._child and ended is None:
                return
            if ended not in (None, UNAVAILABLE) and not self._reached:
                self._child = 0
                raise NoDaemon(f"the daemon ended at once (exit {ended})")
            pause = 0.0 if ended is not None and self._reached else PAUSE_SECONDS
            try:
                self._child = start(directions, pause)
            except OSError as error:
                raise NoDaemon(f"no daemon can be started: {error}") from error
            self._reached = self._reached and not self._child

    def _ended(self) -> int | None:
        """Return the exit code of the daemon that we started, if it has ended."""
        if not self._child:
            return None
        try:
            process, status = waitpid(self._child, WNOHANG)
        except ChildProcessError:
            return 0  # where a parent set its children to be forgotten
        return waitstatus_to_exitcode(status) if process else None


def connected(where: str) -> socket:
    connection = socket(AF_UNIX, SOCK_STREAM)
    try:
        connection.settimeout(CONNECT_SECONDS)
        connection.connect(where)
    except OSError:
        connection.close()
        raise
    return connection


def exchanged(connection: socket, request: bytes) -> tuple[bool, tuple[int, bytes] | None]:
    """Return whether the request went out whole, and the answer if it came whole. One that is
    refused while it is still being sent has an answer as well."""
    sent = False
    connection.settimeout(ANSWER_SECONDS)
    try:
        try:
            connection.sendall(request)
            sent = True
        except BrokenPipeError:
            pass  # the daemon may have said why
        head, body = whole(connection, monotonic() + ANSWER_SECONDS)
        return sent, (int(head.split(b" ", 2)[1]), body) if head else None
    except TimeoutError as error:
        raise Lost from error
    except (OSError, ValueError, IndexError):
        return sent, None


def hang_up(connection: socket) -> None:
    """Wake whoever waits for this connection."""
    try:
        connection.shutdown(SHUT_RDWR)
    except OSError:
        return  # it is closed already
