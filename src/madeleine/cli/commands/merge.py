"""Make one memory of two: KEEP stays, DROP goes to the trash.

What pointed to DROP points to KEEP afterwards. One undo brings every file back.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from madeleine.cli.change_words import render_undo_hint
from madeleine.cli.door import CommandDoor
from madeleine.cli.memory_words import render_count, render_memory_name
from madeleine.cli.options import add_id, drop_none
from madeleine.cli.output import CommandOutput
from madeleine.cli.parsing import read_text_argument


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_id(parser, "keep", "the memory that stays")
    add_id(parser, "drop", "the memory that goes into it")
    parser.add_argument("--title", metavar="TITLE", help="the title of the result")
    parser.add_argument("--content", metavar="TEXT", help="the text of the result; - reads stdin")
    parser.add_argument("--reason", metavar="WHY", help="why they are one")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    body = drop_none(
        keep=arguments.keep,
        drop=arguments.drop,
        title=arguments.title,
        content=None if arguments.content is None else read_text_argument(arguments.content),
        reason=arguments.reason,
    )
    answer = door.call("merge", body=body)
    say.reply(answer, lambda: _render_merge(answer))
    return 0


def _render_merge(answer: dict[str, Any]) -> Iterator[str]:
    yield f"merged {str(answer['removed'])[:8]} into {render_memory_name(answer['memory'])}"
    if answer.get("neighbours"):
        yield f"  {render_count(answer['neighbours'], 'neighbour')} now point to it"
    yield render_undo_hint(answer["change"])
