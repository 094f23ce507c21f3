"""Row-level security, tried by going around our own code: as the role that the server has, with
statements that name no tenant."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from madeleine.index.log import WhisperEntry
from madeleine.index.port import Index, IndexBatch
from madeleine.testing.making import DIMENSION, NOON, memory, put, said, unit
from tests import postgres

UNWALLED = {"tenants", "discarded", "schema_version", "leases"}
"""What is read before it is known whose turn it is; it holds nothing of a memory."""


@pytest.fixture(scope="module")
def url() -> str:
    return postgres.ordinary("walled")


@pytest.fixture
def both(url: str, tmp_path: Path) -> Iterator[tuple[Index, Index]]:
    """Two tenants with the same kind of rows each."""
    opened = [
        postgres.open_at(url, tmp_path / name, "tiny", DIMENSION, exact_up_to=1_000)
        for name in ("ada", "mallory")
    ]
    for each, word in zip(opened, ("kettle", "teapot"), strict=True):
        one = said(1, 1, "Anna", content=f"a {word} of mine", tags=("kitchen",))
        each.write(IndexBatch(puts=[put(one, unit(1, 0, 0, 0)), put(memory(2), unit(0, 1, 0, 0))]))
        each.log.log_whisper(WhisperEntry(f"w-{word}", NOON, None, None, {"prompt": word}), NOON)
    yield opened[0], opened[1]
    for each in opened:
        each.close()


def connected(url: str) -> psycopg.Connection[Any]:
    connection = psycopg.connect(url, autocommit=True)
    connection.execute("SET search_path = madeleine, public")
    return connection


def tables(connection: psycopg.Connection[Any]) -> list[tuple[str, bool]]:
    sql = """SELECT relname, relrowsecurity AND relforcerowsecurity FROM pg_class
             WHERE relnamespace = 'madeleine'::regnamespace AND relkind IN ('r', 'p')"""
    return connection.execute(sql).fetchall()


def test_every_table_stands_behind_the_wall(both: tuple[Index, Index], url: str) -> None:
    with connected(url) as connection:
        bare = {name for name, walled in tables(connection) if not walled}

    assert bare <= UNWALLED


def test_every_key_and_index_begins_with_the_tenant(both: tuple[Index, Index], url: str) -> None:
    """So that tables can be cut by it, and the pieces laid on several machines."""
    sql = """SELECT i.indexrelid::regclass::text, a.attname FROM pg_index i
             JOIN pg_class c ON c.oid = i.indrelid AND c.relrowsecurity
             JOIN pg_class x ON x.oid = i.indexrelid
             JOIN pg_am m ON m.oid = x.relam AND m.amname = 'btree'
             LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
             WHERE c.relnamespace = 'madeleine'::regnamespace
             AND c.relname NOT IN ('people', 'tokens', 'shared_spaces', 'members')"""
    with connected(url) as connection:
        first = connection.execute(sql).fetchall()

    assert len(first) > 30
    assert {name for name, column in first if column not in ("tenant", "truth")} == set()


def test_who_says_no_tenant_sees_and_changes_nothing(both: tuple[Index, Index], url: str) -> None:
    with connected(url) as connection:
        for table in (name for name, walled in tables(connection) if walled):
            seen = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
            gone = connection.execute(f"DELETE FROM {table}").rowcount
            assert (seen, gone) == ((0,), 0), table

    assert all(each.count_all() for each in map(_Counting, both))


def test_a_statement_that_forgets_its_tenant_finds_only_its_own(
    both: tuple[Index, Index], url: str, tmp_path: Path
) -> None:
    with connected(url) as connection, connection.transaction():
        own = numbers(connection, tmp_path / "ada")
        other = numbers(connection, tmp_path / "mallory")
        connection.execute(f"SET LOCAL madeleine.tenant = {own}")
        for table in ("nodes", "texts", "postings", "passages", "passages_0", "node_tags"):
            found = connection.execute(f"SELECT DISTINCT tenant FROM {table}").fetchall()
            assert set(found) <= {(own,)}, table

        sql = f"SELECT count(*) FROM nodes WHERE tenant = {other}"
        assert connection.execute(sql).fetchone() == (0,)


def test_nobody_writes_rows_into_another_tenant(
    both: tuple[Index, Index], url: str, tmp_path: Path
) -> None:
    with connected(url) as connection:
        own = numbers(connection, tmp_path / "ada")
        other = numbers(connection, tmp_path / "mallory")
        for statement in (
            f"INSERT INTO node_tags VALUES ({other}, 'stolen', 1)",
            f"UPDATE node_tags SET tenant = {other}",
        ):
            with connection.transaction(force_rollback=True):
                connection.execute(f"SET LOCAL madeleine.tenant = {own}")
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(statement)


def test_the_number_does_not_outlive_its_transaction(
    both: tuple[Index, Index], url: str, tmp_path: Path
) -> None:
    with connected(url) as connection:
        own = numbers(connection, tmp_path / "ada")
        with connection.transaction():
            connection.execute(f"SET LOCAL madeleine.tenant = {own}")
            assert connection.execute("SELECT count(*) FROM nodes").fetchone() == (2,)

        assert connection.execute("SELECT count(*) FROM nodes").fetchone() == (0,)


def test_a_role_that_no_wall_stops_is_told_apart(url: str) -> None:
    walls: Any = pytest.importorskip("madeleine.database.row_security")
    with connected(url) as ordinary, connected(postgres.server().url) as superuser:
        assert walls.find_bypassing_role(ordinary) is None
        assert walls.find_bypassing_role(superuser) == "postgres"


def test_a_rebuild_keeps_what_was_whispered(both: tuple[Index, Index]) -> None:
    mine, theirs = both
    fresh = mine.fresh()

    mine.replace_with(fresh)

    assert [each.id for each in mine.log.whispers(9)] == ["w-kettle"]
    assert [each.id for each in theirs.log.whispers(9)] == ["w-teapot"]
    assert mine.search.extent().memories == 0
    assert theirs.search.extent().memories == 2


class _Counting:
    def __init__(self, index: Index) -> None:
        self._index = index

    def count_all(self) -> bool:
        return self._index.search.extent().memories == 2 and len(self._index.log.whispers(9)) == 1


def numbers(connection: psycopg.Connection[Any], name: Path) -> int:
    row = connection.execute("SELECT tenant FROM tenants WHERE name = %s", (str(name),)).fetchone()
    assert row is not None
    return int(row[0])
