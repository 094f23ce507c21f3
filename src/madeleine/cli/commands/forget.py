"""Move a memory to the trash; `madeleine restore` brings it back."""

from __future__ import annotations

import argparse

from madeleine.cli.changes import change_words
from madeleine.cli.door import Door
from madeleine.cli.options import add_id, given
from madeleine.cli.say import Say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument("--reason", metavar="WHY", help="why it goes")


def run(arguments: argparse.Namespace, door: Door, say: Say) -> int:
    answer = door.call("forget", arguments.id, query=given(reason=arguments.reason))
    say.reply(answer, lambda: change_words("forgot", answer))
    return 0
