"""Tidy the journal's past months; what they say stays the same."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from madeleine.cli.door import CommandDoor
from madeleine.cli.memory_words import render_count
from madeleine.cli.output import CommandOutput, escape_controls


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes no words of its own."""


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    answer = door.call("compact")
    say.reply(answer, lambda: _render_compaction(answer))
    return 0


def _render_compaction(answer: dict[str, Any]) -> Iterator[str]:
    files = render_count(len(answer["files"]), "file")
    saved = f"{answer['bytes_saved']:,} bytes saved"
    yield f"{files} written anew, {render_count(answer['dropped'], 'line')} dropped, {saved}"
    for name in answer["busy"]:
        yield f"  {escape_controls(name)} was being written to and stays as it is"
