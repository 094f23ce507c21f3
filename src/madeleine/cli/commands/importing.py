"""Bring memories along from other programs, or from an export of Madeleine.

  madeleine import claude-code ~/.claude      what Claude Code noted, in all projects
  madeleine import obsidian ~/Notes           a vault of notes, with their links
  madeleine import chatgpt export.zip         conversations, word for word, for the archive
  madeleine import automem http://127.0.0.1:8001     what a running AutoMem has
  madeleine import jsonl memories.jsonl       an export of Madeleine, with everything

The words of `export` are understood too: jsonl and zip are exports of Madeleine.
Importing twice adds nothing. What changed at its source since is revised; what was changed here too
stays and is told. --dry-run shows what would be done. `madeleine undo RUN` takes an import back.
Keys, tokens and passwords are left out of what comes from other programs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from madeleine.cli.change_words import CHANGE_ID_CHARS
from madeleine.cli.door import CommandDoor
from madeleine.cli.environment import read_variable
from madeleine.cli.memory_words import render_count
from madeleine.cli.output import CommandOutput, escape_controls
from madeleine.errors import Damaged, Rejected
from madeleine.ingest.importing.importer import MemoryImport
from madeleine.ingest.importing.table import FORMAT_BY_ALIAS, FORMATS, is_url
from madeleine.ingest.importing.values import ForeignServer

# Under which AutoMem's own clients and server have their tokens.
KEY_VARIABLES = ("AUTOMEM_API_KEY", "AUTOMEM_API_TOKEN")
ADMIN_VARIABLES = ("AUTOMEM_ADMIN_TOKEN", "ADMIN_API_TOKEN")
MAX_PROBLEMS_SHOWN = 20  # problems that are printed; `--json` has all of them


def add_arguments(parser: argparse.ArgumentParser) -> None:
    listed = "; ".join(f"{name}: {what}" for name, what in FORMATS.items())
    parser.add_argument("format", metavar="FORMAT", help=listed)
    parser.add_argument("path", metavar="PATH", help="the file, folder or server to read")
    parser.add_argument("--space", metavar="SPACE", help="put all of it into this project")
    parser.add_argument("--dry-run", action="store_true", help="change nothing, show what would be")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    from madeleine.ingest.importing import formats

    form = FORMAT_BY_ALIAS.get(arguments.format, arguments.format)
    if is_url(arguments.path):
        path = arguments.path
        key, admin = (_read_first(names) for names in (KEY_VARIABLES, ADMIN_VARIABLES))
        server = ForeignServer(path, key, admin)
        found = formats.read_server(form, server, arguments.space)
    else:
        path = Path(arguments.path).expanduser().absolute()
        found = formats.read(form, path, arguments.space)
    with say.progress("importing") as bar:
        moving = MemoryImport(form, _make_sender(door, say), arguments.dry_run, bar)
        answer = {"path": str(path), **moving.take_all(found)}
    say.reply(answer, lambda: _render_import(answer))
    _say_problems(answer, say)
    if answer["cut"]:
        return Damaged.exit_code
    return Rejected.exit_code if answer["problems"] else 0


def _read_first(names: tuple[str, ...]) -> str:
    """Return the first of these variables that is set."""
    return next((value for each in names if (value := read_variable(each))), "")


def _make_sender(door: CommandDoor, say: CommandOutput) -> Any:
    """Return what sends a batch. The run is said before the first one: whoever interrupts an
    import can take back what it did until then."""
    told: list[str] = []

    def send(body: dict[str, object]) -> dict[str, Any]:
        if not told and not body["dry_run"]:
            told.append(str(body["run"])[:CHANGE_ID_CHARS])
            undo = f"`madeleine undo {told[0]}` takes back what it did"
            say.talk(f"import {told[0]} begins; if it is stopped, {undo}")
        return door.call("import", body=body)

    return send


def _render_import(answer: dict[str, Any]) -> Iterator[str]:
    counts = answer["counts"]
    told = [f"{count:,} {_outcome_words(name)}" for name, count in counts.items() if count]
    memories = render_count(sum(counts.values()), "memory", "memories")
    would = "would be " if answer["dry_run"] and told else ""
    yield f"{memories}: {would}{', '.join(told) or 'nothing to bring in'}"
    if answer["dry_run"]:
        return
    if counts["written"] or counts["revised"]:
        yield f"  undo: madeleine undo {answer['run'][:CHANGE_ID_CHARS]}"
    elif told:
        yield "  nothing was changed, so there is nothing to undo"


def _outcome_words(outcome: str) -> str:
    return {"kept": "kept as they are here", "forgotten": "forgotten here"}.get(outcome, outcome)


def _say_problems(answer: dict[str, Any], say: CommandOutput) -> None:
    """Say what could not be brought in and what was left alone, as far as a person reads it."""
    told = [(each["place"], each["problem"]) for each in answer["problems"]]
    told += [(each["place"], each["note"]) for each in answer["left"]]
    for place, problem in told[:MAX_PROBLEMS_SHOWN]:
        say.talk(f"{escape_controls(place)}: {escape_controls(problem)}")
    if len(told) > MAX_PROBLEMS_SHOWN:
        say.talk(f"… and {len(told) - MAX_PROBLEMS_SHOWN:,} more; --json lists all")
