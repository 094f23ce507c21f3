"""Make the index say what the files say, at once, and have the model read what it has not.

With a daemon running this happens by itself within a second of an edit.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from madeleine.cli.door import CommandDoor
from madeleine.cli.memory_words import render_count
from madeleine.cli.output import CommandOutput, escape_controls


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes no words of its own."""


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    answer = door.call("reconcile")
    say.reply(answer, lambda: _render_reconcile(answer))
    return 0


def _render_reconcile(answer: dict[str, Any]) -> Iterator[str]:
    counts = ", ".join(f"{answer[name]:,} {name}" for name in ("written", "dropped", "unchanged"))
    unreadable = answer["unreadable"]
    more = f", {len(unreadable):,} unreadable" if unreadable else ""
    yield f"{render_count(answer['files'], 'file')}: {counts}{more}"
    for problem in unreadable:
        yield f"  {escape_controls(problem)}"
