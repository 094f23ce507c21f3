"""Row-level security: the second wall between tenants.

The first wall is that every statement of ours names its tenant. Should one not, or should it be
made to say something else, the database itself shows no row but the tenant's own, whose number
each transaction says at its beginning. Whoever forgot to say it sees nothing at all. A superuser
and a role with BYPASSRLS go through this wall, so the server's own role must be neither.
"""

from __future__ import annotations

import psycopg

PEOPLE = """
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

EVERYBODYS = ("people", "tokens", "shared_spaces", "members")
"""Their tables, which belong to no tenant."""

WHISPERS = """
-- What was whispered follows from nothing, so it stays where a rebuild fills other rows.
ALTER TABLE whisper_log RENAME COLUMN tenant TO truth;
UPDATE whisper_log w SET truth = t.truth FROM tenants t WHERE t.tenant = w.truth;
"""

_OWN = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON {table} USING ({condition});
"""
_NUMBER = "{0} = (SELECT nullif(current_setting('madeleine.{0}', true), '')::integer)"
_DOOR = "(SELECT current_setting('madeleine.door', true)) = 'people'"
_NUMBERED = """
    SELECT c.relname, c.relrowsecurity FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = %s AND NOT a.attisdropped
    WHERE c.relnamespace = %s::regnamespace AND c.relkind IN ('r', 'p')
    AND c.relname <> ALL(%s) ORDER BY 1
"""
_PEOPLES = """
    SELECT relname FROM pg_class
    WHERE relnamespace = %s::regnamespace AND relname = ANY(%s) AND NOT relrowsecurity
"""
NUMBERS = ("tenant", "truth")
"""The columns that say whose a row is: `tenant` where it can be made anew, else `truth`."""
DIRECTORY = ("tenants", "discarded")
"""The tables that say which numbers there are. They hold nothing of a memory, and are read
before it is known whose turn it is."""


def tables_with(connection: psycopg.Connection, number: str, schema: str) -> list[str]:
    """Return the tables whose rows bear a number of a tenant's in this column."""
    return [table for table, _ in _numbered(connection, number, schema)]


def raise_walls(connection: psycopg.Connection, schema: str) -> None:
    """Put every table behind the wall that is not behind it yet."""
    walls = [
        (table, _NUMBER.format(number))
        for number in NUMBERS
        for table, has_wall in _numbered(connection, number, schema)
        if not has_wall
    ]
    peoples = connection.execute(_PEOPLES, (schema, list(EVERYBODYS))).fetchall()
    walls += [(table, _DOOR) for (table,) in peoples]
    for table, condition in walls:
        connection.execute(_OWN.format(table=table, condition=condition).encode())


def _numbered(connection: psycopg.Connection, number: str, schema: str) -> list[tuple[str, bool]]:
    return connection.execute(_NUMBERED, (number, schema, list(DIRECTORY))).fetchall()


def goes_through(connection: psycopg.Connection) -> str | None:
    """Return the name of our own role, if it is one that no wall stops."""
    sql = "SELECT rolname FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls)"
    row = connection.execute(sql).fetchone()
    return None if row is None else row[0]
