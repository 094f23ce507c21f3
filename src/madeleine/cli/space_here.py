"""The space of the folder that a command is run in, as every other door finds it."""

from __future__ import annotations

from typing import Any

from madeleine.cli.door import CommandDoor
from madeleine.cli.environment import current_folder
from madeleine.errors import Rejected
from madeleine.language.branch_words import speaks_of_branch


def choose_space_here(door: CommandDoor, text: str | None, on_branch: bool) -> str | None:
    """Return where something is remembered from this folder: its project's space, or that of its
    branch where that is wanted or the text says so itself."""
    here = _ask_here(door)
    branch: str | None = here.get("branch")
    if on_branch and branch is None:
        raise Rejected(
            "no branch is checked out here that anything could hold on",
            hint="`git switch` to one, or leave --branch out",
        )
    if branch is not None and (on_branch or (text is not None and speaks_of_branch(text))):
        return branch
    space: str | None = here.get("space")
    return space


def _ask_here(door: CommandDoor) -> dict[str, Any]:
    folder = current_folder()
    return {} if folder is None else door.call("space_here", query={"cwd": folder})
