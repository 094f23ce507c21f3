"""The routes of AutoMem that we answer, and what answers them.

The path `/memory/{id}` comes after those that stand in the same place with a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from madeleine.api.endpoint import Endpoint
from madeleine.model.people import Role
from madeleine.server.automem import associations, graph, memories, recall, status
from madeleine.server.automem.call import AutomemCall, AutomemReply

AutomemFunction = Callable[[AutomemCall], AutomemReply]


@dataclass(frozen=True, slots=True, kw_only=True)
class AutomemRoute(Endpoint):
    """A method and a path of AutoMem. The role is the one that the operations need which it is
    carried out with; they check it."""

    answer: AutomemFunction
    status: int = 200
    """What it answers with when all went well."""


def _make_route(
    method: str,
    path: str,
    answer: AutomemFunction,
    summary: str,
    role: Role = Role.READER,
    status: int = 200,
    *,
    open: bool = False,
    admin: bool = False,
) -> AutomemRoute:
    name = f"automem_{answer.__name__}"
    return AutomemRoute(
        name, method, path, summary, role, open, admin, answer=answer, status=status
    )


AUTOMEM_ROUTES: tuple[AutomemRoute, ...] = (
    _make_route("GET", "/health", status.report_health, "whether we answer", open=True),
    _make_route("POST", "/memory", memories.store, "write a memory", Role.WRITER, 201),
    _make_route("POST", "/memory/batch", memories.store_batch, "write up to 500", Role.WRITER, 201),
    _make_route("GET", "/memory/by-tag", memories.list_by_tag, "memories with one of these `tags`"),
    _make_route(
        "DELETE",
        "/memory/by-tag",
        memories.delete_by_tag,
        "move every memory with one of these `tags` to the trash",
        Role.WRITER,
    ),
    _make_route("GET", "/memory/{id}", memories.look_at, "one memory"),
    _make_route(
        "PATCH", "/memory/{id}", memories.change, "change what is named of it", Role.WRITER
    ),
    _make_route("DELETE", "/memory/{id}", memories.delete, "move it to the trash", Role.WRITER),
    _make_route("GET", "/memories/{id}/related", graph.list_related, "what it is related with"),
    _make_route("GET", "/recall", recall.answer_recall, "what answers `query`, or a listing"),
    _make_route("POST", "/associate", associations.associate, "draw relations", Role.WRITER, 201),
    _make_route(
        "GET", "/startup-recall", status.recall_at_start, "lessons and rules, by their tags"
    ),
    _make_route("GET", "/analyze", status.analyze, "what there is, in numbers"),
    _make_route(
        "GET", "/graph/snapshot", graph.show_snapshot, "the most important and their relations"
    ),
    _make_route("GET", "/graph/neighbors/{id}", graph.show_neighbors, "what surrounds a memory"),
    _make_route("GET", "/graph/stats", graph.count_graph, "the graph in numbers"),
    _make_route("GET", "/graph/types", graph.list_types, "the seven types, with their colours"),
    _make_route(
        "GET", "/graph/relations", graph.list_relations, "the relations, with their colours"
    ),
    _make_route("GET", "/enrichment/status", status.report_enrichment, "what waits to be read"),
    _make_route(
        "POST",
        "/enrichment/reprocess",
        status.reprocess,
        "have memories linked again",
        Role.OWNER,
        202,
        admin=True,
    ),
    _make_route(
        "POST",
        "/admin/reembed",
        status.reembed,
        "have read what the model has not read yet",
        Role.OWNER,
        admin=True,
    ),
    _make_route(
        "POST",
        "/admin/sync",
        status.sync,
        "make the index say what the files say",
        Role.OWNER,
        admin=True,
    ),
)

_PATTERNS = [(re.compile(re.sub(r"{\w+}", "[^/]+", each.path)), each) for each in AUTOMEM_ROUTES]


def is_automem_path(path: str) -> bool:
    """Whether a path is one of AutoMem's."""
    return any(pattern.fullmatch(path) for pattern, _ in _PATTERNS)
