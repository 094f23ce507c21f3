"""What `make start` does: start the daemon, remember a few examples, show a recall.

Running it again changes nothing: a daemon that is there is used, and examples are remembered
only where there are no memories at all.
"""

from __future__ import annotations

import argparse
import errno
import socket
import sys
import textwrap
from pathlib import Path

from madeleine.cli.door import CommandDoor
from madeleine.cli.main import main as madeleine
from madeleine.cli.output import make_output
from madeleine.errors import MadeleineError, Unavailable

EXAMPLE_QUESTION = "which database did we pick?"
EXAMPLE_PROMPT = "how is a release made?"

# A made-up person, Marta, and her made-up project: a tide table for small boats.
EXAMPLE_DRAFTS: tuple[dict[str, object], ...] = (
    {
        "content": "Slack Water is a tide table for small boats: one page, no network needed.",
        "type": "project",
        "title": "Slack Water, a tide table",
        "space": "slack-water",
        "tags": ["boats"],
    },
    {
        "content": "Chose SQLite over Postgres for the tide data: one file per harbour, copied to "
        "the boat's tablet, no server to look after.",
        "type": "decision",
        "title": "SQLite over Postgres",
        "space": "slack-water",
        "tags": ["storage"],
    },
    {
        "content": "Heights are kept as whole millimetres above chart datum. Floats drifted when "
        "thirty years of harmonics were added up.",
        "type": "fact",
        "title": "Heights in whole millimetres",
        "space": "slack-water",
        "tags": ["storage", "numbers"],
    },
    {
        "content": "Releasing: run the harbour comparison, tag the commit, then upload to the two "
        "mirrors. Never on a Friday; the harbour office reads mail on Monday.",
        "type": "procedure",
        "title": "How a release is made",
        "space": "slack-water",
        "tags": ["release"],
    },
    {
        "content": "Marta prefers short functions, plain names and tests that read like sentences.",
        "type": "preference",
        "title": "How Marta likes code",
        "about_self": True,
    },
    {
        "content": "Tomás at the harbour office sends corrected gauge readings every first Monday.",
        "type": "person",
        "title": "Tomás, harbour office",
        "space": "slack-water",
    },
)


def main(argv: list[str] | None = None) -> int:
    """Run the tour and return an exit code."""
    arguments = _parse_arguments(argv)
    say = make_output(as_json=False)
    try:
        _start_daemon(arguments, CommandDoor(arguments.home, say))
        with CommandDoor(arguments.home, say) as door:
            _remember_examples(door)
            _show_recall(arguments.home, door)
    except MadeleineError as error:
        say.problem(error)
        return error.exit_code
    return 0


def _parse_arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make start", description=__doc__)
    parser.add_argument("--home", required=True)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8787)
    return parser.parse_args(argv)


def _start_daemon(arguments: argparse.Namespace, door: CommandDoor) -> None:
    if door.daemon() is not None:
        print("the daemon is running already")
        return
    _check_port(arguments.host, arguments.port)
    place = ["--home", arguments.home, "--host", arguments.host, "--port", str(arguments.port)]
    code = madeleine(["serve", *place])
    if code:
        raise SystemExit(code)


def _check_port(host: str, port: int) -> None:
    """Say it clearly when something else listens there."""
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                return  # the daemon says better what is wrong with such an address
            raise Unavailable(
                f"port {port} is taken by another program",
                hint=f"choose another: make start PORT={port + 1}",
            ) from error


def _remember_examples(door: CommandDoor) -> None:
    if door.call("list", query={"limit": 1})["total"]:
        return
    items = [{"source": "user:tour", **example} for example in EXAMPLE_DRAFTS]
    results = door.call("remember_many", body={"items": items})["results"]
    written = sum("node_id" in result for result in results)
    print(f"remembered {written} examples about a made-up project")


def _show_recall(home: str, door: CommandDoor) -> None:
    print(f'\n$ madeleine recall "{EXAMPLE_QUESTION}"')
    sys.stdout.flush()
    madeleine(["recall", EXAMPLE_QUESTION, "--limit", "3", "--home", home])
    print(f'\nWhat an agent is whispered when you type "{EXAMPLE_PROMPT}":\n')
    said = door.call("whisper", body={"prompt": EXAMPLE_PROMPT})
    print(textwrap.indent(said["text"] or f"nothing: {said['silence']}", "  ").rstrip())
    print(_render_next_steps(home, str(door.home / "vault")))


def _absolute_for_shell(home: str) -> str:
    """Return a home as a shell finds it from any folder."""
    return home if Path(home).is_absolute() else f"$PWD/{home}"


def _render_next_steps(home: str, vault: str) -> str:
    return f"""
Your memories are markdown files in {vault}
Edit one by hand and recall it a second later.

Try, here:
  export PATH="$PWD/.venv/bin:$PATH" MADELEINE_HOME="{_absolute_for_shell(home)}"
  madeleine remember "The ferry to the island leaves at nine" --type fact
  madeleine recall "when does the boat go?"
  madeleine list
  madeleine setup --dry-run    # what would wire your coding agents to this home
  madeleine --help

`make stop` ends the daemon; the folder {home}/ is all there is to delete."""


if __name__ == "__main__":
    raise SystemExit(main())
