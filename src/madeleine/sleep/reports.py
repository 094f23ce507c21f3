"""Reports as plain values, small enough for a line of the journal."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from madeleine.model.times import format_time
from madeleine.sleep.values import RunReport
from madeleine.sleep.wording import render_stop

TEXT_CHARS = 500  # of one text in a report
ITEMS = 40  # of one list or table in it


def report_to_json(report: RunReport) -> dict[str, object]:
    """Return a report as plain values."""
    values = {each.name: getattr(report, each.name) for each in dataclasses.fields(report)}
    stop = report.stopped
    return {
        **values,
        "began": format_time(report.began),
        "stopped": None if stop is None else render_stop(stop),
        "stopped_parts": None if stop is None else stop.to_json(),
    }


def bounded_report(report: RunReport) -> dict[str, object]:
    """Return a report as it is kept: a few patches, no long texts."""
    kept = {
        key: _shorten(value)
        for key, value in report_to_json(report).items()
        if value not in (None, {})
    }
    return {key: value for key, value in kept.items() if key not in ("run", "job", "dry_run")}


def _shorten(value: object) -> object:
    match value:
        case str():
            return value if len(value) <= TEXT_CHARS else value[: TEXT_CHARS - 1] + "…"
        case Mapping():
            return {str(key): _shorten(each) for key, each in list(value.items())[:ITEMS]}
        case list() | tuple():
            return [_shorten(each) for each in value[:ITEMS]]
        case _:
            return value
