"""Take a connection away."""

from __future__ import annotations

import argparse

from madeleine.cli.change_words import render_change
from madeleine.cli.door import CommandDoor
from madeleine.cli.options import add_id, drop_none
from madeleine.cli.output import CommandOutput


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_id(parser, "source", "the memory the connection starts from")
    add_id(parser, "target", "the memory it leads to")
    parser.add_argument("--edge", metavar="EDGE", help="only this edge; all if not said")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    body = drop_none(source_id=arguments.source, target_id=arguments.target, edge=arguments.edge)
    answer = door.call("unlink", body=body)
    say.reply(answer, lambda: render_change("unlinked", answer))
    return 0
