"""Change what a memory says.

Only what is named changes. --clear takes a field away: title, space, tags, valid_until,
superseded_by, origin, claim or source.
"""

from __future__ import annotations

import argparse

from madeleine.cli.change_words import render_change
from madeleine.cli.door import CommandDoor
from madeleine.cli.options import (
    CLAIM_FORMAT,
    KINDS_HELP,
    TIERS_HELP,
    TIME_HELP,
    TYPES_HELP,
    add_id,
    drop_none,
    parse_claim,
)
from madeleine.cli.output import CommandOutput
from madeleine.cli.parsing import read_text_argument
from madeleine.errors import Rejected


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument("--content", metavar="TEXT", help="the new text; - reads stdin")
    parser.add_argument("--title", metavar="TITLE", help="the new title")
    parser.add_argument("--type", metavar="TYPE", help=TYPES_HELP)
    parser.add_argument("--tier", metavar="TIER", help=TIERS_HELP)
    parser.add_argument("--space", metavar="SPACE", help="the project it belongs to")
    parser.add_argument(
        "--tag", action="append", metavar="TAG", help="all its tags from now on; repeat for more"
    )
    parser.add_argument("--kind", metavar="KIND", help=KINDS_HELP)
    parser.add_argument("--confidence", type=float, metavar="0-1", help="how sure you are")
    parser.add_argument(
        "--claim", metavar=CLAIM_FORMAT, help="what it states; replaces older values"
    )
    parser.add_argument(
        "--valid-until", metavar="TIME", help=f"when it stops being true, {TIME_HELP}"
    )
    parser.add_argument("--clear", action="append", metavar="FIELD", help="take a field away")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    answer = door.call("revise", arguments.id, body=_build_revision(arguments))
    say.reply(answer, lambda: render_change("revised", answer))
    return 0


def _build_revision(arguments: argparse.Namespace) -> dict[str, object]:
    values = drop_none(
        content=None if arguments.content is None else read_text_argument(arguments.content),
        title=arguments.title,
        type=arguments.type,
        tier=arguments.tier,
        space=arguments.space,
        tags=arguments.tag,
        kind=arguments.kind,
        confidence=arguments.confidence,
        claim=parse_claim(arguments.claim),
        valid_until=arguments.valid_until,
    )
    for field in (name.replace("-", "_") for name in arguments.clear or ()):
        if field in values:
            raise Rejected(f"`{field}` is both set and cleared", hint="name it once")
        values[field] = None
    return values
