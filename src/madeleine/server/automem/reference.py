"""docs/reference/automem.md, made from the routes and the tables of words."""

from __future__ import annotations

from collections.abc import Iterable

from madeleine.ingest.importing.automem_words import (
    AUTHORABLE,
    META_PATTERN,
    RELATIONS,
    TYPE_NAMES,
    TYPES,
    name_relation,
)
from madeleine.ingest.importing.words import map_type
from madeleine.model.words import Edge
from madeleine.server.automem.associations import PROPERTIES
from madeleine.server.automem.routes import AUTOMEM_ROUTES

PAGE_TOP = """\
# AutoMem's routes

The daemon answers these beside its [own](routes.md), in AutoMem's shapes, so that AutoMem's clients
work as they are. Each is carried out with our own operations: roles, spaces, limits, history and
undo are the same. [From AutoMem](../guides/from-automem.md) says how to move, and what differs.
This page is made from `madeleine.server.automem`.

- The token is shown as `Authorization: Bearer TOKEN`, as `X-API-Key`, or as `api_key` in the query;
  the first of these counts. It is the token in `run/token`, or a person's.
- Where `server.admin_token` is set, what is marked with * asks for that one too, as
  `X-Admin-Token`, `X-Admin-Api-Key`, or `admin_token` in the query.
- An error is `{"status": "error", "code": 400, "message": "…"}`, with our `error` beside it.
- What a request holds and nobody knows is ignored.

"""


def render_automem_page() -> str:
    """Return the whole page."""
    routes = _render_table(
        ("route", "does", "role", "answers"),
        (
            (
                f"`{each.method} {each.path}`{'*' if each.admin else ''}",
                f"{each.summary}; needs no token" if each.open else each.summary,
                str(each.role),
                str(each.status),
            )
            for each in AUTOMEM_ROUTES
        ),
    )
    taken = _render_table(
        ("AutoMem", "here"), ((f"`{each}`", f"`{map_type(each)}`") for each in _all_types())
    )
    given = _render_table(
        ("here", "AutoMem"), ((f"`{ours}`", f"`{theirs}`") for ours, theirs in TYPE_NAMES.items())
    )
    relations = _render_table(
        ("AutoMem", "here", "`kind`", "from a client", "says besides"),
        (
            (
                f"`{name}`",
                f"`{each.edge}`{', the other way round' if each.turned else ''}",
                f"`{each.kind}`" if each.kind else "",
                "yes" if name in AUTHORABLE else "",
                ", ".join(f"`{said}`" for said in PROPERTIES.get(name, ())),
            )
            for name, each in RELATIONS.items()
        ),
    )
    back = _render_table(
        ("here", "AutoMem"),
        ((f"`{edge}`", f"`{name_relation(edge, None, None)}`") for edge in Edge),
    )
    parts = [
        PAGE_TOP + routes,
        "## Types\n\nThe word that was sent is kept and answered with, as long as the memory is "
        f"still of that type. A type that nobody knows becomes `fact`.\n\n{taken}",
        f"A memory that did not come from AutoMem's clients:\n\n{given}",
        "## Relations\n\nWhat a relation says besides stands in the connection's `reason`, in "
        "words. Two memories have at most one connection of one edge: a `LEADS_TO` where there is "
        f"a `RELATES_TO` takes its place.\n\n{relations}",
        "A connection without such a `kind`; `related_to` that a job drew is `SIMILAR_TO`:"
        f"\n\n{back}",
    ]
    return "\n\n".join(parts) + "\n"


def _all_types() -> Iterable[str]:
    return (*TYPES, "Memory", META_PATTERN)


def _render_table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])
