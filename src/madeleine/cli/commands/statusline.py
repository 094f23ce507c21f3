"""Say on one line what was whispered in a session, and what it cost to read.

Claude Code runs this for its status line, with JSON on stdin that names the session. Without a
daemon nothing is printed and one is started. The thin client prints the same line, several times
as fast: see docs/guides/whisper-hooks.md.
"""

from __future__ import annotations

import os

from madeleine.api.home_paths import home_path
from madeleine.cli.home_option import read_home_option
from madeleine.hooks.whisper import main

TYPE_CHECKING = False  # as typing has it; a host waits for these imports
if TYPE_CHECKING:
    import argparse

    from madeleine.cli.door import CommandDoor
    from madeleine.cli.output import CommandOutput


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes none of its own."""


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    return _print_line(arguments.home)


def start(options: list[str]) -> int:
    """Run with the options that every command takes, not yet parsed."""
    return _print_line(read_home_option(options))


def _print_line(home: str | None) -> int:
    try:
        main([os.fspath(home_path(home)), "statusline"])
    except OSError:  # too late, or the host does not read any more: it keeps the line it had
        return 0
    return 0
