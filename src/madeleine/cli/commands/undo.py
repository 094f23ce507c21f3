"""Take back a change, a run of a job, or a whole night; files come back byte for byte.

What somebody wrote since is never overwritten: then nothing is undone, and the file is named.
An undo is itself a change, so it can be undone.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from madeleine.cli.changes import undo_words
from madeleine.cli.door import Door
from madeleine.cli.options import an_id
from madeleine.cli.say import Say
from madeleine.cli.words import plural


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "change",
        metavar="CHANGE",
        type=an_id,
        help="a change, as `history` names it, or a run or night, as `sleep` names it",
    )


def run(arguments: argparse.Namespace, door: Door, say: Say) -> int:
    answer = door.call("undo", arguments.change)
    say.reply(answer, lambda: _words(answer))
    return 0


def _words(answer: dict[str, Any]) -> Iterator[str]:
    changes = plural(len(answer["undone"]), "change")
    yield f"took back {changes}, {plural(len(answer['memories']), 'memory', 'memories')}"
    yield undo_words(answer["change"])
