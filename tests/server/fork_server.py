"""Daemons of tests, forked from a process that has imported what a daemon imports.

A daemon spends a second of processor time on imports, and the tests start hundreds. The fork
server imports once; each daemon is a child of it, a process of its own with its own environment,
folder, streams and session, that runs `madeleine.server` from the first line of `run_process`.
How a daemon starts from nothing is tested where the real `launch` is called.
"""

from __future__ import annotations

import functools
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

from madeleine.server.launch import open_log
from madeleine.server.process import run_process

MOST_BYTES = 1 << 20


class ForkedProcess:
    """A child of the fork server, to be handled like a `subprocess.Popen`."""

    def __init__(self, control: socket.socket, pid: int, stdout: IO[bytes]) -> None:
        self._control = control
        self.pid = pid
        self.stdout: IO[bytes] | None = stdout
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self._control], [], [], 0)[0]:
            self._read_exit()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._control], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(["madeleine.server"], timeout or 0)
            self._read_exit()
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int, /) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _read_exit(self) -> None:
        with self._control as control:
            self.returncode = json.loads(control.recv(64))


@functools.cache
def _server() -> tuple[subprocess.Popen[bytes], str]:
    """Start the fork server of this process. It ends when this process does: its stdin closes."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "tests.server.fork_server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert process.stdout is not None
    return process, process.stdout.readline().decode().strip()


def fork_daemon(home: Path, host: str | None, port: int | None) -> ForkedProcess:
    """Start a daemon as `madeleine.server.launch` does, but for its imports."""
    _, address = _server()
    arguments = ["--home", os.fspath(home)]
    arguments += ["--host", host] if host is not None else []
    arguments += ["--port", str(port)] if port is not None else []
    wanted = {"arguments": arguments, "environment": dict(os.environ), "folder": str(Path.cwd())}
    control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    control.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MOST_BYTES)
    control.connect("\0" + address)
    reading, writing = os.pipe()
    log = open_log(home)
    try:
        socket.send_fds(control, [json.dumps(wanted).encode()], [writing, log])
    finally:
        os.close(writing)
        os.close(log)
    pid = json.loads(control.recv(64))
    return ForkedProcess(control, pid, os.fdopen(reading, "rb", buffering=0))


def _serve() -> int:
    """Fork whoever is asked for until nobody can ask any more. Return in a child what its main
    function returns, so that it ends as any Python process does."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, MOST_BYTES)
    address = f"madeleine-tests-{os.getpid()}"
    listening.bind("\0" + address)
    listening.listen()
    sys.stdout.write(address + "\n")
    sys.stdout.flush()
    woken, waking = os.pipe()
    os.set_blocking(waking, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    children: dict[int, socket.socket] = {}
    while True:
        ready = select.select([0, listening.fileno(), woken], [], [])[0]
        if woken in ready:
            os.read(woken, 4096)
            _report_ended(children)
        if 0 in ready:
            for pid in children:  # whoever asked for them is gone
                os.kill(pid, signal.SIGTERM)
            return 0
        if listening.fileno() in ready:
            control, _ = listening.accept()
            message, files, _, _ = socket.recv_fds(control, MOST_BYTES, 2)
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for each in (listening, control, *children.values()):
                    each.close()
                os.close(woken)
                os.close(waking)
                return _run_daemon(json.loads(message), files)
            for file in files:
                os.close(file)
            children[pid] = control
            control.send(json.dumps(pid).encode())


def _report_ended(children: dict[int, socket.socket]) -> None:
    while children:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        with children.pop(pid) as control:
            try:
                control.send(json.dumps(os.waitstatus_to_exitcode(status)).encode())
            except BrokenPipeError:
                pass  # the test has ended without asking


def _run_daemon(wanted: dict[str, object], files: list[int]) -> int:
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, each in enumerate((nothing, *files)):
        os.dup2(each, number)
        os.close(each)
    os.chdir(str(wanted["folder"]))
    os.environ.clear()
    environment, arguments = wanted["environment"], wanted["arguments"]
    assert isinstance(environment, dict)
    assert isinstance(arguments, list)
    os.environ.update(environment)
    time.tzset()
    return run_process(arguments)


if __name__ == "__main__":
    sys.exit(_serve())
