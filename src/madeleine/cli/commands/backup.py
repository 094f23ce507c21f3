"""Keep a copy of vault, journal and settings in one file, read back and found whole.

The daemon does so by itself every day and keeps the last ten (`[backup]` in config.toml). Backups
are safe while others write. `madeleine restore-backup FILE` puts one back.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from madeleine.cli.door import Door
from madeleine.cli.options import given
from madeleine.cli.running import Wanted, run_with_bar
from madeleine.cli.say import Say, clean
from madeleine.cli.words import age, plural
from madeleine.errors import Rejected


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--to", metavar="PATH", help="another file or folder; nothing is rotated")
    parser.add_argument("--list", action="store_true", help="show the backups that there are")


def run(arguments: argparse.Namespace, door: Door, say: Say) -> int:
    if arguments.list and arguments.to:
        raise Rejected("--list takes no --to", hint="`madeleine backup --list`")
    if arguments.list:
        answer = door.call("backups")
        say.reply(answer, lambda: _listed(answer, say))
        return 0
    to = str(Path(arguments.to).expanduser().absolute()) if arguments.to else None
    wanted = Wanted("backup", None, given(to=to), None, "backup", query={}, watched="backups")
    answer = run_with_bar(wanted, door, say)
    say.reply(answer, lambda: _words(answer))
    return 0


def _words(answer: dict[str, Any]) -> Iterator[str]:
    memories = plural(answer["memories"], "memory", "memories")
    yield f"{memories}, {plural(answer['files'], 'file')}, {_size(answer['bytes'])}"
    yield f"  {clean(answer['path'])}"
    if answer["removed"]:
        yield f"  {plural(len(answer['removed']), 'older backup')} removed"


def _listed(answer: dict[str, Any], say: Say) -> Iterator[str]:
    yield f"{plural(len(answer['backups']), 'backup')} in {clean(answer['folder'])}"
    for each in answer["backups"]:
        name = clean(Path(each["path"]).name)
        yield f"  {name}  {_size(each['bytes']):>9}   {say.dim(age(each['made'], say.now))}"


def _size(count: int) -> str:
    """Return a number of bytes as people say it."""
    size, unit = float(count), "B"
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{count:,} B" if unit == "B" else f"{size:.1f} {unit}"
