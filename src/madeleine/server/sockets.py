"""The two places where the daemon listens, and what it leaves there for its clients.

Whoever calls this holds the home's lock, so a socket file that is already there belongs to a
daemon that is gone.
"""

from __future__ import annotations

import errno
import os
import secrets
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from madeleine.api.home_paths import (
    fits_socket_address,
    is_private,
    own_socket_path,
    run_folder,
    socket_pointer_path,
)
from madeleine.bootstrap import runtime_folder
from madeleine.errors import CannotListen, StoreUnwritable, Unavailable

BACKLOG = 512
MAX_PORT = 65_535  # the resolver takes a larger one for another, without a word
OWNER_ONLY_UMASK = 0o177  # a umask: what is made under it is 0600


def listen_tcp(host: str, port: int) -> socket.socket:
    """Listen on an address; 0 takes any free port."""
    if not 0 <= port <= MAX_PORT:
        raise CannotListen(host, port, "no such port")
    try:
        return _bind_tcp(host, port)
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        problem = "the port is taken" if taken else (error.strerror or str(error))
        raise CannotListen(host, port, problem) from error


def _bind_tcp(host: str, port: int) -> socket.socket:
    """Make the socket with its protocol named.

    asyncio sends small packets at once only on connections that say they are TCP, and those
    inherit it from here. Otherwise an answer waits 40 ms for the client's acknowledgement.
    """
    family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    server = socket.socket(family, kind, socket.IPPROTO_TCP)
    try:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(address)
        server.listen(BACKLOG)
    except OSError:
        server.close()
        raise
    return server


def listen_unix(home: Path) -> tuple[socket.socket, Path]:
    """Listen on a socket that only its owner can reach; return it and where it is."""
    path = _choose_socket_path(home)
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        path.unlink(missing_ok=True)
        before = os.umask(OWNER_ONLY_UMASK)
        try:
            server.bind(os.fspath(path))
        finally:
            os.umask(before)
        server.listen(BACKLOG)
    except OSError as error:
        server.close()
        raise Unavailable(
            f"cannot listen on {path}: {error.strerror}", hint="see whether the disk takes files"
        ) from error
    return server, path


def _choose_socket_path(home: Path) -> Path:
    own, pointer = own_socket_path(home), socket_pointer_path(home)
    if fits_socket_address(own):
        pointer.unlink(missing_ok=True)
        return own
    place = _read_known_path(pointer) or _make_socket_folder() / "socket"
    write_private_file(pointer, f"{place}\n")
    return place


def _read_known_path(pointer: Path) -> Path | None:
    """Return the place that an earlier daemon used, if it is still ours alone."""
    try:
        place = Path(pointer.read_text(encoding="utf-8").strip())
    except FileNotFoundError:
        return None
    return place if fits_socket_address(place) and is_private(place.parent) else None


def _make_socket_folder() -> Path:
    """Make a private folder with a short path."""
    for parent in (runtime_folder(), Path(tempfile.gettempdir()), Path("/tmp")):
        if fits_socket_address(parent / "madeleine-12345678" / "socket"):
            return Path(tempfile.mkdtemp(prefix="madeleine-", dir=parent))
    raise Unavailable("no folder has a path short enough for a socket", hint="set TMPDIR to one")


@contextmanager
def announce_daemon(home: Path, port: int, socket_path: Path) -> Iterator[None]:
    """Say who listens where, and tidy up afterwards. After a kill the next daemon does."""
    run = run_folder(home)
    write_private_file(run / "pid", f"{os.getpid()}\n")
    write_private_file(run / "port", f"{port}\n")
    try:
        yield
    finally:
        for path in (run / "pid", run / "port", socket_path):
            path.unlink(missing_ok=True)


def read_token(home: Path) -> str:
    """Return the token that TCP clients must show, made on first use."""
    path = run_folder(home) / "token"
    if path.exists():
        path.chmod(0o600)
        token = path.read_text(encoding="utf-8").strip()
        if token:
            return token
    token = secrets.token_urlsafe(32)
    write_private_file(path, f"{token}\n")
    return token


def write_private_file(path: Path, text: str) -> None:
    """Write a small file that only its owner can read, whole or not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            os.write(handle, text.encode("utf-8"))
        finally:
            os.close(handle)
        beside.replace(path)
    except OSError as error:
        raise StoreUnwritable(path, error.strerror or str(error)) from error
