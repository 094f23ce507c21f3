"""Say who has a memory of their own: `person list`, `person add ada`, `person remove ada`.

Needs a server whose memory is in a database. Each person is shown nothing of the others' but
what they share (`madeleine space`). Whoever is removed is let in no more; their memory stays in
the database until `person remove ada --erase`, then or later, and the next of that name is given
it only with `person add ada --keep`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from madeleine.cli.door import CommandDoor
from madeleine.cli.memory_words import render_age, render_count
from madeleine.cli.options import drop_none, require_name
from madeleine.cli.output import CommandOutput, escape_controls
from madeleine.errors import UnknownWord

ACTIONS = ("list", "add", "remove")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", metavar="list|add|remove", nargs="?", default="list", help="what")
    parser.add_argument("name", metavar="NAME", nargs="?", help="the person, such as ada")
    parser.add_argument(
        "--erase", action="store_true", help="with remove: erase their memory too, for good"
    )
    parser.add_argument(
        "--keep", action="store_true", help="with add: hand them what is kept under that name"
    )


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    match arguments.action:
        case "list":
            answer = door.call("people")
            say.reply(answer, lambda: _render_people(answer, say))
        case "add":
            body = {"name": require_name(arguments.name), **drop_none(keep=arguments.keep or None)}
            answer = door.call("add_person", body=body)
            say.reply(answer, lambda: _render_added_person(answer))
        case "remove":
            erase = drop_none(erase=arguments.erase or None)
            answer = door.call("remove_person", require_name(arguments.name), query=erase)
            say.reply(answer, lambda: [escape_controls(answer["text"])])
        case other:
            raise UnknownWord("action", other, list(ACTIONS))
    return 0


def _render_people(answer: dict[str, Any], say: CommandOutput) -> Iterator[str]:
    people = answer["people"]
    yield render_count(len(people), "person", "people")
    for each in people:
        shares = ", ".join(f"{name} ({role})" for name, role in each["spaces"].items())
        since = say.dim(render_age(each["created"], say.now))
        yield f"  {each['name']:<16}{escape_controls(shares)}   {since}".rstrip()


def _render_added_person(answer: dict[str, Any]) -> Iterator[str]:
    name = answer["person"]["name"]
    yield escape_controls(answer["text"])
    yield f"madeleine token create laptop --person {name} makes a token for a client of theirs"
