"""List memories, newest first, or what lies in the trash."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from madeleine.cli.door import CommandDoor
from madeleine.cli.memory_words import build_memory_row, render_count, render_table
from madeleine.cli.options import add_filters, build_filter, drop_none, single_space
from madeleine.cli.output import CommandOutput, escape_controls
from madeleine.errors import Rejected


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, metavar="N", help="how many at most")
    parser.add_argument("--offset", type=int, metavar="N", help="how many to skip")
    parser.add_argument("--trash", action="store_true", help="what was forgotten instead")
    add_filters(parser)


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    chosen = drop_none(limit=arguments.limit, offset=arguments.offset, **build_filter(arguments))
    if arguments.trash and chosen:
        raise Rejected("--trash takes no filter", hint="`madeleine list --trash`")
    answer = door.call("trash") if arguments.trash else door.call("list", query=chosen)
    words = _render_trash if arguments.trash else _render_memories
    say.reply(answer, lambda: words(answer, arguments, say))
    return 0


def _render_memories(
    answer: dict[str, Any], arguments: argparse.Namespace, say: CommandOutput
) -> Iterator[str]:
    memories, total = answer["memories"], answer["total"]
    space = single_space(arguments)
    shown = "" if len(memories) == total else f"{len(memories):,} of "
    where = f" in `{escape_controls(space)}`" if space else ""
    yield f"{shown}{render_count(total, 'memory', 'memories')}{where}"
    yield from render_table((build_memory_row(each, say, space) for each in memories), say)


def _render_trash(
    answer: dict[str, Any], arguments: argparse.Namespace, say: CommandOutput
) -> Iterator[str]:
    forgotten = answer["memories"]
    yield f"{render_count(len(forgotten), 'forgotten memory', 'forgotten memories')}"
    yield from render_table((build_memory_row(each["memory"], say) for each in forgotten), say)
