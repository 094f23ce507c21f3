"""MemPalace: a palace's folder with `chroma.sqlite3` or `sqlite_exact.sqlite3`, or its JSON lines.

    {"id": "drawer_atlas_backend_1f3c…", "document": "Chose SQLite …",
     "metadata": {"wing": "atlas", "room": "backend", "filed_at": "2026-03-01T10:00:00", …}}

A drawer is one memory, word for word: its wing is the space, its room and hall are tags. What was
mined from a file or a conversation goes to the archive, as all that is kept word for word; what an
agent filed by itself is a working memory. A fact of the knowledge graph is a memory that is true
until its `valid_to`. Closets and vectors are made from the drawers, and stay out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from madeleine.ingest.importing.json_files import read_lines
from madeleine.ingest.importing.sources import files_of
from madeleine.ingest.importing.sqlite_files import ForeignTables, Row, is_sqlite, open_foreign
from madeleine.ingest.importing.values import (
    ImportItem,
    ImportProblem,
    ImportTotal,
    NotThatFormat,
    ReaderOutput,
    drop_empty,
    read_foreign_time,
    stable_id,
)
from madeleine.ingest.importing.words import map_type
from madeleine.model.words import Edge, MemoryType, Tier

FORM = "mempalace"
DRAWERS = "mempalace_drawers"  # the collection; others are made from it
CHROMA, EXACT, GRAPH = "chroma.sqlite3", "sqlite_exact.sqlite3", "knowledge_graph.sqlite3"
PALACE = "palace"  # the folder of the databases, in the program's own
GRAPH_TAG = "knowledge-graph"
WANTED = "a palace's folder, or the folder of its JSON lines"
_NO_PROJECT = ("", "unknown", "general", "wing_general")
_WING_PREFIX = "wing_"
_HALL_PREFIX = "hall_"
_TYPE_BY_HALL = MappingProxyType(
    {
        "facts": MemoryType.FACT,
        "events": MemoryType.EVENT,
        "discoveries": MemoryType.FACT,
        "preferences": MemoryType.PREFERENCE,
        "advice": MemoryType.PROCEDURE,
        "decisions": MemoryType.DECISION,
    }
)
_CHROMA_ROWS = f"""
    SELECT e.id AS number, e.embedding_id AS id, m.key AS key,
           coalesce(m.string_value, m.int_value, m.float_value, m.bool_value) AS value
    FROM collections c
    JOIN segments s ON s.collection = c.id
    JOIN embeddings e ON e.segment_id = s.id
    JOIN embedding_metadata m ON m.id = e.id
    WHERE c.name = '{DRAWERS}'
    ORDER BY e.id"""
_EXACT_ROWS = f"""
    SELECT d.id AS id, d.document AS document, d.metadata_json AS metadata
    FROM documents d JOIN collections c ON c.id = d.collection_id
    WHERE c.name = '{DRAWERS}' ORDER BY d.rowid"""
_DOCUMENT_KEY = "chroma:document"


class _Drawer(NamedTuple):
    """A drawer, whatever it is kept in."""

    id: str
    document: str
    metadata: Row


def read(path: Path) -> Iterator[ReaderOutput]:
    """Give every drawer, and every fact of the knowledge graph beside it."""
    databases = _find_databases(path)
    if not databases:
        yield from _read_lines(path)
        return
    for each in databases:
        with open_foreign(each) as tables:
            yield from _read_database(tables)


def _find_databases(path: Path) -> list[Path]:
    """Return the databases at a path; of one palace only that with drawers, and its facts."""
    if path.is_file():
        return [path] if is_sqlite(path) else []
    folders = [path, path / PALACE, path.parent if path.name == PALACE else path]
    found = [folder / name for name in (CHROMA, EXACT, GRAPH) for folder in folders]
    return list(dict.fromkeys(each for each in found if is_sqlite(each)))


def _read_database(tables: ForeignTables) -> Iterator[ReaderOutput]:
    names, name = tables.names(), tables.path.name
    if {"embeddings", "embedding_metadata"} <= names:
        drawers = _chroma_drawers(tables)
    elif {"documents", "collections"} <= names:
        drawers = _exact_drawers(tables)
    elif "triples" in names:
        yield from _read_facts(tables)
        return
    else:
        raise NotThatFormat(tables.path, "is a database without drawers of MemPalace")
    for each in drawers:
        yield _build_drawer(each, f"{name}: {each.id}")


def _chroma_drawers(tables: ForeignTables) -> Iterator[_Drawer]:
    for _, rows in groupby(tables.rows(_CHROMA_ROWS), key=lambda row: row["number"]):
        listed = list(rows)
        values = {str(each["key"]): each["value"] for each in listed}
        document = values.pop(_DOCUMENT_KEY, "")
        yield _Drawer(str(listed[0]["id"]), str(document or ""), values)


def _exact_drawers(tables: ForeignTables) -> Iterator[_Drawer]:
    for row in tables.rows(_EXACT_ROWS):
        yield _Drawer(str(row["id"]), str(row["document"] or ""), _parse_object(row["metadata"]))


def _read_lines(path: Path) -> Iterator[ReaderOutput]:
    """Give the drawers of an export: a file for each room."""
    with files_of(path, ".jsonl") as sources:
        if not any(each.name.endswith(".jsonl") for each in sources):
            raise NotThatFormat(path, f"holds no drawers of MemPalace; {WANTED} is wanted")
        known = 0
        for source in sources:
            with source.opened() as stream:
                for number, said in read_lines(stream):
                    found = _parse_drawer(said, f"{source.name}:{number}")
                    known += isinstance(found, ImportItem)
                    yield found
        if not known:
            raise NotThatFormat(path, f"holds no drawers of MemPalace; {WANTED} is wanted")


def _parse_drawer(said: object, place: str) -> ReaderOutput:
    if isinstance(said, ValueError):
        return ImportProblem(place, f"not JSON: {said}")
    if not isinstance(said, Mapping) or not isinstance(said.get("id"), str):
        return ImportProblem(place, "is no drawer: it has no `id`")
    document, metadata = said.get("document"), said.get("metadata")
    if not isinstance(document, str):
        return ImportProblem(place, "is no drawer: it has no `document`")
    values = metadata if isinstance(metadata, Mapping) else {}
    return _build_drawer(_Drawer(said["id"], document, values), place)


# -- drawers -------------------------------------------------------------------------------


def _build_drawer(drawer: _Drawer, place: str) -> ReaderOutput:
    if not drawer.document.strip():
        return ImportProblem(place, "is empty")
    said = drawer.metadata
    room, hall = _text(said, "room"), _text(said, "hall").removeprefix(_HALL_PREFIX)
    mined = _text(said, "source_file")
    filed = read_foreign_time(said.get("filed_at")) or read_foreign_time(said.get("date"))
    return ImportItem(
        drop_empty(
            id=stable_id(FORM, drawer.id),
            content=drawer.document,
            type=_map_hall(hall or room),
            tier=(Tier.ARCHIVAL if mined else Tier.WORKING).value,
            space=_read_wing(_text(said, "wing")),
            tags=list(dict.fromkeys(each for each in (room, hall) if each)),
            source=f"import:{FORM}",
            created=filed,
            updated=filed,
            origin=drop_empty(uri=f"{FORM}:{drawer.id}", speaker=_text(said, "added_by")),
            metadata=drop_empty(source_file=mined, chunk=said.get("chunk_index") or None),
        ),
        place,
    )


def _map_hall(hall: str) -> str:
    known = _TYPE_BY_HALL.get(hall.lower())
    return known.value if known else map_type(hall, MemoryType.OBSERVATION)


def _read_wing(wing: str) -> str | None:
    """Return the space that a wing is."""
    return None if wing.lower() in _NO_PROJECT else wing.removeprefix(_WING_PREFIX)


# -- facts ---------------------------------------------------------------------------------


def _read_facts(tables: ForeignTables) -> Iterator[ReaderOutput]:
    yield ImportTotal(tables.count("triples"))
    names = {str(each["id"]): str(each["name"]) for each in tables.rows("SELECT * FROM entities")}
    for row in tables.rows("SELECT * FROM triples ORDER BY rowid"):
        yield _build_fact(row, names, f"{tables.path.name}: {row['id']}")


def _build_fact(row: Row, names: Mapping[str, str], place: str) -> ReaderOutput:
    """Return one fact. It is no claim: a predicate may have several objects at once, and one must
    not end the others."""
    ends = [names.get(each, each) for each in (_text(row, "subject"), _text(row, "object"))]
    predicate = _text(row, "predicate").replace("_", " ")
    if not all(ends) or not predicate:
        return ImportProblem(place, "is no fact: it needs a subject, a predicate and an object")
    since, drawer = read_foreign_time(row.get("valid_from")), _text(row, "source_drawer_id")
    links = [{"target": stable_id(FORM, drawer), "edge": Edge.DERIVED_FROM.value}] if drawer else []
    sure = row.get("confidence")
    return ImportItem(
        drop_empty(
            id=stable_id(FORM, "fact", _text(row, "id")),
            content=f"{ends[0]} {predicate} {ends[1]}",
            type=MemoryType.FACT.value,
            tags=[GRAPH_TAG],
            source=f"import:{FORM}",
            created=since or read_foreign_time(row.get("extracted_at")),
            valid_until=read_foreign_time(row.get("valid_to")),
            confidence=sure if isinstance(sure, float) and 0 <= sure <= 1 else None,
            connections=links,
        ),
        place,
    )


def _text(row: Row, name: str) -> str:
    value = row.get(name)
    return value.strip() if isinstance(value, str) else ""


def _parse_object(value: object) -> Row:
    try:
        found = json.loads(str(value or "{}"))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
