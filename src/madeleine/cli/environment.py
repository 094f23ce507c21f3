"""What the command line takes from its surroundings: whether and how to colour and draw."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

PIPE_WIDTH = 100  # where no terminal says how wide it is
MIN_WIDTH = 40


def read_variable(name: str) -> str:
    """Return a variable of the environment, empty when it is not set."""
    return os.environ.get(name, "")  # noqa: TID251  # a terminal's business, no setting


def read_environment() -> Mapping[str, str]:
    """Return the whole environment, for settings that stand there."""
    return os.environ  # noqa: TID251  # what `config` shows


def find_setting_variables() -> list[str]:
    """Return the variables that look like settings of ours; the home is none that could be
    misspelt unnoticed."""
    prefixes = ("MADELEINE_", "CONSOLIDATION_")
    names = [each for each in os.environ if each.startswith(prefixes)]  # noqa: TID251  # as above
    return [each for each in names if each != "MADELEINE_HOME"]


def current_folder() -> str | None:
    """Return the folder that the command is run in; nothing if it is gone."""
    try:
        return os.fspath(Path.cwd())
    except FileNotFoundError:
        return None


def wants_colour(stream: TextIO) -> bool:
    """Whether to colour what goes to this stream: only a terminal that did not decline."""
    return is_live_terminal(stream) and not read_variable("NO_COLOR")


def is_live_terminal(stream: TextIO) -> bool:
    """Whether somebody watches a terminal that can redraw a line."""
    return stream.isatty() and read_variable("TERM") != "dumb"


def terminal_width(stream: TextIO) -> int:
    """Return how many columns there are to print on."""
    if not stream.isatty():
        return PIPE_WIDTH
    return max(MIN_WIDTH, shutil.get_terminal_size((PIPE_WIDTH, 24)).columns)
