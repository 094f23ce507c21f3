"""Answer a host's hook, take in its transcript, or say why something was whispered or not.

`inject` reads the JSON of a host's prompt hook on stdin and prints the host's JSON, or nothing.
`store` reads any hook's JSON and has the daemon take in what is new in the session's transcript.
Both exit 0 whatever happens: an agent's turn must not fail. Without a daemon they print nothing
and start one, at most once a minute. A hook that runs on every prompt is better wired to the thin
client, which does the same ten times as fast: see docs/guides/whisper-hooks.md.

`why` explains the last whisper, or the last silence, in plain words. `report` says what the
hold-out shows (setting `whisper.holdout`): whether memories that were whispered show in replies
more often than memories that were held out.
"""

from __future__ import annotations

import argparse
import os
import sys
from time import monotonic

from madeleine.cli.door import CommandDoor
from madeleine.cli.options import drop_none
from madeleine.cli.output import CommandOutput
from madeleine.hooks.whisper import MAX_INPUT_BYTES, HookDirections, relay_hook


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what",
        metavar="inject|store|why|report",
        choices=("inject", "store", "why", "report"),
        help="what to do",
    )
    parser.add_argument(
        "--host",
        metavar="HOST",
        default="claude",
        help="whose hook it is: claude, codex, cursor, gemini, agy, copilot, vscode or opencode",
    )
    parser.add_argument("--last", action="store_true", help="with why: the last one, as always")
    parser.add_argument("--session", metavar="ID", help="with why: the last one of this session")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    if arguments.what in ("why", "report"):
        session = arguments.session if arguments.what == "why" else None
        answer = door.call(f"whisper_{arguments.what}", query=drop_none(session_id=session))
        say.reply(answer, lambda: str(answer["text"]).splitlines())
        return 0
    directions = HookDirections(os.fspath(door.home))
    until = monotonic() + directions.seconds
    sent = sys.stdin.buffer.read(MAX_INPUT_BYTES)
    relay_hook(
        directions,
        arguments.what,
        arguments.host,
        sent,
        until,
        lambda answer: say.line(answer.decode("utf-8")),
    )
    return 0
