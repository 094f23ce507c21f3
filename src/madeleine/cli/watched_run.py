"""A run that somebody waits for: asked for in one thread, watched in another."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from madeleine.cli.door import CommandDoor
from madeleine.cli.output import CommandOutput
from madeleine.errors import MadeleineError

POLL_SECONDS = 0.3  # between two looks how far a run is


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What is to be run: the operation with its request, what stops it, and its bar's name."""

    operation: str
    identity: str | None
    body: Mapping[str, object]
    stops: str | None
    """The job that Ctrl-C stops; None where there is nothing to stop."""
    title: str
    query: Mapping[str, object] = field(default_factory=lambda: {"wait": True})
    watched: str = "tasks"
    """The operation that says under `running` how far it is."""


class _RunThread(threading.Thread):
    """The call that waits until the run is over, while another thread shows how far it is."""

    def __init__(self, wanted: RunRequest, door: CommandDoor) -> None:
        super().__init__(daemon=True)
        self._wanted = wanted
        self._door = door
        self.answer: dict[str, Any] | None = None
        self.error: MadeleineError | None = None

    def run(self) -> None:
        wanted = self._wanted
        try:
            self.answer = self._door.call(
                wanted.operation,
                wanted.identity,
                query=dict(wanted.query),
                body=dict(wanted.body),
            )
        except MadeleineError as error:
            self.error = error

    def result(self) -> dict[str, Any]:
        """Return the answer, or raise what was raised."""
        if self.error is not None:
            raise self.error
        if self.answer is None:
            raise MadeleineError("the run ended without an answer", hint="`madeleine status`")
        return self.answer


def run_with_bar(wanted: RunRequest, door: CommandDoor, say: CommandOutput) -> dict[str, Any]:
    """Run it and return the answer. Ctrl-C stops the run; what it has done stays."""
    door.open()
    running = _RunThread(wanted, door)
    running.start()
    try:
        _watch_run(running, wanted, door, say)
    except KeyboardInterrupt:
        if wanted.stops is None:
            raise
        say.end_line()
        say.talk("stopping; once more to leave it alone")
        door.call("stop_task", wanted.stops)
        running.join()
    return running.result()


def _watch_run(
    running: _RunThread, wanted: RunRequest, door: CommandDoor, say: CommandOutput
) -> None:
    """Draw how far the run is, where somebody sees it."""
    with say.progress(wanted.title) as bar:
        while running.is_alive():
            running.join(POLL_SECONDS)
            if say.live and running.is_alive():
                _draw_progress(door.call(wanted.watched)["running"], bar)


def _draw_progress(running: Mapping[str, Any] | None, bar: Any) -> None:
    if running is not None:
        bar.of(running["id"])
        bar(running["done"], running["total"] or None)
