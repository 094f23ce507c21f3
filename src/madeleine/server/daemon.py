"""The daemon: one process that holds a home open and answers for it.

Where the truth is in a database, the home holds only what belongs to this server (settings,
token, socket, logs, caches), and any number of servers with homes of their own answer for it.

The order at the start: the lock, then both sockets, then the home. So a second daemon is
told that the home is open, a taken port is told before anything is opened, and a client that
comes while the index is being brought up to date waits instead of being turned away. At the
end requests under way are finished, the journal is flushed, and the lock is let go last. A
kill at any moment needs no tidying up: the lock goes with the process, and the next daemon
replaces the socket.
"""

from __future__ import annotations

import _thread
import asyncio
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import cast

from uvicorn.config import Config
from uvicorn.server import Server

from madeleine.api.home_paths import run_folder
from madeleine.api.remote import find_daemon
from madeleine.bootstrap import (
    LOCK_TIMEOUT_SECONDS,
    HomeContext,
    HomeContexts,
    HomeLock,
    describe_unknown_home_variables,
    load_settings,
    make_folders,
    open_homes,
)
from madeleine.errors import CannotListen, HomeBusy
from madeleine.model.codec import Json
from madeleine.server.app import App
from madeleine.server.background import BackgroundLoops
from madeleine.server.connections import (
    GuardedConnection,
    OpenConnections,
    count_admissible,
    handle_loop_trouble,
    raise_descriptor_limit,
)
from madeleine.server.guard import Guard
from madeleine.server.launch import LOG_FILE
from madeleine.server.logs import log_to_file
from madeleine.server.loops import make_loops
from madeleine.server.page_sessions import PageSessions
from madeleine.server.sockets import BACKLOG, announce_daemon, listen_tcp, listen_unix, read_token
from madeleine.write.reconcile import ProgressCallback

KEEP_ALIVE_SECONDS = 65
ACCEPTED_AT_ONCE = 32  # connections taken in before the pool looks how many there are
SHUTDOWN_POLL_SECONDS = 0.1  # between two looks at who is still there when the daemon ends
SHUTDOWN_TIMEOUT_SECONDS = 30  # how long an ending daemon waits for a client that does not finish
NO_HOME_TIMEOUT_SECONDS = 3.5  # how long an ending daemon without a home waits for anything
PRIVATE_UMASK = 0o077  # a umask: whatever we make, others cannot read

log = logging.getLogger("madeleine.daemon")


@dataclass(frozen=True, slots=True)
class DaemonAddress:
    """Where a daemon listens."""

    pid: int
    host: str
    port: int
    socket: str
    wanted_port: int
    """The one that was asked for; another than `port` where that was taken."""

    def to_json(self) -> Json:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _ListeningSockets:
    """Both sockets, and where they are."""

    sockets: list[socket.socket]
    address: DaemonAddress


def serve(
    home: Path,
    host: str | None = None,
    port: int | None = None,
    ready: Callable[[DaemonAddress], None] = lambda address: None,
    or_any_port: bool = False,
) -> None:
    """Run a daemon on a home until it is told to end. `ready` is called when it answers.

    `HomeBusy` if the home is open elsewhere, `CannotListen` if the address is taken; with
    `or_any_port` any free port will do then.
    """
    os.umask(PRIVATE_UMASK)
    settings = load_settings(home)
    make_folders(home)
    with ExitStack() as stack:
        stop = stack.enter_context(_catch_signals())
        lock = stack.enter_context(_hold_home_lock(home))
        handler = log_to_file(home / "logs" / LOG_FILE)
        stack.callback(logging.getLogger().removeHandler, handler)
        wanted = (host or settings.server.host, _port_or_default(port, settings.server.port))
        listening = stack.enter_context(_open_sockets(home, *wanted, or_any_port))
        try:
            contexts = open_homes(
                home, settings, lock, progress=_make_stop_check(stop), ending=stop
            )
        except _StoppedWhileOpening:
            return  # what is indexed by now stays; the next start carries on
        ended = threading.Event()
        stack.callback(ended.set)
        stack.callback(_close_contexts, contexts)
        for note in describe_unknown_home_variables(home):
            log.warning("%s", note)
            contexts.first.notes.append(note)
        watching = threading.Thread(
            target=_exit_without_home, args=(home, stop, ended), daemon=True
        )
        watching.start()
        _run_server(contexts, listening, stop, ready)


def _exit_without_home(home: Path, stop: threading.Event, ended: threading.Event) -> None:
    """End the process a while after it was told to, if its home is gone by then: whatever still
    waits for a file, a lock or a client has nothing left to save."""
    stop.wait()
    deadline = time.monotonic() + NO_HOME_TIMEOUT_SECONDS
    while time.monotonic() < deadline or (home / "run" / "lock").exists():
        if ended.wait(SHUTDOWN_POLL_SECONDS):
            return
    os._exit(0)


class _StoppedWhileOpening(Exception):
    """The daemon was told to end while it was still opening the home."""


def _make_stop_check(stop: threading.Event) -> ProgressCallback:
    def go_on(done: int, total: int) -> None:
        if stop.is_set():
            raise _StoppedWhileOpening

    return go_on


def _port_or_default(given: int | None, default: int) -> int:
    return default if given is None else given


@contextmanager
def _hold_home_lock(home: Path) -> Iterator[HomeLock]:
    """Hold the home. Where a daemon answers there is no point in waiting for it."""
    if find_daemon(home) is not None:
        raise HomeBusy(home, _read_daemon_pid(home))
    lock = HomeLock(home)
    lock.take(LOCK_TIMEOUT_SECONDS)
    try:
        yield lock
    finally:
        lock.release()


def _read_daemon_pid(home: Path) -> int | None:
    try:
        text = (run_folder(home) / "pid").read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return None
    return int(text) if text.isdigit() else None


@contextmanager
def _open_sockets(
    home: Path, host: str, port: int, or_any_port: bool
) -> Iterator[_ListeningSockets]:
    """Listen on TCP first: if its port is taken there is nothing to take back."""
    with ExitStack() as stack:
        tcp = stack.enter_context(_listen_tcp_or_any(host, port, or_any_port))
        unix, path = listen_unix(home)
        stack.enter_context(unix)
        bound = tcp.getsockname()[1]
        stack.enter_context(announce_daemon(home, bound, path))
        address = DaemonAddress(os.getpid(), host, bound, str(path), port or bound)
        yield _ListeningSockets([tcp, unix], address)


def _listen_tcp_or_any(host: str, port: int, or_any_port: bool) -> socket.socket:
    """Listen on this port; on any, if it is taken and whoever started us needs only the socket."""
    try:
        return listen_tcp(host, port)
    except CannotListen as error:
        if not or_any_port:
            raise
        log.warning("%s; taking any free port instead", error.message)
        return listen_tcp(host, 0)


def _run_server(
    contexts: HomeContexts,
    listening: _ListeningSockets,
    stop: threading.Event,
    ready: Callable[[DaemonAddress], None],
) -> None:
    """Answer requests until `stop` is set."""
    address, began = listening.address, time.monotonic()
    background, context = BackgroundLoops(make_loops(contexts, stop), stop), contexts.first

    def facts() -> Json:
        uptime = round(time.monotonic() - began, 3)
        return {**address.to_json(), "uptime_seconds": uptime, "loops": background.to_json()}

    app = App(contexts, _build_guard(context, address), facts, stop.set, stop.is_set)
    pool = OpenConnections(count_admissible(raise_descriptor_limit()))
    server = _StoppableServer(
        _build_uvicorn_config(app, pool),
        stop,
        lambda: _announce_started(address, background, ready),
        pool,
    )
    try:
        server.run(listening.sockets)
    finally:
        app.close()
        background.end()
        log.info("ended")


def _announce_started(
    address: DaemonAddress, background: BackgroundLoops, ready: Callable[[DaemonAddress], None]
) -> None:
    log.info("listening on %s:%d and %s", address.host, address.port, address.socket)
    ready(address)
    background.start()


def _build_guard(context: HomeContext, address: DaemonAddress) -> Guard:
    wanted = context.settings.server
    token = read_token(context.home)
    names = frozenset(each.strip().lower() for each in wanted.names.split(",") if each.strip())
    return Guard(
        token,
        address.host,
        address.port,
        wanted.trust_loopback,
        wanted.admin_token,
        names,
        PageSessions(token, address.port),
    )


def _build_uvicorn_config(app: App, pool: OpenConnections) -> Config:
    connection = cast(type[asyncio.Protocol], partial(GuardedConnection, pool=pool))
    return Config(
        app,
        http=connection,
        loop="asyncio",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,  # a header must not decide who is on this machine
        server_header=False,
        backlog=ACCEPTED_AT_ONCE,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=SHUTDOWN_TIMEOUT_SECONDS,
    )


class _StoppableServer(Server):
    """uvicorn's server, ended by an event and telling when it answers."""

    def __init__(
        self,
        config: Config,
        stop: threading.Event,
        started: Callable[[], None],
        pool: OpenConnections,
    ) -> None:
        super().__init__(config)
        self._pool = pool
        self._stop = stop
        self._told = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(partial(handle_loop_trouble, self._pool))
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(BACKLOG)  # who waits to be accepted costs us no descriptor
        self._told()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Tell everybody at once: whoever listens to what happens would else be waited for."""
        _set_from_signal(self._stop)
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End without waiting for clients that connected while the server was closing: uvicorn
        says goodbye once, to the connections that it had then."""
        goodbye = asyncio.create_task(self._close_late_connections())
        try:
            await super().shutdown(sockets)
        finally:
            goodbye.cancel()

    async def _close_late_connections(self) -> None:
        while True:
            await asyncio.sleep(SHUTDOWN_POLL_SECONDS)
            for connection in list(self.server_state.connections):
                connection.shutdown()

    async def main_loop(self) -> None:
        """Wait until the process is told to end; uvicorn would look ten times a second."""
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._tell_end, args=(loop, ended), daemon=True).start()
        await ended.wait()
        self.should_exit = True

    def _tell_end(self, loop: asyncio.AbstractEventLoop, ended: asyncio.Event) -> None:
        self._stop.wait()
        loop.call_soon_threadsafe(ended.set)


def _set_from_signal(event: threading.Event) -> None:
    """Set an event from a signal handler, by another thread. The signal may have interrupted this
    one while it was setting the same event; then it would wait for a lock that it holds itself."""
    _thread.start_new_thread(event.set, ())


@contextmanager
def _catch_signals() -> Iterator[threading.Event]:
    """Give an event that SIGTERM and SIGINT set.

    uvicorn raises a signal again after it ended for it; then it comes here and does nothing
    more, so that the home is closed in order.
    """
    stop = threading.Event()

    def note(number: int, frame: FrameType | None) -> None:
        _set_from_signal(stop)

    before = {each: signal.signal(each, note) for each in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stop
    finally:
        for each, old in before.items():
            signal.signal(each, old)


def _close_contexts(contexts: HomeContexts) -> None:
    """Close the contexts for good. The lock of writers stays taken: a job that was left behind,
    waiting for a model, must not write to a home that others may have open by then."""
    for context in contexts.list_open():
        context.stores.executor.wait()  # what is to be done later may want to write
        context.stores.writing.acquire()
    contexts.close()
