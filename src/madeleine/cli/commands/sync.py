"""Exchange memories with your other machines, over a folder, a git remote or ssh.

`madeleine sync status` tells when that was last done, and what waits. With `sync.every` set the
daemon does it by itself. What two machines changed differently is asked: `madeleine proposals`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from madeleine.cli.door import CommandDoor
from madeleine.cli.memory_words import render_age, render_count
from madeleine.cli.options import drop_none
from madeleine.cli.output import CommandOutput, escape_controls
from madeleine.errors import Rejected

MAX_HELD_SHOWN = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what", nargs="?", choices=("status",), help="only tell how it stands, without a network"
    )
    parser.add_argument(
        "--to",
        metavar="PLACE",
        help="another place than `sync.place`: a folder, git+URL, or ssh://host/folder",
    )


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    if arguments.what == "status":
        if arguments.to:
            raise Rejected("`status` takes no --to", hint="madeleine sync status")
        answer = door.call("sync_status")
        say.reply(answer, lambda: render_sync_status(answer, say))
        return 0
    answer = door.call("sync", body=drop_none(to=_read_place(arguments.to)))
    say.reply(answer, lambda: _render_receipt(answer))
    return 0


def _read_place(given: str | None) -> str | None:
    """Return the place as the daemon would read it, which may run in another folder."""
    if given is None or "://" in given or given.startswith(("git+", "~")) or "@" in given:
        return given
    return str(Path(given).absolute())


def _render_receipt(answer: dict[str, Any]) -> Iterator[str]:
    sent, received = answer["sent"], answer["received"]
    yield (
        f"{render_count(sent, 'change')} sent, {render_count(received, 'change')} received, "
        f"{render_count(answer['written'], 'memory', 'memories')} written here"
    )
    yield f"  {escape_controls(answer['place'])}"
    events = (answer["events_sent"], answer["events_received"])
    if any(events):
        yield f"  journal: {render_count(events[0], 'event')} sent, {events[1]:,} received"
    for name, what in (
        ("merged", "changed on several machines and merged"),
        ("trashed", "forgotten elsewhere: in the trash here too"),
        ("purged", "purged elsewhere: gone here too"),
        ("held", "that do not leave this machine: madeleine sync status"),
        ("waiting", "of which earlier versions have not come yet"),
    ):
        if answer[name]:
            yield f"  {render_count(answer[name], 'memory', 'memories')} {what}"
    if answer["asked"]:
        asked = render_count(answer["asked"], "question")
        yield f"  {asked} about what two machines changed differently: madeleine proposals"
    yield from (f"  {escape_controls(note)}" for note in answer["notes"])


def render_sync_status(answer: dict[str, Any], say: CommandOutput) -> Iterator[str]:
    """Give how this machine stands with others, for people."""
    place = escape_controls(answer["place"])
    yield f"place       {place or 'none: madeleine config set sync.place'}"
    every = answer["every_minutes"]
    yield f"by itself   {f'every {every:,} min while the daemon runs' if every else 'never'}"
    yield f"last        {render_age(answer['last'], say.now) if answer['last'] else 'never'}"
    if answer["problem"]:
        yield f"problem     {escape_controls(answer['problem'])}"
    yield f"changed     {render_count(answer['changed'], 'file')} here since"
    if answer["unread"] or answer["waiting"]:
        waiting = render_count(answer["unread"], "memory", "memories")
        yield f"waiting     {waiting}, {render_count(answer['waiting'], 'version')}"
    held = answer["held"]
    if held:
        yield f"stay here   {render_count(len(held), 'memory', 'memories')}"
    for each in held[:MAX_HELD_SHOWN]:
        yield f"  {each['memory'][:8]}  {escape_controls(each['reason'])}"
    if len(held) > MAX_HELD_SHOWN:
        yield f"  and {len(held) - MAX_HELD_SHOWN:,} more: --json has all of them"
