"""Say what there is in this home, and what is wrong with it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from madeleine.cli.door import Door
from madeleine.cli.say import Say, clean
from madeleine.cli.sleep_words import job_lines
from madeleine.cli.words import age, plural


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes no words of its own."""


def run(arguments: argparse.Namespace, door: Door, say: Say) -> int:
    answer = door.call("status")
    say.reply(answer, lambda: _words(answer, say))
    return 0


def _words(answer: dict[str, Any], say: Say) -> Iterator[str]:
    for label, value in facts(answer, say.now):
        yield f"{say.dim(f'{label:<11}')}{clean(value)}"
    for problem in problems(answer):
        yield f"  {clean(problem)}"
    yield from _jobs(answer["sleep"], say)


def _jobs(sleep: dict[str, Any], say: Say) -> Iterator[str]:
    """Give each job's last run; those that never ran are named together."""
    ran = [each for each in sleep["jobs"] if each["last_run"] or each["paused"]]
    if ran:
        yield say.dim("jobs")
        yield from job_lines(ran, say)


def facts(answer: dict[str, Any], now: float) -> Iterator[tuple[str, str]]:
    """Give what there is, one fact a line."""
    counts = answer["counts"]
    yield "madeleine", f"{answer['version']}, {_daemon(answer.get('daemon'))}"
    yield "home", answer["home"]
    if answer["vault"] != f"{answer['home']}/vault":
        yield "vault", answer["vault"]
    yield "memories", f"{counts['memories']:,}{_listed(counts['by_tier'])}"
    if counts["by_space"]:
        yield "spaces", _listed(counts["by_space"]).lstrip(": ")
    yield "edges", f"{counts['edges']:,}"
    yield "journal", f"{plural(counts['events'], 'event')} in {_files(answer['journal']['files'])}"
    yield "model", _model(answer["embedder"])
    yield "reranker", _reranker(answer["reranker"])
    yield "index", answer["index_place"] or f"{answer['index_bytes'] / 1e6:,.1f} MB"
    yield "sleep", _sleep(answer["sleep"], answer.get("daemon"))
    yield "backup", age(newest, now) if (newest := answer["backup"]["newest"]) else "none yet"
    wrong = len(list(problems(answer)))
    yield "problems", f"{wrong:,}" if wrong else "none"


def problems(answer: dict[str, Any]) -> Iterator[str]:
    """Give what a person has to look at: files and journal lines that do not parse."""
    for file in answer["unreadable"]:
        yield f"{file['path']}:{file['line']}: {file['problem']}"
    yield from answer["journal"]["problems"]
    for job in answer["sleep"]["jobs"]:
        if job["failures"]:
            times = "once" if job["failures"] == 1 else f"{job['failures']} times in a row"
            yield f"the job {job['id']} failed {times}: {job['last_run'].get('error')}"
    yield from (f"taking in: {problem}" for problem in answer["ingest"]["problems"])
    for loop in (answer["daemon"] or {}).get("loops") or ():
        if loop["problem"]:
            yield f"the daemon's {loop['name']}: {loop['problem']}"
    hooks = (answer["daemon"] or {}).get("hooks") or {}
    yield from (f"hook of {problem}" for problem in hooks.get("problems", ()))


def _sleep(sleep: dict[str, Any], daemon: dict[str, Any] | None) -> str:
    by_itself = "by the timetable" if sleep["enabled"] and daemon else "only when asked for"
    waiting = sleep["proposals"]
    more = f", {plural(waiting, 'proposal')} waiting: madeleine proposals" if waiting else ""
    return f"{by_itself}, judge {sleep['judge']}{more}"


def _daemon(daemon: dict[str, Any] | None) -> str:
    if daemon is None:
        return "no daemon runs"
    where = f" on {daemon['host']}:{daemon['port']}" if daemon.get("port") else ""
    return f"daemon{where}"


def _model(embedder: dict[str, Any]) -> str:
    if embedder["name"] is None:
        return f"none, text search only: {embedder['why_not']}"
    waiting = embedder["unembedded"]
    more = f", {plural(waiting, 'memory', 'memories')} without a vector yet" if waiting else ""
    return f"{embedder['name']}{more}"


def _reranker(reranker: dict[str, Any]) -> str:
    if reranker["name"]:
        return f"{reranker['name']}, after late interaction"
    return f"late interaction ({reranker['why_not']})"


def _listed(counts: dict[str, int]) -> str:
    parts = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    return f": {parts}" if parts else ""


def _files(count: int) -> str:
    return plural(count, "file")
