"""Let the memory tend itself now: the whole cycle, or one job.

  madeleine sleep                 every job, in order
  madeleine sleep JOB             one of them
  madeleine sleep --dry-run       only show what would be done
  madeleine sleep status          when each job ran, and when it will run again
  madeleine sleep pause JOB       do not run it by itself any more; `resume JOB` takes it back
  madeleine sleep stop [JOB]      stop what is under way

The daemon runs the jobs by itself; without one they run here. Ctrl-C stops a run; what it has
done by then stays done. Every run can be taken back with `madeleine undo RUN`.
"""

from __future__ import annotations

import argparse
import threading
from collections.abc import Iterator
from typing import Any

from madeleine.cli.changes import CHANGE_ID_SHOWN
from madeleine.cli.door import Door
from madeleine.cli.say import Say, clean
from madeleine.cli.sleep_words import job_lines, report_words
from madeleine.errors import MadeleineError, Rejected, Unavailable

LOOK_SECONDS = 0.3  # between two looks how far a run is
EVERYTHING = "run-all"
VERBS = {"pause": "pause_task", "resume": "resume_task", "stop": "stop_task"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what", metavar="JOB", nargs="?", help="one job; or status, pause, resume or stop"
    )
    parser.add_argument("job", metavar="JOB", nargs="?", help="the job to pause, resume or stop")
    parser.add_argument("--dry-run", action="store_true", help="change nothing, show what would be")


def run(arguments: argparse.Namespace, door: Door, say: Say) -> int:
    if arguments.what in (*VERBS, "status"):
        return _about(arguments, door, say)
    if arguments.job is not None:
        raise Rejected("one job at a time", hint="`madeleine sleep JOB`, or none for all of them")
    answer = _run_with_bar(arguments, door, say)
    say.reply(answer, lambda: _words(answer, say))
    if not answer["reports"]:
        say.talk("no job was through: the daemon was ended meanwhile, or all jobs are paused")
        return Unavailable.exit_code
    failed = answer["status"] == "failed" or any(each["error"] for each in answer["reports"])
    return Unavailable.exit_code if failed else 0


def _about(arguments: argparse.Namespace, door: Door, say: Say) -> int:
    """Look at the jobs, or steer one."""
    if arguments.dry_run:
        raise Rejected(f"--dry-run does not go with `{arguments.what}`", hint="leave it out")
    if arguments.what == "status":
        answer = door.call("tasks")
        say.reply(answer, lambda: job_lines(answer["tasks"], say))
        return 0
    job = arguments.job or (EVERYTHING if arguments.what == "stop" else None)
    if job is None:
        raise Rejected("no job is named", hint=f"`madeleine sleep {arguments.what} JOB`")
    answer = door.call(VERBS[arguments.what], job)
    say.reply(answer, lambda: [clean(answer["text"])])
    return 0


# -- a run ---------------------------------------------------------------------------------


class _Run(threading.Thread):
    """The call that waits until the run is over, while this thread shows how far it is."""

    def __init__(self, arguments: argparse.Namespace, door: Door) -> None:
        super().__init__(daemon=True)
        self._name = "run_all" if arguments.what is None else "run_task"
        self._job = arguments.what
        self._body: dict[str, object] = {"dry_run": arguments.dry_run}
        self._door = door
        self.answer: dict[str, Any] | None = None
        self.error: MadeleineError | None = None

    def run(self) -> None:
        try:
            self.answer = self._door.call(
                self._name, self._job, query={"wait": True}, body=self._body
            )
        except MadeleineError as error:
            self.error = error

    def result(self) -> dict[str, Any]:
        """Return the answer, or raise what was raised."""
        if self.error is not None:
            raise self.error
        if self.answer is None:
            raise MadeleineError("the run ended without an answer", hint="`madeleine status`")
        return self.answer


def _run_with_bar(arguments: argparse.Namespace, door: Door, say: Say) -> dict[str, Any]:
    door.open()
    running = _Run(arguments, door)
    running.start()
    try:
        _watch(running, door, say)
    except KeyboardInterrupt:
        say.end_line()
        say.talk("stopping; once more to leave it alone")
        door.call("stop_task", arguments.what or EVERYTHING)
        running.join()
    return running.result()


def _watch(running: _Run, door: Door, say: Say) -> None:
    """Draw how far the run is, where somebody sees it."""
    with say.progress("sleep") as bar:
        while running.is_alive():
            running.join(LOOK_SECONDS)
            if say.live and running.is_alive():
                _draw(door.call("tasks")["tasks"], bar)


def _draw(tasks: list[dict[str, Any]], bar: Any) -> None:
    for task in tasks:
        if task["running"]:
            bar.of(task["id"])
            bar(task["progress"]["done"], task["progress"]["total"] or None)


def _words(answer: dict[str, Any], say: Say) -> Iterator[str]:
    reports = answer["reports"]
    for report in reports:
        yield from report_words(report, say)
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
        yield f"  undo {each['job']}: madeleine undo {each['run'][:CHANGE_ID_SHOWN]}"
