"""Row-level security: the second wall between tenants.

The first wall is that every statement of ours names its tenant. Should one not, or should it be
made to say something else, the database itself shows no row but the tenant's own, whose number
each transaction says at its beginning. Whoever forgot to say it sees nothing at all. A superuser
and a role with BYPASSRLS go through this wall, so the server's own role must be neither.
"""

from __future__ import annotations

import psycopg

PEOPLE_TABLES = """
CREATE TABLE people (
    name    text COLLATE "C" PRIMARY KEY,
    created timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE tokens (
    hash      bytea PRIMARY KEY,
    id        text COLLATE "C" NOT NULL UNIQUE,
    name      text COLLATE "C" NOT NULL,
    person    text COLLATE "C" NOT NULL,
    role      text COLLATE "C" NOT NULL,
    created   timestamptz NOT NULL DEFAULT now(),
    last_used timestamptz
);
CREATE INDEX tokens_person ON tokens (person);

CREATE TABLE shared_spaces (
    name    text COLLATE "C" PRIMARY KEY,
    created timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE members (
    person text COLLATE "C" NOT NULL,
    space  text COLLATE "C" NOT NULL,
    role   text COLLATE "C" NOT NULL,
    PRIMARY KEY (person, space)
);
CREATE INDEX members_space ON members (space, person);
"""
"""Who there is: the tables of `people`."""

SHARED_TABLES = ("people", "tokens", "shared_spaces", "members")
"""Their tables, which belong to no tenant."""

WHISPER_TABLES = """
-- What was whispered follows from nothing, so it stays where a rebuild fills other rows.
ALTER TABLE whisper_log RENAME COLUMN tenant TO truth;
UPDATE whisper_log w SET truth = t.truth FROM tenants t WHERE t.tenant = w.truth;
"""

_ROW_POLICY = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON {table} USING ({condition});
"""
_NUMBER_CONDITION = "{0} = (SELECT nullif(current_setting('madeleine.{0}', true), '')::integer)"
_PEOPLE_CONDITION = "(SELECT current_setting('madeleine.door', true)) = 'people'"
_SELECT_NUMBERED_TABLES = """
    SELECT c.relname, c.relrowsecurity FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = %s AND NOT a.attisdropped
    WHERE c.relnamespace = %s::regnamespace AND c.relkind IN ('r', 'p')
    AND c.relname <> ALL(%s) ORDER BY 1
"""
_SELECT_PEOPLE_TABLES = """
    SELECT relname FROM pg_class
    WHERE relnamespace = %s::regnamespace AND relname = ANY(%s) AND NOT relrowsecurity
"""
TENANT_COLUMNS = ("tenant", "truth")
"""The columns that say whose a row is: `tenant` where it can be made anew, else `truth`."""
DIRECTORY_TABLES = ("tenants", "discarded")
"""The tables that say which numbers there are. They hold nothing of a memory, and are read
before it is known whose turn it is."""


def find_tables_with(connection: psycopg.Connection, number: str, schema: str) -> list[str]:
    """Return the tables whose rows bear a number of a tenant's in this column."""
    return [table for table, _ in _find_numbered_tables(connection, number, schema)]


def enable_row_security(connection: psycopg.Connection, schema: str) -> None:
    """Put every table behind the wall that is not behind it yet."""
    walls = [
        (table, _NUMBER_CONDITION.format(number))
        for number in TENANT_COLUMNS
        for table, has_wall in _find_numbered_tables(connection, number, schema)
        if not has_wall
    ]
    peoples = connection.execute(_SELECT_PEOPLE_TABLES, (schema, list(SHARED_TABLES))).fetchall()
    walls += [(table, _PEOPLE_CONDITION) for (table,) in peoples]
    for table, condition in walls:
        connection.execute(_ROW_POLICY.format(table=table, condition=condition).encode())


def _find_numbered_tables(
    connection: psycopg.Connection, number: str, schema: str
) -> list[tuple[str, bool]]:
    return connection.execute(
        _SELECT_NUMBERED_TABLES, (number, schema, list(DIRECTORY_TABLES))
    ).fetchall()


def find_bypassing_role(connection: psycopg.Connection) -> str | None:
    """Return the name of our own role, if it is one that no wall stops."""
    sql = "SELECT rolname FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls)"
    row = connection.execute(sql).fetchone()
    return None if row is None else row[0]
