"""List what waits for your decision, look at one, or decide: `proposals approve ID`.

`proposals show ID` shows line by line what would change in which file. Approving carries out
exactly what the proposal says, as a change that can be undone.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from madeleine.cli.changes import undo_words
from madeleine.cli.door import Door
from madeleine.cli.options import an_id, given
from madeleine.cli.say import Say, clean
from madeleine.cli.words import age, plural
from madeleine.errors import Rejected, UnknownWord

ACTIONS = {"approve": "approved", "reject": "rejected"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", metavar="show|approve|reject", nargs="?", help="look at one, or decide"
    )
    parser.add_argument("id", metavar="ID", nargs="?", type=an_id, help="the proposal")
    parser.add_argument(
        "--status",
        metavar="STATUS",
        help="pending (if not said), approved, rejected, expired, all",
    )


def run(arguments: argparse.Namespace, door: Door, say: Say) -> int:
    if arguments.action is None:
        answer = door.call("proposals", query=given(status=arguments.status))
        say.reply(answer, lambda: _list(answer, say))
        return 0
    if arguments.action == "show":
        answer = door.call("proposal", _named(arguments))
        say.reply(answer, lambda: _shown(answer, say))
        return 0
    action = _action(arguments)
    answer = door.call("decide", arguments.id, body={"action": action})
    say.reply(answer, lambda: _decided(answer, action))
    return 0


def _action(arguments: argparse.Namespace) -> str:
    if arguments.action not in ACTIONS:
        raise UnknownWord("decision", arguments.action, ["show", *ACTIONS])
    _named(arguments)
    return ACTIONS[arguments.action]


def _named(arguments: argparse.Namespace) -> str:
    if arguments.id is None:
        raise Rejected("no proposal is named", hint="`madeleine proposals` lists them")
    return str(arguments.id)


def _list(answer: dict[str, Any], say: Say) -> Iterator[str]:
    proposals = answer["proposals"]
    yield plural(len(proposals), "proposal")
    for each in proposals:
        when = say.dim(age(each["created"], say.now))
        yield f"  {each['id'][:8]}  {each['type']}  {clean(each['proposed_action'])}   {when}"
        if each.get("reason"):
            yield f"            {clean(each['reason'])}"


def _shown(answer: dict[str, Any], say: Say) -> Iterator[str]:
    """Show a proposal with the lines that would change."""
    proposal = answer["proposal"]
    short = proposal["id"][:8]
    yield f"{short}  {proposal['type']}  {clean(proposal['proposed_action'])}"
    if proposal.get("reason"):
        yield f"  {clean(proposal['reason'])}"
    if answer.get("problem"):
        yield f"  it cannot be carried out: {clean(answer['problem'])}"
    for line in answer["difference"].splitlines():
        yield f"  {clean(line)}"
    if proposal["status"] == "pending":
        yield say.dim(f"  madeleine proposals approve {short}, or reject {short}")


def _decided(answer: dict[str, Any], action: str) -> Iterator[str]:
    proposal = answer["proposal"]
    yield f"{action} {proposal['id'][:8]}  {clean(proposal['proposed_action'])}"
    if answer.get("change"):
        yield undo_words(answer["change"])
