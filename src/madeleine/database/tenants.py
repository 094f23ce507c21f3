"""Whose rows are whose: names that point to numbers."""

from __future__ import annotations

import psycopg

from madeleine.database.connection import DatabaseRow
from madeleine.database.row_security import TENANT_COLUMNS, find_tables_with
from madeleine.database.schema import (
    INDEX_TABLES,
    MAX_INDEXED_DIMENSION,
    MIGRATION_LOCK_KEY,
    SCHEMA,
    vector_index_sql,
)
from madeleine.database.transactions import TenantAccess

NO_TIMEOUTS = "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0"
"""For what may take as long as it takes: it goes through all the rows of a tenant, or of all."""


def register_tenant(connection: psycopg.Connection, name: str) -> None:
    """Give a name a number, unless it has one."""
    known = "SELECT 1 FROM tenants WHERE name = %s"
    if connection.execute(known, (name,)).fetchone() is None:
        sql = "INSERT INTO tenants (name) VALUES (%s) ON CONFLICT DO NOTHING"
        connection.execute(sql, (name,))


def create_vector_index(connection: psycopg.Connection, dimension: int) -> None:
    """Make the graphs for vectors of this width, unless they are there."""
    if 0 < dimension <= MAX_INDEXED_DIMENSION:
        known = "SELECT to_regclass(%s)"
        row = connection.execute(known, (f"passages_near_{dimension}",)).fetchone()
        if row is None or row[0] is None:
            with connection.transaction():
                connection.execute(NO_TIMEOUTS)
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATION_LOCK_KEY,))
                connection.execute(vector_index_sql(dimension).encode())


def claim_model(access: TenantAccess, name: str, model: str | None, wide: tuple[int, int]) -> None:
    """Note whose traces the rows hold, and drop those of any other model. `wide` is how many
    numbers its vectors have, and its tokens."""
    if is_claimed(access, name, model, wide):
        return
    if _read_claimed_model(access, name) != (None, None):
        access.run(
            "UPDATE passages SET wide = 0, vector = NULL, tokens = '', version = %s "
            "WHERE tenant = :tenant",
            access.version,
        )
        access.run("UPDATE nodes SET embedded = FALSE WHERE tenant = :tenant AND embedded")
    claim = (model, f"{wide[0]} {wide[1]}")
    access.run("UPDATE tenants SET model = %s, wide = %s WHERE name = %s", *claim, name)


def is_analysed_by(access: TenantAccess, name: str, analyser: str) -> bool:
    """Whether the words of the rows were made by these rules."""
    return bool(access.value("SELECT analyser FROM tenants WHERE name = %s", name) == analyser)


def claim_analyser(access: TenantAccess, name: str, analyser: str) -> None:
    """Note by which rules words are made of texts, and empty rows that others made: the next start
    fills them."""
    if is_analysed_by(access, name, analyser):
        return
    empty_tables(access)
    access.run("UPDATE tenants SET analyser = %s WHERE name = %s", analyser, name)


def empty_tables(access: TenantAccess) -> None:
    """Remove whatever a rebuild fills."""
    access.run(NO_TIMEOUTS)
    for table in INDEX_TABLES:
        access.run(f"DELETE FROM {table} WHERE tenant = :tenant")


def is_claimed(access: TenantAccess, name: str, model: str | None, wide: tuple[int, int]) -> bool:
    """Whether the rows hold the traces of this model. Without a model now they may be of any: it
    may be back tomorrow."""
    return model is None or _read_claimed_model(access, name) == (model, f"{wide[0]} {wide[1]}")


def _read_claimed_model(access: TenantAccess, name: str) -> DatabaseRow | None:
    return access.row("SELECT model, wide FROM tenants WHERE name = %s", name)


def holds_truth(access: TenantAccess) -> bool:
    """Whether files and journal of the tenant are in the database, and not in some home."""
    each = "EXISTS (SELECT FROM {} WHERE truth = :truth)"
    return bool(access.value(f"SELECT {each.format('files')} OR {each.format('journal')}"))


def has_index_of_files(access: TenantAccess) -> bool:
    """Whether there is an index, and nothing in the database that it could follow."""
    filled = access.value("SELECT EXISTS (SELECT FROM nodes WHERE tenant = :tenant)")
    return bool(filled) and not holds_truth(access)


def discard_tenant(connection: psycopg.Connection, name: str) -> None:
    """Take a name away, and leave its rows to be removed."""
    with connection.transaction():
        sql = """WITH gone AS (DELETE FROM tenants WHERE name = %s RETURNING tenant)
                 INSERT INTO discarded SELECT tenant FROM gone ON CONFLICT DO NOTHING"""
        connection.execute(sql, (name,))


def erase_tenant(access: TenantAccess) -> None:
    """Remove all rows that a tenant ever had, for good. The name stays, as that of nothing, so
    that servers which have it open see just that."""
    access.run(NO_TIMEOUTS)
    for number in TENANT_COLUMNS:
        for table in find_tables_with(access.connection, number, SCHEMA):
            access.run(f"DELETE FROM {table} WHERE {number} = :{number}")


def delete_discarded_rows(connection: psycopg.Connection) -> None:
    """Remove the rows that nobody answers from."""
    for (tenant,) in connection.execute("SELECT tenant FROM discarded").fetchall():
        with connection.transaction():
            connection.execute(NO_TIMEOUTS)
            connection.execute(f"SET LOCAL madeleine.tenant = {tenant}".encode())
            for table in (*INDEX_TABLES, "discarded"):
                connection.execute(f"DELETE FROM {table} WHERE tenant = {tenant}".encode())


def switch_tenant_rows(connection: psycopg.Connection, name: str, made: str) -> None:
    """Let a name answer from the rows that were filled under another, all of them at once."""
    with connection.transaction():
        sql = "SELECT tenant, version FROM tenants WHERE name = %s FOR UPDATE"
        old, new = (connection.execute(sql, (each,)).fetchone() for each in (name, made))
        if old is None or new is None:
            return
        connection.execute("DELETE FROM tenants WHERE name = %s", (made,))
        connection.execute(
            "UPDATE tenants SET tenant = %s, version = %s WHERE name = %s",
            (new[0], max(old[1], new[1]) + 1, name),
        )
        connection.execute("INSERT INTO discarded VALUES (%s)", (old[0],))
