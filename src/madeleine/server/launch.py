"""Starting a daemon in the background. Light: it imports nothing that the daemon needs."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Protocol

from madeleine.api.error_codec import error_from_json
from madeleine.api.remote import find_daemon
from madeleine.errors import HomeBusy, StoreUnwritable, Unavailable

START_TIMEOUT_SECONDS = (
    120.0  # an index made anew takes a while; the daemon goes on if we stop waiting
)
LOG_FILE = "daemon.log"


class DaemonProcess(Protocol):
    """What is needed of the process of a daemon; a `subprocess.Popen` has it."""

    pid: int
    stdout: IO[bytes] | None
    returncode: int | None

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, sig: int, /) -> None: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...


@dataclass(frozen=True, slots=True)
class LaunchedDaemon:
    """A daemon that answers."""

    pid: int
    host: str
    port: int
    socket: str
    process: DaemonProcess = field(repr=False, compare=False)


def launch_daemon(
    home: Path,
    host: str | None = None,
    port: int | None = None,
    wait_seconds: float = START_TIMEOUT_SECONDS,
) -> LaunchedDaemon:
    """Start a daemon that outlives us and wait until it answers; raise what kept it from it."""
    if find_daemon(home) is not None:
        raise HomeBusy(home, None)
    return await_daemon(home, _spawn_daemon(home, host, port), wait_seconds)


def await_daemon(home: Path, process: DaemonProcess, wait_seconds: float) -> LaunchedDaemon:
    """Wait until a daemon that was started answers; raise what kept it from it."""
    message = _read_first_message(process, wait_seconds)
    ready, refused = message.get("ready"), message.get("error")
    if isinstance(ready, dict):
        return LaunchedDaemon(process.pid, ready["host"], ready["port"], ready["socket"], process)
    process.wait()
    if isinstance(refused, dict):
        raise error_from_json(refused)
    raise Unavailable(
        f"the daemon ended at once (exit {process.returncode})",
        hint=f"{home / 'logs' / LOG_FILE} says why",
    )


def _spawn_daemon(home: Path, host: str | None, port: int | None) -> subprocess.Popen[bytes]:
    # -P: the folder somebody happens to stand in is no place to import from.
    command = [sys.executable, "-P", "-m", "madeleine.server", "--home", os.fspath(home)]
    command += ["--host", host] if host is not None else []
    command += ["--port", str(port)] if port is not None else []
    log = open_log(home)
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )
    finally:
        os.close(log)


def open_log(home: Path) -> int:
    """Open the daemon's log, so that what it says in its last moment is kept too."""
    path = home / "logs" / LOG_FILE
    try:
        for folder in (home, path.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreUnwritable(path, error.strerror or str(error)) from error


def _read_first_message(process: DaemonProcess, wait_seconds: float) -> Mapping[str, object]:
    """Return the line the daemon says when it is ready or gives up; nothing if it just ended."""
    assert process.stdout is not None
    deadline = time.monotonic() + wait_seconds
    said = b""
    with process.stdout as pipe:
        while not said.endswith(b"\n"):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([pipe], [], [], left)[0]:
                raise Unavailable(
                    f"the daemon (process {process.pid}) is still starting",
                    hint="`madeleine status` answers as soon as it is ready",
                )
            part = os.read(pipe.fileno(), 65_536)
            if not part:
                return {}
            said += part
    return dict(json.loads(said))
