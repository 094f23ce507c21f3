"""`GET /events` and `GET /metrics`: what happens as it happens, and in numbers."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.server.running import Daemon, running

SECONDS = 20.0


@dataclass(slots=True)
class Listening:
    """A connection that reads events as they come."""

    response: http.client.HTTPResponse

    def next(self) -> tuple[str, dict[str, Any]]:
        name = ""
        while True:
            line = self.response.readline().decode().rstrip("\n")
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                return name, json.loads(line.removeprefix("data: "))

    def until(self, wanted: str) -> dict[str, Any]:
        """Return the next event of this name, whatever comes before it."""
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            name, body = self.next()
            if name == wanted:
                return body
        raise AssertionError(f"no {wanted} within {SECONDS} s")


@contextmanager
def listening(daemon: Daemon) -> Iterator[Listening]:
    connection = http.client.HTTPConnection("127.0.0.1", daemon.launched.port, timeout=SECONDS)
    try:
        connection.request("GET", "/events", headers={"Authorization": f"Bearer {daemon.token}"})
        response = connection.getresponse()
        assert response.status == 200
        assert response.getheader("content-type", "").startswith("text/event-stream")
        assert response.readline() == b": listening\n"
        yield Listening(response)
    finally:
        connection.close()


def test_who_listens_is_told_what_is_remembered_and_changed(daemon: Daemon) -> None:
    with listening(daemon) as heard:
        memory = daemon.remember("Events are told to whoever listens")
        assert heard.until("remembered")["node_id"] == memory
        daemon.ok("POST", f"/agent/update/{memory}", {"title": "Told"})
        revised = heard.until("revised")
        assert revised["memories"] == [memory]
        assert "whoever listens" not in json.dumps(revised)
        daemon.ok("DELETE", f"/agent/recall/{memory}")
        assert heard.until("forgotten")["memories"] == [memory]


def test_who_listens_is_told_of_whispers_silences_and_runs(daemon: Daemon) -> None:
    with listening(daemon) as heard:
        said = daemon.ok("POST", "/agent/whisper", {"prompt": "what about the unheard-of zebra?"})
        assert heard.until("whispered")["id"] == said["whisper_id"]
        daemon.ok("POST", "/consolidate", {"task": "decay"})
        assert heard.until("job_started")["job"] == "decay"
        finished = heard.until("job_finished")
        assert finished["job"] == "decay"
        assert "patches" not in finished
        daemon.ok("POST", "/consolidate", {"task": "decay", "dry_run": True})
        assert heard.until("job_finished")["dry_run"] is True


def test_an_edit_by_hand_is_told_too(home: Path) -> None:
    with running(home) as daemon:
        memory = daemon.remember("Written by a verb")
        time.sleep(0.1)
        (path,) = [each for each in daemon.vault.glob("*.md") if memory[:8] in each.name]
        with listening(daemon) as heard:
            path.write_text(path.read_text("utf-8").replace("a verb", "a hand"), "utf-8")

            told = heard.until("changed")

    assert told["by"] == "file"
    assert told["memories"] == [memory]


def test_a_daemon_ends_though_somebody_listens(home: Path) -> None:
    with running(home) as daemon, listening(daemon):
        began = time.monotonic()
        assert daemon.end() == 0
        assert time.monotonic() - began < 10


def test_a_daemon_told_by_a_signal_ends_at_once_too(home: Path) -> None:
    with running(home) as daemon, listening(daemon):
        daemon.launched.process.terminate()

        assert daemon.launched.process.wait(SECONDS) == 0


def test_listening_needs_the_token(daemon: Daemon) -> None:
    assert daemon.ask("GET", "/events", token=None).status == 401
    assert daemon.ask("GET", "/metrics", token="wrong").status == 401


def test_metrics_tell_the_numbers_in_the_format_of_prometheus(home: Path) -> None:
    with running(home) as daemon:
        daemon.remember("A memory that is counted")
        daemon.ok("POST", "/consolidate", {"task": "decay"})
        connection = http.client.HTTPConnection("127.0.0.1", daemon.launched.port, timeout=SECONDS)
        connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {daemon.token}"})
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()

    assert response.getheader("content-type", "").startswith("text/plain; version=0.0.4")
    samples = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert samples['madeleine_memories{tier="working"}'] == "1"
    assert float(samples['madeleine_job_last_run_timestamp_seconds{job="decay"}']) > 1.7e9
    assert samples['madeleine_job_failures{job="decay"}'] == "0"
    assert float(samples["madeleine_uptime_seconds"]) > 0
