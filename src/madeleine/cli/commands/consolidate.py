"""Run the consolidation engine now: all four tasks, or one.

  madeleine consolidate             decay, creative, cluster and forget, in this order
  madeleine consolidate decay       score how relevant each memory still is
  madeleine consolidate creative    look for associations that nobody drew
  madeleine consolidate cluster     put memories that are alike under a summary
  madeleine consolidate forget      archive or trash what is no longer relevant; off by default
  madeleine consolidate --dry-run   only show what would be done
  madeleine consolidate status      when each task ran, and when it will run again

The daemon runs the tasks by itself, see the settings under [consolidation]; without one they run
here. Ctrl-C stops a run; what it has done by then stays done. Every run can be taken back with
`madeleine undo RUN`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from madeleine.cli.change_words import CHANGE_ID_CHARS
from madeleine.cli.door import CommandDoor
from madeleine.cli.memory_words import render_age, render_count
from madeleine.cli.output import CommandOutput, escape_controls
from madeleine.cli.sleep_words import render_report
from madeleine.cli.watched_run import RunRequest, run_with_bar
from madeleine.errors import Rejected, Unavailable

ALL_TASKS = "run-all"
TASKS = ("decay", "creative", "cluster", "forget")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what", metavar="TASK", nargs="?", help="decay, creative, cluster or forget; or status"
    )
    parser.add_argument("--dry-run", action="store_true", help="change nothing, show what would be")


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    if arguments.what == "status":
        if arguments.dry_run:
            raise Rejected("--dry-run does not go with `status`", hint="leave it out")
        answer = door.call("consolidate_status")
        say.reply(answer, lambda: _render_status(answer, say))
        return 0
    body: dict[str, object] = {"dry_run": arguments.dry_run}
    body |= {} if arguments.what is None else {"task": arguments.what}
    stops = arguments.what or ALL_TASKS
    answer = run_with_bar(RunRequest("consolidate", None, body, stops, "consolidate"), door, say)
    say.reply(answer, lambda: _render_consolidation(answer, say))
    return 0 if answer["status"] == "success" else Unavailable.exit_code


def _render_consolidation(answer: dict[str, Any], say: CommandOutput) -> Iterator[str]:
    done = answer["consolidation"]
    steps = done["steps"]
    for task, step in steps.items():
        report = {**step, "job": task, "seconds": step["duration_seconds"]}
        yield from render_report({**report, "dry_run": done["dry_run"]}, say)
        yield from _render_counts(step, say)
    for task in done["paused"]:
        yield f"{task}: paused, left out"
    if not steps and answer["status"] == "error":
        yield "it met a bug and went no further; logs/daemon.log says where"
    elif not steps:
        yield "nothing was run: every task is paused, or the daemon was ended meanwhile"
    if done["dry_run"]:
        return
    if sum(each["proposed"] for each in steps.values()):
        yield "what was proposed waits for you: madeleine proposals"
    for task, step in reversed(steps.items()):
        if step["applied"]:
            yield f"  undo {task}: madeleine undo {step['run'][:CHANGE_ID_CHARS]}"


def _render_counts(step: dict[str, Any], say: CommandOutput) -> Iterator[str]:
    """Give what a task has to tell beside its changes: its numbers, in a line."""
    told = [
        f"{name.replace('_', ' ')} {value:,.4g}"
        if isinstance(value, float)
        else f"{name.replace('_', ' ')} {value:,}"
        for name, value in step.items()
        if name in SHOWN_COUNTS and isinstance(value, int | float) and not isinstance(value, bool)
    ]
    if told:
        yield say.dim(f"  {escape_controls(', '.join(told))}")


SHOWN_COUNTS = (
    "processed",
    "avg_relevance_before",
    "avg_relevance_after",
    "discovered",
    "created",
    "clusters_found",
    "meta_memories_created",
    "examined",
    "preserved",
)


def _render_status(answer: dict[str, Any], say: CommandOutput) -> Iterator[str]:
    for task in TASKS:
        last = answer[f"last_{task}"]
        ran = f"ran {render_age(last, say.now)}" if last else "has not run yet"
        if task in answer["failing"]:
            ran = f"failed {render_age(last, say.now)}: {escape_controls(answer['failing'][task])}"
        then = f"next: {answer['next_runs'][task].lower()}"
        then = "paused" if task in answer["paused"] else then
        yield f"  {task:<9} {ran}{say.dim(f'; {then}')}"
    if answer["history"]:
        yield f"last {render_count(len(answer['history']), 'run')}:"
    for each in answer["history"]:
        took = f"{each['duration_seconds']:.1f} s"
        how = (
            escape_controls(f"failed: {each['error']}")
            if each["error"]
            else _render_history_entry(each)
        )
        age = render_age(each["ran_at"], say.now)
        yield f"  {age:<14} {each['task']:<9} {how} {say.dim(f'({took})')}"


def _render_history_entry(entry: dict[str, Any]) -> str:
    looked = render_count(entry["memories_processed"], "memory", "memories")
    return f"{looked}, {render_count(entry['applied'], 'change')}"
