"""Databases as claude-mem and MemPalace write them, made by hand."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path

CLAUDE_MEM_SCHEMA = """
    CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id TEXT UNIQUE NOT NULL,
        memory_session_id TEXT UNIQUE, project TEXT NOT NULL, started_at TEXT NOT NULL,
        started_at_epoch INTEGER NOT NULL, status TEXT NOT NULL DEFAULT 'active');
    CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT,
        memory_session_id TEXT NOT NULL, project TEXT NOT NULL, text TEXT, type TEXT NOT NULL,
        title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT,
        files_modified TEXT, prompt_number INTEGER, content_hash TEXT, merged_into_project TEXT,
        created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
    CREATE TABLE session_summaries (id INTEGER PRIMARY KEY AUTOINCREMENT,
        memory_session_id TEXT NOT NULL, project TEXT NOT NULL, request TEXT, investigated TEXT,
        learned TEXT, completed TEXT, next_steps TEXT, notes TEXT, prompt_number INTEGER,
        created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
    CREATE TABLE user_prompts (id INTEGER PRIMARY KEY AUTOINCREMENT,
        content_session_id TEXT NOT NULL, prompt_number INTEGER NOT NULL,
        prompt_text TEXT NOT NULL, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
    CREATE TABLE directives (id INTEGER PRIMARY KEY AUTOINCREMENT,
        scope TEXT NOT NULL DEFAULT 'global', project TEXT, content TEXT NOT NULL,
        status TEXT NOT NULL DEFAULT 'active', created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL, updated_at_epoch INTEGER NOT NULL);
"""
CHROMA_SCHEMA = """
    CREATE TABLE collections (id TEXT PRIMARY KEY, name TEXT NOT NULL, dimension INTEGER);
    CREATE TABLE segments (id TEXT PRIMARY KEY, type TEXT NOT NULL, scope TEXT NOT NULL,
        collection TEXT NOT NULL);
    CREATE TABLE embeddings (id INTEGER PRIMARY KEY, segment_id TEXT NOT NULL,
        embedding_id TEXT NOT NULL, seq_id BLOB NOT NULL,
        created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, UNIQUE (segment_id, embedding_id));
    CREATE TABLE embedding_metadata (id INTEGER, key TEXT NOT NULL, string_value TEXT,
        int_value INTEGER, float_value REAL, bool_value INTEGER, PRIMARY KEY (id, key));
"""
EXACT_SCHEMA = """
    CREATE TABLE collections (id INTEGER PRIMARY KEY, name TEXT UNIQUE, dimension INTEGER);
    CREATE TABLE documents (collection_id INTEGER, id TEXT, document TEXT, metadata_json TEXT,
        embedding BLOB, dim INTEGER, created_at TEXT, updated_at TEXT,
        PRIMARY KEY (collection_id, id));
"""
GRAPH_SCHEMA = """
    CREATE TABLE entities (id TEXT PRIMARY KEY, name TEXT NOT NULL, type TEXT DEFAULT 'unknown',
        properties TEXT DEFAULT '{}', created_at TEXT DEFAULT CURRENT_TIMESTAMP);
    CREATE TABLE triples (id TEXT PRIMARY KEY, subject TEXT NOT NULL, predicate TEXT NOT NULL,
        object TEXT NOT NULL, valid_from TEXT, valid_to TEXT, confidence REAL DEFAULT 1.0,
        source_closet TEXT, source_file TEXT, source_drawer_id TEXT, adapter_name TEXT,
        extracted_at TEXT DEFAULT CURRENT_TIMESTAMP);
"""

Row = Mapping[str, object]


def write_database(path: Path, schema: str, tables: Mapping[str, Iterable[Row]]) -> Path:
    """Write a database with these rows."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(schema)
        for table, rows in tables.items():
            insert_rows(connection, table, rows)
        connection.commit()
    return path


def insert_rows(connection: sqlite3.Connection, table: str, rows: Iterable[Row]) -> None:
    for row in rows:
        marks = ", ".join("?" * len(row))
        sql = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})"
        connection.execute(sql, list(row.values()))


def write_chroma(path: Path, drawers: Mapping[str, tuple[str, Row]]) -> Path:
    """Write drawers as Chroma keeps them: a row for each value of their metadata. Beside them are
    closets, which are made from them, and the segment of vectors."""
    tables: dict[str, list[Row]] = {
        "collections": [
            {"id": "c1", "name": "mempalace_drawers"},
            {"id": "c2", "name": "mempalace_closets"},
        ],
        "segments": [
            {"id": "m1", "type": "metadata", "scope": "METADATA", "collection": "c1"},
            {"id": "v1", "type": "vector", "scope": "VECTOR", "collection": "c1"},
            {"id": "m2", "type": "metadata", "scope": "METADATA", "collection": "c2"},
        ],
        "embeddings": [{"id": 99, "segment_id": "m2", "embedding_id": "closet", "seq_id": b"1"}],
        "embedding_metadata": [
            {"id": 99, "key": "chroma:document", "string_value": "a closet, made from drawers"}
        ],
    }
    for number, (name, (document, metadata)) in enumerate(drawers.items(), start=1):
        row = {"id": number, "segment_id": "m1", "embedding_id": name, "seq_id": b"1"}
        tables["embeddings"].append(row)
        for key, value in {**metadata, "chroma:document": document}.items():
            column = "int_value" if isinstance(value, int) else "string_value"
            tables["embedding_metadata"].append({"id": number, "key": key, column: value})
    return write_database(path, CHROMA_SCHEMA, tables)


def write_exact(path: Path, drawers: Mapping[str, tuple[str, Row]]) -> Path:
    """Write drawers as MemPalace's own backend keeps them."""
    documents: list[Row] = [
        {
            "collection_id": 1,
            "id": name,
            "document": document,
            "metadata_json": json.dumps(metadata),
            "embedding": b"\x00" * 8,
        }
        for name, (document, metadata) in drawers.items()
    ]
    collections: list[Row] = [{"id": 1, "name": "mempalace_drawers"}]
    return write_database(path, EXACT_SCHEMA, {"collections": collections, "documents": documents})
