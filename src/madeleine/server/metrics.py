"""`GET /metrics`: numbers about the memory and the daemon, in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from madeleine.bootstrap import HomeContext
from madeleine.model.codec import Json
from madeleine.sleep.sleeper import LastRun

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

MetricSample = tuple[Mapping[str, str], float]


class ServerTotals(NamedTuple):
    """What a server as a whole did since it began."""

    hooks: Json
    failures: int
    uptime: float


def render_metrics(context: HomeContext, serving: ServerTotals | None = None) -> bytes:
    """Return every number, one line each, under its name and what it means."""
    lines = [*_memory_metrics(context), *_job_metrics(context.sleeper.last_runs())]
    if serving is not None:
        lines += _server_metrics(serving)
    return ("\n".join(lines) + "\n").encode()


def _server_metrics(serving: ServerTotals) -> Iterator[str]:
    yield from _render_metric(
        "madeleine_uptime_seconds", "how long the daemon runs", [({}, serving.uptime)]
    )
    yield from _render_metric(
        "madeleine_failures_total", "requests that met a bug", [({}, serving.failures)], "counter"
    )
    yield from _render_metric(
        "madeleine_hooks_total",
        "what hooks asked and got",
        [({"what": k}, v) for k, v in serving.hooks.items() if isinstance(v, int)],
        "counter",
    )


def _memory_metrics(context: HomeContext) -> Iterator[str]:
    counts = context.stores.search.counts()
    yield from _render_metric(
        "madeleine_memories",
        "memories, by tier",
        [({"tier": tier}, number) for tier, number in sorted(counts.by_tier.items())],
    )
    yield from _render_metric("madeleine_connections", "connections", [({}, counts.edges)])
    yield from _render_metric(
        "madeleine_unembedded", "memories without a vector", [({}, counts.unembedded)]
    )
    yield from _render_metric(
        "madeleine_unreadable", "files that do not parse", [({}, counts.unreadable)]
    )
    yield from _render_metric("madeleine_events", "events in the journal", [({}, counts.events)])


def _job_metrics(last: Mapping[str, LastRun]) -> Iterator[str]:
    """Jobs of the night and tasks of the consolidation engine alike."""
    named = [({"job": job}, run) for job, run in sorted(last.items())]
    yield from _render_metric(
        "madeleine_job_last_run_timestamp_seconds",
        "when a job last ran",
        [(labels, run.at.timestamp()) for labels, run in named],
    )
    yield from _render_metric(
        "madeleine_job_duration_seconds",
        "how long its last run took",
        [(labels, _read_number(run, "seconds")) for labels, run in named],
    )
    yield from _render_metric(
        "madeleine_job_changes",
        "what its last run changed",
        [(labels, _read_number(run, "applied")) for labels, run in named],
    )
    yield from _render_metric(
        "madeleine_job_failures",
        "how many of its runs in a row have failed by now",
        [(labels, run.failures) for labels, run in named],
    )


def _read_number(run: LastRun, name: str) -> float:
    value = run.report.get(name)
    return value if isinstance(value, int | float) else 0


def _render_metric(
    name: str, help_text: str, samples: list[MetricSample], kind: str = "gauge"
) -> Iterator[str]:
    if not samples:
        return
    yield f"# HELP {name} {help_text}"
    yield f"# TYPE {name} {kind}"
    for labels, value in samples:
        named = ",".join(f'{key}="{_escape_label(text)}"' for key, text in labels.items())
        yield f"{name}{{{named}}} {value:.15g}" if named else f"{name} {value:.15g}"


def _escape_label(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
