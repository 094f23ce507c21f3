"""Bring a forgotten memory back as it was."""

from __future__ import annotations

import argparse

from madeleine.cli.change_words import render_change
from madeleine.cli.door import CommandDoor
from madeleine.cli.options import add_id
from madeleine.cli.output import CommandOutput


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_id(parser, help_text="a memory in the trash (`madeleine list --trash`)")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    answer = door.call("restore", arguments.id)
    say.reply(answer, lambda: render_change("restored", answer))
    return 0
