"""Connect two memories; doing it again changes the weight and the reason."""

from __future__ import annotations

import argparse

from madeleine.cli.changes import change_words
from madeleine.cli.door import Door
from madeleine.cli.options import EDGES, add_id, given
from madeleine.cli.say import Say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_id(parser, "source", "the memory the connection starts from")
    add_id(parser, "target", "the memory it leads to")
    parser.add_argument("--edge", metavar="EDGE", help=f"{EDGES}; related_to if not said")
    parser.add_argument("--weight", type=float, metavar="0-1", help="how strong; 0.5 if not said")
    parser.add_argument("--reason", metavar="WHY", help="why they belong together")


def run(arguments: argparse.Namespace, door: Door, say: Say) -> int:
    body = given(
        source_id=arguments.source,
        target_id=arguments.target,
        edge=arguments.edge,
        weight=arguments.weight,
        reason=arguments.reason,
    )
    answer = door.call("link", body=body)
    say.reply(answer, lambda: change_words("linked", answer))
    return 0
