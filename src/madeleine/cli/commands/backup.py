"""Keep a copy of vault, journal and settings in one file, read back and found whole.

The daemon does so by itself every day and keeps the last ten (`[backup]` in config.toml). Backups
are safe while others write. `madeleine restore-backup FILE` puts one back.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from madeleine.cli.door import CommandDoor
from madeleine.cli.memory_words import render_age, render_count
from madeleine.cli.options import drop_none
from madeleine.cli.output import CommandOutput, escape_controls
from madeleine.cli.watched_run import RunRequest, run_with_bar
from madeleine.errors import Rejected


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--to", metavar="PATH", help="another file or folder; nothing is rotated")
    parser.add_argument("--list", action="store_true", help="show the backups that there are")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    if arguments.list and arguments.to:
        raise Rejected("--list takes no --to", hint="`madeleine backup --list`")
    if arguments.list:
        answer = door.call("backups")
        say.reply(answer, lambda: _render_backups(answer, say))
        return 0
    to = str(Path(arguments.to).expanduser().absolute()) if arguments.to else None
    wanted = RunRequest(
        "backup", None, drop_none(to=to), None, "backup", query={}, watched="backups"
    )
    answer = run_with_bar(wanted, door, say)
    say.reply(answer, lambda: _render_backup(answer))
    return 0


def _render_backup(answer: dict[str, Any]) -> Iterator[str]:
    memories = render_count(answer["memories"], "memory", "memories")
    yield f"{memories}, {render_count(answer['files'], 'file')}, {_render_size(answer['bytes'])}"
    yield f"  {escape_controls(answer['path'])}"
    if answer["removed"]:
        yield f"  {render_count(len(answer['removed']), 'older backup')} removed"


def _render_backups(answer: dict[str, Any], say: CommandOutput) -> Iterator[str]:
    yield f"{render_count(len(answer['backups']), 'backup')} in {escape_controls(answer['folder'])}"
    for each in answer["backups"]:
        name = escape_controls(Path(each["path"]).name)
        age = say.dim(render_age(each["made"], say.now))
        yield f"  {name}  {_render_size(each['bytes']):>9}   {age}"


def _render_size(count: int) -> str:
    """Return a number of bytes as people say it."""
    size, unit = float(count), "B"
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{count:,} B" if unit == "B" else f"{size:.1f} {unit}"
