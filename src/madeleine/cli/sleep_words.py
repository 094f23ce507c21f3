"""Jobs and their reports in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from madeleine.cli.memory_words import render_age, render_count
from madeleine.cli.output import CommandOutput, escape_controls

Json = Mapping[str, Any]

MAX_PATCHES_SHOWN = 12  # of a real run; a dry run shows them all


def render_jobs(jobs: list[Json], say: CommandOutput) -> Iterator[str]:
    """Give a line for each job: how its last run went, and when the next one is."""
    wide = max((len(each["id"]) for each in jobs), default=0)
    for each in jobs:
        last = escape_controls(render_last_run(each, say))
        yield f"  {each['id']:<{wide}}  {last}{say.dim(_render_next_run(each, say))}"


def render_last_run(job: Json, say: CommandOutput) -> str:
    """Return in plain words how a job's last run went."""
    last = job["last_run"]
    if last is None:
        return "has not run yet"
    when = render_age(last["at"], say.now)
    if last.get("error"):
        times = f", {job['failures']} times in a row" if job["failures"] > 1 else ""
        return f"failed {when}{times}: {last['error']}"
    return f"{when}: {render_outcome(last)}"


def _render_next_run(job: Json, say: CommandOutput) -> str:
    if job.get("running"):
        return "; running now"
    if job["paused"]:
        return "; paused"
    if not job.get("next_run"):
        return ""
    return f"; next {render_age(job['next_run'], say.now, 'within a minute')}"


def render_outcome(report: Json) -> str:
    """Return what a run did: `3 changes, 1 proposal`."""
    applied, proposed = report.get("applied") or 0, report.get("proposed") or 0
    would = "would make " if report.get("dry_run") else ""
    parts = [f"{would}{render_count(applied, 'change')}"] if applied else []
    parts += [f"{would}{render_count(proposed, 'proposal')}"] if proposed else []
    if report.get("skipped"):
        parts.append(f"{render_count(report['skipped'], 'patch', 'patches')} left for the next run")
    if suspected := (report.get("counts") or {}).get("suspected"):
        parts.append(f"{render_count(suspected, 'memory', 'memories')} suspected to be replaced")
    if report.get("stopped"):
        parts.append(f"stopped: {report['stopped']}")
    return ", ".join(parts) or "nothing to do"


def render_report(report: Json, say: CommandOutput) -> Iterator[str]:
    """Give a report: what was done and why, and what went wrong on the way."""
    if report.get("error"):
        yield f"{report['job']}: failed: {escape_controls(report['error'])}"
        return
    took = say.dim(f"({report['seconds']:.1f} s)")
    yield f"{report['job']}: {escape_controls(render_outcome(report))} {took}"
    shown = report["patches"] if report["dry_run"] else report["patches"][:MAX_PATCHES_SHOWN]
    for patch in shown:
        yield from _render_patch(patch, say)
    left = (report["applied"] or 0) + (report["proposed"] or 0) - len(shown)
    if left > 0 and shown:
        yield f"  and {left:,} more"
    for problem, times in report["problems"].items():
        yield f"  {escape_controls(str(problem))}: {times:,} times"


def _render_patch(patch: Json, say: CommandOutput) -> Iterator[str]:
    ask = "proposes to " if patch.get("would") in ("propose", "wait") else ""
    yield f"  {ask}{escape_controls(str(patch['what']))}"
    if patch.get("why"):
        yield say.dim(f"    {escape_controls(str(patch['why']))}")
    for line in str(patch.get("diff") or "").splitlines():
        yield say.dim(f"    | {escape_controls(line)}")
