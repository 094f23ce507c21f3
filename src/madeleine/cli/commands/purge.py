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

from madeleine.cli.door import Door
from madeleine.cli.options import an_id
from madeleine.cli.say import Say, clean
from madeleine.cli.words import headline, plural
from madeleine.errors import Rejected

SHOWN = 10  # memories that are named before it asks


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "ids", metavar="ID", nargs="*", type=an_id, help="in the trash (`madeleine list --trash`)"
    )
    parser.add_argument("--all", action="store_true", help="all that lie in the trash")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(arguments: argparse.Namespace, door: Door, say: Say) -> int:
    if arguments.all == bool(arguments.ids):
        raise Rejected("name what to purge, or --all", hint="`madeleine list --trash` shows it")
    if not arguments.yes and not _is_meant(arguments, door, say):
        say.talk("nothing was removed")
        return 0
    body: dict[str, object] = {"all": True} if arguments.all else {"memories": arguments.ids}
    answer = door.call("purge", body=body)
    say.reply(answer, lambda: _words(answer))
    return 0


def _is_meant(arguments: argparse.Namespace, door: Door, say: Say) -> bool:
    """Ask, and take nothing but a plain yes for one."""
    if not sys.stdin.isatty():
        raise Rejected("purging has no way back", hint="add --yes if you mean it")
    for line in _asked(arguments, door):
        say.talk(line)
    say.talk("Type yes to remove them for good: ")
    return sys.stdin.readline().strip().lower() in ("yes", "y")


def _asked(arguments: argparse.Namespace, door: Door) -> Iterator[str]:
    found = [each["memory"] for each in door.call("trash")["memories"]]
    if not arguments.all:
        wanted = tuple(arguments.ids)
        found = [each for each in found if each["id"].startswith(wanted)]
    yield f"{plural(len(found), 'memory', 'memories')} in the trash:"
    for memory in found[:SHOWN]:
        yield f"  {memory['id'][:8]}  {clean(headline(memory))}"
    if len(found) > SHOWN:
        yield f"  and {len(found) - SHOWN} more"


def _words(answer: dict[str, Any]) -> Iterator[str]:
    removed, left = answer["removed"], answer["left"]
    yield f"purged {plural(len(answer['memories']), 'memory', 'memories')} for good"
    for memory in answer["memories"]:
        yield f"  {memory['id']}  {clean(memory['title'])}"
    yield f"  files          {removed['files']} removed"
    lines, cut = removed["journal_lines"], removed["journal_lines_cut"]
    yield f"  journal        {plural(lines, 'line')} removed, {cut} cut"
    yield f"  embeddings     {removed['embeddings']} removed"
    yield "  index          made anew without them"
    if left["connections"]:
        arrows = plural(left["connections"], "connection")
        yield f"  left           {arrows} of other memories to them"
    if left["journal_lines"]:
        names = plural(left["journal_lines"], "line")
        yield f"  left           {names} of the journal about others that name them"
    for memory in left["memories"]:
        yield f"  made from them {memory['id']}  {clean(memory['title'])}"
    for memory in left["merged_into"]:
        yield f"  merged into    {memory['id']}  {clean(memory['title'])}"
    if left["memories"] or left["merged_into"]:
        yield "these may still say it: `madeleine forget ID`, then `madeleine purge ID`"
