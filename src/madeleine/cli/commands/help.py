"""Say how a command is used, as its `--help` does; without one, list all commands."""

from __future__ import annotations

import argparse

from madeleine.cli.door import CommandDoor
from madeleine.cli.output import CommandOutput


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("command", metavar="COMMAND", nargs="?", help="which; none lists them all")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    from madeleine.cli.command_table import render_help
    from madeleine.cli.main import make_command_parser

    name = arguments.command
    text = render_help() if name is None else make_command_parser(name).format_help()
    say.reply({"command": name, "help": text}, lambda: [text.rstrip()])
    return 0
