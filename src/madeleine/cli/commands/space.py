"""Share spaces: `space list`, `space share atlas --with ada --role writer`, `space leave atlas`.

A shared space is a memory of its own. Its members find it among their spaces under its name: what
they remember with that space goes there, and questions are asked there too. A reader finds and
reads, a writer also remembers and changes, an owner says who else may share it. `space leave NAME
--with PERSON` takes somebody out; without a person nobody shares the space any more. What is in it
stays until `space leave NAME --erase`, then or later, and is shared again only with `--keep`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from madeleine.cli.door import CommandDoor
from madeleine.cli.memory_words import render_count
from madeleine.cli.options import drop_none, require_name
from madeleine.cli.output import CommandOutput, escape_controls
from madeleine.errors import Rejected, UnknownWord

ACTIONS = ("list", "share", "leave")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", metavar="list|share|leave", nargs="?", default="list", help="what"
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="the space")
    parser.add_argument("--with", metavar="PERSON", dest="person", help="who")
    parser.add_argument("--role", metavar="ROLE", help="reader, writer (if not said) or owner")
    parser.add_argument(
        "--erase", action="store_true", help="with leave and no person: erase what is in it"
    )
    parser.add_argument(
        "--keep", action="store_true", help="with share: with what is kept under that name"
    )


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    match arguments.action:
        case "list":
            answer = door.call("spaces")
            say.reply(answer, lambda: _render_spaces(answer))
        case "share":
            if arguments.person is None:
                raise Rejected("nobody is named", hint="`space share NAME --with PERSON`")
            names = {"name": require_name(arguments.name), "person": arguments.person}
            more = drop_none(role=arguments.role, keep=arguments.keep or None)
            answer = door.call("share_space", body={**names, **more})
            say.reply(answer, lambda: [escape_controls(answer["text"])])
        case "leave":
            more = drop_none(person=arguments.person, erase=arguments.erase or None)
            answer = door.call("unshare_space", body={"name": require_name(arguments.name), **more})
            say.reply(answer, lambda: [escape_controls(answer["text"])])
        case other:
            raise UnknownWord("action", other, list(ACTIONS))
    return 0


def _render_spaces(answer: dict[str, Any]) -> Iterator[str]:
    spaces = answer["spaces"]
    yield render_count(len(spaces), "shared space")
    for each in spaces:
        members = ", ".join(f"{name} ({role})" for name, role in each["members"].items())
        yield f"  {escape_controls(each['name'])}: {members or 'nobody'}"
