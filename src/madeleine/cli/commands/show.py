"""Show one memory whole: its text, its connections both ways, its use."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from madeleine.cli.door import CommandDoor
from madeleine.cli.memory_words import render_age, render_count, render_headline, render_space
from madeleine.cli.options import CLAIM_PARTS, add_id
from madeleine.cli.output import CommandOutput, escape_controls
from madeleine.model.levels import relevance_level

MAX_TRIGGERS = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_id(parser)


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    answer = door.call("show", arguments.id)
    say.reply(answer, lambda: _render_memory(answer, say))
    return 0


def _render_memory(answer: dict[str, Any], say: CommandOutput) -> Iterator[str]:
    memory = answer["memory"]
    yield say.bold(render_headline(memory))
    for label, value in memory_facts(answer, say):
        yield f"  {say.dim(f'{label:<12}')}{escape_controls(value)}"
    yield ""
    yield escape_controls(memory["content"])
    if answer["connections"]:
        yield ""
        yield say.bold("connections")
        yield from render_connections(answer, say)


def memory_facts(answer: dict[str, Any], say: CommandOutput) -> Iterator[tuple[str, str]]:
    """Give what is known about a memory besides its text; what is not set is left out."""
    memory = answer["memory"]
    yield "id", memory["id"]
    yield "what", f"{memory['type']}, {memory['tier']}, {render_space(memory)}"
    if memory["tags"]:
        yield "tags", ", ".join(memory["tags"])
    yield "created", f"{memory['created']}, {render_age(memory['created'], say.now)}"
    if memory["updated"] != memory["created"]:
        yield "updated", f"{memory['updated']}, {render_age(memory['updated'], say.now)}"
    yield from _validity_facts(memory, say)
    yield "source", f"{memory['source']}, confidence {memory['confidence']:g}"
    if memory["origin"]:
        yield "origin", ", ".join(f"{key} {value}" for key, value in memory["origin"].items())
    if memory["claim"]:
        yield "claim", " | ".join(memory["claim"][part] for part in CLAIM_PARTS)
    if answer.get("standing"):
        said = "set" if memory.get("kind") else "by its text"
        yield "standing", f"how things are done: {answer['activity']} ({said})"
    elif memory.get("kind"):
        yield "standing", "no (set)"
    if memory.get("metadata"):
        yield "metadata", escape_controls(json.dumps(memory["metadata"], ensure_ascii=False))
    if answer.get("triggers"):
        yield "told before", escape_controls(", ".join(answer["triggers"][:MAX_TRIGGERS]))
    if memory["access_count"]:
        last = render_age(memory["last_accessed"], say.now)
        yield "used", f"{render_count(memory['access_count'], 'time')}, last {last}"
    yield "importance", f"{memory['importance']:.2f}"
    if memory.get("relevance") is not None:
        yield "relevance", f"{memory['relevance']:.2f}, {relevance_level(memory['relevance'])}"
    yield "file", answer["path"]


def _validity_facts(memory: dict[str, Any], say: CommandOutput) -> Iterator[tuple[str, str]]:
    if memory["valid_until"]:
        yield (
            "valid until",
            f"{memory['valid_until']}, {render_age(memory['valid_until'], say.now)}",
        )
    if memory["superseded_by"]:
        yield "replaced by", memory["superseded_by"]


def render_connections(answer: dict[str, Any], say: CommandOutput) -> Iterator[str]:
    """Give each arrow at the memory: out of it, or into it."""
    for arrow in answer["connections"]:
        outward = arrow["direction"] == "out"
        other = arrow["target"] if outward else arrow["source"]
        sign = "->" if outward else "<-"
        title = escape_controls(arrow["title"]) if arrow["resolved"] else "(not here)"
        why = f"  {say.dim(escape_controls(arrow['reason']))}" if arrow.get("reason") else ""
        yield f"  {sign} {arrow['says']:<13} {arrow['weight']:.2f}  {other[:8]}  {title}{why}"
