"""The tables of the index, as scripts that are only ever added to.

`PRAGMA user_version` says how many scripts a file has seen. A script that was released is
never edited: a change of the schema is one more script, or, since everything here follows
from the files and the journal, a schema begun anew, which the next start fills. Times are
whole microseconds since 1970, UTC. Full-text tables use only what SQLite 3.40 can read, so
that the `sqlite3` module of any Python can look into the file.

A memory is a thin row in `nodes`, which filters and listings read, and its words in `texts`,
which FTS5 takes as its content; `said` is who said it and when, for what was said in a
conversation. `passages` hold what comparing closely needs of each passage of a memory, which
only the few candidates of a question are asked for. `grams` hold pairs of letters for scripts
that write without spaces; see `text.py`. Everything that follows from the journal is keyed by
the memory's id and not by its row, because an event may come before its file and outlive it.
"""

from __future__ import annotations

from pathlib import Path

import apsw

from madeleine.errors import IndexCorrupt, IndexTooNew

APPLICATION_ID = 0x4D41444C  # "MADL": tells our file from another program's

_MEMORY_TABLES = """
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE nodes (
    node            INTEGER PRIMARY KEY,
    id              TEXT NOT NULL UNIQUE,
    path            TEXT NOT NULL,
    mtime_ns        INTEGER NOT NULL,
    size            INTEGER NOT NULL,
    ctime_ns        INTEGER NOT NULL,
    type            TEXT NOT NULL,
    tier            TEXT NOT NULL,
    space           TEXT,
    source          TEXT NOT NULL,
    confidence      REAL NOT NULL,
    created         INTEGER NOT NULL,
    updated         INTEGER NOT NULL,
    valid_until     INTEGER,
    superseded_by   TEXT,
    idempotency_key TEXT,
    text_key        BLOB NOT NULL,
    embedded        INTEGER NOT NULL,
    session         TEXT,
    turn            INTEGER,
    speaker         TEXT,
    address         TEXT,
    stated          TEXT
) STRICT;
CREATE INDEX nodes_path ON nodes (path);
CREATE INDEX nodes_created ON nodes (created);
CREATE INDEX nodes_text_key ON nodes (text_key);
CREATE INDEX nodes_idempotency ON nodes (idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX nodes_superseded ON nodes (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX nodes_address ON nodes (address, stated) WHERE address IS NOT NULL;
CREATE INDEX nodes_core ON nodes (tier) WHERE tier = 'core';
CREATE INDEX nodes_self ON nodes (created, id) WHERE source = 'system:self';
CREATE INDEX nodes_unembedded ON nodes (node) WHERE embedded = 0;

CREATE TABLE texts (
    node        INTEGER PRIMARY KEY,
    title       TEXT,
    tags        TEXT NOT NULL,
    title_grams TEXT NOT NULL,
    grams       TEXT NOT NULL,
    said        TEXT NOT NULL,
    origin      TEXT,
    claim       TEXT,
    content     TEXT NOT NULL
) STRICT;

CREATE VIRTUAL TABLE fts USING fts5 (
    title, content, tags, title_grams, grams, said,
    content = 'texts', content_rowid = 'node',
    tokenize = "porter unicode61 remove_diacritics 2 categories 'L* M* N* Co'"
);

CREATE VIRTUAL TABLE fts_words USING fts5vocab ('fts', 'row');

-- A put writes a small segment; merging eight at a time instead of four halves that work.
INSERT INTO fts (fts, rank) VALUES ('automerge', 8);

CREATE TABLE node_tags (
    tag  TEXT NOT NULL,
    node INTEGER NOT NULL,
    PRIMARY KEY (tag, node)
) STRICT, WITHOUT ROWID;

CREATE TABLE edges (
    source     INTEGER NOT NULL,
    target     TEXT NOT NULL,
    edge       TEXT NOT NULL,
    position   INTEGER NOT NULL,
    weight     REAL NOT NULL,
    reason     TEXT,
    by         TEXT,
    at         INTEGER,
    kind       TEXT,
    confidence REAL,
    PRIMARY KEY (source, target, edge)
) STRICT, WITHOUT ROWID;
CREATE INDEX edges_target ON edges (target);

-- `number` is the node's, times 64, plus which of its passages.
CREATE TABLE passages (
    number   INTEGER PRIMARY KEY,
    traits   INTEGER NOT NULL,
    capitals INTEGER NOT NULL,
    words    INTEGER NOT NULL,
    stems    BLOB NOT NULL,
    tokens   BLOB NOT NULL
) STRICT;

CREATE TABLE vectors (
    number INTEGER PRIMARY KEY,
    vector BLOB NOT NULL
) STRICT;

CREATE TABLE unreadable (
    path    TEXT PRIMARY KEY,
    line    INTEGER NOT NULL,
    problem TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""

_JOURNAL_TABLES = """
CREATE TABLE positions (
    name   TEXT PRIMARY KEY,
    offset INTEGER NOT NULL,
    "check" TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE torn (
    name    TEXT NOT NULL,
    line    INTEGER NOT NULL,
    problem TEXT NOT NULL,
    PRIMARY KEY (name, line)
) STRICT, WITHOUT ROWID;

CREATE TABLE audit_log (
    number INTEGER PRIMARY KEY,
    id     TEXT NOT NULL UNIQUE,
    at     INTEGER NOT NULL,
    kind   TEXT NOT NULL,
    device TEXT NOT NULL,
    change TEXT,
    run    TEXT,
    body   TEXT NOT NULL
) STRICT;
CREATE INDEX audit_kind ON audit_log (kind, at, id);
CREATE INDEX audit_change ON audit_log (change) WHERE change IS NOT NULL;
CREATE INDEX audit_run ON audit_log (run) WHERE run IS NOT NULL;

CREATE TABLE audit_memories (
    memory TEXT NOT NULL,
    at     INTEGER NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (memory, at, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE outcomes (
    change  TEXT PRIMARY KEY,
    outcome TEXT NOT NULL,
    at      INTEGER NOT NULL,
    event   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE uses (
    memory  TEXT NOT NULL,
    at      INTEGER NOT NULL,
    number  INTEGER NOT NULL,
    session TEXT,
    n       INTEGER NOT NULL,
    PRIMARY KEY (memory, at, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE adopted (
    memory TEXT NOT NULL,
    at     INTEGER NOT NULL,
    event  TEXT NOT NULL,
    body   TEXT NOT NULL,
    PRIMARY KEY (memory, at, event)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage (
    memory        TEXT PRIMARY KEY,
    access_count  INTEGER NOT NULL,
    last_accessed INTEGER,
    last_review   INTEGER,
    stability     REAL NOT NULL,
    importance    REAL NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE scores (
    memory           TEXT PRIMARY KEY,
    importance       REAL,
    importance_at    INTEGER,
    importance_event TEXT,
    relevance        REAL,
    relevance_at     INTEGER,
    relevance_event  TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE proposals (
    id              TEXT PRIMARY KEY,
    type            TEXT,
    source_nodes    TEXT,
    proposed_action TEXT,
    reason          TEXT,
    created         INTEGER,
    action          TEXT,
    status          TEXT,
    resolved        INTEGER,
    event           TEXT,
    proposed_event  TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE state (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    at    INTEGER NOT NULL,
    event TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE whisper_log (
    id      TEXT PRIMARY KEY,
    at      INTEGER NOT NULL,
    session TEXT,
    space   TEXT,
    body    TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX whisper_at ON whisper_log (at);

CREATE VIEW merge_history AS
    SELECT change, at, device, run, body FROM audit_log
    WHERE kind = 'changed' AND json_extract(body, '$.verb') = 'merge';
CREATE VIEW review_log AS
    SELECT json_extract(body, '$.memory') AS memory, at,
           json_extract(body, '$.answer') AS answer
    FROM audit_log WHERE kind = 'reviewed';
CREATE VIEW affinity AS
    SELECT json_extract(body, '$.memory') AS memory, at,
           json_extract(body, '$.signal') AS signal, json_extract(body, '$.source') AS source,
           json_extract(body, '$.whisper') AS whisper, json_extract(body, '$.prompt') AS prompt
    FROM audit_log WHERE kind = 'feedback';
"""

_SLEEP_TABLES = """
-- What a judge reads of each memory, as a hash: tells what changed since a job looked at it.
CREATE TABLE digests (
    node   INTEGER PRIMARY KEY,
    digest BLOB NOT NULL
) STRICT;

CREATE TABLE seen (
    job    TEXT NOT NULL,
    judge  TEXT NOT NULL,
    memory TEXT NOT NULL,
    digest BLOB NOT NULL,
    at     INTEGER NOT NULL,
    event  TEXT NOT NULL,
    PRIMARY KEY (job, judge, memory)
) STRICT, WITHOUT ROWID;

CREATE TABLE verdicts (
    older        TEXT NOT NULL,
    newer        TEXT NOT NULL,
    judge        TEXT NOT NULL,
    older_digest BLOB NOT NULL,
    newer_digest BLOB NOT NULL,
    verdict      TEXT NOT NULL,
    at           INTEGER NOT NULL,
    event        TEXT NOT NULL,
    PRIMARY KEY (older, newer, judge)
) STRICT, WITHOUT ROWID;
"""

_MADE_INDEXES = """
-- What consolidation made is little among many arrows, and asked for as a whole.
CREATE INDEX edges_discovered ON edges (at) WHERE edge = 'discovered';
CREATE INDEX edges_made_of ON edges (source) WHERE edge IN ('derived_from', 'summarizes');
"""

FIRST_KEPT_VERSION = 3  # an index older than this is emptied: its tables say too little

# Who drew an arrow stands in the index by target too, so that counting those that somebody meant
# needs no look at each of them.
_EDGE_AUTHOR_INDEX = """
DROP INDEX edges_target;
CREATE INDEX edges_target ON edges (target, by);
"""

_TURNING_INDEX = """
-- So are the arrows that tell what replaced or contradicts what; the newest of them are shown.
CREATE INDEX edges_turning ON edges (edge, at) WHERE edge IN ('contradicts', 'evolved_from');
"""

_EXTRA_COLUMN = """
-- The fields of a memory that no query asks for, as one JSON object.
ALTER TABLE texts ADD COLUMN extra TEXT;
"""

_KIND_INDEX = """
-- A brief asks for the newest of a space, and of a type in it, however many others are newer.
CREATE INDEX nodes_space ON nodes (space, created);
CREATE INDEX nodes_kind ON nodes (space, type, created);
"""

_TRIGGER_TABLE = """
-- Under which keys a memory is looked up before a deed (`language.triggers.trigger_keys`).
CREATE TABLE node_triggers (
    key  TEXT NOT NULL,
    node INTEGER NOT NULL,
    PRIMARY KEY (key, node)
) STRICT, WITHOUT ROWID;
CREATE INDEX node_triggers_node ON node_triggers (node);
"""

_PACKED_WHISPERS = """
-- What a whisper leaves in the log is packed (`packed_json`); rows of before stay texts.
ALTER TABLE whisper_log RENAME TO former_whisper_log;
DROP INDEX whisper_at;
CREATE TABLE whisper_log (
    id      TEXT PRIMARY KEY,
    at      INTEGER NOT NULL,
    session TEXT,
    space   TEXT,
    body    ANY NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX whisper_at ON whisper_log (at);
INSERT INTO whisper_log SELECT id, at, session, space, body FROM former_whisper_log;
DROP TABLE former_whisper_log;
"""

_TOKENS_ELSEWHERE = """
-- Where the tokens of a passage stand, if they are kept elsewhere (`TokenKeeper`); then `tokens` is
-- empty. The index is filled anew, because its rows have tokens that stand there too.
ALTER TABLE passages ADD COLUMN reference BLOB;
DELETE FROM meta WHERE key = 'analyser';
"""

_FIRST_SCHEMA = _MEMORY_TABLES + _JOURNAL_TABLES + _SLEEP_TABLES
MIGRATIONS: tuple[str, ...] = (
    "",
    "",
    _FIRST_SCHEMA,
    _EDGE_AUTHOR_INDEX,
    _MADE_INDEXES,
    _TURNING_INDEX,
    _EXTRA_COLUMN,
    _KIND_INDEX,
    _TRIGGER_TABLE,
    _PACKED_WHISPERS,
    _TOKENS_ELSEWHERE,
)

INDEX_TABLES = (
    *(
        "nodes",
        "texts",
        "node_tags",
        "node_triggers",
        "edges",
        "vectors",
        "passages",
        "unreadable",
        "positions",
        "torn",
    ),
    *("audit_log", "audit_memories", "outcomes", "uses", "adopted", "usage", "scores"),
    *("proposals", "state", "digests", "seen", "verdicts"),
)
"""The tables that a rebuild fills; `whisper_log` is telemetry and follows from nothing."""

REQUIRED_TABLES = frozenset({"meta", "fts", "fts_words", "whisper_log", *INDEX_TABLES})


LATE_INDEXES = (
    "nodes_space", "nodes_kind", "nodes_created", "nodes_text_key", "edges_target",
    "node_triggers_node", "audit_kind", "audit_change",
)  # fmt: skip
"""Indexes that filling an index asks nothing of. To make one of all rows at the end is quicker than
to find the place of each row as it comes."""


def set_indexes_aside(connection: apsw.Connection) -> list[str]:
    """Drop the late indexes, and return the statements that make them again."""
    sql = f"""SELECT name, sql FROM sqlite_schema WHERE type = 'index'
              AND name IN ({", ".join("?" * len(LATE_INDEXES))}) ORDER BY rowid"""
    found = list(connection.execute(sql, LATE_INDEXES))
    for name, _ in found:
        connection.execute(f"DROP INDEX {name}")
    return [statement for _, statement in found]


def migrate_schema(connection: apsw.Connection, path: Path) -> None:
    """Bring a file up to this release's schema, in one transaction that the caller holds.

    One whose tables are not what its version says is damaged.
    """
    found = int(connection.pragma("user_version"))
    if found > len(MIGRATIONS):
        raise IndexTooNew(path, found, len(MIGRATIONS))
    if not _is_own_database(connection):
        raise IndexCorrupt(path, "is a database of another program")
    try:
        _run_migrations(connection, found)
    except apsw.SQLError as error:
        raise IndexCorrupt(path, f"is not of schema {found}, as it says: {error}") from error
    if missing := REQUIRED_TABLES.difference(_list_tables(connection)):
        raise IndexCorrupt(path, f"has no table `{min(missing)}`")


def _run_migrations(connection: apsw.Connection, found: int) -> None:
    if found < FIRST_KEPT_VERSION:
        _drop_everything(connection)
        found = 0
    for script in MIGRATIONS[found:]:
        connection.execute(script)
    if found < len(MIGRATIONS):
        connection.pragma("user_version", len(MIGRATIONS))
        connection.pragma("application_id", APPLICATION_ID)


def _drop_everything(connection: apsw.Connection) -> None:
    """Drop every view and table. The virtual ones come first and take their own tables along."""
    views = "SELECT name FROM sqlite_schema WHERE type = 'view'"
    for (name,) in list(connection.execute(views)):
        connection.execute(f'DROP VIEW "{name}"')
    virtual = "SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE%' ORDER BY 1"
    for (name,) in reversed(list(connection.execute(virtual))):
        connection.execute(f'DROP TABLE "{name}"')
    for name in _list_tables(connection):
        connection.execute(f'DROP TABLE "{name}"')


def _list_tables(connection: apsw.Connection) -> list[str]:
    """Return the names of all tables but SQLite's own."""
    sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
    return [name for (name,) in connection.execute(sql)]


def _is_own_database(connection: apsw.Connection) -> bool:
    if connection.pragma("application_id") == APPLICATION_ID:
        return True
    return not connection.execute("SELECT EXISTS (SELECT 1 FROM sqlite_schema)").get
