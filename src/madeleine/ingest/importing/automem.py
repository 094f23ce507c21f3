"""AutoMem: a backup of its graph (`falkordb_*.json.gz`, its folder, or the downloaded tar.gz),
memories as its API answers them, or a server that runs (`automem_server.py`).

    {"nodes": [{"id": 7, "labels": ["Memory"], "properties": {"id": "…", "content": "…", …}}],
     "relationships": [{"source_id": 7, "type": "LEADS_TO", "target_id": 9, "properties": {…}}]}

Ids, types, tags, dates, validity, use, metadata and relations come along; what we have no field
for is kept as `automem_words.py` says. Entities and its own control nodes are left out.
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
from typing import IO

from madeleine.errors import NoFile
from madeleine.ingest.importing.automem_words import (
    METADATA_KEY,
    find_relation,
    keep_tags,
    keep_type,
)
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
from madeleine.ingest.importing.words import REASON_CHARS, build_connection, map_type

FORM = "automem"
KIND_CHARS = 100
LABELS = ("Memory", "MetaPattern", "MetaMemory")
PROPERTIES_TOLD = ("reason", "context", "resolution", "transformation", "role", "pattern_type")
"""What a relation says besides, which becomes the reason of a connection."""

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
    yield from read_graph(*_read_newest_backup(path))


def read_graph(name: str, data: bytes) -> Iterator[ReaderOutput]:
    """Give every memory of a graph, or of an answer, that is here as JSON."""
    graph = _parse_graph(name, data)
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


def _parse_graph(name: str, data: bytes) -> _AutoMemGraph:
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
            with path.open("rb") as file:
                return read_packed(path.name, file)
        with path.open("rb") as file:
            return path.name, _unpack_bounded(path.name, file.read(WHOLE_BYTES + 1))
    except (OSError, EOFError, zlib.error, tarfile.TarError) as error:
        raise NotThatFormat(path.name, f"cannot be read: {error}") from error


def read_packed(called: str, packed: IO[bytes]) -> tuple[str, bytes]:
    """Return the backup of the graph in an archive; nothing of it is written anywhere."""
    with tarfile.open(fileobj=packed, mode="r|gz") as archive:
        for member in archive:
            name = member.name.rpartition("/")[2]
            file = archive.extractfile(member) if member.isfile() else None
            if file is not None and name.startswith("falkordb_"):
                return name, _unpack_bounded(name, file.read(WHOLE_BYTES + 1))
    raise NotThatFormat(called, "holds no falkordb_*.json.gz")


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
        is_memory = isinstance(labels, list) and any(each in labels for each in LABELS)
        if is_memory and isinstance(properties, Mapping):
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
        known = find_relation(word)
        if known is not None and known[0].turned:
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
    known = find_relation(word)
    if known is None:
        return build_connection(_memory_id(target), word.lower().replace("_", " "), weight)
    means, labelled = known
    kind = labelled or means.kind or properties.get("kind")
    told = {each: properties[each] for each in PROPERTIES_TOLD if properties.get(each)}
    words = [str(said) if each == "reason" else f"{each}: {said}" for each, said in told.items()]
    return drop_empty(
        target=_memory_id(target),
        edge=means.edge.value,
        weight=weight,
        kind=str(kind)[:KIND_CHARS] if kind else None,
        reason="; ".join(words)[:REASON_CHARS],
    )


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
        metadata=_metadata_values(said),
        connections=links,
        usage=_usage_values(said),
    )


def _metadata_values(said: JsonObject) -> Json:
    """Return its metadata, with what it says that we have no field for."""
    given = said.get("metadata")
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            given = None
    own = {str(name): value for name, value in given.items()} if isinstance(given, dict) else {}
    since, tags = read_foreign_time(said.get("t_valid")), _list_or_empty(said.get("tags"))
    kept = drop_empty(
        type=keep_type(str(said["type"])) if said.get("type") else None,
        tags=keep_tags([str(each) for each in tags]),
        importance=_unit_or_none(said.get("importance")),
        t_valid=since if since != read_foreign_time(said.get("timestamp")) else None,
    )
    return {**own, METADATA_KEY: kept} if kept else own


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
