"""Say what there is in this home, and what is wrong with it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from madeleine.cli.door import CommandDoor
from madeleine.cli.memory_words import render_age, render_count
from madeleine.cli.output import CommandOutput, escape_controls
from madeleine.cli.sleep_words import render_jobs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes no words of its own."""


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    answer = door.call("status")
    say.reply(answer, lambda: _render_status(answer, say))
    return 0


def _render_status(answer: dict[str, Any], say: CommandOutput) -> Iterator[str]:
    for label, value in status_facts(answer, say.now):
        yield f"{say.dim(f'{label:<11}')}{escape_controls(value)}"
    for problem in status_problems(answer):
        yield f"  {escape_controls(problem)}"
    yield from _render_jobs(answer["sleep"], say)


def _render_jobs(sleep: dict[str, Any], say: CommandOutput) -> Iterator[str]:
    """Give each job's last run; those that never ran are named together."""
    ran = [each for each in sleep["jobs"] if each["last_run"] or each["paused"]]
    if ran:
        yield say.dim("jobs")
        yield from render_jobs(ran, say)


def status_facts(answer: dict[str, Any], now: float) -> Iterator[tuple[str, str]]:
    """Give what there is, one fact a line."""
    counts = answer["counts"]
    yield "madeleine", f"{answer['version']}, {_render_daemon(answer.get('daemon'))}"
    yield "home", answer["home"]
    if answer["vault"] != f"{answer['home']}/vault":
        yield "vault", answer["vault"]
    yield "memories", f"{counts['memories']:,}{_render_counts(counts['by_tier'])}"
    if counts["by_space"]:
        yield "spaces", _render_counts(counts["by_space"]).lstrip(": ")
    yield "edges", f"{counts['edges']:,}"
    files = render_count(answer["journal"]["files"], "file")
    yield "journal", f"{render_count(counts['events'], 'event')} in {files}"
    if answer["unread_files"]:
        yield "reading", f"{render_count(answer['unread_files'], 'file')} still to be read"
    yield "model", _render_model(answer["embedder"])
    yield "reranker", _render_reranker(answer["reranker"])
    if answer["sleep"]["judge"] == "local" and answer.get("relations"):
        yield "relations", _render_relations(answer["relations"])
    yield "index", answer["index_place"] or f"{answer['index_bytes'] / 1e6:,.1f} MB"
    yield "sleep", _render_sleep(answer["sleep"], answer.get("daemon"))
    yield (
        "backup",
        render_age(newest, now) if (newest := answer["backup"]["newest"]) else "none yet",
    )
    if (sync := answer.get("sync")) and (sync["place"] or sync["last"]):
        yield "sync", _render_sync(sync, now)
    wrong = len(list(status_problems(answer)))
    yield "problems", f"{wrong:,}" if wrong else "none"


def status_problems(answer: dict[str, Any]) -> Iterator[str]:
    """Give what a person has to look at: files and journal lines that do not parse."""
    for file in answer["unreadable"]:
        yield f"{file['path']}:{file['line']}: {file['problem']}"
    for path in answer["ignored"]:
        yield f"{path}: is no memory; only .md and .markdown are read"
    yield from answer["journal"]["problems"]
    for job in answer["sleep"]["jobs"]:
        if job["failures"]:
            times = "once" if job["failures"] == 1 else f"{job['failures']} times in a row"
            yield f"the job {job['id']} failed {times}: {job['last_run'].get('error')}"
    yield from (f"taking in: {problem}" for problem in answer["ingest"]["problems"])
    for loop in (answer["daemon"] or {}).get("loops") or ():
        if loop["problem"]:
            yield f"the daemon's {loop['name']}: {loop['problem']}"
    if (sync := answer.get("sync")) and sync["problem"]:
        yield f"sync: {sync['problem']}"
    hooks = (answer["daemon"] or {}).get("hooks") or {}
    yield from (f"hook of {problem}" for problem in hooks.get("problems", ()))


def _render_sync(sync: dict[str, Any], now: float) -> str:
    last = render_age(sync["last"], now) if sync["last"] else "never yet"
    changed = sync["changed"]
    return f"{last}, {render_count(changed, 'file')} changed since" if changed else last


def _render_sleep(sleep: dict[str, Any], daemon: dict[str, Any] | None) -> str:
    by_itself = "by the timetable" if sleep["enabled"] and daemon else "only when asked for"
    waiting = sleep["proposals"]
    more = f", {render_count(waiting, 'proposal')} waiting: madeleine proposals" if waiting else ""
    return f"{by_itself}, judge {sleep['judge']}{more}"


def _render_daemon(daemon: dict[str, Any] | None) -> str:
    if daemon is None:
        return "no daemon runs"
    where = f" on {daemon['host']}:{daemon['port']}" if daemon.get("port") else ""
    return f"daemon{where}"


def _render_model(embedder: dict[str, Any]) -> str:
    if embedder["name"] is None:
        return f"none, text search only: {embedder['why_not']}"
    if embedder["problem"]:
        return f"{embedder['name']} does not answer, text search only: {embedder['problem']}"
    waiting = embedder["unembedded"]
    more = (
        f", {render_count(waiting, 'memory', 'memories')} without a vector yet" if waiting else ""
    )
    others = f"; {embedder['others']} reads what is not English" if embedder["others"] else ""
    return f"{embedder['name']}{others}{more}"


def _render_reranker(reranker: dict[str, Any]) -> str:
    if reranker["name"]:
        return f"{reranker['name']}, after late interaction"
    return f"late interaction ({reranker['why_not']})"


def _render_relations(relations: dict[str, Any]) -> str:
    if relations["name"]:
        return f"{relations['name']}, read by the local judge"
    why = f" ({relations['why_not']})" if relations["why_not"] else ""
    return f"told by signs in the texts{why}"


def _render_counts(counts: dict[str, int]) -> str:
    parts = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    return f": {parts}" if parts else ""
