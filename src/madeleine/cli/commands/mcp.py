"""Serve the tools to an agent over MCP, on stdin and stdout. An agent's settings name this command.

It is a light proxy: the daemon does the work, is started if none runs, and may be restarted in
the middle of a session. It ends when stdin does. Agents that speak MCP over HTTP can use the
daemon's own address instead: see docs/guides/mcp.md.
"""

from __future__ import annotations

import os
from signal import SIG_DFL, SIGINT, signal

from madeleine.api.home_paths import home_path
from madeleine.cli.home_option import read_home_option
from madeleine.hooks.mcp import main

TYPE_CHECKING = False  # as typing has it; a host waits for these imports
if TYPE_CHECKING:
    import argparse

    from madeleine.cli.door import CommandDoor
    from madeleine.cli.output import CommandOutput


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes none of its own."""


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    return _serve_mcp(arguments.home)


def start(options: list[str]) -> int:
    """Run with the options that every command takes, not yet parsed: the last home counts."""
    return _serve_mcp(read_home_option(options))


def _serve_mcp(home: str | None) -> int:
    signal(SIGINT, SIG_DFL)  # a host's Ctrl-C ends us without a word
    return main(os.fspath(home_path(home)))
