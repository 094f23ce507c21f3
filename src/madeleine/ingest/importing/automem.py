"""AutoMem: a backup of its graph (`falkordb_*.json.gz`, its folder, or the downloaded tar.gz), or
memories as its API answers them.

    {"nodes": [{"id": 7, "labels": ["Memory"], "properties": {"id": "…", "content": "…", …}}],
     "relationships": [{"source_id": 7, "type": "LEADS_TO", "target_id": 9, "properties": {…}}]}

Ids, types, tags, dates, validity, use and relations come along. Entities and other nodes of its
own making are left out.
"""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from madeleine.errors import NoFile
from madeleine.ingest.importing.json_files import WHOLE_BYTES, parse_json
from madeleine.ingest.importing.values import (
    DanglingLinks,
    ImportItem,
    ImportProblem,
    ImportTotal,
    Json,
    NotThatFormat,
    ReaderOutput,
    drop_empty,
    given_id,
    read_foreign_time,
)
from madeleine.ingest.importing.words import build_connection, map_type

FORM = "automem"
LABEL = "Memory"
# Arrows that say of the older which one came after it; ours go from the newer to the older.
TURNED = {"EVOLVED_INTO": "evolved_from", "INVALIDATED_BY": "evolved_from"}

JsonObject = Mapping[str, object]
Number = int | str


@dataclass(slots=True)
class _AutoMemGraph:
    """What a backup says."""

    name: str
    memories: dict[Number, JsonObject] = field(default_factory=dict)
    """By the number that relations name them by."""
    others: set[Number] = field(default_factory=set)
    """Nodes that are no memories, which relations may lead to."""
    relations: list[JsonObject] = field(default_factory=list)


def read(path: Path) -> Iterator[ReaderOutput]:
    """Give every memory with its relations."""
    graph = _read_graph(path)
    yield ImportTotal(len(graph.memories))
    loose = DanglingLinks()
    links, ended = _collect_links(graph, loose)
    for key, said in graph.memories.items():
        place = f"{graph.name}: memory {said.get('id') or key}"
        text = said.get("content")
        if isinstance(text, str) and text.strip():
            yield ImportItem(_memory_values(said, text, links.get(key, []), ended.get(key)), place)
        else:
            yield ImportProblem(place, "has no content")
    yield from loose.told()


# -- reading -------------------------------------------------------------------------------


def _read_graph(path: Path) -> _AutoMemGraph:
    name, data = _read_newest_backup(path)
    said = parse_json(name, data)
    if isinstance(said, Mapping) and isinstance(said.get("nodes"), list):
        return _parse_backup(name, said)
    return _parse_answer(name, said)


def _read_newest_backup(path: Path) -> tuple[str, bytes]:
    """Return the newest backup of the graph at a path."""
    if path.is_dir():
        found = sorted(path.glob("**/falkordb_*.json*"))
        if not found:
            raise NotThatFormat(path, "holds no falkordb_*.json.gz")
        path = found[-1]
    if not path.is_file():
        raise NoFile(path)
    try:
        if path.name.endswith((".tar.gz", ".tgz")):
            return _read_packed(path)
        with path.open("rb") as file:
            return path.name, _unpack_bounded(path.name, file.read(WHOLE_BYTES + 1))
    except (OSError, EOFError, zlib.error, tarfile.TarError) as error:
        raise NotThatFormat(path.name, f"cannot be read: {error}") from error


def _read_packed(path: Path) -> tuple[str, bytes]:
    """Return the backup of the graph in an archive; nothing of it is written anywhere."""
    with tarfile.open(path, "r|gz") as archive:
        for member in archive:
            name = member.name.rpartition("/")[2]
            file = archive.extractfile(member) if member.isfile() else None
            if file is not None and name.startswith("falkordb_"):
                return name, _unpack_bounded(name, file.read(WHOLE_BYTES + 1))
    raise NotThatFormat(path.name, "holds no falkordb_*.json.gz")


def _unpack_bounded(name: str, data: bytes) -> bytes:
    """Unpack, and refuse what grows without end."""
    if data[:2] == b"\x1f\x8b":
        with gzip.open(io.BytesIO(data)) as unpacked:
            data = unpacked.read(WHOLE_BYTES + 1)
    if len(data) > WHOLE_BYTES:
        raise NotThatFormat(name, f"is more than {WHOLE_BYTES:,} bytes")
    return data


def _parse_backup(name: str, said: JsonObject) -> _AutoMemGraph:
    graph = _AutoMemGraph(name)
    nodes, relations = said["nodes"], said.get("relationships")
    for node in nodes if isinstance(nodes, list) else ():
        labels = node.get("labels") if isinstance(node, Mapping) else None
        properties = node.get("properties") if isinstance(node, Mapping) else None
        if isinstance(labels, list) and LABEL in labels and isinstance(properties, Mapping):
            graph.memories[_node_number(node.get("id"))] = properties
        elif isinstance(node, Mapping):
            graph.others.add(_node_number(node.get("id")))
    graph.relations = [each for each in _list_or_empty(relations) if isinstance(each, Mapping)]
    return graph


def _parse_answer(name: str, said: object) -> _AutoMemGraph:
    if isinstance(said, Mapping):
        said = said.get("memories") or said.get("results")
    if not isinstance(said, list):
        raise NotThatFormat(name, "is neither a backup of the graph nor a list of memories")
    found = [each.get("memory", each) if isinstance(each, Mapping) else {} for each in said]
    memories = [each if isinstance(each, Mapping) else {} for each in found]
    if memories and not any("content" in each for each in memories):
        raise NotThatFormat(name, "is a list, and nothing in it is a memory of AutoMem")
    return _AutoMemGraph(name, dict(enumerate(memories)))


# -- relations -----------------------------------------------------------------------------


def _node_number(value: object) -> Number:
    """Return what relations name a node by."""
    return value if isinstance(value, int | str) else str(value)


def _collect_links(
    graph: _AutoMemGraph, loose: DanglingLinks
) -> tuple[dict[Number, list[Json]], dict[Number, str]]:
    """Return each memory's connections, and which one replaced it."""
    links: dict[Number, list[Json]] = {}
    ended: dict[Number, str] = {}
    for relation in graph.relations:
        start, end = (
            _node_number(relation.get("source_id")),
            _node_number(relation.get("target_id")),
        )
        word = str(relation.get("type") or "")
        if start not in graph.memories or end not in graph.memories:
            if graph.others.isdisjoint((start, end)):
                loose.add(f"{graph.name}: {start}", f"{word} {end}")
            continue
        if word == "INVALIDATED_BY":
            ended[start] = _memory_id(graph.memories[end])
        if word in TURNED:
            start, end = end, start
        if start != end:
            links.setdefault(start, []).append(_build_link(relation, word, graph.memories[end]))
    return links, ended


def _build_link(relation: JsonObject, word: str, target: JsonObject) -> Json:
    given = relation.get("properties")
    properties: JsonObject = given if isinstance(given, Mapping) else {}
    weight = _unit_or_none(properties.get("strength"))
    if weight is None:
        weight = _unit_or_none(properties.get("confidence"))
    kind = properties.get("kind") if word == "DISCOVERED" else None
    link = build_connection(
        _memory_id(target), TURNED.get(word, word.lower().replace("_", " ")), weight
    )
    return drop_empty(**link, kind=kind)


# -- memories ------------------------------------------------------------------------------


def _memory_id(said: JsonObject) -> str:
    return given_id(FORM, said.get("id") or said.get("memory_id") or said.get("content"))


def _memory_values(said: JsonObject, text: str, links: list[Json], ended: str | None) -> Json:
    until = read_foreign_time(said.get("t_invalid"))
    return drop_empty(
        id=_memory_id(said),
        content=text,
        title=said.get("title") if isinstance(said.get("title"), str) else None,
        type=map_type(said.get("type")),
        tier="archival" if said.get("archived") in (True, "true") else None,
        tags=[str(each) for each in _list_or_empty(said.get("tags"))],
        confidence=_unit_or_none(said.get("confidence")),
        created=read_foreign_time(said.get("timestamp"))
        or read_foreign_time(said.get("created_at")),
        updated=read_foreign_time(said.get("updated_at"))
        or read_foreign_time(said.get("timestamp")),
        valid_until=until,
        superseded_by=ended,
        source=f"import:{FORM}",
        origin={"uri": f"{FORM}:{_memory_id(said)}"},
        connections=links,
        usage=_usage_values(said),
    )


def _usage_values(said: JsonObject) -> Json:
    """Return how it was used; AutoMem keeps importance, relevance and the last access."""
    return drop_empty(
        importance=_unit_or_none(said.get("importance")),
        relevance=_unit_or_none(said.get("relevance_score")),
        last_accessed=read_foreign_time(said.get("last_accessed")),
    )


def _unit_or_none(value: object) -> float | None:
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if known and 0 <= value <= 1 else None  # type: ignore[arg-type, operator]  # checked


def _list_or_empty(value: object) -> Sequence[object]:
    """Return a list; a graph may keep one as its JSON."""
    if isinstance(value, str) and value.startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return ()
    return value if isinstance(value, list) else ()
