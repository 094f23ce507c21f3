"""The space of the folder that a command is run in, as every other door finds it."""

from __future__ import annotations

from madeleine.cli.door import CommandDoor
from madeleine.cli.environment import current_folder


def find_space_here(door: CommandDoor) -> str | None:
    """Return the space of the folder that the command is run in."""
    folder = current_folder()
    if folder is None:
        return None
    found: str | None = door.call("space_here", query={"cwd": folder})["space"]
    return found
