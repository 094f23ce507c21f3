"""Show what would be whispered to a prompt, answer a host's hook, or say what whispers were worth.

`whisper "PROMPT"` shows what an agent would be told if you typed that now, or why nothing;
`--action "Edit src/app.py"` the same for what an agent is about to do. Nothing counts as told and
nothing is written down. The space is that of the folder you are in, unless `--space` names another.

`inject` reads the JSON of a host's prompt hook on stdin and prints the host's JSON, or nothing.
`store` reads any hook's JSON and has the daemon take in what is new in the session's transcript.
Both exit 0 whatever happens: an agent's turn must not fail. Without a daemon they print nothing
and start one, at most once a minute. A hook that runs on every prompt is better wired to the thin
client, which does the same ten times as fast: see docs/guides/whisper-hooks.md.

`why` explains the last whisper, or the last silence, in plain words. `report` says what whispers
were worth, week by week: whether they show in the replies, what people said of them, and what the
hold-out shows (setting `whisper.holdout`). A prompt that is one of these four words goes after
`--prompt`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping
from time import monotonic
from typing import Any

from madeleine.cli.door import CommandDoor
from madeleine.cli.environment import current_folder
from madeleine.cli.options import drop_none
from madeleine.cli.output import CommandOutput, escape_controls
from madeleine.errors import Rejected
from madeleine.hooks.whisper import MAX_INPUT_BYTES, HookDirections, relay_hook

HOOK_WORDS = ("inject", "store")
TOLD_WORDS = ("why", "report")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what", metavar="PROMPT|inject|store|why|report", nargs="?", help="what to do"
    )
    parser.add_argument("--prompt", metavar="TEXT", help="the prompt, whatever word it is")
    parser.add_argument(
        "--action", metavar="ACTION", help="what an agent is about to do: 'Edit src/app.py'"
    )
    parser.add_argument("--space", metavar="SPACE", help="the project; `global` for none")
    parser.add_argument(
        "--session",
        metavar="ID",
        help="the session: what it was told is not told again; with why: the last one of it",
    )
    parser.add_argument(
        "--explain", action="store_true", help="show each candidate, and what held it back"
    )
    parser.add_argument(
        "--host",
        metavar="HOST",
        default="claude",
        help="whose hook it is: claude, codex, cursor, gemini, agy, copilot, vscode or opencode",
    )
    parser.add_argument("--last", action="store_true", help="with why: the last one, as always")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    if arguments.what in HOOK_WORDS:
        return _answer_hook(arguments, door, say)
    if arguments.what in TOLD_WORDS:
        session = arguments.session if arguments.what == "why" else None
        answer = door.call(f"whisper_{arguments.what}", query=drop_none(session_id=session))
        say.reply(answer, lambda: str(answer["text"]).splitlines())
        return 0
    answer = door.call("whisper", body=_build_request(arguments))
    say.reply(answer, lambda: _render_whisper(answer, arguments.explain))
    return 0


def _build_request(arguments: argparse.Namespace) -> dict[str, object]:
    prompt = arguments.prompt if arguments.prompt is not None else arguments.what
    if prompt is None and arguments.action is None:
        raise Rejected("there is no prompt", hint='`madeleine whisper "…"`, or --action')
    return drop_none(
        prompt=prompt,
        action=arguments.action,
        space=arguments.space,
        cwd=current_folder(),
        session_id=arguments.session,
        explain=arguments.explain or None,
        dry_run=True,
    )


def _render_whisper(answer: Mapping[str, Any], explain: bool) -> Iterator[str]:
    """Yield what the agent would read, or why it would read nothing."""
    if answer["text"]:
        yield from (escape_controls(line) for line in answer["text"].rstrip().splitlines())
    else:
        yield f"silence: {escape_controls(str(answer['silence']))}"
    if explain:
        yield from _render_candidates(answer)


def _render_candidates(answer: Mapping[str, Any]) -> Iterator[str]:
    told = {each["node_id"] for each in answer["injected"]}
    explained = answer["explained"]
    yield f"decided at `{answer['stage']}` in {answer['took_ms']} ms, best first:"
    for name in ("candidates", "passed_over", "refused"):
        for row in explained.get(name) or ():
            fate = "told" if row["memory"] in told else f"held back at `{row.get('held') or name}`"
            reasons = "; ".join(row.get("reasons") or ())
            line = f"  {row['memory'][:8]}  {row['score']:.2f}  worth {row['worth']:.2f}  {fate}"
            yield escape_controls(f"{line}  {row['title']}  {reasons}".rstrip())


def _answer_hook(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
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
