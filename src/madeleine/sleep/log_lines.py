"""The lines that the consolidation engine leaves in the log, in their documented wording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from madeleine.sleep.values import RunReport
from madeleine.sleep.wording import render_stop

PREFIX = "[consolidation]"


def start_line(task: str, memories: int) -> str:
    """Return the line about a task that begins: `Starting decay task (1542 memories)`."""
    return f"{PREFIX} Starting {task} task ({memories} memories)"


def end_line(report: RunReport) -> str:
    """Return the line about a task that is through, with its own numbers."""
    name, counts = report.job.capitalize(), report.counts
    if report.error is not None:
        return f"{PREFIX} {name} task failed: {report.error}"
    match report.job:
        case "decay":
            processed = counts.get("processed", report.looked)
            said = f"Decay complete: {processed} processed, {report.seconds:.1f}s elapsed"
        case "creative":
            said = f"Creative task: discovered {_read_count(counts, 'created')} new associations"
        case "cluster":
            made, found = (
                _read_count(counts, each) for each in ("meta_memories_created", "clusters_found")
            )
            said = f"Cluster task: created {made} MetaMemory nodes from {found} clusters"
        case _:
            archived, deleted = (
                _read_count(counts, each) for each in ("archived_count", "deleted_count")
            )
            said = f"{name} task: archived {archived}, deleted {deleted} memories"
    stop = "" if report.stopped is None else f"stopped: {render_stop(report.stopped)}"
    more = [each for each in ("dry run" if report.dry_run else "", stop) if each]
    aside = f" ({', '.join(more)})" if more else ""
    return f"{PREFIX} {said}{aside}"


def _read_count(counts: Mapping[str, Any], name: str) -> int:
    """Return a count; a list counts its items."""
    value = counts.get(name, 0)
    return len(value) if isinstance(value, list | tuple) else int(value)
