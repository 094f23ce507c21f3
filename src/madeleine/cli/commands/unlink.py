"""Take a connection away."""

from __future__ import annotations

import argparse

from madeleine.cli.changes import change_words
from madeleine.cli.door import Door
from madeleine.cli.options import add_id, given
from madeleine.cli.say import Say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_id(parser, "source", "the memory the connection starts from")
    add_id(parser, "target", "the memory it leads to")
    parser.add_argument("--edge", metavar="EDGE", help="only this edge; all if not said")


def run(arguments: argparse.Namespace, door: Door, say: Say) -> int:
    body = given(source_id=arguments.source, target_id=arguments.target, edge=arguments.edge)
    answer = door.call("unlink", body=body)
    say.reply(answer, lambda: change_words("unlinked", answer))
    return 0
