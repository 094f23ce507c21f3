"""Move a memory to the trash; `madeleine restore` brings it back."""

from __future__ import annotations

import argparse

from madeleine.cli.change_words import render_change
from madeleine.cli.door import CommandDoor
from madeleine.cli.options import add_id, drop_none
from madeleine.cli.output import CommandOutput


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument("--reason", metavar="WHY", help="why it goes")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    answer = door.call("forget", arguments.id, query=drop_none(reason=arguments.reason))
    say.reply(answer, lambda: render_change("forgot", answer))
    return 0
