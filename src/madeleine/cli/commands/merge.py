"""Make one memory of two: KEEP stays, DROP goes to the trash.

What pointed to DROP points to KEEP afterwards. One undo brings every file back.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from madeleine.cli.changes import undo_words
from madeleine.cli.door import Door
from madeleine.cli.options import add_id, given
from madeleine.cli.parsing import text_or_stdin
from madeleine.cli.say import Say
from madeleine.cli.words import named, plural


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_id(parser, "keep", "the memory that stays")
    add_id(parser, "drop", "the memory that goes into it")
    parser.add_argument("--title", metavar="TITLE", help="the title of the result")
    parser.add_argument("--content", metavar="TEXT", help="the text of the result; - reads stdin")
    parser.add_argument("--reason", metavar="WHY", help="why they are one")


def run(arguments: argparse.Namespace, door: Door, say: Say) -> int:
    body = given(
        keep=arguments.keep,
        drop=arguments.drop,
        title=arguments.title,
        content=None if arguments.content is None else text_or_stdin(arguments.content),
        reason=arguments.reason,
    )
    answer = door.call("merge", body=body)
    say.reply(answer, lambda: _words(answer))
    return 0


def _words(answer: dict[str, Any]) -> Iterator[str]:
    yield f"merged {str(answer['removed'])[:8]} into {named(answer['memory'])}"
    if answer.get("neighbours"):
        yield f"  {plural(answer['neighbours'], 'neighbour')} now point to it"
    yield undo_words(answer["change"])
