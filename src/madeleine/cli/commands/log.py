"""Tell what happened, a sentence each, newest first, with the command that takes it back.

A time is said as people say it: yesterday, monday, 3 days ago, 2026-11-01; days are those of UTC.
--last-night tells what the last night changed and asked that changed or asked anything, and how
to take all of it back.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from madeleine.cli.change_words import CHANGE_ID_CHARS
from madeleine.cli.door import CommandDoor
from madeleine.cli.memory_words import render_age, render_count
from madeleine.cli.options import drop_none
from madeleine.cli.output import CommandOutput, escape_controls

WAITING = "pending"  # what became of a question that nobody answered yet
ENDINGS = {
    "undone": "taken back",
    "approved": "approved",
    "rejected": "rejected",
    "expired": "withdrawn",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--since", metavar="TIME", help="from then on, such as yesterday")
    parser.add_argument("--until", metavar="TIME", help="up to then, that day included")
    parser.add_argument("--by", metavar="WHO", help="only what sleep, agent, me or import did")
    parser.add_argument(
        "--space", metavar="SPACE", help="only memories of this space; `global` for those of none"
    )
    parser.add_argument("--last-night", action="store_true", help="only what the last night did")
    parser.add_argument("--limit", type=int, metavar="N", help="how many at most; 50 if not said")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    query = drop_none(
        since=arguments.since,
        until=arguments.until,
        by=arguments.by,
        space=arguments.space,
        last_night=arguments.last_night or None,
        limit=arguments.limit,
    )
    answer = door.call("log", query=query)
    say.reply(answer, lambda: _render_log(answer, say))
    return 0


def _render_log(answer: dict[str, Any], say: CommandOutput) -> Iterator[str]:
    entries, night = answer["entries"], answer["night"]
    if not entries:
        yield "nothing happened"
        return
    yield render_count(len(entries), "entry", "entries")
    for each in entries:
        yield from _render_entry(each, say)
    if night is not None and any(each["undo"] or each["outcome"] == WAITING for each in entries):
        short = night["id"][:CHANGE_ID_CHARS]
        yield f"all of that night, {render_age(night['at'], say.now)}: madeleine undo {short}"


def _render_entry(each: dict[str, Any], say: CommandOutput) -> Iterator[str]:
    """Say when, who, what and why, and how to take it back or to answer."""
    ended = f" ({ENDINGS[each['outcome']]})" if each["outcome"] in ENDINGS else ""
    when = say.dim(f"{render_age(each['at'], say.now):<14}")
    yield f"  {when}  {escape_controls(each['by'])} {escape_controls(each['what'])}{ended}"
    parts = each["what_parts"]
    if parts.get("reason"):
        yield f"                  {escape_controls(str(parts['reason']))}"
    if each["undo"]:
        yield f"                  undo: madeleine undo {each['undo'][:CHANGE_ID_CHARS]}"
    elif each["outcome"] == WAITING:
        short = str(parts["proposal"])[:CHANGE_ID_CHARS]
        yield f"                  look: madeleine proposals show {short}"
