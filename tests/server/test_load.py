"""Twenty agents at once at a daemon that writes and sleeps besides: nobody is answered late."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from madeleine.hooks.whisper import build_request, read_response
from tests.hooks.running import variables
from tests.server.running import WAIT_SECONDS, Daemon, running

pytestmark = pytest.mark.timeout(120)
DEADLINE_MS = 3_000  # a busy machine is ten times as slow as one that is measured
AGENTS = 20
PROMPTS = 120
PLACES = ("Bergen", "Leeds", "Frankfurt", "Marlin", "Juniper", "Oslo", "Quito", "Perth")


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with pytest.MonkeyPatch.context() as patch:
        known = variables(deadline_ms=DEADLINE_MS, nudge_interval=0)
        for name, value in {**known, "MADELEINE_EMBEDDER_KIND": "fake"}.items():
            patch.setenv(name, value)
        patch.delenv("MADELEINE_HOME", raising=False)
        with running(tmp_path_factory.mktemp("home")) as started:
            for number in range(60):
                place = PLACES[number % len(PLACES)]
                started.remember(f"The depot {number} in {place} opens at half past {number % 12}")
            yield started


def type_prompt(daemon: Daemon, number: int) -> tuple[float, bytes]:
    """Ask as a hook does; return how long the answer took, and its first line."""
    given = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": f"agent {number % AGENTS}",
        "prompt": f"when does depot {number % 60} in {PLACES[number % len(PLACES)]} open?",
    }
    began = time.monotonic()
    until = began + DEADLINE_MS / 1000
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(WAIT_SECONDS)
        connection.connect(str(daemon.home / "run" / "socket"))
        connection.sendall(build_request("inject", "claude", json.dumps(given).encode(), until))
        head, _ = read_response(connection, began + WAIT_SECONDS)
    return time.monotonic() - began, head.partition(b"\r\n")[0]


@pytest.mark.proves("I5")
def test_many_prompts_at_once_beside_writers_and_jobs_are_all_answered_in_time(
    daemon: Daemon,
) -> None:
    def write(number: int) -> None:
        daemon.remember(f"A note {number} that is written meanwhile")

    with ThreadPoolExecutor(PROMPTS) as agents, ThreadPoolExecutor(3) as others:
        cycle = others.submit(daemon.door.call, "run_all", query={"wait": "true"})
        writing = [others.submit(write, number) for number in range(10)]
        answers = list(agents.map(lambda number: type_prompt(daemon, number), range(PROMPTS)))
        cycle.result()
        for each in writing:
            each.result()

    assert {line for _, line in answers} == {b"HTTP/1.1 200 OK"}
    assert max(took for took, _ in answers) < DEADLINE_MS / 1000
    status: Any = daemon.door.call("status")
    counts = status["daemon"]["hooks"]
    assert counts.get("late", 0) == 0
    assert counts["prompts"] == PROMPTS
