"""Connections to one database, and PostgreSQL's errors in our words.

A thread that reads takes a connection from a pool and sees one consistent state until it gives
it back. A write is one transaction that begins by counting up the tenant's version: whoever
else writes for the same tenant, in this process or another, waits there, and nowhere else.
Nothing is known for longer than a moment about what other processes do: which number the rows
of a tenant bear is looked up with each transaction.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg import errors, sql

from madeleine.errors import DatabaseDown, DatabaseUnfit, MadeleineError, Rejected
from madeleine.index.postgres.adapting import register
from madeleine.index.postgres.schema import SCHEMA, migrate

BEGIN_READ = """
    BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
    SELECT tenant, version FROM tenants WHERE name = {}
"""
BEGIN_NOTE = "BEGIN; SELECT tenant, version FROM tenants WHERE name = {}"
BEGIN_WRITE = """
    BEGIN; UPDATE tenants SET version = version + 1 WHERE name = {} RETURNING tenant, version
"""
CONNECT_SECONDS = 5
IDLE_AT_MOST = 8  # connections kept open; more are made when more threads read at once
TRUSTED_SECONDS = 5.0  # after so long a kept connection is asked whether it still stands
SEEN_AT_ONCE = 400  # places of a vector graph looked at: above what a question draws

_SETTINGS = (
    f"SET search_path = {SCHEMA}, public",
    "SET hnsw.iterative_scan = relaxed_order",
    f"SET hnsw.ef_search = {SEEN_AT_ONCE}",
    "SET hnsw.max_scan_tuples = 200000",
    "SET random_page_cost = 1.1",  # what is asked for lies in memory, or on a disk without an arm
    "SET jit = off",  # compiling a statement takes longer than running it
)
_PASSWORD = re.compile(r"(?<=:)[^:@/]+(?=@)")

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Access:
    """A connection inside a transaction, on the rows of one tenant. `:tenant` in a statement
    stands for its number, so that the planner knows it and leaves other tenants' pieces out."""

    connection: psycopg.Connection
    tenant: int
    version: int
    """The tenant's, counted up if this transaction writes."""

    def rows(self, statement: str, *bindings: object) -> list[Row]:
        with self.connection.cursor(binary=True) as cursor:
            return cursor.execute(self._own(statement), bindings or None).fetchall()

    def row(self, statement: str, *bindings: object) -> Row | None:
        return next(iter(self.rows(statement, *bindings)), None)

    def column(self, statement: str, *bindings: object) -> list[Any]:
        return [row[0] for row in self.rows(statement, *bindings)]

    def value(self, statement: str, *bindings: object) -> Any:
        """Return the first value of the first row; there must be one."""
        return self.rows(statement, *bindings)[0][0]

    def run(self, statement: str, *bindings: object) -> None:
        self.connection.execute(self._own(statement), bindings or None)

    def run_many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Run a statement for each of the rows, waiting for an answer once."""
        listed = list(rows)
        if len(listed) == 1:
            self.connection.execute(self._own(statement), listed[0])
        elif listed:
            with self.connection.cursor() as cursor:
                cursor.executemany(self._own(statement), listed)

    def copy(self, statement: str, lines: str) -> None:
        """Send rows as the lines of PostgreSQL's own text format."""
        with self.connection.cursor() as cursor, cursor.copy(self._own(statement)) as copying:
            copying.write(lines.encode())

    def _own(self, statement: str) -> bytes:
        return statement.replace(":tenant", str(self.tenant)).encode()


class Connections:
    """The open connections of one index."""

    def __init__(self, url: str, name: str) -> None:
        self.place = place_of(url)
        self.name = name
        self._url = url
        self._lock = threading.Lock()
        self._idle: list[tuple[psycopg.Connection, float]] = []
        self._held = threading.local()
        self._open = True
        self._read, self._write, self._note = (
            sql.SQL(each).format(sql.Literal(name))
            for each in (BEGIN_READ, BEGIN_WRITE, BEGIN_NOTE)
        )
        with translated(self.place), _connect(url) as connection:
            migrate(connection, self.place)

    @property
    def is_steady(self) -> bool:
        """Whether this thread reads one state for longer than one call."""
        return getattr(self._held, "access", None) is not None

    @contextmanager
    def reading(self) -> Iterator[Access]:
        """Lend a connection that sees one consistent state; inside `steady`, the thread's own."""
        held: Access | None = getattr(self._held, "access", None)
        if held is not None:
            with translated(self.place):
                yield held
            return
        with self._lent() as connection, _transaction(connection, self._read) as row:
            yield self._access(connection, row)

    @contextmanager
    def steady(self) -> Iterator[None]:
        """Let this thread read one consistent state, with one connection, until the end."""
        with self.reading() as access:
            before = getattr(self._held, "access", None)
            self._held.access = access
            try:
                yield
            finally:
                self._held.access = before

    @contextmanager
    def writing(self) -> Iterator[Access]:
        """Run one transaction: all of it, or nothing if anything is raised."""
        with self._lent() as connection, _transaction(connection, self._write) as row:
            yield self._access(connection, row)

    @contextmanager
    def noting(self) -> Iterator[Access]:
        """Run one transaction that waits for no other: for what no index depends on."""
        with self._lent() as connection, _transaction(connection, self._note) as row:
            yield self._access(connection, row)

    @contextmanager
    def bare(self) -> Iterator[psycopg.Connection]:
        """Lend a connection outside any transaction."""
        with self._lent() as connection:
            yield connection

    def close(self) -> None:
        """Close the connections that nobody holds; others close when they are given back."""
        with self._lock:
            self._open = False
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()

    def _access(self, connection: psycopg.Connection, row: Row | None) -> Access:
        if row is None:
            raise DatabaseUnfit(self.place, f"knows no tenant `{self.name}` any more")
        return Access(connection, *row)

    @contextmanager
    def _lent(self) -> Iterator[psycopg.Connection]:
        with translated(self.place):
            connection = self._take()
            try:
                yield connection
            finally:
                self._give_back(connection)

    def _take(self) -> psycopg.Connection:
        while True:
            with self._lock:
                if not self._open:
                    raise DatabaseDown(self.place, "is closed", hint="open it again")
                connection, since = self._idle.pop() if self._idle else (None, 0.0)
            if connection is None:
                return _settled(_connect(self._url))
            if monotonic() - since < TRUSTED_SECONDS or _stands(connection):
                return connection
            connection.close()

    def _give_back(self, connection: psycopg.Connection) -> None:
        with self._lock:
            room = self._open and len(self._idle) < IDLE_AT_MOST
            if room and not connection.closed:
                self._idle.append((connection, monotonic()))
                return
        connection.close()


@contextmanager
def _transaction(connection: psycopg.Connection, begin: sql.Composed) -> Iterator[Row | None]:
    """Begin, and commit or roll back. Yields what the last statement of `begin` returned: sent
    together, they cost one way there and back."""
    try:
        cursor = connection.execute(begin)
        while cursor.nextset():
            pass
        yield cursor.fetchone()
        connection.execute("COMMIT")
    finally:
        # Nothing can be taken back on a connection that is gone; the server has done it.
        if not connection.closed and connection.info.transaction_status:
            connection.execute("ROLLBACK")


def _connect(url: str) -> psycopg.Connection:
    return psycopg.connect(
        url, autocommit=True, connect_timeout=CONNECT_SECONDS, application_name="madeleine"
    )


def _settled(connection: psycopg.Connection) -> psycopg.Connection:
    try:
        connection.execute("; ".join(_SETTINGS).encode())
        register(connection)
    except psycopg.Error:
        connection.close()
        raise
    return connection


def _stands(connection: psycopg.Connection) -> bool:
    try:
        connection.execute("SELECT 1")
    except psycopg.OperationalError:
        return False
    return True


def place_of(url: str) -> str:
    """Return where a database is, without what lets one in."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"postgresql://{host}{parts.path}"


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Say in our words what PostgreSQL or the network complains about."""
    try:
        yield
    except MadeleineError:
        raise
    except (errors.InvalidPassword, errors.InvalidAuthorizationSpecification) as error:
        hint = "look at user and password in `[store] url`"
        raise DatabaseDown(place, _said(error), hint) from error
    except errors.InsufficientPrivilege as error:
        raise DatabaseUnfit(place, f"refuses: {_said(error)}", "grant it to this user") from error
    except (errors.UndefinedTable, errors.UndefinedColumn, errors.UndefinedFunction) as error:
        raise DatabaseUnfit(place, f"is not as its schema says: {_said(error)}") from error
    except psycopg.OperationalError as error:
        raise DatabaseDown(place, _said(error)) from error
    except (psycopg.DataError, UnicodeEncodeError) as error:
        raise Rejected(f"a text cannot be kept: {error}", hint="send it as UTF-8") from error


def _said(error: psycopg.Error) -> str:
    """Return the first line of a complaint, without a password that it may quote."""
    lines = str(error).strip().splitlines()
    return _PASSWORD.sub("…", lines[0]) if lines else type(error).__name__
