"""Print what an agent's session is told when it starts in a folder.

The project is the one that the folder belongs to, unless --space names another. Nothing counts as
told. With hooks wired (`madeleine setup`) agents are told it by themselves; nothing is printed
where there is nothing to say.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from madeleine.cli.door import CommandDoor
from madeleine.cli.environment import current_folder
from madeleine.cli.options import drop_none
from madeleine.cli.output import CommandOutput


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--space", metavar="SPACE", help="of this project; `global` for that of none"
    )
    parser.add_argument("--cwd", metavar="DIR", help="of this folder's project; here if not said")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    folder = os.fspath(Path(arguments.cwd).absolute()) if arguments.cwd else current_folder()
    query = drop_none(space=arguments.space, cwd=folder)
    answer = door.call("brief", query=query)
    say.reply(answer, lambda: str(answer["text"]).splitlines())
    return 0
