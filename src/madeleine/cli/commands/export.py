"""Write memories to a file or folder that other programs read.

  jsonl      one JSON object a line with everything, also how memories were used;
             `madeleine import madeleine FILE` restores it
  zip        the markdown files themselves, byte for byte
  obsidian   a folder of notes with wikilinks for connections

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
from madeleine.errors import Rejected

FORMAT_BY_SUFFIX = {"": "obsidian", ".zip": "zip"}
DEFAULT_NAME_BY_FORMAT = {"jsonl": "memories.jsonl", "zip": "memories.zip", "obsidian": "memories"}
"""Where each format goes when nobody says."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--to", metavar="PATH", help="where to; memories.jsonl and so on here")
    parser.add_argument(
        "--format", metavar="FORMAT", help="jsonl, zip or obsidian; else by the name of PATH"
    )
    parser.add_argument("--current", action="store_true", help="only what is true now")
    parser.add_argument("--trash", action="store_true", help="also what was forgotten")
    add_filters(parser)


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    from madeleine.ingest.exporting.export import MemoryExport

    form = arguments.format or _format_by_name(arguments.to)
    path = (
        Path(arguments.to or DEFAULT_NAME_BY_FORMAT.get(form, "memories")).expanduser().absolute()
    )
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


def _format_by_name(to: str | None) -> str:
    return FORMAT_BY_SUFFIX.get(Path(to).suffix.lower(), "jsonl") if to else "jsonl"


def _build_filter(arguments: argparse.Namespace) -> dict[str, object]:
    chosen = build_filter(arguments)
    if arguments.current and chosen.get("outdated"):
        raise Rejected("--current and --outdated are opposites", hint="leave one of them out")
    return chosen if arguments.current else {**chosen, "outdated": True}
