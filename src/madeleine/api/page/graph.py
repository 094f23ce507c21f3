"""The graph: spaces as regions with their strongest memories, more of a space as somebody comes
nearer, what surrounds one memory, and the ways between two. Every answer is bounded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from madeleine.api import reach
from madeleine.api.contract.page_responses import (
    Drawing,
    GraphArrow,
    GraphNode,
    GraphOverview,
    GraphPaths,
    GraphRegion,
    PathStep,
    Surroundings,
)
from madeleine.api.contract.requests import (
    PageGraphNearQuery,
    PageGraphPathsQuery,
    PageGraphQuery,
    PageGraphSpaceQuery,
)
from madeleine.api.operation import operation
from madeleine.api.shared_behaviour import at_holder
from madeleine.index.graph import EdgeRow, MemorySketch
from madeleine.model.draft import read_space
from madeleine.model.people import Role
from madeleine.model.request_reader import RequestReader
from madeleine.recall.paths import ConnectionPath, find_paths
from madeleine.rules.associations import edge_name
from madeleine.write.resolve import resolve_id
from madeleine.write.stores import Stores

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.bootstrap import HomeContext

MAX_REGIONS = 80
DEFAULT_DRAWN = 900
MAX_DRAWN = 3_000
MIN_PER_REGION = 8
DEFAULT_PAGE_SIZE = 500
MAX_PAGE_SIZE = 1_000
MAX_ARROWS_EACH = 12
DEFAULT_NEAR = 60
MAX_NEAR = 200
MAX_BEYOND_EACH = 6
IMPLIED_REASON = "it is about you"


@operation(
    "page_graph",
    "GET",
    "/ui/data/graph",
    "the spaces, largest first, each with its strongest memories and their connections",
    role=Role.READER,
    query=PageGraphQuery,
    answer=GraphOverview,
)
def show_overview(context: HomeContext, call: OperationCall) -> GraphOverview:
    """Return the spaces, the largest first, each with its strongest memories."""
    reader = RequestReader(call.query)
    limit = reader.whole("limit", DEFAULT_DRAWN, 1, MAX_DRAWN)
    reader.done()
    stores, now = context.stores, context.stores.clock.now()
    regions = stores.graph.regions(now)
    kept = dict(list(regions.items())[:MAX_REGIONS])
    drawn = [
        sketch
        for space, many in _memories_per_region(kept, limit).items()
        for sketch in stores.graph.strongest(space, now, many)
    ]
    return GraphOverview(
        regions=[GraphRegion(space=space, memories=many) for space, many in kept.items()],
        spaces=len(regions),
        total=sum(regions.values()),
        **_draw_sketches(stores, drawn),
    )


def _memories_per_region(regions: Mapping[str | None, int], limit: int) -> dict[str | None, int]:
    """Return how many memories of each space are drawn. They go by the square root, so that a
    small space beside a large one is more than a dot."""
    whole = sum(many**0.5 for many in regions.values())
    return {
        space: min(many, max(MIN_PER_REGION, int(limit * many**0.5 / whole)))
        for space, many in regions.items()
    }


@operation(
    "page_graph_space",
    "GET",
    "/ui/data/graph/space",
    "more memories of one space, strongest first, with the connections that start at them",
    role=Role.READER,
    query=PageGraphSpaceQuery,
    answer=Drawing,
)
def show_region(context: HomeContext, call: OperationCall) -> Drawing:
    """Return a page of one space, strongest memories first."""
    reader = RequestReader(call.query)
    space = read_space(reader.required_text("space"))
    limit = reader.whole("limit", DEFAULT_PAGE_SIZE, 1, MAX_PAGE_SIZE)
    offset = reader.whole("offset", 0, 0, 1_000_000_000)
    reader.done()
    stores, now = context.stores, context.stores.clock.now()
    found = stores.graph.strongest(space, now, limit, offset)
    return Drawing(**_draw_sketches(stores, found))


@operation(
    "page_graph_near",
    "GET",
    "/ui/data/graph/near/{id}",
    "a memory, those connected with it, and some of those connected with them",
    role=Role.READER,
    query=PageGraphNearQuery,
    answer=Surroundings,
    shared=at_holder(reach.find_memories),
)
def show_surroundings(context: HomeContext, call: OperationCall) -> Surroundings:
    """Return a memory, what it is connected with, and a little of what lies beyond."""
    reader = RequestReader(call.query)
    limit = reader.whole("limit", DEFAULT_NEAR, 1, MAX_NEAR)
    reader.done()
    stores = context.stores
    memory_id = resolve_id(stores, call.path_id)
    first = stores.graph.arrows([memory_id], limit)
    around = _edge_ends(first, memory_id)[:limit]
    second = stores.graph.arrows(around, MAX_BEYOND_EACH)
    beyond = [each for each in _edge_ends(second) if each not in {memory_id, *around}]
    ids = [memory_id, *around, *beyond[:limit]]
    arrows = [*_build_explained_arrows(first), *_build_arrows(second)]
    return Surroundings(id=memory_id, near=around, **_draw_memories(stores, ids, arrows))


@operation(
    "page_graph_paths",
    "GET",
    "/ui/data/graph/paths",
    "the shortest ways between two memories over connections",
    role=Role.READER,
    query=PageGraphPathsQuery,
    answer=GraphPaths,
)
def show_paths(context: HomeContext, call: OperationCall) -> GraphPaths:
    """Return the shortest ways between two memories."""
    reader = RequestReader(call.query)
    one, other = reader.required_text("from"), reader.required_text("to")
    reader.done()
    stores = context.stores
    ends = resolve_id(stores, one), resolve_id(stores, other)
    found = find_paths(stores.graph, *ends)
    rows = [row for way in found.ways for row in way]
    return GraphPaths(
        from_=ends[0],
        to=ends[1],
        paths=[_build_steps(ends[0], way) for way in found.ways],
        seen=found.seen,
        whole=found.whole,
        **_draw_memories(
            stores, [*dict.fromkeys([*ends, *_edge_ends(rows)])], _build_explained_arrows(rows)
        ),
    )


def _build_steps(start: str, way: ConnectionPath) -> list[PathStep]:
    """Return a way as steps: where each leads, what its arrow says, and if it is gone against."""
    steps: list[PathStep] = []
    for row in way:
        forward = row.source == start
        start = row.connection.target if forward else row.source
        steps.append(
            PathStep(
                id=start,
                edge=edge_name(row.connection),
                forward=forward,
                reason=_edge_reason(row),
            )
        )
    return steps


def _edge_ends(rows: Iterable[EdgeRow], but: str | None = None) -> list[str]:
    """Return what arrows lead from and to, those on the strongest ones first."""
    by_weight = sorted(rows, key=lambda row: -row.connection.weight)
    ends = (end for row in by_weight for end in (row.source, row.connection.target))
    return [each for each in dict.fromkeys(ends) if each != but]


def _draw_sketches(stores: Stores, found: Sequence[MemorySketch]) -> dict[str, Any]:
    """Return memories with the arrows that start at them; where these lead may come later."""
    rows = stores.graph.arrows([each.id for each in found], MAX_ARROWS_EACH, incoming=False)
    return {"memories": [_build_node(each) for each in found], "connections": _build_arrows(rows)}


def _draw_memories(
    stores: Stores, ids: Sequence[str], arrows: Sequence[GraphArrow]
) -> dict[str, Any]:
    found = stores.graph.sketches(ids, stores.clock.now())
    return {"memories": [_build_node(each) for each in found], "connections": list(arrows)}


def _build_node(each: MemorySketch) -> GraphNode:
    return GraphNode(
        id=each.id,
        type=each.type,
        tier=each.tier,
        space=each.space,
        headline=each.headline,
        importance=round(each.importance, 3),
        outdated=each.outdated,
    )


def _build_arrows(rows: Sequence[EdgeRow]) -> list[GraphArrow]:
    """Return arrows as source, target, edge, weight: there are many of them."""
    return [
        (row.source, row.connection.target, edge_name(row.connection), row.connection.weight)
        for row in rows
    ]


def _build_explained_arrows(rows: Sequence[EdgeRow]) -> list[GraphArrow]:
    """Return arrows as above, each with its reason at the end."""
    return [
        (*arrow[:4], _edge_reason(row))
        for arrow, row in zip(_build_arrows(rows), rows, strict=True)
    ]


def _edge_reason(row: EdgeRow) -> str | None:
    """Return why an arrow is there, as far as anybody said so."""
    return IMPLIED_REASON if row.implied else row.connection.reason
