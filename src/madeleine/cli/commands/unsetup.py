"""Take out of coding agents what `madeleine setup` put in; without a name, out of all of them.

AGENT is as for setup, or `autostart`. A file that nobody else changed since becomes what it was
before, byte for byte; from any other only our entries are taken. Memories are never touched.
"""

from __future__ import annotations

import argparse

from madeleine.agents import setup
from madeleine.agents.environment import read_environment
from madeleine.cli.door import CommandDoor
from madeleine.cli.output import CommandOutput
from madeleine.cli.plan_words import plan_to_json, render_plan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agents", metavar="AGENT", nargs="*", help="which; none means all")
    parser.add_argument("--dry-run", action="store_true", help="show the plan and change nothing")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    prepared = setup.prepare_unsetup(read_environment(door.home), arguments.agents)
    if not arguments.dry_run:
        prepared.carry_out()
    document = plan_to_json(prepared.plan, arguments.dry_run)
    say.reply(document, lambda: render_plan(prepared, arguments.dry_run, say))
    return 0
