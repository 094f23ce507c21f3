"""Connect two memories; doing it again changes the weight and the reason."""

from __future__ import annotations

import argparse

from madeleine.cli.change_words import render_change
from madeleine.cli.door import CommandDoor
from madeleine.cli.options import EDGES_HELP, add_id, drop_none
from madeleine.cli.output import CommandOutput


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_id(parser, "source", "the memory the connection starts from")
    add_id(parser, "target", "the memory it leads to")
    parser.add_argument("--edge", metavar="EDGE", help=f"{EDGES_HELP}; related_to if not said")
    parser.add_argument("--weight", type=float, metavar="0-1", help="how strong; 0.5 if not said")
    parser.add_argument("--reason", metavar="WHY", help="why they belong together")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    body = drop_none(
        source_id=arguments.source,
        target_id=arguments.target,
        edge=arguments.edge,
        weight=arguments.weight,
        reason=arguments.reason,
    )
    answer = door.call("link", body=body)
    say.reply(answer, lambda: render_change("linked", answer))
    return 0
