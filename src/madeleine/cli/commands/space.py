"""Say which space a folder is and why, give spaces other names, and share them.

`space` alone says which space this folder belongs to, and lists those that have memories.
`space which [FOLDER]` says to which space a folder belongs and what tells: a `.madeleine.toml` with
`space = "NAME"` in it or above it, an alias, the git remote's name, the repository's folder, or a
folder that is called like a space that has memories. `space list` names the spaces that have
memories. `space alias NAME SPACE` lets another name, or the path of a folder, mean a space.
`space rename OLD NEW` gives all memories of a space another one, `space merge FROM INTO` puts them
into one that is there already; `undo` takes either back.

`space share atlas --with ada --role writer`, `space leave atlas`: a shared space is a memory of its
own. Its members find it among their spaces under its name: what they remember with that space goes
there, and questions are asked there too. A reader finds and
reads, a writer also remembers and changes, an owner says who else may share it. `space leave NAME
--with PERSON` takes somebody out; without a person nobody shares the space any more. What is in it
stays until `space leave NAME --erase`, then or later, and is shared again only with `--keep`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from madeleine.cli.commands.config import change_setting
from madeleine.cli.door import CommandDoor
from madeleine.cli.environment import current_folder, read_environment
from madeleine.cli.memory_words import render_count
from madeleine.cli.options import drop_none, require_name
from madeleine.cli.output import CommandOutput, escape_controls
from madeleine.errors import NoPeople, Rejected, UnknownWord
from madeleine.settings import list_settings
from madeleine.settings.config_file import config_path, read_config_table
from madeleine.write.find_space import read_aliases

ALIASES = "space.aliases"
ACTIONS = ("list", "which", "alias", "rename", "merge", "share", "leave")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", metavar="|".join(ACTIONS), nargs="?", default=None, help="what")
    parser.add_argument("name", metavar="NAME", nargs="?", help="the space; with which: a folder")
    parser.add_argument(
        "target", metavar="SPACE", nargs="?", help="with alias, rename and merge: the other one"
    )
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
        case None:
            here = door.call("space_here", query=drop_none(cwd=current_folder()))
            answer = {**_list_spaces(door), "here": here}
            say.reply(answer, lambda: [escape_controls(here["text"]), *_render_spaces(answer)])
        case "list":
            answer = _list_spaces(door)
            say.reply(answer, lambda: _render_spaces(answer))
        case "which":
            folder = Path(arguments.name).absolute() if arguments.name else current_folder()
            answer = door.call("space_here", query={"cwd": str(folder)})
            say.reply(answer, lambda: [escape_controls(answer["text"])])
        case "alias":
            name, space = require_name(arguments.name), require_name(arguments.target)
            answer = _add_alias(door, name, space)
            say.reply(answer, lambda: [f"{escape_controls(name)} means {escape_controls(space)}"])
            say.notes(answer["notes"])
        case "rename" | "merge":
            names = {
                "source": require_name(arguments.name),
                "target": require_name(arguments.target),
            }
            body = {**names, **drop_none(merge=(arguments.action == "merge") or None)}
            answer = door.call("move_space", body=body)
            say.reply(answer, lambda: [escape_controls(answer["text"])])
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


def _list_spaces(door: CommandDoor) -> dict[str, Any]:
    """Return the spaces that have memories, and those that are shared, where there are people."""
    own = door.call("space_here")["spaces"]
    try:
        shared = door.call("spaces")
    except Rejected as refusal:
        if refusal.kind != NoPeople.kind:
            raise
        return {"own": own, "spaces": []}  # nobody shares a home of files
    return {**shared, "own": own}


def _add_alias(door: CommandDoor, name: str, space: str) -> dict[str, Any]:
    """Write an alias to the settings, in the place of one of the same name."""
    if any(each in f"{name}{space}" for each in ",="):
        raise Rejected("an alias holds a comma or an equals sign", hint="take another name")
    path = config_path(door.home)
    settings = list_settings(read_config_table(path), read_environment())
    known = str(next(each.value for each in settings if each.name == ALIASES))
    named = {each.name: each.space for each in read_aliases(known)} | {name: space}
    told = ", ".join(f"{each} = {meant}" for each, meant in named.items())
    return change_setting(door, ALIASES, told, at_once=True)


def _render_spaces(answer: dict[str, Any]) -> Iterator[str]:
    for name, count in sorted(answer["own"].items()):
        yield f"  {escape_controls(name)}: {render_count(count, 'memory', 'memories')}"
    spaces = answer["spaces"]
    if spaces:
        yield render_count(len(spaces), "shared space")
    for each in spaces:
        members = ", ".join(f"{name} ({role})" for name, role in each["members"].items())
        yield f"  {escape_controls(each['name'])}: {members or 'nobody'}"
