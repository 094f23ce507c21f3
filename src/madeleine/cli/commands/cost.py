"""Say what remote models were asked today and this month (UTC), what for, and what it cost.

A remote model is one behind a server: an embedder (`embedder.kind = "openai"`), a judge or an
extractor (`[judge]`). Money is told where prices are set: `embedder.price`, `judge.price_in` and
`judge.price_out`, each for a million tokens. `cost.daily_cap` bounds a day; beyond it the local way
answers.
"""

from __future__ import annotations

import argparse

from madeleine.cli.door import CommandDoor
from madeleine.cli.output import CommandOutput, escape_controls


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes no words of its own."""


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    answer = door.call("cost")
    say.reply(answer, lambda: map(escape_controls, str(answer["text"]).splitlines()))
    return 0
