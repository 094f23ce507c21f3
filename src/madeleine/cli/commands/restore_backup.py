"""Put a backup in place: memories, connections, history and use as they were then.

The backup is checked byte by byte first. What the home holds now is put aside, beside it, and not
removed. A daemon is ended meanwhile and started again. --dry-run only checks the backup. A memory
that was in a database comes back as files; `madeleine move --to` brings it into one again.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from madeleine.api.remote import stop_daemon
from madeleine.cli.door import CommandDoor
from madeleine.cli.memory_words import render_age, render_count
from madeleine.cli.output import CommandOutput, escape_controls
from madeleine.errors import Damaged, MadeleineError
from madeleine.server.launch import launch_daemon


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a backup; `madeleine backup --list` has them")
    parser.add_argument("--dry-run", action="store_true", help="only check that it is whole")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    file = Path(arguments.file).expanduser().absolute()
    answer = _verify_backup(file, say) if arguments.dry_run else _restore_backup(file, door, say)
    say.reply(answer, lambda: _render_restore(answer, say))
    return Damaged.exit_code if _missing_notes(answer) else 0


def _verify_backup(file: Path, say: CommandOutput) -> dict[str, Any]:
    from madeleine.ingest.backups.archive import verify_backup

    with say.progress("checking") as bar:
        return _build_answer(file, verify_backup(file, bar), dry_run=True)


def _restore_backup(file: Path, door: CommandDoor, say: CommandOutput) -> dict[str, Any]:
    """Restore under the home's lock; a daemon is ended before and started again after."""
    from madeleine.bootstrap.restoring import restore_home
    from madeleine.ingest.backups.archive import verify_backup

    verify_backup(file)  # before a daemon is ended for nothing
    daemon = door.daemon()
    facts = daemon.call("status")["daemon"] if daemon else None
    stop_daemon(door.home)
    try:
        with say.progress("restoring") as bar:
            done = restore_home(door.home, file, bar)
    finally:
        notes = restart_daemon(door, facts)
    answer = _build_answer(
        file,
        done.manifest,
        aside=[str(each) for each in done.aside],
        left_out=list(done.left_out),
        in_index=door.call("status")["counts"]["memories"],
    )
    return {**answer, "notes": [*notes, *_missing_notes(answer)]}


def _missing_notes(answer: dict[str, Any]) -> list[str]:
    """Return what is to be said when fewer memories are found than the backup holds."""
    held, found = answer["memories"], answer.get("in_index", answer["memories"])
    if found >= held:
        return []
    return [f"the index has only {found:,} of {held:,} memories; `madeleine doctor` looks for why"]


def restart_daemon(door: CommandDoor, facts: Any) -> list[str]:
    if facts is None:
        return []
    try:
        launch_daemon(door.home, facts["host"], facts["port"])
    except MadeleineError as error:
        return [f"the daemon was ended and did not start again: {error.message}"]
    return ["the daemon was ended for this and runs again"]


def _build_answer(file: Path, manifest: Any, **more: object) -> dict[str, Any]:
    return {
        "path": str(file),
        "made": manifest.made,
        "memories": manifest.memories,
        "files": len(manifest.files),
        "dry_run": False,
        "aside": [],
        "left_out": [],
        **more,
    }


def _render_restore(answer: dict[str, Any], say: CommandOutput) -> Iterator[str]:
    memories = render_count(answer["memories"], "memory", "memories")
    made = render_age(answer["made"], say.now)
    said = "is whole" if answer["dry_run"] else "restored"
    yield f"{said}: {memories}, {render_count(answer['files'], 'file')}, made {made}"
    for each in answer["aside"]:
        yield f"  what was there is now {escape_controls(each)}"
    if answer["left_out"]:
        yield f"  left out of config.toml: {', '.join(answer['left_out'])}"
        yield from _render_left_out_hints(answer["left_out"])


def _render_left_out_hints(left_out: list[str]) -> Iterator[str]:
    """Say where the memory is now, and how it comes to where it was."""
    if any(each.startswith("store.") for each in left_out):
        yield "  so this memory is in files now, as in any home; to move it into a database again:"
        yield "  `madeleine move --to postgresql://… --tenant NAME`"
    if "vault.path" in left_out:
        yield "  so the vault is in the home now; to have it elsewhere, stop the daemon, move the"
        yield "  folder there and set `[vault] path`"
