"""MemPalace: a palace of either backend, its knowledge graph, and its JSON lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from madeleine.ingest.importing.values import NotThatFormat
from madeleine.model.memory import Memory
from madeleine.model.times import format_time
from madeleine.model.words import Edge, MemoryType, Tier
from madeleine.write.stores import Stores
from tests.ingest.importing.bringing import found, imported, memories
from tests.ingest.importing.foreign_databases import (
    GRAPH_SCHEMA,
    write_chroma,
    write_database,
    write_exact,
)

FILED = "2026-03-01T10:00:00Z"
DRAWERS: dict[str, tuple[str, Mapping[str, object]]] = {
    "drawer_atlas_backend_1f3c": (
        "We chose SQLite because one file is easier to back up.",
        {
            "wing": "wing_atlas",
            "room": "backend",
            "hall": "hall_decisions",
            "source_file": "/chats/2026-03-01.jsonl",
            "chunk_index": 2,
            "added_by": "mempalace",
            "filed_at": FILED,
        },
    ),
    "drawer_general_diary_77aa": (
        "The user prefers tea.",
        {
            "wing": "general",
            "room": "preferences",
            "source_file": "",
            "chunk_index": 0,
            "added_by": "claude",
            "filed_at": FILED,
        },
    ),
}
ENTITIES: list[dict[str, object]] = [
    {"id": "max", "name": "Max"},
    {"id": "chess", "name": "chess"},
    {"id": "swimming", "name": "swimming"},
]
TRIPLES: list[dict[str, object]] = [
    {
        "id": "t1",
        "subject": "max",
        "predicate": "loves",
        "object": "chess",
        "valid_from": "2025-10-01",
        "source_drawer_id": "drawer_general_diary_77aa",
    },
    {
        "id": "t2",
        "subject": "max",
        "predicate": "does_every_week",
        "object": "swimming",
        "valid_from": "2025-01-01",
        "valid_to": "2025-06-30",
        "confidence": 0.8,
    },
    {"id": "t3", "subject": "max", "predicate": "loves", "object": "swimming"},
]


def by_text(stores: Stores) -> dict[str, Memory]:
    return {each.content: each for each in memories(stores).values()}


def write_lines(folder: Path) -> Path:
    """Write the drawers as `mempalace export --format jsonl` does."""
    (folder / "wing_atlas").mkdir(parents=True)
    (folder / "export-manifest.json").write_text('{"format_version": 1}', encoding="utf-8")
    lines = [
        json.dumps({"id": name, "document": document, "metadata": metadata}, sort_keys=True)
        for name, (document, metadata) in DRAWERS.items()
    ]
    (folder / "wing_atlas" / "backend.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder


def palace(tmp_path: Path, backend: str) -> Path:
    top = tmp_path / ".mempalace"
    (top / "palace").mkdir(parents=True)
    if backend == "chroma":
        write_chroma(top / "palace" / "chroma.sqlite3", DRAWERS)
    else:
        write_exact(top / "palace" / "sqlite_exact.sqlite3", DRAWERS)
    graph: dict[str, Any] = {"entities": ENTITIES, "triples": TRIPLES}
    write_database(top / "knowledge_graph.sqlite3", GRAPH_SCHEMA, graph)
    return top


@pytest.mark.parametrize("backend", ["chroma", "sqlite_exact"])
@pytest.mark.parametrize("below", ["", "palace"])
def test_drawers_and_facts_come_along(
    tmp_path: Path, stores: Stores, backend: str, below: str
) -> None:
    told = imported(stores, "mempalace", palace(tmp_path, backend) / below)

    assert (told.count("written"), told.broken) == (5, {})
    known = by_text(stores)
    mined = known["We chose SQLite because one file is easier to back up."]
    assert (mined.type, mined.tier, mined.space) == (
        MemoryType.DECISION,
        Tier.ARCHIVAL,
        "atlas",
    )
    assert mined.tags == ("backend", "decisions")
    assert format_time(mined.created) == FILED
    assert mined.origin is not None
    assert (mined.origin.uri, mined.origin.speaker) == (
        "mempalace:drawer_atlas_backend_1f3c",
        "mempalace",
    )
    assert mined.metadata == {"source_file": "/chats/2026-03-01.jsonl", "chunk": 2}
    own = known["The user prefers tea."]
    assert (own.type, own.tier, own.space) == (MemoryType.PREFERENCE, Tier.WORKING, None)


def test_a_fact_holds_until_its_end_and_ends_no_other(tmp_path: Path, stores: Stores) -> None:
    imported(stores, "mempalace", palace(tmp_path, "chroma"))

    known = by_text(stores)
    chess, swims = known["Max loves chess"], known["Max does every week swimming"]
    drawer = known["The user prefers tea."]
    assert (chess.valid_until, known["Max loves swimming"].valid_until) == (None, None)
    assert format_time(chess.created) == "2025-10-01T00:00:00Z"
    assert [(e.target, e.edge) for e in chess.connections if e.by == "import:mempalace"] == [
        (drawer.id, Edge.DERIVED_FROM)
    ]
    assert swims.valid_until is not None
    assert format_time(swims.valid_until).startswith("2025-06-30")
    assert swims.confidence == 0.8


def test_twice_is_once_from_whichever_backend(tmp_path: Path, stores: Stores) -> None:
    imported(stores, "mempalace", palace(tmp_path / "one", "chroma"))

    again = imported(stores, "mempalace", palace(tmp_path / "two", "sqlite_exact"))
    lines = imported(stores, "mempalace", write_lines(tmp_path / "export"))

    assert set(again.fates.values()) == set(lines.fates.values()) == {"known"}
    assert (len(again.fates), len(lines.fates)) == (5, 2)


def test_json_lines_come_along_and_a_broken_one_is_told(tmp_path: Path, stores: Stores) -> None:
    folder = write_lines(tmp_path / "export")
    broken = '{"id": "x"\n[1]\n{"id": "x"}\n{"id": "x", "document": " "}\n'
    (folder / "wing_atlas" / "odd.jsonl").write_text(broken, encoding="utf-8")

    told = imported(stores, "mempalace", folder)

    assert told.count("written") == 2
    assert set(told.broken) == {f"wing_atlas/odd.jsonl:{number}" for number in (1, 2, 3, 4)}


def test_one_database_can_be_named_by_itself(tmp_path: Path, stores: Stores) -> None:
    top = palace(tmp_path, "chroma")

    imported(stores, "mempalace", top / "knowledge_graph.sqlite3")

    assert "Max loves chess" in by_text(stores)
    assert "The user prefers tea." not in by_text(stores)


def test_what_is_no_palace_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotThatFormat, match="holds no drawers"):
        found("mempalace", tmp_path / "empty")
    other = write_database(tmp_path / "other.db", "CREATE TABLE t (a)", {})
    with pytest.raises(NotThatFormat, match="without drawers"):
        found("mempalace", other)
    (tmp_path / "lines.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
    with pytest.raises(NotThatFormat, match="holds no drawers"):
        found("mempalace", tmp_path / "lines.jsonl")


def test_the_wrong_name_gets_the_right_hint(tmp_path: Path) -> None:
    top = palace(tmp_path, "chroma")
    with pytest.raises(NotThatFormat) as caught:
        found("mcp-memory", top)
    assert "it looks like mempalace" in caught.value.hint
