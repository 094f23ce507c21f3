"""List memories, newest first, or what lies in the trash."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from madeleine.cli.door import Door
from madeleine.cli.options import add_filters, filter_of, given, one_space
from madeleine.cli.say import Say, clean
from madeleine.cli.words import memory_row, plural, table
from madeleine.errors import Rejected


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, metavar="N", help="how many at most")
    parser.add_argument("--offset", type=int, metavar="N", help="how many to skip")
    parser.add_argument("--trash", action="store_true", help="what was forgotten instead")
    add_filters(parser)


def run(arguments: argparse.Namespace, door: Door, say: Say) -> int:
    chosen = given(limit=arguments.limit, offset=arguments.offset, **filter_of(arguments))
    if arguments.trash and chosen:
        raise Rejected("--trash takes no filter", hint="`madeleine list --trash`")
    answer = door.call("trash") if arguments.trash else door.call("list", query=chosen)
    words = _trash if arguments.trash else _memories
    say.reply(answer, lambda: words(answer, arguments, say))
    return 0


def _memories(answer: dict[str, Any], arguments: argparse.Namespace, say: Say) -> Iterator[str]:
    memories, total = answer["memories"], answer["total"]
    space = one_space(arguments)
    shown = "" if len(memories) == total else f"{len(memories):,} of "
    where = f" in `{clean(space)}`" if space else ""
    yield f"{shown}{plural(total, 'memory', 'memories')}{where}"
    yield from table((memory_row(each, say, space) for each in memories), say)


def _trash(answer: dict[str, Any], arguments: argparse.Namespace, say: Say) -> Iterator[str]:
    forgotten = answer["memories"]
    yield f"{plural(len(forgotten), 'forgotten memory', 'forgotten memories')}"
    yield from table((memory_row(each["memory"], say) for each in forgotten), say)
