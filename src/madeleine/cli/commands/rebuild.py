"""Make the index anew from files and journal. Nothing is lost by it but a little time.

It also works when the index is damaged or was written by a newer release.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

from madeleine.cli.door import CommandDoor
from madeleine.cli.memory_words import render_count
from madeleine.cli.output import CommandOutput, escape_controls


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes no words of its own."""


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    answer = door.call("rebuild") if door.daemon() else _rebuild_from_nothing(door)
    say.reply(answer, lambda: _render_rebuild(answer))
    return 0


def _rebuild_from_nothing(door: CommandDoor) -> dict[str, Any]:
    """Throw the index away unread: it may be one that cannot be read."""
    began = time.monotonic()
    door.open_fresh()
    report = door.call("reconcile")
    seconds = round(time.monotonic() - began, 3)
    written = report["files"] - len(report["unreadable"])
    return {**report, "text": f"Rebuilt in {seconds} s.", "written": written, "seconds": seconds}


def _render_rebuild(answer: dict[str, Any]) -> Iterator[str]:
    files, written = render_count(answer["files"], "file"), f"{answer['written']:,}"
    yield f"{files}: {written} indexed in {answer['seconds']:.1f} s"
    for problem in answer["unreadable"]:
        yield f"  {escape_controls(problem)}"
