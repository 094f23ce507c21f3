"""Wire coding agents to this home; without a name, those that are on this machine.

AGENT is claude, codex, cursor, gemini, opencode, copilot (with VS Code), claude-desktop, windsurf
or zed; `generic` prints what any other MCP client takes. Nothing of yours is changed: entries are
added beside what is there, each file is copied first, and `madeleine unsetup` takes out exactly
what was added. Doing it again changes nothing, and mends entries that point to nowhere.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from typing import Any

from madeleine.agents import setup
from madeleine.agents.catalog import GENERIC_NAME, mcp_client_snippet
from madeleine.agents.environment import SetupEnvironment, read_environment
from madeleine.agents.space_checks import check_folder_space
from madeleine.cli.door import CommandDoor
from madeleine.cli.environment import current_folder
from madeleine.cli.output import CommandOutput
from madeleine.cli.plan_words import plan_to_json, render_plan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agents", metavar="AGENT", nargs="*", help="which; none means all found")
    parser.add_argument("--dry-run", action="store_true", help="show the plan and change nothing")
    parser.add_argument(
        "--autostart", action="store_true", help="start the daemon at login (systemd or launchd)"
    )
    parser.add_argument(
        "--plugin", action="store_true", help="for Claude Code: write a plugin instead"
    )


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    around = read_environment(door.home)
    names = [name for name in arguments.agents if name != GENERIC_NAME]
    if GENERIC_NAME in arguments.agents and not names:
        found = mcp_client_snippet(around)
        say.reply(found, lambda: _render_snippet(found))
        return 0
    request = setup.SetupRequest(names, arguments.autostart, arguments.plugin)
    prepared = setup.prepare_setup(around, request)
    if not arguments.dry_run:
        prepared.carry_out()
    document = plan_to_json(prepared.plan, arguments.dry_run)
    unheard = _find_unheard(door)
    document["notes"] = [*_collect_notes(around, prepared, request), *unheard]
    say.notes(unheard)
    say.reply(document, lambda: render_plan(prepared, arguments.dry_run, say))
    return 0


def _collect_notes(
    around: SetupEnvironment, prepared: setup.PreparedSetup, request: setup.SetupRequest
) -> Sequence[str]:
    notes = list(prepared.plan.notes)
    if request.plugin:
        notes += [
            f"to install the plugin, type: {step}" for step in setup.plugin_install_steps(around)
        ]
    return notes


def _find_unheard(door: CommandDoor) -> list[str]:
    """Say which memories are not heard in this folder, if a daemon runs that can tell."""
    daemon = door.daemon()
    if daemon is None:
        return []
    found = check_folder_space(
        current_folder(), lambda name, query: daemon.call(name, query=dict(query))
    )
    return [f"{each.message}; {each.fix}" for each in found if each.fix]


def _render_snippet(found: dict[str, Any]) -> Iterator[str]:
    yield "Most MCP clients take this:"
    yield ""
    yield json.dumps(found, indent=2, ensure_ascii=False)
    yield ""
    yield "Others ask for a command and its arguments; they are in it."
