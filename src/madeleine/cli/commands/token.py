"""Make, list and revoke tokens: `token create laptop --person ada`, `token list`, `token revoke
ID`.

A client shows its token with every request, as `Authorization: Bearer …`. It is told once; what
is kept is a hash of it. A client may do what the token's role says: reader (find and read),
writer (remember and change, if nothing else is said), owner (import, export, purge, run jobs) or
admin (people, tokens, shared spaces, the server; of no person). A revoked token is refused within
seconds by every server.
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

ACTIONS = ("list", "create", "revoke")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", metavar="list|create|revoke", nargs="?", default="list", help="what"
    )
    parser.add_argument(
        "name", metavar="NAME", nargs="?", help="what a new token is for; or the one to revoke"
    )
    parser.add_argument(
        "--person", metavar="PERSON", help="whose memory it opens, or whose to list"
    )
    parser.add_argument("--role", metavar="ROLE", help="reader, writer (if not said), owner, admin")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    match arguments.action:
        case "list":
            answer = door.call("tokens", query=drop_none(person=arguments.person))
            say.reply(answer, lambda: _render_tokens(answer, say))
        case "create":
            body = drop_none(
                name=require_name(arguments.name), person=arguments.person, role=arguments.role
            )
            answer = door.call("create_token", body=body)
            say.reply(answer, lambda: _render_created_token(answer, say))
        case "revoke":
            answer = door.call("revoke_token", require_name(arguments.name))
            say.reply(answer, lambda: [escape_controls(answer["text"])])
        case other:
            raise UnknownWord("action", other, list(ACTIONS))
    return 0


def _render_tokens(answer: dict[str, Any], say: CommandOutput) -> Iterator[str]:
    tokens = answer["tokens"]
    yield render_count(len(tokens), "token")
    for each in tokens:
        used = (
            f"used {render_age(each['last_used'], say.now)}" if each["last_used"] else "never used"
        )
        who = f"{each['person']:<16}{each['role']:<8}"
        yield f"  {each['id'][:8]}  {who}{escape_controls(each['name'])}   {say.dim(used)}"


def _render_created_token(answer: dict[str, Any], say: CommandOutput) -> Iterator[str]:
    """Print the secret alone, so that it can be taken up by a pipe."""
    say.talk(
        f"token {answer['id'][:8]} of {answer['person']}, {answer['role']}; it is shown this once"
    )
    yield answer["token"]
