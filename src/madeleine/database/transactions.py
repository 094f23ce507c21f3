"""One tenant's rows: reading, and writing in one transaction.

A thread that reads takes a connection and sees one consistent state until it gives it back. A
write is one transaction that holds the tenant's row from its first statement on: whoever else
writes for the same tenant, in this process or another, waits there, and nowhere else. Nothing is
known for longer than a moment about what other processes do: which numbers the rows of a tenant
bear is looked up with each transaction.

`DatabaseWriteLock` lets several rooms change things in the same transaction. While a thread holds
it, whatever that thread reads or writes of the tenant happens inside; at the end all of it is kept,
or nothing.

A tenant has two numbers. `:tenant` is that of the rows that can be made anew, and changes when
a rebuild has filled others; `:truth` is that of the rows from which they follow, and stays.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any

import psycopg
from psycopg import sql
from psycopg.types.string import TextBinaryLoader

from madeleine.database.connection import ConnectionPool, DatabaseRow, translate_errors
from madeleine.errors import DatabaseDown, DatabaseUnfit, MadeleineError
from madeleine.model.nul_escaping import NUL_ESCAPE, unescape_nul

_SELECT_TENANT = """SELECT tenant, truth, {}, {},
                   set_config('madeleine.tenant', tenant::text, true),
                   set_config('madeleine.truth', truth::text, true)
            FROM tenants WHERE name = {}"""
BEGIN_READ = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {_SELECT_TENANT}"
BEGIN_NOTE = f"BEGIN; {_SELECT_TENANT}"
BEGIN_WRITE = (
    f"BEGIN; SET LOCAL idle_in_transaction_session_timeout = '300s'; {_SELECT_TENANT} FOR UPDATE"
)
_KEEP_VERSION = (sql.SQL("version"), sql.SQL("''"))
_NEXT_VERSION = (sql.SQL("version + 1"), sql.SQL("pg_current_xact_id()::text"))
UPDATE_VERSION = "UPDATE tenants SET version = greatest(version, {}) WHERE name = {};"
NOTIFY = "SELECT pg_notify({}, {});"
STATUS_ATTEMPTS = 20  # looks at what became of a commit whose answer was lost
STATUS_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class TenantAccess:
    """A connection inside a transaction, on the rows of one tenant. `:tenant` and `:truth` in a
    statement stand for its numbers, so that the planner knows them and leaves other tenants'
    pieces out."""

    connection: psycopg.Connection
    tenant: int
    truth: int
    version: int
    """The tenant's, counted up if this transaction writes."""
    transaction: str = ""
    """By which the database knows it, if it writes."""

    def rows(self, statement: str, *bindings: object) -> list[DatabaseRow]:
        with self.connection.cursor(binary=True) as cursor:
            return cursor.execute(self._name_tenant(statement), bindings or None).fetchall()

    def columns(self, statement: str, *bindings: object) -> list[Any]:
        """Return whole columns, each as one array: the only row of a statement that aggregates.
        A hundred thousand texts are too many to look for a NUL in each; those that have one are
        rare, and looked for together."""
        with self.connection.cursor(binary=True) as cursor:
            cursor.adapters.register_loader("text", TextBinaryLoader)
            (row,) = cursor.execute(self._name_tenant(statement), bindings or None).fetchall()
        return [_unescape_texts(each) if isinstance(each, list) else each for each in row]

    def row(self, statement: str, *bindings: object) -> DatabaseRow | None:
        return next(iter(self.rows(statement, *bindings)), None)

    def column(self, statement: str, *bindings: object) -> list[Any]:
        return [row[0] for row in self.rows(statement, *bindings)]

    def value(self, statement: str, *bindings: object) -> Any:
        """Return the first value of the first row; there must be one."""
        return self.rows(statement, *bindings)[0][0]

    def run(self, statement: str, *bindings: object) -> None:
        self.connection.execute(self._name_tenant(statement), bindings or None)

    def run_many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Run a statement for each of the rows, waiting for an answer once."""
        listed = list(rows)
        if len(listed) == 1:
            self.connection.execute(self._name_tenant(statement), listed[0])
        elif listed:
            with self.connection.cursor() as cursor:
                cursor.executemany(self._name_tenant(statement), listed)

    def copy(self, statement: str, lines: str) -> None:
        """Send rows as the lines of PostgreSQL's own text format."""
        with (
            self.connection.cursor() as cursor,
            cursor.copy(self._name_tenant(statement)) as copying,
        ):
            copying.write(lines.encode())

    def _name_tenant(self, statement: str) -> bytes:
        numbered = statement.replace(":tenant", str(self.tenant)).replace(":truth", str(self.truth))
        return numbered.encode()


def _unescape_texts(texts: list[Any]) -> list[Any]:
    hides = any(NUL_ESCAPE in each for each in set(texts) if isinstance(each, str))
    return [each and unescape_nul(each) for each in texts] if hides else texts


WriteFence = Callable[[TenantAccess], None]


@dataclass(slots=True)
class _OpenTransaction:
    """The transaction that a thread is inside of, and what happened in it."""

    access: TenantAccess
    writes: bool
    wrote: bool = False
    told: list[tuple[str, str]] = field(default_factory=list)
    failed: MadeleineError | None = None
    """What the database refused first: whoever swallows that must not believe it is kept."""

    @contextmanager
    def borrow(self, place: str) -> Iterator[TenantAccess]:
        try:
            with translate_errors(place):
                yield self.access
        except MadeleineError as error:
            if isinstance(error.__cause__, psycopg.Error | UnicodeEncodeError):
                self.failed = self.failed or error
            raise


class DatabaseTenant:
    """One tenant's view of a database. Any thread may use it; each has transactions of its own."""

    def __init__(self, connections: ConnectionPool, name: str) -> None:
        self.connections = connections
        self.name = name
        self._thread = threading.local()
        self._read, self._note, self._write, self._numbers = (
            sql.SQL(each).format(*columns, sql.Literal(name))
            for each, columns in (
                (BEGIN_READ, _KEEP_VERSION),
                (BEGIN_NOTE, _KEEP_VERSION),
                (BEGIN_WRITE, _NEXT_VERSION),
                (_SELECT_TENANT, _KEEP_VERSION),
            )
        )

    @property
    def place(self) -> str:
        return self.connections.place

    @property
    def called(self) -> str:
        """Where it is, and whose it is, without credentials."""
        return f"{self.place}, tenant {self.name}"

    @property
    def _open_transaction(self) -> _OpenTransaction | None:
        return getattr(self._thread, "held", None)

    @property
    def is_steady(self) -> bool:
        """Whether this thread reads one state for longer than one call."""
        return self._open_transaction is not None

    @contextmanager
    def reading(self) -> Iterator[TenantAccess]:
        """Lend a connection that sees one consistent state; inside `steady` or a transaction,
        the thread's own."""
        held = self._open_transaction
        if held is not None:
            with held.borrow(self.place) as access:
                yield access
            return
        with (
            self.connections.borrow() as connection,
            self._transaction(connection, self._read) as it,
        ):
            yield it

    @contextmanager
    def steady(self) -> Iterator[None]:
        """Let this thread read one consistent state, with one connection, until the end."""
        with self.reading() as access:
            before = self._open_transaction
            self._thread.held = before or _OpenTransaction(access, writes=False)
            try:
                yield
            finally:
                self._thread.held = before

    @contextmanager
    def writing(self) -> Iterator[TenantAccess]:
        """Write in the thread's transaction, or in one that begins and ends here: all of it is
        kept, or nothing if anything is raised."""
        held = self._open_transaction
        if held is not None and held.writes:
            held.wrote = True
            with held.borrow(self.place) as access:
                yield access
            return
        with self.single_transaction() as begun:
            begun.wrote = True
            yield begun.access

    @contextmanager
    def single_transaction(self) -> Iterator[_OpenTransaction]:
        """Let all that this thread does until the end be one transaction."""
        before = self._open_transaction
        with self.connections.borrow() as connection:
            try:
                held = _OpenTransaction(self._begin(connection, self._write), writes=True)
                for check in self._fences:
                    check(held.access)
                self._thread.held = held
                yield held
                self._commit(held)
            finally:
                self._thread.held = before
                _roll_back(connection)

    @property
    def _fences(self) -> tuple[WriteFence, ...]:
        return getattr(self._thread, "fences", ())

    @contextmanager
    def fenced(self, check: WriteFence) -> Iterator[None]:
        """Let each transaction in which this thread writes begin with a check that may refuse."""
        before = self._fences
        self._thread.fences = (*before, check)
        try:
            yield
        finally:
            self._thread.fences = before

    def refresh(self) -> None:
        """Go on, inside a transaction that writes, with the rows that the name points to now."""
        held = self._open_transaction
        if held is not None and held.writes:
            found = self._find_tenant(held.access.connection.execute(self._numbers))
            held.access = replace(held.access, tenant=found.tenant)

    def tell(self, channel: str, message: str) -> None:
        """Tell everybody who listens at the database, when and if what is written is kept."""
        held = self._open_transaction
        if held is not None and held.writes:
            held.told.append((channel, message))
            return
        with self.raw_connection() as connection:
            connection.execute("SELECT pg_notify(%s, %s)", (channel, message))

    @contextmanager
    def note_transaction(self) -> Iterator[TenantAccess]:
        """Run one transaction that waits for no other: for what no index depends on."""
        with (
            self.connections.borrow() as connection,
            self._transaction(connection, self._note) as it,
        ):
            yield it

    @contextmanager
    def raw_connection(self) -> Iterator[psycopg.Connection]:
        """Lend a connection outside any transaction."""
        with self.connections.borrow() as connection:
            yield connection

    @contextmanager
    def _transaction(
        self, connection: psycopg.Connection, begin: sql.Composed
    ) -> Iterator[TenantAccess]:
        try:
            yield self._begin(connection, begin)
            connection.execute("COMMIT")
        finally:
            _roll_back(connection)

    def _begin(self, connection: psycopg.Connection, begin: sql.Composed) -> TenantAccess:
        """Begin, and return the tenant's numbers. Sent together, the statements cost one way
        there and back."""
        cursor = connection.execute(begin)
        while cursor.nextset():
            pass
        return self._find_tenant(cursor)

    def _find_tenant(self, cursor: psycopg.Cursor) -> TenantAccess:
        row = cursor.fetchone()
        if row is None:
            raise DatabaseUnfit(self.place, f"knows no tenant `{self.name}` any more")
        return TenantAccess(cursor.connection, *row[:4])

    def _commit(self, held: _OpenTransaction) -> None:
        """Keep what was written. A transaction in which the database refused something would
        end without a word, and keep nothing."""
        connection = held.access.connection
        if held.failed is not None:
            raise held.failed
        try:
            connection.execute(self._commit_statements(held))
        except psycopg.OperationalError as error:
            if not connection.closed:
                raise
            self._check_committed(held.access.transaction, error)

    def _commit_statements(self, held: _OpenTransaction) -> sql.Composed:
        said = [sql.SQL(NOTIFY).format(*map(sql.Literal, each)) for each in held.told]
        if held.wrote:
            number = sql.Literal(held.access.version)
            said.append(sql.SQL(UPDATE_VERSION).format(number, sql.Literal(self.name)))
        return sql.Composed([*said, sql.SQL("COMMIT")])

    def _check_committed(self, transaction: str, lost: psycopg.OperationalError) -> None:
        """Find out what became of a commit whose answer was lost; raise if it was not kept, or if
        nobody says. A database that is started anew takes a moment."""
        status = "unknown"
        for _ in range(STATUS_ATTEMPTS):
            status = self._commit_status(transaction)
            if status == "committed":
                return
            if status == "aborted":
                break
            time.sleep(STATUS_SECONDS)
        said = "before" if status == "aborted" else "and does not say whether"
        raise DatabaseDown(self.place, f"was lost {said} it kept what was written") from lost

    def _commit_status(self, transaction: str) -> str:
        try:
            with self.raw_connection() as connection:
                found = connection.execute("SELECT pg_xact_status(%s::xid8)", (transaction,))
                row = found.fetchone()
        except DatabaseDown:
            return "unknown"
        return str(row[0]) if row is not None else "unknown"


class DatabaseWriteLock:
    """What a verb holds while files and index change, with all of it in one transaction.

    As with a lock, a thread may take it again while it has it. Threads of this process wait for
    each other here, without a connection each; other processes wait at the tenant's row.
    """

    def __init__(self, tenant: DatabaseTenant) -> None:
        self._tenant = tenant
        self._lock = threading.RLock()
        self._depth = 0
        self._open = ExitStack()

    def __enter__(self) -> bool:
        self._lock.acquire()
        with ExitStack() as undone:
            undone.callback(self._lock.release)
            if self._depth == 0:
                self._open.enter_context(self._tenant.single_transaction())
            undone.pop_all()
        self._depth += 1
        return True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._depth -= 1
        try:
            if self._depth == 0:
                self._open.__exit__(kind, error, trace)
        finally:
            self._lock.release()

    def acquire(self, blocking: bool = True) -> bool:
        """Keep every other thread of this process from writing, without beginning to."""
        return self._lock.acquire(blocking)

    def release(self) -> None:
        self._lock.release()


def _roll_back(connection: psycopg.Connection) -> None:
    """Take back what was not kept. Nothing can be on a connection that is gone; the server has
    done it then."""
    if not connection.closed and connection.info.transaction_status:
        connection.execute("ROLLBACK")
