"""Show what happened to a memory, newest first; `undo` takes the changes it names back."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from madeleine.cli.changes import CHANGE_ID_SHOWN
from madeleine.cli.door import Door
from madeleine.cli.options import add_id, given
from madeleine.cli.say import Say, clean
from madeleine.cli.words import age, plural


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_id(parser, help_text="the memory, also one in the trash")
    parser.add_argument("--limit", type=int, metavar="N", help="how many events at most")


def run(arguments: argparse.Namespace, door: Door, say: Say) -> int:
    answer = door.call("history", arguments.id, query=given(limit=arguments.limit))
    say.reply(answer, lambda: _words(answer, say))
    return 0


def _words(answer: dict[str, Any], say: Say) -> Iterator[str]:
    refused = {
        event["body"]["proposal"]: event["body"].get("wording", "")
        for event in answer["events"]
        if _was_never_asked(event)
    }
    shown = [event for event in answer["events"] if not _was_never_asked(event)]
    yield f"{plural(len(shown), 'event')} of {answer['node_id'][:8]}"
    for event in shown:
        wording = refused.get(str(event["body"].get("proposal")))
        yield event_line(event, say) if wording is None else _refusal_line(event, wording, say)


def _was_never_asked(event: dict[str, Any]) -> bool:
    """Whether an event is a question that nobody was asked: it stands in the journal only for the
    no that follows it, which is told instead."""
    return event["kind"] == "proposed" and "verb" not in (event["body"].get("action") or {})


def _refusal_line(event: dict[str, Any], wording: str, say: Say) -> str:
    """Return what sleep will not do again, since somebody took it back."""
    when, space = age(event["at"], say.now), " " * CHANGE_ID_SHOWN
    by = f", says {event['body']['by']}" if event["body"].get("by") else ""
    return clean(f"  {when:<16}  {space}  will not be done again by sleep: {wording}{by}")


def event_line(event: dict[str, Any], say: Say) -> str:
    """Return when, what, by whom and why, with the change that `undo` takes."""
    body = event["body"]
    change = str(body.get("change") or "")[:CHANGE_ID_SHOWN]
    what = str(body.get("verb") or body.get("how") or event["kind"])
    ended = "" if event.get("outcome") in (None, "done") else f" ({event['outcome']})"
    by = f" by {body['by']}" if body.get("by") else ""
    why = f": {body['reason']}" if body.get("reason") else ""
    when = age(event["at"], say.now)
    return clean(f"  {when:<16}  {change:<{CHANGE_ID_SHOWN}}  {what}{by}{ended}{why}").rstrip()
