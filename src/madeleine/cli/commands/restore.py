"""Bring a forgotten memory back as it was."""

from __future__ import annotations

import argparse

from madeleine.cli.changes import change_words
from madeleine.cli.door import Door
from madeleine.cli.options import add_id
from madeleine.cli.say import Say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_id(parser, help_text="a memory in the trash (`madeleine list --trash`)")


def run(arguments: argparse.Namespace, door: Door, say: Say) -> int:
    answer = door.call("restore", arguments.id)
    say.reply(answer, lambda: change_words("restored", answer))
    return 0
