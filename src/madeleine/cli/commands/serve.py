"""Start the daemon of this home; return when it answers.

With --foreground it runs here until Ctrl-C or `madeleine stop`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from madeleine.cli.door import CommandDoor
from madeleine.cli.output import CommandOutput
from madeleine.server.launch import launch_daemon

MAX_PORT = 65_535


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", metavar="HOST", help="address to listen on; 127.0.0.1")
    parser.add_argument(
        "--port", type=parse_port, metavar="PORT", help="8787 if not said; 0 takes any"
    )
    parser.add_argument("--foreground", action="store_true", help="do not go to the background")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    def ready(address: Any) -> None:
        answer = {name: getattr(address, name) for name in ("pid", "host", "port", "socket")}
        say.reply({**answer, "home": str(door.home)}, lambda: _render_address(address, door))

    if arguments.foreground:
        from madeleine.server.daemon import serve  # heavy: only here

        serve(door.home, arguments.host, arguments.port, ready)
    else:
        ready(launch_daemon(door.home, arguments.host, arguments.port))
    return 0


def parse_port(text: str) -> int:
    """Return the port; one over 65,535 would be taken for another by the system."""
    if not text.isdecimal() or int(text) > MAX_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; it takes 0 to {MAX_PORT}")
    return int(text)


def _render_address(address: Any, door: CommandDoor) -> Iterator[str]:
    yield f"listening on http://{address.host}:{address.port} (process {address.pid})"
    yield f"  home {door.home}"
    yield "  `madeleine stop` ends it"
