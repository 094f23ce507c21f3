"""The graph: spaces as regions with their strongest memories, more of a space as somebody comes
nearer, what surrounds one memory, and the ways between two. Every answer is bounded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from madeleine.api import reach
from madeleine.api.contract.page_responses import (
    Drawing,
    GraphArrow,
    GraphMap,
    GraphNode,
    GraphOverview,
    GraphPaths,
    GraphRegion,
    MapLand,
    MapSpot,
    MapTopicShape,
    PathStep,
    Surroundings,
)
from madeleine.api.contract.requests import (
    PageGraphAreaQuery,
    PageGraphFoundQuery,
    PageGraphMapQuery,
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
from madeleine.model.query import QUERY_CHARS, RecallQuery
from madeleine.model.request_reader import RequestReader
from madeleine.recall.memory_map import MemoryMap
from madeleine.recall.paths import ConnectionPath, find_paths
from madeleine.recall.recall import recall
from madeleine.rules.associations import edge_name
from madeleine.write.resolve import resolve_id

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
MAX_FOUND = 50
FARTHEST = 1_000_000_000  # from the middle of the map
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
    context.maps.look(sum(regions.values()))
    return GraphOverview(
        regions=[GraphRegion(space=space, memories=many) for space, many in kept.items()],
        spaces=len(regions),
        total=sum(regions.values()),
        **_draw_sketches(context, drawn),
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
    return Drawing(**_draw_sketches(context, found))


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
    return Surroundings(id=memory_id, near=around, **_draw_memories(context, ids, arrows))


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
            context, [*dict.fromkeys([*ends, *_edge_ends(rows)])], _build_explained_arrows(rows)
        ),
    )


@operation(
    "page_graph_map",
    "GET",
    "/ui/data/graph/map",
    "the map by meaning: its topics, and how many memories lie where",
    role=Role.READER,
    query=PageGraphMapQuery,
    answer=GraphMap,
)
def show_map(context: HomeContext, call: OperationCall) -> GraphMap:
    """Return the map that is there, and let a newer one be made if something is new."""
    RequestReader(call.query).done()
    stores = context.stores
    context.maps.look(sum(stores.graph.regions(stores.clock.now()).values()))
    kept = context.maps.current()
    if kept is None:
        return GraphMap(making=context.maps.is_busy, memories=0, bounds=None, land=None, topics=[])
    columns, rows, counts = kept.land
    return GraphMap(
        making=context.maps.is_busy,
        memories=len(kept),
        bounds=kept.bounds,
        land=MapLand(columns=columns, rows=rows, counts=counts),
        topics=[
            MapTopicShape(
                level=each.level,
                x=each.x,
                y=each.y,
                radius=each.radius,
                memories=each.memories,
                name=", ".join(each.words),
            )
            for each in kept.topics
        ],
    )


@operation(
    "page_graph_area",
    "GET",
    "/ui/data/graph/area",
    "the strongest memories in a part of the map by meaning",
    role=Role.READER,
    query=PageGraphAreaQuery,
    answer=Drawing,
)
def show_area(context: HomeContext, call: OperationCall) -> Drawing:
    """Return the strongest memories in a rectangle of the map."""
    reader = RequestReader(call.query)
    left, bottom, right, top = (
        reader.whole(side, 0, -FARTHEST, FARTHEST) for side in ("left", "bottom", "right", "top")
    )
    limit = reader.whole("limit", DEFAULT_PAGE_SIZE, 1, MAX_PAGE_SIZE)
    reader.done()
    kept = context.maps.current()
    if kept is None:
        return Drawing(memories=[], connections=[])
    ids = kept.within((left, bottom, right, top), limit)
    found = context.stores.graph.sketches(ids, context.stores.clock.now())
    return Drawing(**_draw_sketches(context, found))


@operation(
    "page_graph_found",
    "GET",
    "/ui/data/graph/found",
    "the memories that answer a question, to be shown on the graph; not noted as used",
    role=Role.READER,
    query=PageGraphFoundQuery,
    answer=Drawing,
)
def show_found(context: HomeContext, call: OperationCall) -> Drawing:
    """Return what answers a question, best first, as it is drawn."""
    reader = RequestReader(call.query)
    text = reader.required_text("query")[:QUERY_CHARS]
    reader.done()
    found = recall(context.stores, RecallQuery(text=text, limit=MAX_FOUND), touch=False)
    ids = [each.memory.id for each in found.hits]
    rows = context.stores.graph.arrows(ids, MAX_ARROWS_EACH, incoming=False)
    return Drawing(**_draw_memories(context, ids, _build_arrows(rows)))


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


def _draw_sketches(context: HomeContext, found: Sequence[MemorySketch]) -> dict[str, Any]:
    """Return memories with the arrows that start at them; where these lead may come later."""
    ids = [each.id for each in found]
    rows = context.stores.graph.arrows(ids, MAX_ARROWS_EACH, incoming=False)
    return {"memories": _build_nodes(context, found), "connections": _build_arrows(rows)}


def _draw_memories(
    context: HomeContext, ids: Sequence[str], arrows: Sequence[GraphArrow]
) -> dict[str, Any]:
    found = context.stores.graph.sketches(ids, context.stores.clock.now())
    return {"memories": _build_nodes(context, found), "connections": list(arrows)}


def _build_nodes(context: HomeContext, found: Sequence[MemorySketch]) -> list[GraphNode]:
    """Return memories as they are drawn, with their places on the map as far as they are on it."""
    kept = context.maps.current()
    rows = [None if kept is None else kept.rows.get(each.id) for each in found]
    return [
        GraphNode(
            id=each.id,
            type=each.type,
            tier=each.tier,
            space=each.space,
            headline=each.headline,
            importance=round(each.importance, 3),
            outdated=each.outdated,
            spot=None if kept is None or row is None else _spot_on(kept, row),
        )
        for each, row in zip(found, rows, strict=True)
    ]


def _spot_on(kept: MemoryMap, row: int) -> MapSpot:
    """Return where a memory lies on the map; it is much of an answer, so it is short."""
    x, y = kept.places[row].tolist()
    return (round(x, 1), round(y, 1), int(kept.created[row]), int(kept.uses[row]))


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
