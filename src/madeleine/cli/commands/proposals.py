"""List what waits for your decision, look at one, or decide: `proposals approve ID`.

`proposals show ID` shows line by line what would change in which file. Approving carries out
exactly what the proposal says, as a change that can be undone. Several can be decided at once:
`proposals approve ID ID …`, or `proposals reject --all --kind decay`, or all that one run or night
asked with --run ID; one undo takes all of that back.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from madeleine.cli.change_words import render_undo_hint
from madeleine.cli.door import CommandDoor
from madeleine.cli.memory_words import render_age, render_count
from madeleine.cli.options import drop_none, parse_id_argument
from madeleine.cli.output import CommandOutput, escape_controls
from madeleine.errors import ERROR_BASES, MadeleineError, Rejected, UnknownWord

STATUS_BY_ACTION = {"approve": "approved", "reject": "rejected"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", metavar="show|approve|reject", nargs="?", help="look at one, or decide"
    )
    parser.add_argument(
        "id", metavar="ID", nargs="*", type=parse_id_argument, help="the proposal, or several"
    )
    parser.add_argument("--all", action="store_true", help="decide all that wait")
    parser.add_argument(
        "--kind", "--type", metavar="KIND", help="only those of this kind, such as merge"
    )
    parser.add_argument("--run", metavar="ID", help="only those that this run or night asked")
    parser.add_argument(
        "--status",
        metavar="STATUS",
        help="pending (if not said), approved, rejected, expired, all",
    )


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    if arguments.action is None:
        answer = _fetch_proposals(arguments, door)
        say.reply(answer, lambda: _render_proposals(answer, say))
        return 0
    if arguments.action not in ("show", *STATUS_BY_ACTION):
        raise UnknownWord("decision", arguments.action, ["show", *STATUS_BY_ACTION])
    if arguments.all and not arguments.id and arguments.action != "show":
        return _decide_all(arguments, door, say)
    named = _select_proposals(arguments)
    if arguments.action == "show":
        answer = door.call("proposal", _require_one(named))
        say.reply(answer, lambda: _render_proposal(answer, say))
        return 0
    action = STATUS_BY_ACTION[arguments.action]
    if len(named) == 1:
        answer = door.call("decide", named[0], body={"action": action})
        say.reply(answer, lambda: _render_decision(answer, action))
        return 0
    return _decide_many(named, action, door, say)


def _fetch_proposals(arguments: argparse.Namespace, door: CommandDoor) -> dict[str, Any]:
    """Return the proposals that are asked for."""
    query = drop_none(status=arguments.status, kind=arguments.kind, run=arguments.run)
    return door.call("proposals", query=query)


def _decide_all(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    """Decide all that fit at once, so that one undo takes it back."""
    action = STATUS_BY_ACTION[arguments.action]
    body = {"action": action, **drop_none(kind=arguments.kind, run=arguments.run)}
    answer = door.call("decide_all", body=body)
    say.reply(answer, lambda: _render_all(answer, action))
    codes = [each["code"] for each in answer["refused"]]
    return next((base.exit_code for base in ERROR_BASES if base.code in codes[:1]), 0)


def _render_all(answer: dict[str, Any], action: str) -> Iterator[str]:
    yield f"{action} {render_count(len(answer['decided']), 'proposal')}"
    for each in answer["decided"]:
        yield f"  {each['id'][:8]}  {escape_controls(each['proposed_action'])}"
    for each in answer["refused"]:
        yield f"  left {each['id'][:8]}: {escape_controls(each['error'])}"
    if answer["undo"]:
        yield render_undo_hint(answer["undo"])


def _select_proposals(arguments: argparse.Namespace) -> list[str]:
    """Return the proposals that are named one by one."""
    if arguments.all or (arguments.id and (arguments.kind or arguments.run)):
        raise Rejected("name proposals, or decide --all of a --kind or --run", hint="not both")
    if not arguments.id:
        raise Rejected("no proposal is named", hint="`madeleine proposals` lists them")
    return [str(each) for each in arguments.id]


def _require_one(named: list[str]) -> str:
    if len(named) > 1:
        raise Rejected("one proposal is shown at a time", hint=f"`proposals show {named[0][:8]}`")
    return named[0]


def _decide_many(named: list[str], action: str, door: CommandDoor, say: CommandOutput) -> int:
    """Decide one after the other; what cannot be decided is told and keeps none of the others."""
    decided: list[dict[str, Any]] = []
    refused: list[tuple[str, MadeleineError]] = []
    with say.progress("proposals") as bar:
        for done, each in enumerate(named):
            try:
                decided.append(door.call("decide", each, body={"action": action}))
            except MadeleineError as error:
                refused.append((each, error))
            bar(done + 1, len(named))
    problems = [{"id": each, "error": error.message} for each, error in refused]
    answer = {"decided": [each["proposal"] for each in decided], "refused": problems}
    say.reply(answer, lambda: _render_decisions(decided, refused, action))
    return refused[0][1].exit_code if refused else 0


def _render_decisions(
    decided: list[dict[str, Any]], refused: list[tuple[str, MadeleineError]], action: str
) -> Iterator[str]:
    yield f"{action} {render_count(len(decided), 'proposal')}"
    for each in decided:
        proposal = each["proposal"]
        yield f"  {proposal['id'][:8]}  {escape_controls(proposal['proposed_action'])}"
        if each.get("change"):
            yield f"  {render_undo_hint(each['change'])}"
    for named, error in refused:
        yield f"  left {named[:8]}: {escape_controls(error.message)}"


def _render_proposals(answer: dict[str, Any], say: CommandOutput) -> Iterator[str]:
    proposals = answer["proposals"]
    yield render_count(len(proposals), "proposal")
    known = {each["id"]: each for each in proposals}
    for each in (known[named] for group in answer["groups"] for named in group["ids"]):
        when = say.dim(render_age(each["created"], say.now))
        what = escape_controls(each["proposed_action"])
        yield f"  {each['id'][:8]}  {each['type']}  {what}   {when}"
        if each.get("reason"):
            yield f"            {escape_controls(each['reason'])}"


def _render_proposal(answer: dict[str, Any], say: CommandOutput) -> Iterator[str]:
    """Show a proposal with the lines that would change."""
    proposal = answer["proposal"]
    short = proposal["id"][:8]
    yield f"{short}  {proposal['type']}  {escape_controls(proposal['proposed_action'])}"
    if proposal.get("reason"):
        yield f"  {escape_controls(proposal['reason'])}"
    if answer.get("problem"):
        yield f"  it cannot be carried out: {escape_controls(answer['problem'])}"
    for line in answer["difference"].splitlines():
        yield f"  {escape_controls(line)}"
    if proposal["status"] == "pending":
        yield say.dim(f"  madeleine proposals approve {short}, or reject {short}")


def _render_decision(answer: dict[str, Any], action: str) -> Iterator[str]:
    proposal = answer["proposal"]
    yield f"{action} {proposal['id'][:8]}  {escape_controls(proposal['proposed_action'])}"
    if answer.get("change"):
        yield render_undo_hint(answer["change"])
