"""A run of a consolidation task, as the journal has it, in the documented words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from madeleine.model.event import Event
from madeleine.model.times import format_time

TASK_NAMES = ("decay", "creative", "cluster", "forget")
HISTORY_LIMIT = 20  # runs that are told of, unless a setting says otherwise


def task_run_fields(event: Event) -> dict[str, Any]:
    """Return which task ran, when, over how much, and whether it went well."""
    body = event.body.get("report")
    report: Mapping[str, Any] = body if isinstance(body, Mapping) else {}
    counts = report.get("counts")
    told = counts if isinstance(counts, Mapping) else {}
    return {
        "task": cast("Mapping[str, Any]", event.body).get("job"),
        "ran_at": report.get("began") or format_time(event.at),
        "memories_processed": int(told.get("processed", report.get("looked", 0))),
        "duration_seconds": report.get("seconds", 0.0),
        "success": report.get("error") is None,
    }
