"""Runs that were begun and never ended: the process was killed, or the machine went off.

Every run leaves a report (I8). One that was cut off cannot write its own, so the next daemon
writes it: what was done by then is done, each change whole by itself, and the job is tried again.
"""

from __future__ import annotations

from collections.abc import Mapping

from madeleine.model.event import EventKind
from madeleine.model.times import format_time
from madeleine.sleep.values import RunReport
from madeleine.write.record import new_event, record_events
from madeleine.write.stores import Stores

BEGUN = "sleep.begun"  # the name under which the journal keeps which run was begun last
RUNS_READ = 64  # newest runs among which the one begun last is looked for
CUT_OFF = "it was cut off: the process ended before it was through"
CUT_OFF_KIND = "cut_off"


def note_begun(stores: Stores, report: RunReport) -> None:
    """Write down that a run begins."""
    named = {"job": report.job, "run": report.run, "request": report.request}
    value = {**named, "began": format_time(report.began)}
    record_events(
        stores, [new_event(stores, EventKind.STATE, {"key": BEGUN, "value": value})], durable=False
    )


def note_cut_off(stores: Stores) -> str | None:
    """Write the report of a run that was cut off, and return the job's name; None if the last
    run came to its end. Only who starts to run jobs may ask: else it may be under way."""
    begun = stores.log.state(BEGUN)
    if not isinstance(begun, Mapping):
        return None
    recent = stores.log.recent_events([EventKind.RUN.value], RUNS_READ)
    if any(each.body.get("run") == begun.get("run") for each in recent):
        return None
    done = len(stores.log.changes(str(begun.get("run"))))
    told = {name: begun[name] for name in ("began", "request") if begun.get(name)}
    report = {**told, "error": CUT_OFF, "error_kind": CUT_OFF_KIND, "applied": done}
    body = {"run": begun.get("run"), "job": begun.get("job"), "report": report}
    record_events(stores, [new_event(stores, EventKind.RUN, body)], durable=False)
    return str(begun.get("job"))
