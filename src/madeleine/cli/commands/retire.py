"""Mark a memory as no longer true: it is kept, dated, and linked to what replaced it."""

from __future__ import annotations

import argparse

from madeleine.cli.change_words import render_change
from madeleine.cli.door import CommandDoor
from madeleine.cli.options import add_id, drop_none
from madeleine.cli.output import CommandOutput


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument("--reason", metavar="WHY", help="why it is no longer true")
    parser.add_argument("--superseded-by", metavar="ID", help="the memory that replaces it")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    body = drop_none(reason=arguments.reason, superseded_by=arguments.superseded_by)
    answer = door.call("retire", arguments.id, body=body)
    say.reply(answer, lambda: render_change("retired", answer))
    return 0
