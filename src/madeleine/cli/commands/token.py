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

from madeleine.cli.door import Door
from madeleine.cli.options import given, one_name
from madeleine.cli.say import Say, clean
from madeleine.cli.words import age, plural
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


def run(arguments: argparse.Namespace, door: Door, say: Say) -> int:
    match arguments.action:
        case "list":
            answer = door.call("tokens", query=given(person=arguments.person))
            say.reply(answer, lambda: _listed(answer, say))
        case "create":
            body = given(
                name=one_name(arguments.name), person=arguments.person, role=arguments.role
            )
            answer = door.call("create_token", body=body)
            say.reply(answer, lambda: _created(answer, say))
        case "revoke":
            answer = door.call("revoke_token", one_name(arguments.name))
            say.reply(answer, lambda: [clean(answer["text"])])
        case other:
            raise UnknownWord("action", other, list(ACTIONS))
    return 0


def _listed(answer: dict[str, Any], say: Say) -> Iterator[str]:
    tokens = answer["tokens"]
    yield plural(len(tokens), "token")
    for each in tokens:
        used = f"used {age(each['last_used'], say.now)}" if each["last_used"] else "never used"
        who = f"{each['person']:<16}{each['role']:<8}"
        yield f"  {each['id'][:8]}  {who}{clean(each['name'])}   {say.dim(used)}"


def _created(answer: dict[str, Any], say: Say) -> Iterator[str]:
    """Print the secret alone, so that it can be taken up by a pipe."""
    say.talk(
        f"token {answer['id'][:8]} of {answer['person']}, {answer['role']}; it is shown this once"
    )
    yield answer["token"]
