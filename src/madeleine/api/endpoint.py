"""What the daemon answers at: a method and a path, and who may ask there.

Most endpoints are operations (`api/operation.py`), which every door offers. The others are of HTTP
alone: two that do not answer with JSON, which stand here, those of hooks, and /openapi.json.
"""

from __future__ import annotations

from dataclasses import dataclass

from madeleine.model.people import Role


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A method and a path. `{id}` in it is an id, a short id or an unambiguous prefix."""

    name: str
    method: str
    path: str
    summary: str
    role: Role
    """What one must be where several people share a database: reader, writer, owner of the
    memory that it is about, or admin. It has no default: a declaration that forgot it would let in
    more than it should."""
    open: bool = False
    """Whether it answers without a token."""
    admin: bool = False
    """Whether it asks for the admin token, when one is set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NonJsonEndpoint(Endpoint):
    """An endpoint that only the daemon has, and that does not answer with JSON."""

    content: str
    """What it answers with, in words."""
    media_type: str


EVENTS_ROUTE = NonJsonEndpoint(
    "events",
    "GET",
    "/events",
    "what happens, as it happens, as server-sent events: remembered, revised, retired, forgotten, "
    "restored, linked, unlinked, merged, undone, changed, whispered, feedback, proposal, decided, "
    "job_started, job_finished",
    Role.READER,
    content="a stream of events, each with a name and a JSON body",
    media_type="text/event-stream",
)
METRICS_ROUTE = NonJsonEndpoint(
    "metrics",
    "GET",
    "/metrics",
    "numbers about the memory, its jobs and the hooks, for Prometheus",
    Role.READER,
    content="text in the format of Prometheus",
    media_type="text/plain",
)
NON_JSON_ROUTES = (EVENTS_ROUTE, METRICS_ROUTE)
