"""Print a script that has your shell complete commands, options and known values.

  source <(madeleine completion bash)                            in ~/.bashrc
  madeleine completion zsh > "${fpath[1]}/_madeleine"            once; then start zsh anew
  madeleine completion fish > ~/.config/fish/completions/madeleine.fish

Make it anew after an upgrade. Ids and spaces are not completed: the script starts nothing.
"""

from __future__ import annotations

import argparse

from madeleine.cli.door import CommandDoor
from madeleine.cli.output import CommandOutput
from madeleine.errors import UnknownWord


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", metavar="SHELL", help="bash, zsh or fish")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    from madeleine.cli.completion_scripts import render_script
    from madeleine.cli.completion_words import SHELLS, list_completions

    if arguments.shell not in SHELLS:
        raise UnknownWord("shell", arguments.shell, list(SHELLS))
    script = render_script(arguments.shell, list_completions())
    say.reply({"shell": arguments.shell, "script": script}, lambda: [script.rstrip("\n")])
    return 0
