"""Graphs and lists of other programs: the MCP reference server, mem0, AutoMem, Ormah."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path

import pytest

from madeleine.ingest.importing.values import NotThatFormat
from madeleine.model.words import Edge, MemoryType, Tier
from madeleine.write.identity import SELF_ID, ensure_self
from madeleine.write.stores import Stores
from tests.ingest.importing.bringing import found, imported, memories

# -- the MCP reference server --------------------------------------------------------------

MCP: list[dict[str, object]] = [
    {"type": "relation", "from": "Ana", "to": "Atlas", "relationType": "works on"},
    {
        "type": "entity",
        "name": "Ana",
        "entityType": "person",
        "observations": ["Lives in Dublin", "Prefers tea"],
    },
    {"type": "entity", "name": "Atlas", "entityType": "project", "observations": ["Uses SQLite"]},
    {"type": "relation", "from": "Atlas", "to": "Postgres", "relationType": "replaced"},
]


def lines(path: Path, values: list[object]) -> Path:
    text = "\n".join(each if isinstance(each, str) else json.dumps(each) for each in values)
    path.write_text(text, encoding="utf-8")
    return path


def test_an_entity_is_a_memory_and_a_relation_a_connection(tmp_path: Path, stores: Stores) -> None:
    file = lines(tmp_path / "memory.jsonl", list(MCP))

    told = imported(stores, "mcp-memory", file)

    ana, atlas = memories(stores)["Ana"], memories(stores)["Atlas"]
    assert ana.type is MemoryType.PERSON
    assert atlas.type is MemoryType.PROJECT
    assert ana.content == "Ana (person)\n- Lives in Dublin\n- Prefers tea"
    link = next(each for each in ana.connections if each.target == atlas.id)
    assert (link.edge, link.reason, link.by) == (
        Edge.RELATED_TO,
        "works on",
        "import:mcp-memory",
    )
    assert told.notes == [
        "1 link leads nowhere, left as text: memory.jsonl:4 → Atlas replaced Postgres"
    ]


def test_an_entity_that_learns_something_is_revised(tmp_path: Path, stores: Stores) -> None:
    lines(tmp_path / "memory.jsonl", list(MCP))
    imported(stores, "mcp-memory", tmp_path)
    more = {**MCP[1], "observations": ["Lives in Dublin", "Prefers tea", "Has a dog"]}
    lines(tmp_path / "memory.jsonl", [MCP[0], more, *MCP[2:]])

    told = imported(stores, "mcp-memory", tmp_path)

    assert sorted(told.fates.values()) == ["known", "revised"]
    assert memories(stores)["Ana"].content.endswith("- Has a dog")


def test_a_line_that_is_no_entity_is_told_with_its_number(tmp_path: Path, stores: Stores) -> None:
    broken: list[object] = [
        '{"type":"entity","name":"Half',
        {"type": "entity", "name": "", "observations": []},
        {"type": "thing"},
        [1],
    ]
    file = lines(tmp_path / "memory.jsonl", [*MCP, *broken])

    told = imported(stores, "mcp-memory", file)

    assert list(told.broken) == [f"memory.jsonl:{n}" for n in (5, 6, 7, 8)]
    assert told.count("written") == 2


# -- mem0 ----------------------------------------------------------------------------------

MEM0: dict[str, object] = {
    "count": 2,
    "results": [
        {
            "id": "7a1c2f60-2f1a-4a42-9d55-0a3f4b5c6d7e",
            "memory": "Ana prefers window seats",
            "user_id": "ana",
            "agent_id": None,
            "metadata": {"category": "travel"},
            "categories": ["preferences"],
            "created_at": "2025-07-01T09:30:00.123456-07:00",
            "updated_at": "2025-07-02T09:30:00-07:00",
        },
        {"id": "m-2", "memory": "Ana lives in Dublin", "user_id": "ana", "metadata": None},
        {"id": "m-3", "memory": ""},
    ],
}


@pytest.mark.parametrize("shape", ["answer", "list", "lines"])
def test_memories_of_mem0_keep_id_tags_and_dates(
    tmp_path: Path, stores: Stores, shape: str
) -> None:
    results = MEM0["results"]
    assert isinstance(results, list)
    file = tmp_path / ("m.jsonl" if shape == "lines" else "m.json")
    if shape == "lines":
        lines(file, results)
    else:
        file.write_text(json.dumps(MEM0 if shape == "answer" else results), encoding="utf-8")

    told = imported(stores, "mem0", file)

    seats = memories(stores)["Ana prefers window seats"]
    assert seats.id == "7a1c2f60-2f1a-4a42-9d55-0a3f4b5c6d7e"
    assert seats.tags == ("preferences", "travel")
    assert seats.created.isoformat() == "2025-07-01T16:30:00.123456+00:00"
    assert told.count("written") == 2
    assert list(told.broken.values()) == ["has no `memory`"]


@pytest.mark.parametrize("form", ["mem0", "mcp-memory"])
def test_a_folder_with_one_fitting_file_is_as_good_as_the_file(tmp_path: Path, form: str) -> None:
    said = {
        "mem0": {"id": "1", "memory": "Ana likes tea"},
        "mcp-memory": {"type": "entity", "name": "Ana", "observations": ["likes tea"]},
    }
    (tmp_path / "export.jsonl").write_text(json.dumps(said[form]), encoding="utf-8")
    (tmp_path / "README.md").write_text("what this is", encoding="utf-8")

    assert len(found(form, tmp_path)[0]) == 1


@pytest.mark.parametrize("form", ["mem0", "mcp-memory"])
@pytest.mark.parametrize(
    ("names", "held"), [((), "holds no JSON file"), (("a.json", "b.jsonl"), "holds 2 JSON files")]
)
def test_a_folder_without_one_is_said_to_be_a_folder(
    tmp_path: Path, form: str, names: tuple[str, ...], held: str
) -> None:
    for name in names:
        (tmp_path / name).write_text("{}", encoding="utf-8")

    with pytest.raises(NotThatFormat, match=f"is a folder that {held}; .* is wanted") as refused:
        found(form, tmp_path)

    assert refused.value.hint == "name the file itself"


@pytest.mark.parametrize(("name", "text"), [("a.jsonl", ""), ("a.json", '{"results": []}')])
def test_that_nothing_is_in_a_file_is_said(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")

    items, told = found("mem0", tmp_path / name)

    assert (items, told.broken) == ([], {})
    assert told.notes == ["it is of that format, and nothing is in it"]


def test_what_is_known_by_its_text_is_not_added_again(tmp_path: Path, stores: Stores) -> None:
    file = tmp_path / "m.json"
    file.write_text(json.dumps(MEM0), encoding="utf-8")
    imported(stores, "mem0", file)
    results = MEM0["results"]
    assert isinstance(results, list)
    other = {"results": [{**results[1], "id": "m-9"}]}
    file.write_text(json.dumps(other), encoding="utf-8")

    assert imported(stores, "mem0", file).fates == {"m.json: memory 1": "known"}


# -- AutoMem -------------------------------------------------------------------------------

A, B, C = (f"{digit * 8}-1111-4111-8111-111111111111" for digit in "abc")
AUTOMEM = {
    "timestamp": "20260601_020000",
    "graph_name": "memories",
    "nodes": [
        {
            "id": 1,
            "labels": ["Memory"],
            "properties": {
                "id": A,
                "content": "Chose Postgres",
                "type": "Decision",
                "tags": ["db"],
                "importance": 0.9,
                "confidence": 0.8,
                "timestamp": "2026-01-01T00:00:00+00:00",
                "updated_at": "2026-01-02T00:00:00+00:00",
                "last_accessed": "2026-05-01T00:00:00+00:00",
                "relevance_score": 0.4,
                "t_invalid": "2026-03-01T00:00:00Z",
                "metadata": "{}",
            },
        },
        {
            "id": 2,
            "labels": ["Memory"],
            "properties": {"id": B, "content": "Chose SQLite", "type": "Decision", "tags": "[]"},
        },
        {
            "id": 3,
            "labels": ["Memory"],
            "properties": {"id": C, "content": "Tests first", "type": "Habit", "archived": True},
        },
        {"id": 4, "labels": ["Entity"], "properties": {"name": "Postgres"}},
        {"id": 5, "labels": ["Memory"], "properties": {"id": "x", "content": ""}},
    ],
    "relationships": [
        {"source_id": 1, "type": "INVALIDATED_BY", "target_id": 2, "properties": {}},
        {"source_id": 2, "type": "LEADS_TO", "target_id": 3, "properties": {"strength": 0.7}},
        {"source_id": 1, "type": "MENTIONS", "target_id": 4, "properties": {}},
        {
            "source_id": 3,
            "type": "DISCOVERED",
            "target_id": 1,
            "properties": {"kind": "explains", "confidence": 0.6},
        },
        {"source_id": 3, "type": "PART_OF", "target_id": 99, "properties": {}},
    ],
}


def as_gzip(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(json.dumps(AUTOMEM).encode()))
    return path


def as_tar(path: Path) -> Path:
    data = gzip.compress(json.dumps(AUTOMEM).encode())
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo("falkordb/falkordb_20260601_020000.json.gz")
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return path


@pytest.mark.parametrize("shape", ["file", "folder", "archive"])
def test_a_backup_of_automem_brings_graph_and_use_along(
    tmp_path: Path, stores: Stores, shape: str
) -> None:
    if shape == "archive":
        path = as_tar(tmp_path / "snapshot.tar.gz")
    else:
        file = as_gzip(tmp_path / "backups" / "falkordb" / "falkordb_20260601_020000.json.gz")
        path = file if shape == "file" else tmp_path / "backups"

    told = imported(stores, "automem", path)

    postgres, sqlite, tests = (
        memories(stores)[name] for name in ("Chose Postgres", "Chose SQLite", "Tests first")
    )
    assert (postgres.id, postgres.type, postgres.tags) == (A, MemoryType.DECISION, ("db",))
    assert postgres.superseded_by == B
    assert postgres.valid_until is not None
    assert (postgres.importance, postgres.relevance, postgres.confidence) == (0.9, 0.4, 0.8)
    assert postgres.last_accessed.isoformat() == "2026-05-01T00:00:00+00:00"
    assert (tests.type, tests.tier) == (MemoryType.PREFERENCE, Tier.ARCHIVAL)
    drawn = {(each.target, each.edge, each.kind) for each in sqlite.connections + tests.connections}
    assert (A, Edge.EVOLVED_FROM, "invalidated_by") in drawn
    assert tests.metadata == {"automem": {"type": "Habit"}}
    assert postgres.metadata == {"automem": {"importance": 0.9}}
    assert (C, Edge.RELATED_TO, "leads_to") in drawn
    assert (A, Edge.DISCOVERED, "explains") in drawn
    assert list(told.broken.values()) == ["has no content"]
    assert len(told.notes) == 1
    assert "PART_OF 99" in told.notes[0]


def test_an_answer_of_another_program_is_no_answer_of_automem(tmp_path: Path) -> None:
    answer = {"results": [{"id": "1", "memory": "Ana likes tea"}]}

    with pytest.raises(NotThatFormat, match=r"mem0\.json: .* nothing in it is a memory of AutoMem"):
        found("automem", lines(tmp_path / "mem0.json", [answer]))


def test_what_is_odd_among_memories_of_automem_is_told(tmp_path: Path) -> None:
    answer = {"results": [{"memory": {"content": "tea"}}, {"memory": "coffee"}, 3]}

    items, told = found("automem", lines(tmp_path / "answer.json", [answer]))

    assert [each.values["content"] for each in items] == ["tea"]
    assert list(told.broken.values()) == ["has no content", "has no content"]


def test_a_date_of_mem0_that_nobody_can_read_costs_only_itself(
    tmp_path: Path, stores: Stores
) -> None:
    memory = {"id": "1", "memory": "Ana likes tea", "created_at": "gestern", "updated_at": 7}

    told = imported(stores, "mem0", lines(tmp_path / "m.json", [{"results": [memory]}]))

    assert told.count("written") == 1


def test_importing_automem_twice_adds_nothing(tmp_path: Path, stores: Stores) -> None:
    path = as_gzip(tmp_path / "falkordb_1.json.gz")
    imported(stores, "automem", path)

    assert imported(stores, "automem", path).count("known") == 3


def test_what_unpacks_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("madeleine.ingest.importing.automem.WHOLE_BYTES", 1_000)
    bomb = tmp_path / "falkordb_1.json.gz"
    bomb.write_bytes(gzip.compress(b" " * 5_000))

    with pytest.raises(NotThatFormat, match="more than"):
        found("automem", bomb)


# -- Ormah ---------------------------------------------------------------------------------

ORMAH_SELF = "11111111-2222-4333-8444-555555555555"
ORMAH = f"""---
id: {A}
type: preference
tier: core
source: agent:claude-code
created: 2026-02-01T10:00:00Z
updated: 2026-02-03T10:00:00Z
last_accessed: 2026-05-05T10:00:00Z
access_count: 7
confidence: 0.9
importance: 0.61
stability: 12.5
last_review: 2026-05-05T10:00:00Z
title: Prefers tabs
space: atlas
tags:
- style
- about_self
connections:
- target: {B}
  edge: supports
  weight: 0.8
- target: {ORMAH_SELF}
  edge: related_to
  weight: 0.5
---
Ana prefers tabs over spaces.
"""
ITS_SELF = f"""---
id: {ORMAH_SELF}
type: person
tier: core
source: system:self
created: 2026-01-01T10:00:00Z
updated: 2026-04-01T10:00:00Z
access_count: 0
confidence: 1.0
importance: 0.5
stability: 1.0
title: Ana
connections:
- target: {A}
  edge: defines
  weight: 0.5
---
Ana, who builds Atlas.
"""


@pytest.fixture
def ormah(tmp_path: Path) -> Path:
    nodes = tmp_path / "memory" / "nodes"
    nodes.mkdir(parents=True)
    (nodes / f"preference_prefers-tabs_{A[:8]}.md").write_text(ORMAH, encoding="utf-8")
    (nodes / f"person_ana_{ORMAH_SELF[:8]}.md").write_text(ITS_SELF, encoding="utf-8")
    (nodes / "fact_bad_cccccccc.md").write_text("---\ntype: nonsense\n---\nx\n", encoding="utf-8")
    deleted = tmp_path / "memory" / "nodes" / "deleted"
    deleted.mkdir()
    (deleted / "fact_gone_dddddddd.md").write_text(ORMAH.replace(A, C), encoding="utf-8")
    return tmp_path / "memory"


def test_ormahs_folder_comes_with_counters_connections_and_self(
    ormah: Path, stores: Stores
) -> None:
    ensure_self(stores)

    told = imported(stores, "ormah", ormah)

    tabs = memories(stores)["Prefers tabs"]
    assert (tabs.id, tabs.tier, tabs.space) == (A, Tier.CORE, "atlas")
    assert (tabs.access_count, tabs.stability, tabs.importance) == (7, 12.5, 0.61)
    assert tabs.last_accessed.isoformat() == "2026-05-05T10:00:00+00:00"
    assert {each.target for each in tabs.connections} == {B, SELF_ID}  # one dangles, and is kept
    stored = stores.search.get(A)
    assert stored is not None
    assert "access_count" not in stores.vault.read_bytes(stored.path).decode()
    own = stores.search.get(SELF_ID)
    assert own is not None
    assert own.memory.content == "Ana, who builds Atlas."
    assert stores.search.get(ORMAH_SELF) is None
    assert told.broken == {"fact_bad_cccccccc.md:2": "unknown type 'nonsense'"}
    assert told.notes == ["1 deleted memories were left out"]


def test_ormahs_counters_are_taken_over_once(ormah: Path, stores: Stores) -> None:
    imported(stores, "ormah", ormah)
    again = imported(stores, "ormah", ormah)

    assert again.count("known") == 2
    assert memories(stores)["Prefers tabs"].access_count == 7


def test_of_two_states_the_one_updated_last_counts(ormah: Path, stores: Stores) -> None:
    imported(stores, "ormah", ormah)
    file = ormah / "nodes" / f"preference_prefers-tabs_{A[:8]}.md"
    newer = ORMAH.replace("updated: 2026-02-03", "updated: 2027-02-03")
    file.write_text(newer.replace("over spaces", "over four spaces"), encoding="utf-8")
    revised = imported(stores, "ormah", ormah)
    file.write_text(ORMAH, encoding="utf-8")
    older = imported(stores, "ormah", ormah)

    assert revised.fates[file.name] == "revised"
    assert older.fates[file.name] == "kept"
    assert memories(stores)["Prefers tabs"].content == "Ana prefers tabs over four spaces."
