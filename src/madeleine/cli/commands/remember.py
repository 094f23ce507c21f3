"""Write a memory, or many from a file.

Inside a git repository a memory belongs to the space named after it, as it does for agents that
work there; the answer says so. --space names another one, and --space global none.
A text that is already known in its space is not written twice: its memory is returned.
With --jsonl each line of FILE is a JSON object with the fields of a memory (content, type,
tier, space, title, tags, connections, claim, created, …), and each gets one line of answer.
The answer names memories that the new one is like; said again with --replaces ID, it takes the
place of one, in a change that `undo` takes back.
"""

from __future__ import annotations

import argparse
from typing import Any

from madeleine.cli.door import CommandDoor
from madeleine.cli.jsonl import remember_lines
from madeleine.cli.memory_words import render_headline, render_memory_name
from madeleine.cli.options import (
    CLAIM_FORMAT,
    EDGES_HELP,
    KINDS_HELP,
    TIERS_HELP,
    TIME_HELP,
    TYPES_HELP,
    drop_none,
    parse_claim,
    parse_id_argument,
)
from madeleine.cli.output import CommandOutput, escape_controls
from madeleine.cli.parsing import read_text_argument
from madeleine.cli.space_here import choose_space_here
from madeleine.errors import InvalidValue, Rejected

MAX_SIMILAR = 3  # memories that are named as like the new one; `--json` has all


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", nargs="?", help="what to remember; - reads stdin")
    parser.add_argument("--jsonl", metavar="FILE", help="remember every line of FILE; - is stdin")
    parser.add_argument("--type", metavar="TYPE", help=f"{TYPES_HELP}; fact if not said")
    parser.add_argument("--tier", metavar="TIER", help=f"{TIERS_HELP}; working if not said")
    parser.add_argument(
        "--space",
        metavar="SPACE",
        help="the project it belongs to; the repository you are in if not said, `global` for none",
    )
    parser.add_argument(
        "--branch",
        action="store_true",
        help="it holds on the git branch that is checked out here, until that is merged",
    )
    parser.add_argument("--title", metavar="TITLE", help="a short title")
    parser.add_argument("--tag", action="append", metavar="TAG", help="a label; may be repeated")
    parser.add_argument("--about-self", action="store_true", help="it describes you")
    parser.add_argument("--kind", metavar="KIND", help=KINDS_HELP)
    parser.add_argument("--confidence", type=float, metavar="0-1", help="how sure you are")
    parser.add_argument("--source", metavar="SOURCE", help="where it comes from; cli if not said")
    parser.add_argument(
        "--link",
        action="append",
        metavar="ID[:EDGE[:WEIGHT]]",
        help=f"connect it to a memory; may be repeated. EDGE: {EDGES_HELP}",
    )
    parser.add_argument(
        "--claim", metavar=CLAIM_FORMAT, help="what it states; replaces older values"
    )
    parser.add_argument(
        "--replaces",
        action="append",
        metavar="ID",
        type=parse_id_argument,
        help="retire this memory as replaced by the new one; may be repeated",
    )
    parser.add_argument(
        "--valid-until", metavar="TIME", help=f"when it stops being true, {TIME_HELP}"
    )
    parser.add_argument("--created", metavar="TIME", help="when it was first known")
    parser.add_argument("--id", metavar="UUID", help="an id of your own choice")
    parser.add_argument("--key", metavar="KEY", help="makes a repeated call return the first one")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    if arguments.branch and arguments.space is not None:
        raise Rejected("a branch is in the space of its project", hint="leave --space out")
    space = None
    if arguments.space is None:
        space = choose_space_here(door, arguments.text, arguments.branch)
    if arguments.jsonl is not None:
        return remember_lines(arguments.jsonl, _build_shared_draft(arguments), door, say, space)
    if arguments.text is None:
        raise Rejected(
            "there is nothing to remember", hint='`madeleine remember "…"`, or - for stdin'
        )
    draft = {**build_draft(arguments), "content": read_text_argument(arguments.text)}
    answer = door.call("remember", query=drop_none(default_space=space), body=draft)
    written = not answer["existing"] or answer["change"] is not None
    say.reply(answer, lambda: _render_remembered(answer), notes=written)
    return 0


def build_draft(arguments: argparse.Namespace) -> dict[str, object]:
    """Return the fields that the options give."""
    links = [parse_link(text) for text in arguments.link or ()]
    return drop_none(
        type=arguments.type,
        tier=arguments.tier,
        space=arguments.space,
        title=arguments.title,
        tags=arguments.tag,
        about_self=arguments.about_self or None,
        kind=arguments.kind,
        confidence=arguments.confidence,
        source=arguments.source,
        connections=links or None,
        claim=parse_claim(arguments.claim),
        replaces=arguments.replaces,
        valid_until=arguments.valid_until,
        created=arguments.created,
        id=arguments.id,
        idempotency_key=arguments.key,
    )


def parse_link(text: str) -> dict[str, object]:
    """Return the connection that `ID[:EDGE[:WEIGHT]]` asks for."""
    target, _, rest = text.partition(":")
    edge, _, weight = rest.partition(":")
    try:
        return drop_none(target=target, edge=edge or None, weight=float(weight) if weight else None)
    except ValueError as error:
        raise InvalidValue(
            "link", f"is {text!r}; the weight {weight!r} is not a number", "ID:EDGE:WEIGHT"
        ) from error


def _build_shared_draft(arguments: argparse.Namespace) -> dict[str, object]:
    """With --jsonl the options fill in what a line does not say."""
    own = (arguments.id, arguments.key, arguments.title, arguments.claim, arguments.replaces)
    if arguments.text is not None or any(own):
        raise Rejected(
            "--jsonl takes no TEXT, --title, --claim, --replaces, --id or --key",
            hint="put them into the lines",
        )
    return build_draft(arguments)


def _render_remembered(answer: dict[str, Any]) -> list[str]:
    memory = answer["memory"]
    where = f"  in space {memory['space']}" if memory.get("space") else ""
    if answer.get("existing"):
        return [f"known already: {render_memory_name(memory)}{where}"]
    links = [f"  {e['edge']} {e['target'][:8]}  {e['weight']:.2f}" for e in answer["linked"]]
    said = f"remembered {memory['short_id']}  {memory['type']}  {render_headline(memory)}{where}"
    return [said, *links, *_render_similar(answer["similar"])]


def _render_similar(similar: list[dict[str, Any]]) -> list[str]:
    """Name what it is like, and how to say that it takes the place of one."""
    return [
        f"  like {each['id'][:8]}, which says: {escape_controls(each['text'])}"
        f"; to replace it: --replaces {each['id'][:8]}"
        for each in similar[:MAX_SIMILAR]
    ]
