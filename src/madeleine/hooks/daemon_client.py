"""The way from `madeleine mcp` to the daemon: one HTTP request over its socket for each message.

If no daemon runs one is started and waited for; if it ends instead, its own last words in
logs/daemon.log say why. What was surely not carried out is tried again; what may have been is the
caller's business (`AnswerLost`). Only what starts quickly is imported here.
"""

from __future__ import annotations

import threading
from _socket import AF_UNIX, SHUT_RDWR, SOCK_STREAM, socket
from fcntl import LOCK_NB, LOCK_SH, flock
from posix import (
    O_CLOEXEC,
    O_RDONLY,
    WNOHANG,
    close,
    fstat,
    lseek,
    open,
    read,
    waitpid,
    waitstatus_to_exitcode,
)
from time import monotonic, sleep

from madeleine.hooks.whisper import HookDirections, read_response, start_daemon

START_SECONDS = 60.0  # how long a daemon may take until it can be reached
START_PAUSE = 5.0  # after somebody else tried to start one
POLL_SECONDS = 0.02
CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 30.0  # of a daemon that is alive but stuck; one that dies hangs up at once
ATTEMPTS = 3
MAX_LOG_BYTES = 16_384  # of the end of the log, for a daemon's last words


class DaemonUnreachable(Exception):
    """None can be reached, and none could be started."""


class AnswerLost(Exception):
    """The daemon went away before it answered; what was asked may have been done."""


class AnswerLate(AnswerLost):
    """The daemon is there and does not answer."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"the daemon did not answer within {seconds:g} s, and what was asked may be done yet; "
            "`madeleine doctor` says whether it is stuck, `madeleine stop` ends it"
        )


class PendingRequest:
    """One message on its way; another thread may call it off."""

    def __init__(self) -> None:
        self.called_off = False
        self._connection: socket | None = None
        self._lock = threading.Lock()

    def take(self, connection: socket) -> None:
        with self._lock:
            self._connection = connection
            if self.called_off:
                shut_down(connection)

    def call_off(self) -> None:
        with self._lock:
            self.called_off = True
            if self._connection is not None:
                shut_down(self._connection)

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None


class DaemonClient:
    """The daemon of one home, whether it runs or not. Any thread may ask."""

    def __init__(self, home: str) -> None:
        self._home = home.rstrip("/")
        self._lock = threading.Lock()
        self._child = 0
        self._reached = False
        self._log = DaemonLog(f"{self._home}/logs/daemon.log")
        self._refused: tuple[float, str] = (0.0, "")

    def ask(
        self, request: bytes, safe: bool, flight: PendingRequest, seconds: float = ANSWER_SECONDS
    ) -> tuple[int, bytes]:
        """Return the status and body of the answer, waiting at most `seconds` for it. What is
        `safe` may be asked twice."""
        for attempt in range(ATTEMPTS):
            connection = self._connect_or_start()
            flight.take(connection)
            try:
                sent, answer = exchange_request(connection, request, seconds)
            finally:
                flight.close()
            if answer is not None:
                return answer
            if flight.called_off or (sent and not safe) or attempt == ATTEMPTS - 1:
                break
        raise AnswerLost

    def _connect_or_start(self) -> socket:
        """Return a connection, if need be to a daemon that is started for it."""
        until = monotonic() + START_SECONDS
        while True:
            directions = HookDirections(self._home)
            try:
                connection = connect_to(directions.socket)
            except OSError as error:
                problem = str(error)
            else:
                self._reached = True
                return connection
            self._start(directions)
            if monotonic() >= until:
                raise DaemonUnreachable(f"no daemon can be reached: {self._log.last() or problem}")
            sleep(POLL_SECONDS)

    def _start(self, directions: HookDirections) -> None:
        """Start a daemon, unless one that was started a moment ago is on its way."""
        with self._lock:
            ended = self._exit_code()
            if self._child and ended is None:
                return
            if ended is not None and not self._reached and not is_home_open(self._home):
                self._child = 0
                why = self._log.last() or f"it ended at once (exit {ended})"
                self._refused = (monotonic() + START_PAUSE, f"the daemon does not start: {why}")
            if monotonic() < self._refused[0]:
                raise DaemonUnreachable(self._refused[1])  # so soon it would only end again
            pause = 0.0 if ended is not None and self._reached else START_PAUSE
            size = self._log.size
            try:
                self._child = start_daemon(directions, pause)
            except OSError as error:
                raise DaemonUnreachable(f"no daemon can be started: {error}") from error
            self._log.mark = size if self._child else self._log.mark
            self._reached = self._reached and not self._child

    def _exit_code(self) -> int | None:
        """Return the exit code of the daemon that we started, if it has ended."""
        if not self._child:
            return None
        try:
            process, status = waitpid(self._child, WNOHANG)
        except ChildProcessError:
            return 0  # where a parent set its children to be forgotten
        return waitstatus_to_exitcode(status) if process else None


class DaemonLog:
    """The daemon's log, as far as it was written since a mark."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.mark = self.size

    @property
    def size(self) -> int:
        return self._read()[0]

    def last(self) -> str:
        """Return the last line since the mark, without its time and author; empty without one."""
        size, end = self._read()
        new = end[-(size - self.mark) :] if size > self.mark else b""
        lines = new.decode("utf-8", "replace").strip().splitlines()
        return lines[-1].rpartition(" madeleine.daemon: ")[2].strip() if lines else ""

    def _read(self) -> tuple[int, bytes]:
        try:
            handle = open(self._path, O_RDONLY | O_CLOEXEC)
        except OSError:
            return 0, b""  # nothing was written yet
        try:
            size = fstat(handle).st_size
            lseek(handle, max(0, size - MAX_LOG_BYTES), 0)
            return size, read(handle, MAX_LOG_BYTES)
        finally:
            close(handle)


def is_home_open(home: str) -> bool:
    """Whether some process has the home open: then a daemon that could not have it will do."""
    try:
        handle = open(f"{home}/run/lock", O_RDONLY | O_CLOEXEC)
    except OSError:
        return False
    try:
        flock(handle, LOCK_SH | LOCK_NB)
    except OSError:
        return True
    finally:
        close(handle)
    return False


def connect_to(where: str) -> socket:
    connection = socket(AF_UNIX, SOCK_STREAM)
    try:
        connection.settimeout(CONNECT_SECONDS)
        connection.connect(where)
    except OSError:
        connection.close()
        raise
    return connection


def exchange_request(
    connection: socket, request: bytes, seconds: float
) -> tuple[bool, tuple[int, bytes] | None]:
    """Return whether the request went out whole, and the answer if it came whole. One that is
    refused while it is still being sent has an answer as well."""
    sent = False
    connection.settimeout(seconds)
    try:
        try:
            connection.sendall(request)
            sent = True
        except BrokenPipeError:
            pass  # the daemon may have said why
        head, body = read_response(connection, monotonic() + seconds)
        return sent, (int(head.split(b" ", 2)[1]), body) if head else None
    except TimeoutError as error:
        raise AnswerLate(seconds) from error
    except (OSError, ValueError, IndexError):
        return sent, None


def shut_down(connection: socket) -> None:
    """Wake whoever waits for this connection."""
    try:
        connection.shutdown(SHUT_RDWR)
    except OSError:
        return  # it is closed already
