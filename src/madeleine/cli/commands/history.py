"""Show what happened to a memory, newest first; `undo` takes the changes it names back."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from madeleine.cli.change_words import CHANGE_ID_CHARS
from madeleine.cli.door import CommandDoor
from madeleine.cli.memory_words import render_age, render_count
from madeleine.cli.options import add_id, drop_none
from madeleine.cli.output import CommandOutput, escape_controls


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_id(parser, help_text="the memory, also one in the trash")
    parser.add_argument("--limit", type=int, metavar="N", help="how many events at most")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    answer = door.call("history", arguments.id, query=drop_none(limit=arguments.limit))
    say.reply(answer, lambda: _render_history(answer, say))
    return 0


def _render_history(answer: dict[str, Any], say: CommandOutput) -> Iterator[str]:
    refused = {
        event["body"]["proposal"]: event["body"].get("wording", "")
        for event in answer["events"]
        if _is_unasked_question(event)
    }
    shown = [event for event in answer["events"] if not _is_unasked_question(event)]
    yield f"{render_count(len(shown), 'event')} of {answer['node_id'][:8]}"
    for event in shown:
        wording = refused.get(str(event["body"].get("proposal")))
        yield render_event(event, say) if wording is None else _render_refusal(event, wording, say)


def _is_unasked_question(event: dict[str, Any]) -> bool:
    """Whether an event is a question that nobody was asked: it stands in the journal only for the
    no that follows it, which is told instead."""
    return event["kind"] == "proposed" and "verb" not in (event["body"].get("action") or {})


def _render_refusal(event: dict[str, Any], wording: str, say: CommandOutput) -> str:
    """Return what sleep will not do again, since somebody took it back."""
    when, space = render_age(event["at"], say.now), " " * CHANGE_ID_CHARS
    by = f", says {event['body']['by']}" if event["body"].get("by") else ""
    return escape_controls(f"  {when:<16}  {space}  will not be done again by sleep: {wording}{by}")


def render_event(event: dict[str, Any], say: CommandOutput) -> str:
    """Return when, what, by whom and why, with the change that `undo` takes."""
    body = event["body"]
    change = str(body.get("change") or "")[:CHANGE_ID_CHARS]
    what = str(body.get("verb") or body.get("how") or event["kind"])
    ended = "" if event.get("outcome") in (None, "done") else f" ({event['outcome']})"
    by = f" by {body['by']}" if body.get("by") else ""
    why = f": {body['reason']}" if body.get("reason") else ""
    when = render_age(event["at"], say.now)
    return escape_controls(
        f"  {when:<16}  {change:<{CHANGE_ID_CHARS}}  {what}{by}{ended}{why}"
    ).rstrip()
