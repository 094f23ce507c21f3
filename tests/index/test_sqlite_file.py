"""The index file: made, migrated, refused, set aside, swapped, and read by many at once."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from madeleine.errors import IndexCorrupt, IndexTooNew, Rejected, StoreUnwritable, Unavailable
from madeleine.index.port import Index, IndexBatch
from madeleine.index.sqlite import SqliteIndex, connection, schema, set_aside, swap_index
from madeleine.language.text_keys import same_text_key
from madeleine.model.event import EventKind
from madeleine.model.query import Filter
from madeleine.testing.making import DIMENSION, NOON, event, ids, keep, memory, memory_id, put, unit

ANY = Filter()
EAST = unit(1, 0, 0, 0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index.db"


@pytest.fixture
def index(path: Path) -> Iterator[SqliteIndex]:
    opened = SqliteIndex.open(path, "tiny", DIMENSION)
    yield opened
    opened.close()


def test_the_sqlite_index_is_an_index(index: SqliteIndex) -> None:
    port: Index = index

    assert port.search.counts().memories == 0


def test_only_the_owner_may_read_any_of_the_files(tmp_path: Path, path: Path) -> None:
    path.touch(mode=0o644)
    before = os.umask(0)
    try:
        opened = SqliteIndex.open(path)
        keep(opened, memory(1))
        opened.search.listing(ANY, NOON, 1)
        modes = {each.name: each.stat().st_mode & 0o777 for each in tmp_path.iterdir()}
    finally:
        os.umask(before)

    assert modes == dict.fromkeys(("index.db", "index.db-wal", "index.db-shm"), 0o600)
    opened.close()
    assert [each.name for each in tmp_path.iterdir()] == ["index.db"]


def test_the_document_s_tables_are_there(index: SqliteIndex, path: Path) -> None:
    with sqlite3.connect(path) as plain:
        names = {name for (name,) in plain.execute("SELECT name FROM sqlite_master")}
    plain.close()

    families = {"nodes", "edges", "node_tags", "fts", "vectors", "proposals", "merge_history"}
    assert families | {"audit_log", "whisper_log", "review_log", "affinity"} <= names


def test_the_python_that_is_there_can_search_the_file(index: SqliteIndex, path: Path) -> None:
    """A client on an agent's hot path has no apsw, only the standard library's SQLite."""
    keep(index, memory(1, "green apples"), memory(2, "猫が好き"))

    with sqlite3.connect(path) as plain:
        sql = "SELECT rowid FROM fts WHERE fts MATCH ? ORDER BY rank"
        assert plain.execute(sql, ("apples",)).fetchall() == [(1,)]
        assert plain.execute(sql, ("grams:猫が",)).fetchall() == [(2,)]
    plain.close()


def test_full_text_and_texts_agree_after_many_changes(index: SqliteIndex, path: Path) -> None:
    for step in range(40):
        keep(index, memory(step % 7, f"text {step} 猫{step}が", title=f"t {step % 3}"))
        index.write(IndexBatch(drops=[memory_id((step * 3) % 7)]))

    writer = apsw.Connection(str(path))
    writer.execute("INSERT INTO fts (fts, rank) VALUES ('integrity-check', 1)")
    assert writer.pragma("integrity_check") == "ok"
    writer.close()


def test_events_show_in_the_views_of_the_document(index: SqliteIndex, path: Path) -> None:
    index.write(
        IndexBatch(
            events=[
                event(EventKind.CHANGED, 1, change="c", verb="merge", edits=[]),
                event(EventKind.CHANGED, 2, change="d", verb="revise", edits=[]),
                event(EventKind.REVIEWED, 3, memory="m", answer="keep"),
                event(EventKind.FEEDBACK, 4, memory="m", signal="useful", source="agent"),
            ]
        )
    )

    with sqlite3.connect(path) as plain:
        assert plain.execute("SELECT change FROM merge_history").fetchall() == [("c",)]
        assert plain.execute("SELECT memory, answer FROM review_log").fetchall() == [("m", "keep")]
        assert plain.execute("SELECT memory, signal FROM affinity").fetchall() == [("m", "useful")]
    plain.close()


# --- opening ------------------------------------------------------------------------------


def test_a_newer_schema_is_refused_and_left_alone(path: Path) -> None:
    SqliteIndex.open(path).close()
    raw = apsw.Connection(str(path))
    raw.pragma("user_version", len(schema.MIGRATIONS) + 1)
    raw.close()

    with pytest.raises(IndexTooNew, match=f"schema {len(schema.MIGRATIONS) + 1}"):
        SqliteIndex.open(path)


def test_an_older_schema_is_brought_up_to_date(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = SqliteIndex.open(path)
    keep(opened, memory(1))
    opened.close()

    more = (*schema.MIGRATIONS, "CREATE TABLE added (x INTEGER) STRICT;")
    monkeypatch.setattr(schema, "MIGRATIONS", more)
    again = SqliteIndex.open(path)

    assert again.search.counts().memories == 1
    again.close()
    raw = apsw.Connection(str(path))
    assert raw.pragma("user_version") == len(more)
    raw.execute("SELECT x FROM added")
    raw.close()


OLD_TABLES = """
CREATE TABLE nodes (node INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, embedded INTEGER) STRICT;
CREATE TABLE texts (node INTEGER PRIMARY KEY, title TEXT, content TEXT NOT NULL) STRICT;
CREATE VIRTUAL TABLE fts USING fts5 (title, content, content = 'texts', content_rowid = 'node');
CREATE TABLE vectors (node INTEGER PRIMARY KEY, vector BLOB NOT NULL) STRICT;
CREATE TABLE positions (name TEXT PRIMARY KEY, offset INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE audit_log (number INTEGER PRIMARY KEY, kind TEXT NOT NULL) STRICT;
CREATE VIEW merge_history AS SELECT number FROM audit_log WHERE kind = 'changed';
CREATE INDEX nodes_embedded ON nodes (embedded);
INSERT INTO nodes VALUES (1, 'old', 1);
INSERT INTO texts VALUES (1, 'old title', 'old words');
INSERT INTO fts (rowid, title, content) VALUES (1, 'old title', 'old words');
INSERT INTO vectors VALUES (1, x'0000');
INSERT INTO positions VALUES ('desk', 77);
"""


def test_an_index_of_the_first_schema_is_begun_anew(path: Path) -> None:
    """Its tables say too little. What it knew is read again from the files and the journal,
    which takes an index that has read nothing yet."""
    raw = apsw.Connection(str(path))
    raw.execute(OLD_TABLES)
    raw.pragma("application_id", schema.APPLICATION_ID)
    raw.pragma("user_version", 1)
    raw.close()

    opened = SqliteIndex.open(path, "tiny", DIMENSION)

    assert (opened.search.counts().memories, opened.log.positions()) == (0, {})
    opened.write(IndexBatch(puts=[put(memory(1, "new words"), EAST)]))
    assert ids(opened.search.search_text(["words"], ANY, NOON, 5)) == [memory_id(1)]
    assert ids(opened.search.search_vector(EAST, ANY, NOON, 5)) == [memory_id(1)]
    assert [found[0].holders for found in opened.search.terms(["words", "old"])] == [1, 0]
    opened.close()
    again = SqliteIndex.open(path, "tiny", DIMENSION)
    assert again.search.counts().memories == 1
    again.close()
    raw = apsw.Connection(str(path))
    assert raw.pragma("user_version") == len(schema.MIGRATIONS)
    assert raw.pragma("integrity_check") == "ok"
    raw.close()


@pytest.mark.parametrize("version", [-1, 0, 1, 2])
def test_tables_of_now_under_an_older_version_are_begun_anew(path: Path, version: int) -> None:
    opened = SqliteIndex.open(path, "tiny", DIMENSION)
    opened.write(IndexBatch(puts=[put(memory(1, "old words"), EAST)]))
    opened.close()
    set_version(path, version)

    again = SqliteIndex.open(path, "tiny", DIMENSION)

    assert (again.search.counts().memories, again.log.positions()) == (0, {})
    again.write(IndexBatch(puts=[put(memory(2, "new words"), EAST)]))
    assert ids(again.search.search_text(["words"], ANY, NOON, 5)) == [memory_id(2)]
    again.close()


@pytest.mark.parametrize("lost", ["fts_words", "passages", "meta", "uses", "whisper_log"])
def test_an_index_that_lost_a_table_is_damaged(path: Path, lost: str) -> None:
    """So that whoever opens it sets it aside and makes it anew."""
    SqliteIndex.open(path).close()
    raw = apsw.Connection(str(path))
    raw.execute(f"DROP TABLE {lost}")
    raw.close()

    with pytest.raises(IndexCorrupt, match=lost):
        SqliteIndex.open(path)


def test_old_tables_under_the_version_of_now_are_damage(path: Path) -> None:
    raw = apsw.Connection(str(path))
    raw.execute(OLD_TABLES)
    raw.pragma("application_id", schema.APPLICATION_ID)
    raw.close()
    set_version(path, len(schema.MIGRATIONS))

    with pytest.raises(IndexCorrupt):
        SqliteIndex.open(path)


def set_version(path: Path, version: int) -> None:
    raw = apsw.Connection(str(path))
    raw.pragma("user_version", version)
    raw.close()


def test_a_migration_that_fails_changes_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    SqliteIndex.open(path).close()
    before = path.read_bytes()
    broken = (*schema.MIGRATIONS, "CREATE TABLE half (x INTEGER); SELECT nonsense;")
    monkeypatch.setattr(schema, "MIGRATIONS", broken)

    with pytest.raises(IndexCorrupt, match="nonsense"):
        SqliteIndex.open(path)

    monkeypatch.undo()
    assert path.read_bytes() == before
    SqliteIndex.open(path).close()


@pytest.mark.parametrize(
    "junk", [b"not a database at all" * 100, b"SQLite format 3\x00" + b"\xff" * 8000]
)
def test_a_file_that_is_no_database_is_corrupt(path: Path, junk: bytes) -> None:
    path.write_bytes(junk)

    with pytest.raises(IndexCorrupt):
        SqliteIndex.open(path)

    assert path.read_bytes() == junk


def test_another_program_s_database_is_not_taken_over(path: Path) -> None:
    with sqlite3.connect(path) as plain:
        plain.execute("CREATE TABLE nodes (x)")
    plain.close()

    with pytest.raises(IndexCorrupt, match="another program"):
        SqliteIndex.open(path)


def test_pages_turned_to_junk_are_reported_as_corrupt(path: Path) -> None:
    opened = SqliteIndex.open(path)
    keep(opened, *(memory(number, f"words {number} " * 50) for number in range(500)))
    opened.close()
    data = bytearray(path.read_bytes())
    data[4096 * 2 :] = b"\xa5" * (len(data) - 4096 * 2)
    path.write_bytes(data)

    with pytest.raises(IndexCorrupt):
        SqliteIndex.open(path).search.listing(ANY, NOON, 500)


def test_an_empty_file_becomes_an_empty_index(path: Path) -> None:
    path.touch()

    opened = SqliteIndex.open(path)

    assert opened.search.counts().memories == 0
    opened.close()


def test_a_damaged_index_is_set_aside_under_a_free_name(tmp_path: Path, path: Path) -> None:
    for content in (b"first", b"second"):
        for side in ("", "-wal", "-shm"):
            path.with_name(path.name + side).write_bytes(content)
        moved = set_aside(path)
        assert moved.read_bytes() == content

    assert moved == tmp_path / "index.db.damaged-2"
    assert (tmp_path / "index.db.damaged-1-wal").read_bytes() == b"first"
    assert not path.exists()
    SqliteIndex.open(path).close()


def test_a_folder_that_is_not_there_is_unwritable(tmp_path: Path) -> None:
    with pytest.raises(StoreUnwritable):
        SqliteIndex.open(tmp_path / "missing" / "index.db")


def test_a_full_disk_is_reported_and_changes_nothing(index: SqliteIndex) -> None:
    keep(index, memory(1))
    writer = index._state.connections._writer
    writer.pragma("max_page_count", writer.pragma("page_count") + 2)

    with pytest.raises(StoreUnwritable):
        keep(index, *(memory(number, "much text " * 500) for number in range(2, 50)))

    writer.pragma("max_page_count", 1_000_000)
    assert index.search.counts().memories == 1
    keep(index, memory(2))
    assert index.search.counts().memories == 2


def test_a_lock_held_by_another_process_is_waited_for_and_then_said(
    index: SqliteIndex, path: Path
) -> None:
    index._state.connections._writer.set_busy_timeout(20)
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(Unavailable, match="locked"):
        keep(index, memory(1))

    other.execute("ROLLBACK")
    other.close()
    keep(index, memory(1))
    assert index.search.counts().memories == 1


def test_a_closed_index_says_so(path: Path) -> None:
    opened = SqliteIndex.open(path)
    opened.close()
    opened.close()

    with pytest.raises(Unavailable, match="closed"):
        opened.search.counts()
    with pytest.raises(Unavailable, match="closed"):
        keep(opened, memory(1))


def test_text_that_is_no_unicode_is_rejected(index: SqliteIndex) -> None:
    with pytest.raises(Rejected):
        index.search.id_at("\udcff.md")


# --- models -------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "dimension"), [("other", DIMENSION), ("tiny", DIMENSION + 1)])
def test_another_model_s_vectors_are_dropped(path: Path, model: str, dimension: int) -> None:
    first = SqliteIndex.open(path, "tiny", DIMENSION)
    first.write(IndexBatch(puts=[put(memory(1), EAST)]))
    first.close()

    second = SqliteIndex.open(path, model, dimension)

    assert second.search.unembedded_ids(5) == [memory_id(1)]
    assert second.search.vectors([memory_id(1)]) == {}
    second.close()


def test_without_a_model_words_are_found_and_vectors_wait(path: Path) -> None:
    first = SqliteIndex.open(path, "tiny", DIMENSION)
    first.write(IndexBatch(puts=[put(memory(1, "apples"), EAST), put(memory(2, "pears"), EAST)]))
    first.close()

    plain = SqliteIndex.open(path)
    assert ids(plain.search.search_text(["apples"], ANY, NOON, 5)) == [memory_id(1)]
    assert plain.search.search_vector(EAST, ANY, NOON, 5) == []
    with pytest.raises(Rejected):
        plain.write(IndexBatch(puts=[put(memory(3), EAST)]))
    keep(plain, memory(2, "plums"))
    plain.close()

    again = SqliteIndex.open(path, "tiny", DIMENSION)
    assert ids(again.search.search_vector(EAST, ANY, NOON, 5)) == [memory_id(1)]
    assert again.search.unembedded_ids(5) == [memory_id(2)]
    again.close()


# --- rebuilding ---------------------------------------------------------------------------

KILLED_MIDWAY = """
import os, signal, sys
from pathlib import Path
from madeleine.index.sqlite import SqliteIndex
from madeleine.testing.making import keep, memory
index = SqliteIndex.open(Path(sys.argv[1]), "tiny", 4)
fresh = index.fresh()
for number in range(300):
    keep(fresh, memory(1000 + number))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_rebuild_killed_midway_leaves_the_old_index_answering(path: Path) -> None:
    old = SqliteIndex.open(path, "tiny", DIMENSION)
    old.write(IndexBatch(puts=[put(memory(1), EAST)]))
    old.close()

    killed = subprocess.run([sys.executable, "-c", KILLED_MIDWAY, str(path)], check=False)

    assert killed.returncode == -9
    again = SqliteIndex.open(path, "tiny", DIMENSION)
    assert ids(again.search.listing(ANY, NOON, 5)) == [memory_id(1)]
    assert ids(again.search.search_vector(EAST, ANY, NOON, 5)) == [memory_id(1)]
    again.close()


def test_a_swap_never_leaves_a_log_beside_a_foreign_database(tmp_path: Path, path: Path) -> None:
    new = tmp_path / "index.db.new"
    SqliteIndex.open(path).close()
    SqliteIndex.open(new).close()
    path.with_name("index.db-wal").write_bytes(b"frames of the old index")

    with pytest.raises(FileExistsError):
        swap_index(new, path)

    assert new.exists()


def test_readers_get_whole_answers_while_the_index_is_replaced(index: SqliteIndex) -> None:
    index.write(IndexBatch(puts=[put(memory(1), EAST)]))
    stop = threading.Event()

    def read() -> int:
        reads = 0
        while not stop.is_set():
            (hit,) = index.search.search_vector(EAST, ANY, NOON, 5)
            assert hit.id in {memory_id(number) for number in range(1, 12)}
            reads += 1
        return reads

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(read) for _ in range(4)]
        for number in range(2, 12):
            fresh = index.fresh()
            fresh.write(IndexBatch(puts=[put(memory(number), EAST)]))
            index.replace_with(fresh)
        stop.set()
        assert all(each.result() > 0 for each in readers)

    assert ids(index.search.listing(ANY, NOON, 5)) == [memory_id(11)]


# --- many at once -------------------------------------------------------------------------


def test_readers_are_not_blocked_by_a_writer(index: SqliteIndex) -> None:
    keep(index, memory(1, "apples"))

    with index._state.connections.writing() as writer:
        writer.execute("DELETE FROM nodes")
        with ThreadPoolExecutor(1) as pool:
            found = pool.submit(index.search.search_text, ["apples"], ANY, NOON, 5).result(
                timeout=5
            )
        assert ids(found) == [memory_id(1)]
        writer.execute("ROLLBACK")
        writer.execute(connection.BEGIN_WRITE)


def test_eight_threads_read_and_write_at_once(index: SqliteIndex) -> None:
    """Two write, six read; a batch of two memories is seen whole or not at all."""
    done = threading.Event()

    def write(first: int) -> None:
        for number in range(first, first + 60, 2):
            pair = [put(memory(each, "one of a pair"), EAST) for each in (number, number + 1)]
            index.write(IndexBatch(puts=pair))

    def read() -> None:
        while not done.is_set():
            for found in (
                ids(index.search.listing(ANY, NOON, 500)),
                ids(index.search.search_text(["pair"], ANY, NOON, 500)),
                ids(index.search.search_vector(EAST, ANY, NOON, 500)),
            ):
                pairs = [int(each[:8], 16) // 2 for each in found]
                assert all(pairs.count(each) == 2 for each in set(pairs))

    with ThreadPoolExecutor(8) as pool:
        readers = [pool.submit(read) for _ in range(6)]
        writers = [pool.submit(write, first) for first in (0, 1000)]
        for each in writers:
            each.result()
        done.set()
        for reader in readers:
            reader.result()

    assert index.search.counts().memories == 120


def test_a_known_text_is_found_without_going_through_its_space(index: SqliteIndex) -> None:
    keep(index, *(memory(each, f"text {each}", space="atlas") for each in range(1, 1_001)))
    work = Counter[str]()

    def count() -> bool:
        work["steps"] += 1
        return False

    with index.steady(), index.search.reading() as reader:
        reader.set_progress_handler(count, 1)
        found = index.search.same_text("atlas", same_text_key("text 500"), NOON)

    assert found == [memory_id(500)]
    assert work["steps"] < 200


def test_an_index_made_beside_another_has_the_same_indexes(index: SqliteIndex, path: Path) -> None:
    before = list_indexes(path)

    fresh = index.fresh()
    keep(fresh, memory(1))
    index.replace_with(fresh)

    assert len(before) > 10
    assert list_indexes(path) == before


def list_indexes(path: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as database:
        sql = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql NOT NULL ORDER BY 1"
        return list(database.execute(sql))
