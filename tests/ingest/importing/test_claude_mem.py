"""claude-mem: its database and its export."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from madeleine.ingest.importing.values import NotThatFormat
from madeleine.model.times import format_time
from madeleine.model.words import MemoryKind, MemoryType, Tier
from madeleine.write.stores import Stores
from tests.ingest.importing.bringing import found, imported, memories
from tests.ingest.importing.foreign_databases import (
    CLAUDE_MEM_SCHEMA,
    insert_rows,
    write_database,
)

AT = 1_763_229_840_000  # 2025-11-15T18:04:00Z, in the milliseconds that claude-mem counts in
WHEN = "2025-11-15T18:04:00Z"
OBSERVATION: dict[str, object] = {
    "memory_session_id": "5e1f",
    "project": "atlas",
    "type": "decision",
    "title": "SQLite over Postgres",
    "subtitle": "For the index",
    "narrative": "One file is easier to back up.",
    "facts": json.dumps(["The index is one file", "One file is easier to back up."]),
    "concepts": json.dumps(["trade-off", "storage"]),
    "files_read": json.dumps(["docs/storage.md"]),
    "files_modified": json.dumps(["src/index.py", "docs/storage.md"]),
    "prompt_number": 3,
    "created_at": "2025-11-15T18:04:00.000Z",
    "created_at_epoch": AT,
}
BUGFIX: dict[str, object] = {
    **OBSERVATION,
    "type": "bugfix",
    "title": "Lock released twice",
    "subtitle": None,
    "narrative": None,
    "text": "The lock was released twice on Windows.",
    "facts": None,
    "concepts": None,
    "files_read": None,
    "files_modified": None,
    "merged_into_project": "atlas-core",
}
SUMMARY: dict[str, object] = {
    "memory_session_id": "5e1f",
    "project": "atlas",
    "request": "Choose a store",
    "learned": "SQLite is enough",
    "next_steps": "Measure it",
    "created_at": WHEN,
    "created_at_epoch": AT + 1_000,
}
DIRECTIVES: list[dict[str, object]] = [
    {"scope": scope, "project": project, "content": text, "status": status}
    | {"created_at": WHEN, "created_at_epoch": AT, "updated_at_epoch": AT}
    for scope, project, text, status in (
        ("global", None, "Always answer in metric units", "active"),
        ("project", "atlas", "Never edit generated files", "active"),
        ("global", None, "Say please", "removed"),
    )
]
PROMPT: dict[str, object] = {
    "content_session_id": "c1",
    "prompt_number": 1,
    "prompt_text": "which store do we take?",
    "created_at": WHEN,
    "created_at_epoch": AT,
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / ".claude-mem"
    folder.mkdir()
    tables: dict[str, Any] = {
        "observations": [OBSERVATION, BUGFIX],
        "session_summaries": [SUMMARY],
        "directives": DIRECTIVES,
        "user_prompts": [PROMPT],
    }
    write_database(folder / "claude-mem.db", CLAUDE_MEM_SCHEMA, tables)
    return folder


def export(path: Path, **lists: object) -> Path:
    said = {"exportedAt": WHEN, "query": "", "observations": [OBSERVATION, BUGFIX], **lists}
    path.write_text(json.dumps(said), encoding="utf-8")
    return path


def test_observations_summaries_and_directives_come_along(home: Path, stores: Stores) -> None:
    told = imported(stores, "claude-mem", home)

    assert (told.count("written"), told.broken) == (5, {})
    assert told.notes == ["1 prompt stays out: what was typed, word for word"]
    known = memories(stores)
    decision = known["SQLite over Postgres"]
    assert decision.content == (
        "For the index\n\nOne file is easier to back up.\n\n- The index is one file"
    )
    assert (decision.type, decision.tier, decision.space) == (
        MemoryType.DECISION,
        Tier.WORKING,
        "atlas",
    )
    assert decision.tags == ("trade-off", "storage", "decision")
    assert format_time(decision.created) == WHEN
    assert decision.source == "import:claude-mem"
    assert decision.origin is not None
    assert (decision.origin.session, decision.origin.turn) == ("5e1f", 3)
    assert decision.metadata == {"files": ["docs/storage.md", "src/index.py"]}
    bug = known["Lock released twice"]
    assert (bug.type, bug.space) == (MemoryType.EVENT, "atlas-core")
    summary = known["Choose a store"]
    assert (summary.tier, summary.tags) == (Tier.ARCHIVAL, ("session-summary",))
    assert summary.content.endswith("Learned: SQLite is enough\n\nNext steps: Measure it")
    rules = {each.content: each for each in known.values() if each.kind is MemoryKind.STANDING}
    assert {text: each.space for text, each in rules.items()} == {
        "Always answer in metric units": None,
        "Never edit generated files": "atlas",
    }


def test_twice_is_once_also_by_the_export_of_another_machine(
    home: Path, tmp_path: Path, stores: Stores
) -> None:
    imported(stores, "claude-mem", home / "claude-mem.db")

    again = imported(stores, "claude-mem", home)
    exported = imported(
        stores,
        "claude-mem",
        export(tmp_path / "export.json", summaries=[SUMMARY], prompts=[PROMPT]),
    )

    assert set(again.fates.values()) == {"known"}
    assert (exported.count("known"), exported.count("written")) == (3, 0)
    assert len(memories(stores)) == 5


def test_what_waits_beside_the_database_comes_along_and_nothing_there_changes(
    home: Path, stores: Stores
) -> None:
    """claude-mem runs: what it wrote last is not in the file itself yet."""
    path = home / "claude-mem.db"
    with closing(sqlite3.connect(path)) as running:
        running.execute("PRAGMA journal_mode=WAL")
        insert_rows(running, "observations", [{**OBSERVATION, "title": "Written last"}])
        running.commit()
        before = {each.name: each.read_bytes() for each in home.iterdir()}

        imported(stores, "claude-mem", home)

        assert {each.name: each.read_bytes() for each in home.iterdir()} == before
    assert "Written last" in memories(stores)


def test_an_older_database_comes_in_without_what_it_does_not_have(
    tmp_path: Path, stores: Stores
) -> None:
    schema = """CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT,
        project TEXT, text TEXT, type TEXT, title TEXT, created_at TEXT)"""
    row = {"memory_session_id": "s", "project": "", "text": "Old", "type": "note", "title": "T"}
    path = write_database(
        tmp_path / "claude-mem.db", schema, {"observations": [{**row, "created_at": WHEN}]}
    )

    imported(stores, "claude-mem", path)

    old = memories(stores)["T"]
    assert (old.content, old.space, old.type) == ("Old", None, MemoryType.OBSERVATION)
    assert format_time(old.created) == WHEN


def test_what_says_nothing_or_is_no_row_is_told_with_its_place(
    tmp_path: Path, stores: Stores
) -> None:
    file = export(tmp_path / "e.json", observations=[OBSERVATION, {"type": "x"}, 7])

    told = imported(stores, "claude-mem", file)

    assert told.broken == {
        "e.json: observations 2": "says nothing",
        "e.json: observations 3": "not a JSON object",
    }
    assert told.count("written") == 1


def test_secrets_are_taken_out(tmp_path: Path, stores: Stores) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    row = {**OBSERVATION, "narrative": f"The token is {token}", "facts": f'["{token}"]'}

    imported(stores, "claude-mem", export(tmp_path / "e.json", observations=[row]))

    assert token not in memories(stores)["SQLite over Postgres"].content


@pytest.mark.parametrize("text", ["{}", "[]", '{"observations": 7}', "not json"])
def test_what_is_no_export_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "e.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(NotThatFormat):
        found("claude-mem", path)


def test_a_database_of_another_program_or_a_damaged_one_is_refused(tmp_path: Path) -> None:
    other = write_database(tmp_path / "claude-mem.db", "CREATE TABLE t (a)", {})
    with pytest.raises(NotThatFormat, match="without observations of claude-mem"):
        found("claude-mem", other)

    other.write_bytes(other.read_bytes()[:100] + b"\xff" * 4_000)
    with pytest.raises(NotThatFormat, match="cannot be read"):
        found("claude-mem", other)
