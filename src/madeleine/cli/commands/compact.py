"""Tidy the journal's past months; what they say stays the same."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from madeleine.cli.door import Door
from madeleine.cli.say import Say, clean
from madeleine.cli.words import plural


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes no words of its own."""


def run(arguments: argparse.Namespace, door: Door, say: Say) -> int:
    answer = door.call("compact")
    say.reply(answer, lambda: _words(answer))
    return 0


def _words(answer: dict[str, Any]) -> Iterator[str]:
    files = plural(len(answer["files"]), "file")
    saved = f"{answer['bytes_saved']:,} bytes saved"
    yield f"{files} written anew, {plural(answer['dropped'], 'line')} dropped, {saved}"
    for name in answer["busy"]:
        yield f"  {clean(name)} was being written to and stays as it is"
