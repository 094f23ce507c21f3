"""Connections to one database, and PostgreSQL's errors in our words.

A process keeps one pool for a database, whoever asks and for whichever tenant. Whoever takes a
connection gives it back in the state in which it was lent. One that was kept for a while is
asked first whether it still stands, so that a database which was started anew costs nobody an
error. Every wait has an end: for the network, for a statement, for a row that another holds.
"""

from __future__ import annotations

import re
import select
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from time import monotonic
from typing import Any

import psycopg
from psycopg import errors

from madeleine.database.adapters import register_adapters
from madeleine.database.address import public_address
from madeleine.database.schema import SCHEMA, migrate_schema
from madeleine.errors import DatabaseDown, DatabaseUnfit, MadeleineError, Rejected

CONNECT_SECONDS = 5
MAX_CONNECTIONS = 16  # connections of one server: several of them share what a database allows
ACQUIRE_TIMEOUT_SECONDS = 10.0  # how long one waits until another thread gives one back
RECHECK_SECONDS = 5.0  # after so long a kept connection is asked whether it still stands
SEEN_AT_ONCE = 400  # places of a vector graph looked at: above what a question draws
STATEMENT_TIMEOUT_SECONDS = 60  # far above what any of ours takes: a database that hangs is told
LOCK_TIMEOUT_SECONDS = 20  # how long a writer waits for another of the same tenant
GONE_SECONDS = 20  # after which a network that says nothing counts as down

_SESSION_SETTINGS = (
    f"SET search_path = {SCHEMA}, public",
    f"SET statement_timeout = '{STATEMENT_TIMEOUT_SECONDS}s'",
    f"SET lock_timeout = '{LOCK_TIMEOUT_SECONDS}s'",
    f"SET tcp_keepalives_idle = {GONE_SECONDS // 2}",  # a server that lost its power lets go
    f"SET tcp_keepalives_interval = {GONE_SECONDS // 4}",
    "SET tcp_keepalives_count = 2",
    "SET hnsw.iterative_scan = relaxed_order",
    f"SET hnsw.ef_search = {SEEN_AT_ONCE}",
    "SET hnsw.max_scan_tuples = 200000",
    "SET random_page_cost = 1.1",  # what is asked for lies in memory, or on a disk without an arm
    "SET jit = off",  # compiling a statement takes longer than running it
)
CREDENTIALS_HINT = "look at user and password in `store.url`"
MAX_CONNECTIONS_HINT = "raise the database's `max_connections`, or lower `connections` of `[store]`"
_HINT_BY_PATTERN = (  # the server says what is wrong only in words, before there is a connection
    (re.compile(r"authentication failed|role .* does not exist"), CREDENTIALS_HINT),
    (re.compile(r"database .* does not exist"), "make it, or mend its name in `store.url`"),
    (
        re.compile(r"too many (clients|connections)|connection slots are reserved"),
        MAX_CONNECTIONS_HINT,
    ),
    (
        re.compile(r"could not translate host name|failed to resolve host"),
        "look at the host in `store.url`",
    ),
    (
        re.compile(r"does not support SSL"),
        "let the database speak TLS (its `ssl = on`), or mend `sslmode` in `store.url`",
    ),
)
_PASSWORD_PATTERN = re.compile(r"(?<=:)[^:@/]+(?=@)")

DatabaseRow = tuple[Any, ...]


class ConnectionPool:
    """The open connections to one database, up to a maximum. Only a thread that has one and needs
    another gets it beyond the maximum: it could not wait for it without keeping the first."""

    def __init__(self, url: str, at_most: int = MAX_CONNECTIONS) -> None:
        self.place = public_address(url)
        self._url = url
        self._at_most = at_most
        self._places = threading.BoundedSemaphore(at_most)
        self._counted: set[psycopg.Connection] = set()
        self._thread = threading.local()
        self._lock = threading.Lock()
        self._idle: list[tuple[psycopg.Connection, float]] = []
        self._open = True
        with translate_errors(self.place), _connect(url) as connection:
            migrate_schema(connection, self.place)

    @contextmanager
    def borrow(self) -> Iterator[psycopg.Connection]:
        """Lend a connection outside any transaction."""
        with translate_errors(self.place):
            connection = self.take()
            try:
                yield connection
            finally:
                self.release(connection)

    @contextmanager
    def borrow_exclusive(self) -> Iterator[psycopg.Connection]:
        """Lend a connection that is not returned to the pool: for a thread that listens on it."""
        with translate_errors(self.place), _configure_connection(_connect(self._url)) as connection:
            yield connection

    def take(self) -> psycopg.Connection:
        """Take a connection; whoever does gives it back."""
        held: int = getattr(self._thread, "held", 0)
        if not held and not self._places.acquire(timeout=ACQUIRE_TIMEOUT_SECONDS):
            raise DatabaseDown(
                self.place,
                f"is asked too much: all {self._at_most} connections are in use",
                hint="set `[store] connections` higher, if the database allows more",
            )
        with ExitStack() as undone:
            if not held:
                undone.callback(self._places.release)
            connection = self._idle_or_new()
            undone.pop_all()
        with self._lock:
            self._counted |= set() if held else {connection}
        self._thread.held = held + 1
        return connection

    def _idle_or_new(self) -> psycopg.Connection:
        while True:
            with self._lock:
                if not self._open:
                    raise DatabaseDown(self.place, "is closed", hint="open it again")
                connection, since = self._idle.pop() if self._idle else (None, 0.0)
            if connection is None:
                return _configure_connection(_connect(self._url))
            if _is_quiet(connection) and monotonic() - since < RECHECK_SECONDS:
                return connection
            if _is_alive(connection):
                return connection
            connection.close()

    def release(self, connection: psycopg.Connection) -> None:
        self._thread.held = max(getattr(self._thread, "held", 0) - 1, 0)
        with self._lock:
            counted = connection in self._counted
            self._counted.discard(connection)
            kept = self._open and len(self._idle) < self._at_most and _is_clean(connection)
            if kept:
                self._idle.append((connection, monotonic()))
        if counted:
            self._places.release()
        if not kept:
            connection.close()

    def close(self) -> None:
        """Close the connections that nobody holds; others close when they are given back."""
        with self._lock:
            self._open = False
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()


def _connect(url: str) -> psycopg.Connection:
    return psycopg.connect(
        url,
        autocommit=True,
        connect_timeout=CONNECT_SECONDS,
        application_name="madeleine",
        keepalives_idle=GONE_SECONDS // 2,
        keepalives_interval=GONE_SECONDS // 4,
        keepalives_count=2,
        tcp_user_timeout=GONE_SECONDS * 1_000,
    )


def _configure_connection(connection: psycopg.Connection) -> psycopg.Connection:
    try:
        connection.execute("; ".join(_SESSION_SETTINGS).encode())
        register_adapters(connection)
    except psycopg.Error:
        connection.close()
        raise
    return connection


def _is_clean(connection: psycopg.Connection) -> bool:
    """Whether it is as it was when it was lent."""
    return not connection.closed and not connection.info.transaction_status


def _is_quiet(connection: psycopg.Connection) -> bool:
    """Whether nothing was sent since it was given back: a server that ends says so first."""
    looking = select.poll()
    looking.register(connection.fileno(), select.POLLIN)
    return not looking.poll(0)


def _is_alive(connection: psycopg.Connection) -> bool:
    try:
        connection.execute("SELECT 1")
    except psycopg.OperationalError:
        return False
    return True


@contextmanager
def translate_errors(place: str) -> Iterator[None]:
    """Say in our words what PostgreSQL or the network complains about."""
    try:
        yield
    except MadeleineError:
        raise
    except (errors.InvalidPassword, errors.InvalidAuthorizationSpecification) as error:
        raise DatabaseDown(place, _render_error(error), CREDENTIALS_HINT) from error
    except errors.InsufficientPrivilege as error:
        raise DatabaseUnfit(
            place, f"refuses: {_render_error(error)}", "grant it to this user"
        ) from error
    except (errors.UndefinedTable, errors.UndefinedColumn, errors.UndefinedFunction) as error:
        raise DatabaseUnfit(place, f"is not as its schema says: {_render_error(error)}") from error
    except errors.ReadOnlySqlTransaction as error:
        hint = "name the primary in `store.url`"
        raise DatabaseDown(place, "takes no writes: it is a replica", hint) from error
    except psycopg.OperationalError as error:
        raise DatabaseDown(place, _render_error(error), _find_hint(str(error))) from error
    except (psycopg.DataError, UnicodeEncodeError) as error:
        raise Rejected(f"a text cannot be kept: {error}", hint="send it as UTF-8") from error


def _find_hint(said: str) -> str:
    """Return what helps against a complaint, if it is a known one."""
    return next((hint for pattern, hint in _HINT_BY_PATTERN if pattern.search(said)), "")


def _render_error(error: psycopg.Error) -> str:
    """Return the first line of a complaint, without a password that it may quote."""
    lines = str(error).strip().splitlines()
    return _PASSWORD_PATTERN.sub("…", lines[0]) if lines else type(error).__name__
