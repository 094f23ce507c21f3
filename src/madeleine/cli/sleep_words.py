"""Jobs and their reports in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from madeleine.cli.say import Say, clean
from madeleine.cli.words import age, plural

Json = Mapping[str, Any]

PATCHES_SHOWN = 12  # of a real run; a dry run shows them all


def job_lines(jobs: list[Json], say: Say) -> Iterator[str]:
    """Give a line for each job: how its last run went, and when the next one is."""
    wide = max((len(each["id"]) for each in jobs), default=0)
    for each in jobs:
        yield f"  {each['id']:<{wide}}  {clean(last_words(each, say))}{say.dim(_next(each, say))}"


def last_words(job: Json, say: Say) -> str:
    """Return in plain words how a job's last run went."""
    last = job["last_run"]
    if last is None:
        return "has not run yet"
    when = age(last["at"], say.now)
    if last.get("error"):
        times = f", {job['failures']} times in a row" if job["failures"] > 1 else ""
        return f"failed {when}{times}: {last['error']}"
    return f"{when}: {done_words(last)}"


def _next(job: Json, say: Say) -> str:
    if job.get("running"):
        return "; running now"
    if job["paused"]:
        return "; paused"
    if not job.get("next_run"):
        return ""
    return f"; next {age(job['next_run'], say.now, 'within a minute')}"


def done_words(report: Json) -> str:
    """Return what a run did: `3 changes, 1 proposal`."""
    applied, proposed = report.get("applied") or 0, report.get("proposed") or 0
    would = "would make " if report.get("dry_run") else ""
    parts = [f"{would}{plural(applied, 'change')}"] if applied else []
    parts += [f"{would}{plural(proposed, 'proposal')}"] if proposed else []
    if report.get("skipped"):
        parts.append(f"{plural(report['skipped'], 'patch', 'patches')} left for the next run")
    if report.get("stopped"):
        parts.append(f"stopped: {report['stopped']}")
    return ", ".join(parts) or "nothing to do"


def report_words(report: Json, say: Say) -> Iterator[str]:
    """Give a report: what was done and why, and what went wrong on the way."""
    if report.get("error"):
        yield f"{report['job']}: failed: {clean(report['error'])}"
        return
    took = say.dim(f"({report['seconds']:.1f} s)")
    yield f"{report['job']}: {clean(done_words(report))} {took}"
    shown = report["patches"] if report["dry_run"] else report["patches"][:PATCHES_SHOWN]
    for patch in shown:
        yield from _patch(patch, say)
    left = (report["applied"] or 0) + (report["proposed"] or 0) - len(shown)
    if left > 0 and shown:
        yield f"  and {left:,} more"
    for problem, times in report["problems"].items():
        yield f"  {clean(str(problem))}: {times:,} times"


def _patch(patch: Json, say: Say) -> Iterator[str]:
    ask = "proposes to " if patch.get("would") in ("propose", "wait") else ""
    yield f"  {ask}{clean(str(patch['what']))}"
    if patch.get("why"):
        yield say.dim(f"    {clean(str(patch['why']))}")
    for line in str(patch.get("diff") or "").splitlines():
        yield say.dim(f"    | {clean(line)}")
