"""Let the memory tend itself now: the whole cycle, or one job.

  madeleine sleep                 every job, in order
  madeleine sleep JOB             one of them
  madeleine sleep --dry-run       only show what would be done
  madeleine sleep --now           give memories no time before they fade
  madeleine sleep status          when each job ran, and when it will run again
  madeleine sleep pause JOB       do not run it by itself any more; `resume JOB` takes it back
  madeleine sleep stop [JOB]      stop what is under way

The daemon runs the jobs by itself; without one they run here. What you ask for runs at once, and
keeps the waits of the timetable about memories: nothing fades that is too young or was used
lately, unless you say --now. Ctrl-C stops a run; what it has done by then stays done. `madeleine
undo` takes back the whole night, or the run of a single job.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from madeleine.cli.change_words import CHANGE_ID_CHARS
from madeleine.cli.door import CommandDoor
from madeleine.cli.output import CommandOutput, escape_controls
from madeleine.cli.sleep_words import render_jobs, render_report
from madeleine.cli.watched_run import RunRequest, run_with_bar
from madeleine.errors import Rejected, Unavailable

ALL_JOBS = "run-all"
OPERATION_BY_VERB = {"pause": "pause_task", "resume": "resume_task", "stop": "stop_task"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what", metavar="JOB", nargs="?", help="one job; or status, pause, resume or stop"
    )
    parser.add_argument("job", metavar="JOB", nargs="?", help="the job to pause, resume or stop")
    parser.add_argument("--dry-run", action="store_true", help="change nothing, show what would be")
    parser.add_argument(
        "--now", action="store_true", help="let fade what is young or was used lately, too"
    )


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    if arguments.what in (*OPERATION_BY_VERB, "status"):
        return _steer_jobs(arguments, door, say)
    if arguments.job is not None:
        raise Rejected("one job at a time", hint="`madeleine sleep JOB`, or none for all of them")
    answer = run_with_bar(_build_run_request(arguments), door, say)
    is_night = arguments.what is None
    say.reply(answer, lambda: _render_reports(answer, is_night, say))
    if not answer["reports"]:
        say.talk("no job was through: the daemon was ended meanwhile, or all jobs are paused")
        return Unavailable.exit_code
    failed = answer["status"] == "failed" or any(each["error"] for each in answer["reports"])
    return Unavailable.exit_code if failed else 0


def _steer_jobs(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    """Look at the jobs, or steer one."""
    for option in ("dry_run", "now"):
        if getattr(arguments, option):
            named = f"--{option.replace('_', '-')}"
            raise Rejected(f"{named} does not go with `{arguments.what}`", hint="leave it out")
    if arguments.what == "status" and arguments.job is not None:
        raise Rejected("status is about all jobs", hint="leave the job out")
    if arguments.what == "status":
        answer = door.call("tasks")
        say.reply(answer, lambda: render_jobs(answer["tasks"], say))
        return 0
    job = arguments.job or (ALL_JOBS if arguments.what == "stop" else None)
    if job is None:
        raise Rejected("no job is named", hint=f"`madeleine sleep {arguments.what} JOB`")
    answer = door.call(OPERATION_BY_VERB[arguments.what], job)
    say.reply(answer, lambda: [escape_controls(answer["text"])])
    return 0


# -- a run ---------------------------------------------------------------------------------


def _build_run_request(arguments: argparse.Namespace) -> RunRequest:
    job, body = arguments.what, {"dry_run": arguments.dry_run, "now": arguments.now}
    operation = "run_all" if job is None else "run_task"
    return RunRequest(operation, job, body, job or ALL_JOBS, "sleep")


def _render_reports(answer: dict[str, Any], is_night: bool, say: CommandOutput) -> Iterator[str]:
    reports = answer["reports"]
    for report in reports:
        yield from render_report(report, say)
    if answer["status"] == "stopped":
        yield "stopped before all jobs were through"
    if answer["status"] == "failed":
        yield "it met a bug and went no further; logs/daemon.log says where"
    dry = any(each["dry_run"] for each in reports)
    runs = [each for each in reports if each["applied"] and not each["dry_run"]]
    proposed = sum(each["proposed"] for each in reports)
    if proposed and not dry:
        yield "what was proposed waits for you: madeleine proposals"
    for each in reversed(runs):  # what came later may stand on what came before
        yield f"  undo {each['job']}: madeleine undo {each['run'][:CHANGE_ID_CHARS]}"
    if runs and is_night:
        yield f"  undo all of it: madeleine undo {answer['request'][:CHANGE_ID_CHARS]}"
