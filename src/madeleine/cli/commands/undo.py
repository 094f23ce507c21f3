"""Take back a change, a run of a job, or a whole night; files come back byte for byte.

What somebody wrote since is never overwritten: then nothing is undone, and the file is named.
An undo is itself a change, so it can be undone.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from madeleine.cli.change_words import render_undo_hint
from madeleine.cli.door import CommandDoor
from madeleine.cli.memory_words import render_count
from madeleine.cli.options import parse_id_argument
from madeleine.cli.output import CommandOutput


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "change",
        metavar="CHANGE",
        type=parse_id_argument,
        help="a change, as `history` names it, or a run or night, as `sleep` names it",
    )


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    answer = door.call("undo", arguments.change)
    say.reply(answer, lambda: _render_undo(answer))
    return 0


def _render_undo(answer: dict[str, Any]) -> Iterator[str]:
    counts = [
        render_count(len(answer["undone"]), "change"),
        render_count(len(answer["memories"]), "memory", "memories"),
    ]
    if answer["questions"]:
        counts.append(render_count(len(answer["questions"]), "question"))
    yield f"took back {', '.join(counts)}"
    yield render_undo_hint(answer["change"])
