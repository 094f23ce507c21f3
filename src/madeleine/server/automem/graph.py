"""The graph as AutoMem's viewer asks for it, and what is related with a memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from time import perf_counter

from madeleine.api.memory_operations import MAX_ASKED_IDS
from madeleine.api.page.memory import find_similar
from madeleine.ingest.importing.automem_words import AUTHORABLE, TYPES
from madeleine.model.codec import Json
from madeleine.model.memory import Memory
from madeleine.server.automem.call import (
    AutomemCall,
    AutomemMissing,
    AutomemRefusal,
    AutomemReply,
    format_moment,
    is_uuid,
    read_moment,
)
from madeleine.server.automem.memories import (
    find_memories,
    list_all,
    milliseconds,
    sort_by_importance,
)
from madeleine.server.automem.relations import (
    OTHER_COLOR,
    RELATION_COLORS,
    RelationRow,
    build_row,
    find_relations,
)
from madeleine.server.automem.shapes import (
    importance_of,
    memory_to_automem,
    memory_to_short,
    name_type,
    own_metadata,
    tags_of,
)

MAX_NODES = 5_000  # of one picture
TYPE_COLORS: Mapping[str, str] = {
    "Decision": "#3B82F6",
    "Pattern": "#10B981",
    "Preference": "#8B5CF6",
    "Style": "#EC4899",
    "Habit": "#F59E0B",
    "Insight": "#F97316",
    "Context": "#6B7280",
    "Memory": OTHER_COLOR,
}
HIGH, MEDIUM = 0.8, 0.5


def list_related(call: AutomemCall) -> AutomemReply:
    """Return memories that lead to one or that it leads to, over a few steps."""
    wanted = [each.upper() for each in call.texts("relationship_types", split=True)]
    names = [each for each in AUTHORABLE if each in wanted] or list(AUTHORABLE)
    depth, limit = call.whole("max_depth", 1, 1, 3), call.whole("limit", 5, 1, 200)
    found = _walk(call, call.id, depth, names)
    ordered = sort_by_importance(list(found.values()))[:limit]
    said: Json = {
        "status": "success",
        "memory_id": call.id,
        "count": len(ordered),
        "related_memories": [memory_to_short(each) for each in ordered],
        "relationship_types": names,
        "max_depth": depth,
        "limit": limit,
    }
    return AutomemReply(said)


def _walk(call: AutomemCall, start: str, depth: int, names: Sequence[str]) -> dict[str, Memory]:
    found: dict[str, Memory] = {}
    edge = [start] if is_uuid(start) else []
    for _ in range(depth):
        relations = find_relations(call, edge)
        around = {
            memory.id: memory
            for each in edge
            for row, memory in relations.around(each)
            if row.name in names and memory.id != start and memory.id not in found
        }
        found.update(around)
        edge = list(around)[:MAX_ASKED_IDS]
    return found


# -- pictures ------------------------------------------------------------------------------


def show_snapshot(call: AutomemCall) -> AutomemReply:
    """Return the most important memories, and the relations between them."""
    began = perf_counter()
    limit = _read_limit(call)
    least = call.unit("min_importance") or 0.0
    types = call.texts("types", split=True)
    since = read_moment(call.text("since"), "Invalid since")
    chosen = {"created_after": format_moment(since)} if since else {}
    every = list_all(call, MAX_NODES, outdated=True, **chosen)
    fitting = [
        each
        for each in every
        if importance_of(each) >= least and (not types or name_type(each) in types)
    ]
    shown = sort_by_importance(fitting)[:limit]
    rows = _rows_between(shown)
    total_edges = sum(len(each.connections) for each in every)
    said: Json = {
        "nodes": [_build_node(each, whole=True) for each in shown],
        "edges": [_build_edge(each, whole=True) for each in rows],
        "stats": {
            "total_nodes": len(every),
            "total_edges": total_edges,
            "returned_nodes": len(shown),
            "returned_edges": len(rows),
            "sampled": len(shown) < len(every),
            "sample_ratio": round(len(shown) / len(every), 4) if every else 1.0,
        },
        "meta": {**_list_colors(), "query_time_ms": milliseconds(began), "archive_threshold": 0.0},
    }
    return AutomemReply(said)


def _read_limit(call: AutomemCall) -> int:
    """Return how many memories are drawn; 0 means as many as may be."""
    try:
        limit = int(call.text("limit") or 500)
    except ValueError:
        return 500
    if limit < 0:
        raise AutomemRefusal("limit must be >= 0")
    return min(limit or MAX_NODES, MAX_NODES)


def _rows_between(shown: Sequence[Memory]) -> list[RelationRow]:
    """Return the relations in the files of these memories whose both ends are among them."""
    here = {each.id for each in shown}
    rows = [build_row(each.id, drawn) for each in shown for drawn in each.connections]
    return [each for each in dict.fromkeys(rows) if each.start in here and each.end in here]


def _build_node(memory: Memory, whole: bool = False) -> Json:
    importance = importance_of(memory)
    node: Json = {
        "id": memory.id,
        "content": memory.content,
        "type": name_type(memory),
        "importance": importance,
        "confidence": memory.confidence,
        "tags": tags_of(memory),
        "color": TYPE_COLORS.get(name_type(memory), OTHER_COLOR),
        "radius": round(0.5 + 1.5 * importance, 4),
        "opacity": round(0.4 + 0.6 * memory.confidence, 4),
    }
    times: Json = {
        "timestamp": format_moment(memory.created),
        "updated_at": format_moment(memory.updated),
        "metadata": own_metadata(memory),
    }
    return {**node, **times} if whole else node


def _build_edge(row: RelationRow, whole: bool = False) -> Json:
    edge: Json = {
        "id": f"{row.start}-{row.name}-{row.end}",
        "source": row.start,
        "target": row.end,
        "type": row.name,
        "strength": row.strength,
        "color": RELATION_COLORS.get(row.name, OTHER_COLOR),
    }
    said = {"kind": row.kind, "reason": row.reason, "updated_at": row.at or None}
    properties = {name: value for name, value in said.items() if value is not None}
    return {**edge, "properties": properties} if whole else edge


def _list_colors() -> Json:
    return {"type_colors": dict(TYPE_COLORS), "relation_colors": dict(RELATION_COLORS)}


def show_neighbors(call: AutomemCall) -> AutomemReply:
    """Return what surrounds a memory, and what is like it."""
    began = perf_counter()
    depth = call.whole("depth", 1, 1, 3)
    center = find_memories(call, [call.id]).get(call.id)
    if center is None:
        raise AutomemMissing(f"Memory {call.id} not found")
    near = _walk(call, call.id, depth, [*RELATION_COLORS, "DISCOVERED"])
    ids = {call.id, *near}
    rows = [
        each for each in find_relations(call, ids).rows if each.start in ids and each.end in ids
    ]
    said: Json = {
        "center": {
            **memory_to_automem(center),
            "color": TYPE_COLORS.get(name_type(center), OTHER_COLOR),
        },
        "graph_neighbors": [_build_node(each) for each in near.values()],
        "semantic_neighbors": _find_similar(call, center, ids),
        "edges": [_build_edge(each) for each in rows],
        "meta": {"depth": depth, "query_time_ms": milliseconds(began)},
    }
    return AutomemReply(said)


def _find_similar(call: AutomemCall, center: Memory, but: set[str]) -> list[Json]:
    if not call.flag("include_semantic", default=True):
        return []
    most = call.whole("semantic_limit", 5, 1, 20)
    told = call.perform(find_similar, id=center.id).memories
    alike = {each.id: each.likeness for each in told if each.id not in but}
    known = find_memories(call, list(alike)) if alike else {}
    return [
        {**_build_node(known[each]), "similarity": round(score, 4)}
        for each, score in list(alike.items())[:most]
        if each in known
    ]


# -- numbers -------------------------------------------------------------------------------


def count_graph(call: AutomemCall) -> AutomemReply:
    began = perf_counter()
    every = list_all(call, MAX_NODES, outdated=True)
    rows = [build_row(each.id, drawn) for each in every for drawn in each.connections]
    scores = [importance_of(each) for each in every]
    days = Counter(each.created.date().isoformat() for each in every)
    said: Json = {
        "totals": {"nodes": len(every), "edges": len(rows)},
        "by_type": dict(Counter(name_type(each) for each in every)),
        "by_relationship": dict(Counter(each.name for each in rows)),
        "importance_distribution": {
            "high": sum(each >= HIGH for each in scores),
            "medium": sum(MEDIUM <= each < HIGH for each in scores),
            "low": sum(each < MEDIUM for each in scores),
        },
        "recent_activity": [
            {"date": day, "count": days[day]} for day in sorted(days, reverse=True)[:7]
        ],
        "meta": {**_list_colors(), "query_time_ms": milliseconds(began)},
    }
    return AutomemReply(said)


def list_types(call: AutomemCall) -> AutomemReply:
    return AutomemReply({"types": list(TYPES), "colors": dict(TYPE_COLORS)})


def list_relations(call: AutomemCall) -> AutomemReply:
    return AutomemReply({"relations": sorted(RELATION_COLORS), "colors": dict(RELATION_COLORS)})
