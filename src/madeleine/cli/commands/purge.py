"""Remove forgotten memories for good: file, journal, embeddings and index.

There is no way back, so it asks first, unless --yes is given. Backups that were made before keep
what they hold; connections of other memories that point to what is gone stay. A summary of a
cluster goes with any of its members; other memories that were made from one, or that one was merged
into, are named.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from madeleine.cli.door import CommandDoor
from madeleine.cli.memory_words import render_count, render_headline
from madeleine.cli.options import parse_id_argument
from madeleine.cli.output import CommandOutput, escape_controls
from madeleine.errors import Rejected

MAX_SHOWN = 10  # memories that are named before it asks


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "ids",
        metavar="ID",
        nargs="*",
        type=parse_id_argument,
        help="in the trash (`madeleine list --trash`)",
    )
    parser.add_argument("--all", action="store_true", help="all that lie in the trash")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    if arguments.all == bool(arguments.ids):
        raise Rejected("name what to purge, or --all", hint="`madeleine list --trash` shows it")
    if not arguments.yes and not _confirm_purge(arguments, door, say):
        say.talk("nothing was removed")
        return 0
    body: dict[str, object] = {"all": True} if arguments.all else {"memories": arguments.ids}
    answer = door.call("purge", body=body)
    say.reply(answer, lambda: _render_purge(answer))
    return 0


def _confirm_purge(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> bool:
    """Ask, and take nothing but a plain yes for one."""
    if not sys.stdin.isatty():
        raise Rejected("purging has no way back", hint="add --yes if you mean it")
    for line in _render_question(arguments, door):
        say.talk(line)
    say.talk("Type yes to remove them for good: ")
    return sys.stdin.readline().strip().lower() in ("yes", "y")


def _render_question(arguments: argparse.Namespace, door: CommandDoor) -> Iterator[str]:
    found = [each["memory"] for each in door.call("trash")["memories"]]
    if not arguments.all:
        wanted = tuple(arguments.ids)
        found = [each for each in found if each["id"].startswith(wanted)]
    yield f"{render_count(len(found), 'memory', 'memories')} in the trash:"
    for memory in found[:MAX_SHOWN]:
        yield f"  {memory['id'][:8]}  {escape_controls(render_headline(memory))}"
    if len(found) > MAX_SHOWN:
        yield f"  and {len(found) - MAX_SHOWN} more"


def _render_purge(answer: dict[str, Any]) -> Iterator[str]:
    removed, left = answer["removed"], answer["left"]
    yield f"purged {render_count(len(answer['memories']), 'memory', 'memories')} for good"
    for memory in answer["memories"]:
        yield f"  {memory['id']}  {escape_controls(memory['title'])}"
    yield f"  files          {removed['files']} removed"
    lines, cut = removed["journal_lines"], removed["journal_lines_cut"]
    yield f"  journal        {render_count(lines, 'line')} removed, {cut} cut"
    yield f"  embeddings     {removed['embeddings']} removed"
    yield "  index          made anew without them"
    if left["connections"]:
        arrows = render_count(left["connections"], "connection")
        yield f"  left           {arrows} of other memories to them"
    if left["journal_lines"]:
        names = render_count(left["journal_lines"], "line")
        yield f"  left           {names} of the journal about others that name them"
    for memory in left["memories"]:
        yield f"  made from them {memory['id']}  {escape_controls(memory['title'])}"
    for memory in left["merged_into"]:
        yield f"  merged into    {memory['id']}  {escape_controls(memory['title'])}"
    if left["memories"] or left["merged_into"]:
        yield "these may still say it: `madeleine forget ID`, then `madeleine purge ID`"
