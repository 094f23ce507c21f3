"""What happens to a hook while its answer is on the way: a relay between it and a real daemon.

The hook is the real process, asked as a host asks it. A test says what is done when the daemon has
answered and the hook has read nothing yet (`on_reply`), and when the hook confirms (`on_receipt`).
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.hooks.running import CLIENT, Ran
from tests.server.running import WAIT_SECONDS

DEADLINE_MS = 1_200  # a busy machine answers by then; a test that lets it pass waits for it
PAUSE_SECONDS = 0.05  # beyond the deadline


def nothing(hook: RelayedHook) -> None:
    """Let it happen."""


@dataclass(slots=True)
class RelayedHook:
    """One hook's process, on its way through the relay."""

    process: subprocess.Popen[bytes]
    asked_at: float = 0.0
    """When it has asked; it began before that."""
    replied: threading.Event = field(default_factory=threading.Event)
    """Set when all that a test does to it is done."""

    def stop(self) -> None:
        os.kill(self.process.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        os.kill(self.process.pid, signal.SIGCONT)

    def wait_for_deadline(self) -> None:
        over = self.asked_at + DEADLINE_MS / 1000 + PAUSE_SECONDS
        time.sleep(max(over - time.monotonic(), 0))


Act = Callable[[RelayedHook], None]


@dataclass(slots=True)
class Relay:
    """A home for hooks whose socket is ours; behind it is a daemon."""

    home: Path
    daemon: Path
    """The socket of the daemon."""
    on_reply: Act = nothing
    on_receipt: Act = nothing
    receipts: list[bytes] = field(default_factory=list)
    _hook: RelayedHook | None = None

    def start(self, body: object, command: tuple[str, ...] = ()) -> RelayedHook:
        """Start a hook as a host does."""
        words = command or (sys.executable, "-I", "-S", os.fspath(CLIENT), os.fspath(self.home))
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._hook = RelayedHook(process)
        assert process.stdin is not None
        process.stdin.write(json.dumps(body).encode())
        process.stdin.close()
        process.stdin = None
        return self._hook

    def run(self, body: object, command: tuple[str, ...] = ()) -> Ran:
        """Run a hook to its end."""
        hook = self.start(body, command)
        out, err = hook.process.communicate(timeout=WAIT_SECONDS)
        assert hook.replied.wait(WAIT_SECONDS)
        return Ran(hook.process.returncode, out, err)

    def by_command(self) -> tuple[str, ...]:
        """The documented command in the place of the thin client."""
        return (
            sys.executable,
            *("-m", "madeleine", "whisper", "inject"),
            *("--home", os.fspath(self.home)),
        )

    def carry(self, client: socket.socket) -> None:
        """Pass on one request, its answer, and what the client says after it."""
        with client, socket.socket(socket.AF_UNIX) as daemon:
            daemon.settimeout(WAIT_SECONDS)
            daemon.connect(os.fspath(self.daemon))
            asked = whole_message(client)
            assert self._hook is not None
            hook = self._hook
            hook.asked_at = time.monotonic()
            daemon.sendall(asked)
            reply = whole_message(daemon)
            self.on_reply(hook)
            hook.replied.set()
            try:
                client.sendall(reply)
                while said := client.recv(65_536):
                    self.receipts.append(said)
                    self.on_receipt(hook)
                    daemon.sendall(said)
            except OSError:
                return  # the hook is gone, or the daemon is


def whole_message(source: socket.socket) -> bytes:
    """Return one HTTP message, head and body."""
    got = b""
    while True:
        head, ended, body = got.partition(b"\r\n\r\n")
        lengths = [
            int(line.partition(b":")[2])
            for line in head.lower().split(b"\r\n")
            if line.startswith(b"content-length:")
        ]
        if ended and len(body) >= sum(lengths):
            return got
        part = source.recv(65_536)
        assert part, "it broke off"
        got += part


@contextmanager
def relay(home: Path, daemon: Path) -> Iterator[Relay]:
    """Listen in the place of a daemon; `home` is what hooks are told."""
    (home / "run").mkdir(parents=True)
    words = [str(DEADLINE_MS), str(home / "run" / "socket"), "/nowhere", str(home)]
    (home / "run" / "hook").write_text("\0".join(words), encoding="utf-8")
    made = Relay(home, daemon)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.fspath(home / "run" / "socket"))
        server.listen(16)

        def serve() -> None:
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=made.carry, args=(client,), daemon=True).start()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield made
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join(WAIT_SECONDS)
