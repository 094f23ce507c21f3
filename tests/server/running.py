"""Real daemons in tests: started as processes, asked over real sockets."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from madeleine.api.remote import RemoteDoor, find_daemon, stop_daemon
from madeleine.errors import HomeBusy
from madeleine.server.launch import (
    START_TIMEOUT_SECONDS,
    LaunchedDaemon,
    await_daemon,
    launch_daemon,
)
from tests.server.answering import problems_of
from tests.server.fork_server import fork_daemon

WAIT_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back over HTTP."""

    status: int
    body: Any
    headers: dict[str, str]

    @property
    def error(self) -> dict[str, str]:
        return dict(self.body["error"])


@dataclass(slots=True)
class Daemon:
    """A daemon process on a home of its own."""

    home: Path
    launched: LaunchedDaemon
    token: str = field(default="")

    def __post_init__(self) -> None:
        self.token = (self.home / "run" / "token").read_text(encoding="utf-8").strip()

    @property
    def door(self) -> RemoteDoor:
        return RemoteDoor(Path(self.launched.socket))

    @property
    def vault(self) -> Path:
        return self.home / "vault"

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        raw: bytes | None = None,
        headers: dict[str, str] | None = None,
        token: str | None = "",
        **query: object,
    ) -> Answer:
        """Ask over TCP with the token; `token=None` leaves it out."""
        shown = self.token if token == "" else token
        given = {"Authorization": f"Bearer {shown}"} if shown is not None else {}
        data = raw
        if data is None and body is not None:
            data = json.dumps(body).encode()
        if data is not None:
            given["Content-Type"] = "application/json"
        target = f"{path}?{urlencode(query, doseq=True)}" if query else path
        return send("127.0.0.1", self.launched.port, method, target, data, given | (headers or {}))

    def ok(self, method: str, path: str, body: object = None, **query: Any) -> Any:
        """Ask and expect it to work, and the answer to be what /openapi.json says."""
        answer = self.ask(method, path, body, **query)
        assert answer.status == 200, answer.body
        problems = problems_of(method, path, answer.body)
        assert not problems, problems
        return answer.body

    def remember(self, content: str, **draft: object) -> str:
        """Remember a text and return its id."""
        return str(self.ok("POST", "/agent/remember", {"content": content, **draft})["node_id"])

    def recall(self, query: str, **more: object) -> list[dict[str, Any]]:
        """Return the memories that a recall finds."""
        found = self.ok("POST", "/agent/recall", {"query": query, **more})["results"]
        return [each["memory"] for each in found]

    def kill(self) -> None:
        """End the process as a power cut would."""
        os.kill(self.launched.pid, signal.SIGKILL)
        self.launched.process.wait(WAIT_SECONDS)

    def end(self) -> int:
        """Stop the daemon, if it still runs, and return its exit code."""
        if self.launched.process.poll() is None:
            stop_daemon(self.home, WAIT_SECONDS)
        return self.launched.process.wait(WAIT_SECONDS)


def send(
    host: str,
    port: int,
    method: str,
    target: str,
    data: bytes | Iterator[bytes] | None,
    headers: dict[str, str],
) -> Answer:
    """Send one HTTP request over TCP; an iterator of bytes is sent in chunks."""
    connection = http.client.HTTPConnection(host, port, timeout=WAIT_SECONDS)
    try:
        chunked = data is not None and not isinstance(data, bytes)
        connection.request(method, target, data, headers, encode_chunked=chunked)
        response = connection.getresponse()
        text = response.read()
        found = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, json.loads(text), found)
    finally:
        connection.close()


def launch_forked(home: Path, host: str | None = None, port: int | None = None) -> LaunchedDaemon:
    """Start a daemon as `launch_daemon` does, from a process that has done the imports."""
    if find_daemon(home) is not None:
        raise HomeBusy(home, None)
    return await_daemon(home, fork_daemon(home, host, port), START_TIMEOUT_SECONDS)


@contextmanager
def running(home: Path, *, from_nothing: bool = False, **options: Any) -> Iterator[Daemon]:
    """Run a daemon on any free port, and end it however the test ends. With `from_nothing` it is
    a new interpreter, as a person's is."""
    start = launch_daemon if from_nothing else launch_forked
    daemon = Daemon(home, start(home, **{"port": 0, **options}))
    try:
        yield daemon
    finally:
        if daemon.launched.process.poll() is None:
            daemon.launched.process.terminate()
        daemon.launched.process.wait(WAIT_SECONDS)


def eventually(true: Callable[[], object], seconds: float = 5.0) -> None:
    """Wait until a condition holds, and no longer than `seconds`."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"did not come true within {seconds} s"
        time.sleep(0.02)


@contextmanager
def busy_port() -> Iterator[int]:
    """Give a port that somebody else listens on."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield taken.getsockname()[1]
