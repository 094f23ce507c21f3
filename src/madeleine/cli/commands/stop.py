"""End the daemon of this home, and wait until it has let go of it.

One that is stuck and does not hear is ended by its process id; what it acknowledged is kept.
"""

from __future__ import annotations

import argparse

from madeleine.api.remote import stop_daemon
from madeleine.cli.door import CommandDoor
from madeleine.cli.output import CommandOutput


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes no words of its own."""


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    stopped = stop_daemon(door.home)
    words = "stopped" if stopped else f"no daemon runs on {door.home}"
    say.reply({"stopped": stopped, "home": str(door.home)}, lambda: [words])
    return 0
