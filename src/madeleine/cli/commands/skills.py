"""Make Agent Skills of procedures that were used and worked: `skills`, `skills export FOLDER`.

A skill is a folder with a SKILL.md, which agents such as Claude Code read as an instruction:
`.claude/skills` for a project, `~/.claude/skills` for all. `skills` lists the procedures that were
of use, and more often than not; `skills show NAME` shows the file that one would become.

`skills export FOLDER` lists what it would write, and writes nothing until you say --yes. What it
wrote before, and the memory says otherwise since, is written anew; what you edited, and what is not
from here, is left alone. --only NAME takes single ones.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from madeleine.cli.door import CommandDoor
from madeleine.cli.memory_words import render_count
from madeleine.cli.options import drop_none
from madeleine.cli.output import CommandOutput, escape_controls
from madeleine.errors import Rejected, UnknownWord

ACTIONS = ("list", "show", "export")
_STATE_WORDS = {
    "new": "is new",
    "changed": "says something else now",
    "unchanged": "is there already",
    "edited": "was edited there and is left alone",
    "foreign": "is not from here and is left alone",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", metavar="list|show|export", nargs="?", default="list", help="what"
    )
    parser.add_argument("target", metavar="NAME|FOLDER", nargs="?", help="the skill, or where to")
    parser.add_argument("--yes", action="store_true", help="write what was listed")
    parser.add_argument("--only", metavar="NAME", action="append", help="only this one; repeatable")
    parser.add_argument(
        "--least", metavar="N", type=int, help="how often one was of use at least; once, if unsaid"
    )
    parser.add_argument("--space", metavar="NAME", action="append", help="only this space")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    if arguments.action not in ACTIONS:
        raise UnknownWord("action", arguments.action, list(ACTIONS))
    query = drop_none(least=arguments.least, spaces=arguments.space)
    answer = door.call("skills", query=query)
    if arguments.action == "list":
        say.reply(answer, lambda: _render_list(answer["skills"]))
        return 0
    if arguments.target is None:
        wanted = "a name" if arguments.action == "show" else "a folder"
        raise Rejected(f"{wanted} is missing", hint=f"`madeleine skills {arguments.action} …`")
    if arguments.action == "show":
        [skill] = _select(answer["skills"], [arguments.target])
        say.reply(skill, lambda: map(escape_controls, skill["text"].splitlines()))
        return 0
    return _export(arguments, _select(answer["skills"], arguments.only), door, say)


def _select(skills: Sequence[dict[str, Any]], names: Sequence[str] | None) -> list[dict[str, Any]]:
    """Return the skills of these names, or all."""
    known = {each["name"]: each for each in skills}
    for each in names or ():
        if each not in known:
            raise UnknownWord("skill", each, list(known))
    return [known[each] for each in names] if names else list(skills)


def _export(
    arguments: argparse.Namespace,
    skills: Sequence[dict[str, Any]],
    door: CommandDoor,
    say: CommandOutput,
) -> int:
    from madeleine.ingest.exporting.skills import WRITTEN_STATES, compare_skill, write_skill

    folder = Path(arguments.target).expanduser().absolute()
    if folder.resolve().is_relative_to(door.home.resolve()):
        raise Rejected(f"{folder} lies in the home itself", hint="name a place outside of it")
    states = [(each, compare_skill(folder, each)) for each in skills]
    wanted = [each for each, state in states if state in WRITTEN_STATES]
    if arguments.yes:
        for each in wanted:
            write_skill(folder, each)
    listed = [
        {**each, "state": state.value, "written": arguments.yes and state in WRITTEN_STATES}
        for each, state in states
    ]
    told = {"folder": str(folder), "written": len(wanted) if arguments.yes else 0, "skills": listed}
    say.reply(told, lambda: _render_export(told, len(wanted), arguments.yes))
    return 0


def _render_list(skills: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield f"{render_count(len(skills), 'procedure')} that worked"
    for each in skills:
        yield from _render_skill(each, "")
    if not skills:
        yield "a procedure is one once it was of use: by a reply that used it, or by feedback"


def _render_skill(skill: dict[str, Any], state: str) -> Iterator[str]:
    failed = f", {skill['failed']} times not" if skill["failed"] else ""
    counts = f"{render_count(skill['worked'], 'time')} of use{failed}"
    told = f"{_STATE_WORDS[state]}; " if state else ""
    name, source = escape_controls(skill["name"]), escape_controls(skill["source"])
    yield f"  {name}   {told}{counts}, by {source}"
    yield f"    {escape_controls(skill['description'])}"


def _render_export(told: dict[str, Any], count: int, wrote: bool) -> Iterator[str]:
    for each in told["skills"]:
        yield from _render_skill(each, each["state"])
    files = render_count(count, "skill")
    if wrote:
        yield f"{files} written to {told['folder']}"
    elif count:
        yield f"{files} would be written to {told['folder']}; look at them with"
        yield "`madeleine skills show NAME`, since agents follow what stands there, and add --yes"
    else:
        yield "nothing to write"
