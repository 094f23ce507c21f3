"""Take in files: notes, conversations, transcripts of agents.

A file of notes becomes a memory for each of its sections; taken in again after a change, those
memories are revised, and what the file no longer says is retired. A transcript (.jsonl, of Claude
Code or Codex) is read on from where it was read last. A text in which speakers are named (`User:`,
`Assistant:`) is a conversation. `-` reads standard input. Secrets are taken out before anything is
written. --dry-run shows what would be kept.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from madeleine.cli.door import CommandDoor
from madeleine.cli.options import drop_none
from madeleine.cli.output import CommandOutput, escape_controls
from madeleine.cli.parsing import decode_text, read_text_argument
from madeleine.errors import MadeleineError, NoFile, Rejected


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="+", help="what to take in; - reads stdin")
    parser.add_argument("--space", metavar="SPACE", help="the project it belongs to; none: global")
    parser.add_argument("--tag", action="append", metavar="TAG", help="a label; may be repeated")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be kept")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    """Take in file after file; one that is refused does not keep the others out."""
    asked = drop_none(
        default_space=arguments.space,
        dry_run=arguments.dry_run or None,
        extra_tags=arguments.tag,
    )
    answers, code = [], 0
    for name in arguments.files:
        try:
            answers.append({"file": name, **_ingest_file(name, asked, door)})
        except MadeleineError as error:
            if len(arguments.files) == 1:
                raise
            say.talk(f"{name}: {escape_controls(error.message)}")
            code = code or error.exit_code
    _say_answers(answers, say)
    return code


def _ingest_file(name: str, asked: dict[str, object], door: CommandDoor) -> dict[str, Any]:
    if name == "-":
        content = read_text_argument("-")
        return door.call("ingest_conversation", query=asked, body={"content": content})
    path = Path(name).absolute()
    if path.suffix == ".jsonl":
        return door.call("ingest_file", query=asked, body={"path": str(path)})
    where: dict[str, object] = {"name": path.name, "uri": path.resolve().as_uri()}
    return door.call("ingest_file", query=asked, body={"content": _read_text_file(path), **where})


def _read_text_file(path: Path) -> str:
    try:
        return decode_text(path.read_bytes(), str(path))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NoFile(path) from error
    except IsADirectoryError as error:
        hint = "name its files, or let the daemon follow it: setting `ingest.folders`"
        raise Rejected(f"{path} is a folder", hint) from error
    except OSError as error:
        raise Rejected(f"cannot read {path}: {error.strerror}", hint="check the path") from error


def _say_answers(answers: list[dict[str, Any]], say: CommandOutput) -> None:
    if say.as_json:
        say.document(answers[0] if len(answers) == 1 else {"results": answers})
        return
    for answer in answers:
        first, *lines = str(answer["text"]).splitlines()
        say.line(escape_controls(f"{answer['file']}: {first}"))
        for line in lines:
            say.line(escape_controls(line))
        say.notes(answer["notes"])
