"""Open the page in a browser: see what your agents know, and set it right.

Starts the daemon if none runs. The link works once and for a minute; the browser then stays
signed in for a month. Without a browser, or with --no-open, the link is printed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from madeleine.api.remote import RemoteDoor
from madeleine.cli.door import CommandDoor
from madeleine.cli.environment import read_variable
from madeleine.cli.output import CommandOutput
from madeleine.server.launch import launch_daemon


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-open", action="store_true", help="only print the link")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    answer = _find_or_start_daemon(door).call("page_link", by="cli")
    opened = not arguments.no_open and not say.as_json and _open_browser(str(answer["url"]))
    say.reply({**answer, "opened": opened}, lambda: _render_link(str(answer["url"]), opened))
    return 0


def _find_or_start_daemon(door: CommandDoor) -> RemoteDoor:
    """Return the daemon of this home; one that is not there is started."""
    found = door.daemon()
    if found is not None:
        return found
    launched = launch_daemon(door.home)
    return door.daemon() or RemoteDoor(Path(launched.socket))


def _open_browser(url: str) -> bool:
    """Open a link in a browser with windows; one inside the terminal would only be in the way."""
    if sys.platform == "linux" and not (
        read_variable("DISPLAY") or read_variable("WAYLAND_DISPLAY")
    ):
        return False
    import webbrowser  # slow to load, and only needed here

    return webbrowser.open(url)


def _render_link(url: str, opened: bool) -> list[str]:
    if opened:
        return ["opened in your browser; if it did not come up:", f"  {url}"]
    return ["open this link within a minute; it works once:", f"  {url}"]
