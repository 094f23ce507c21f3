"""Write memories to a file or folder that other programs read: `madeleine export FORMAT PATH`.

  jsonl      one JSON object a line with everything, also how memories were used (also called
             madeleine); `madeleine import jsonl FILE` restores it
  zip        the markdown files themselves, byte for byte; `madeleine import zip FILE`
  obsidian   a folder of notes with wikilinks for connections; `madeleine import obsidian FOLDER`

Without a path it is memories.jsonl, memories.zip or memories/ here; without a format the name of
the path tells. `--format` and `--to` say the same.
The same memories give the same bytes every time. Without a filter everything is written, also what
is no longer true; --current leaves that out, --trash adds what was forgotten.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from madeleine.cli.door import CommandDoor
from madeleine.cli.memory_words import render_count
from madeleine.cli.options import add_filters, build_filter
from madeleine.cli.output import CommandOutput
from madeleine.errors import Rejected, UnknownWord
from madeleine.ingest.exporting.formats import FORMAT_BY_ALIAS, FORMATS

FORMAT_BY_SUFFIX = {"": "obsidian", ".zip": "zip"}
DEFAULT_NAME_BY_FORMAT = {"jsonl": "memories.jsonl", "zip": "memories.zip", "obsidian": "memories"}
"""Where each format goes when nobody says."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("form", metavar="FORMAT", nargs="?", help="jsonl, zip or obsidian")
    parser.add_argument("path", metavar="PATH", nargs="?", help="where to")
    parser.add_argument("--to", metavar="PATH", help="where to")
    parser.add_argument("--format", metavar="FORMAT", help="jsonl, zip or obsidian")
    parser.add_argument("--current", action="store_true", help="only what is true now")
    parser.add_argument("--trash", action="store_true", help="also what was forgotten")
    add_filters(parser)


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    from madeleine.ingest.exporting.export import MemoryExport

    to = _choose_one("PATH", arguments.path, "--to", arguments.to)
    said = _choose_one("FORMAT", arguments.form, "--format", arguments.format)
    form = FORMAT_BY_ALIAS.get(said, said) if said else _format_by_name(to)
    if form not in FORMATS:
        raise UnknownWord("format", form, list(FORMATS))
    path = Path(to or DEFAULT_NAME_BY_FORMAT[form]).expanduser().absolute()
    if path.resolve().is_relative_to(door.home.resolve() / "vault"):
        raise Rejected(f"{path} lies in the vault itself", hint="name a place outside of it")

    def page(query: dict[str, object]) -> dict[str, Any]:
        return door.call("export", query=query)

    with say.progress("exporting") as bar:
        leaving = MemoryExport(page, _build_filter(arguments), arguments.trash, bar)
        count = leaving.write(form, path)
    answer = {"format": form, "path": str(path), "memories": count}
    say.reply(answer, lambda: [f"{render_count(count, 'memory', 'memories')} written to {path}"])
    return 0


def _choose_one(word: str, given: str | None, option: str, value: str | None) -> str | None:
    """Return what was said by a word or by the option that means the same."""
    if given is not None and value is not None and given != value:
        raise Rejected(f"`{given}` and {option} {value} differ", hint=f"give {word} once")
    return given if value is None else value


def _format_by_name(to: str | None) -> str:
    return FORMAT_BY_SUFFIX.get(Path(to).suffix.lower(), "jsonl") if to else "jsonl"


def _build_filter(arguments: argparse.Namespace) -> dict[str, object]:
    chosen = build_filter(arguments)
    if arguments.current and chosen.get("outdated"):
        raise Rejected("--current and --outdated are opposites", hint="leave one of them out")
    return chosen if arguments.current else {**chosen, "outdated": True}
