"""Move the whole memory into a database, or back into files.

Every file and every line of the journal is copied, then compared by its checksum at both ends, and
the index is made there; only then config.toml names the new place. Killed in between, the same
command goes on where it was. What is left behind stays as it is. A daemon is ended meanwhile and
started again; end those of other homes yourself.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from madeleine.api.remote import stop_daemon
from madeleine.cli.commands.restore_backup import restart_daemon
from madeleine.cli.door import CommandDoor
from madeleine.cli.memory_words import render_count
from madeleine.cli.output import CommandOutput, escape_controls


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--to", metavar="PLACE", required=True, help="postgresql://… of a database, or `files`")
    add("--tenant", metavar="NAME", help="whose memory it is in that database; `home`")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    from madeleine.bootstrap.moving import move_home

    daemon = door.daemon()
    facts = daemon.call("status")["daemon"] if daemon else None
    stop_daemon(door.home)
    try:
        with say.progress("copying") as bar:
            done = move_home(
                door.home, arguments.to, arguments.tenant, bar, lambda text: say.notes([text])
            )
    finally:
        notes = restart_daemon(door, facts)
    answer = _build_answer(done, notes)
    say.reply(answer, lambda: _render_move(answer))
    return 0


def _build_answer(done: Any, notes: list[str]) -> dict[str, Any]:
    moved = done.moved
    return {
        "to": done.place,
        "memories": moved.memories,
        "files": moved.files,
        "journal_files": moved.journal_files,
        "copied": moved.copied,
        "in_index": done.in_index,
        "sha256": moved.checksum,
        "left_out": list(done.left_out),
        "aside": [str(each) for each in done.aside],
        "notes": notes,
    }


def _render_move(answer: dict[str, Any]) -> Iterator[str]:
    memories = render_count(answer["memories"], "memory", "memories")
    files = render_count(answer["files"], "file")
    yield f"moved to {escape_controls(answer['to'])}: {memories}, {files}, journal included"
    yield f"  {answer['copied']:,} copied now; both ends say {answer['sha256'][:16]} (SHA-256)"
    yield f"  {render_count(answer['in_index'], 'memory', 'memories')} in the index"
    for each in answer["left_out"]:
        yield f"  left out: {escape_controls(each)}"
    for each in answer["aside"]:
        yield f"  what was there is now {escape_controls(each)}"
    for each in answer["notes"]:
        yield f"  {escape_controls(each)}"
