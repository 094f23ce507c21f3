"""Keep and whisper nothing in a session; `madeleine pause --session ID --resume` ends that."""

from __future__ import annotations

import argparse

from madeleine.cli.door import CommandDoor
from madeleine.cli.options import drop_none
from madeleine.cli.output import CommandOutput


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--session", required=True, metavar="ID", help="the conversation, as its host names it"
    )
    parser.add_argument("--resume", action="store_true", help="end the pause")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    body = drop_none(session_id=arguments.session, resume=arguments.resume or None)
    answer = door.call("pause", body=body)
    say.reply(answer, lambda: ["paused" if answer["paused"] else "goes on"])
    return 0
