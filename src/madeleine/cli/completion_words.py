"""What can be completed behind `madeleine`: commands, their options, and values that are known.

It is read off the parsers, so a new option is completed without another list. Ids, spaces and
texts are not completed: a shell must not open the home whenever a key is pressed.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Mapping
from dataclasses import dataclass

from madeleine.agents.catalog import agents_by_name
from madeleine.cli.command_table import COMMAND_GROUPS, command_module, command_names
from madeleine.cli.parsing import make_parser
from madeleine.ingest.exporting import formats as export_formats
from madeleine.ingest.importing import table as import_formats
from madeleine.model.people import Role
from madeleine.model.proposal import ProposalStatus, ProposalType
from madeleine.model.words import Edge, MemoryType, Tier
from madeleine.server.hook_hosts import HOST_BY_NAME
from madeleine.sleep.cycle import BY_DAY, JOBS, TASKS

SHELLS = ("bash", "zsh", "fish")
PATH_METAVARS = frozenset(["FILE", "PATH", "DIR"])


@dataclass(frozen=True)
class OptionCompletion:
    """An option: its names, and what may follow it."""

    names: tuple[str, ...]
    about: str
    takes_value: bool
    values: tuple[str, ...]
    is_path: bool


@dataclass(frozen=True)
class CommandCompletion:
    """A command: its options, and the words that may stand behind it."""

    name: str
    about: str
    options: tuple[OptionCompletion, ...]
    words: tuple[str, ...]
    takes_path: bool


def list_completions() -> list[CommandCompletion]:
    """Return what can be completed for each command, in the order of the help."""
    return [
        _complete_command(name, about) for _, commands in COMMAND_GROUPS for name, about in commands
    ]


def _complete_command(name: str, about: str) -> CommandCompletion:
    parser = make_parser(name, importlib.import_module(command_module(name)))
    known = _known_values(name)
    words: dict[str, None] = {}
    options = []
    for action in parser._actions:
        if action.option_strings:
            options.append(_complete_option(action, known))
        else:
            words |= dict.fromkeys(_values_of(action, known))
    takes_path = any(
        str(each.metavar) in PATH_METAVARS for each in parser._actions if not each.option_strings
    )
    return CommandCompletion(name, about, tuple(options), tuple(words), takes_path)


def _complete_option(
    action: argparse.Action, known: Mapping[str, tuple[str, ...]]
) -> OptionCompletion:
    takes_value = action.nargs != 0
    return OptionCompletion(
        names=tuple(action.option_strings),
        about=str(action.help or ""),
        takes_value=takes_value,
        values=_values_of(action, known) if takes_value else (),
        is_path=takes_value and str(action.metavar) in PATH_METAVARS,
    )


def _values_of(action: argparse.Action, known: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the known values of an argument: those of its kind, and words that its name lists,
    such as `list|get|set`."""
    name = str(action.metavar)
    if name in known:
        return known[name]
    return tuple(each for each in name.split("|") if each.islower()) if "|" in name else ()


def _known_values(command: str) -> dict[str, tuple[str, ...]]:
    """Return the values of each kind of argument; a few mean something else in another command."""
    formats = export_formats if command == "export" else import_formats
    known = {
        "TYPE": tuple(MemoryType),
        "TIER": tuple(Tier),
        "EDGE": tuple(Edge),
        "ROLE": tuple(Role),
        "AGENT": tuple(agents_by_name()),
        "HOST": () if command == "serve" else tuple(HOST_BY_NAME),
        "WHO": ("sleep", "agent", "me", "import"),
        "KIND": tuple(ProposalType),
        "STATUS": (*ProposalStatus, "all"),
        "JOB": (*JOBS, *BY_DAY, "status", "pause", "resume", "stop"),
        "TASK": (*TASKS, "status"),
        "FORMAT": (*formats.FORMATS, *formats.FORMAT_BY_ALIAS),
        "COMMAND": tuple(command_names()),
        "SHELL": SHELLS,
    }
    return {name: tuple(str(each) for each in values) for name, values in known.items()}
