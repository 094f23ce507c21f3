"""One writer, many readers, and SQLite's errors in our words.

SQLite in WAL mode lets any number of readers look at the last committed state while one
writer works, so readers take a connection from a pool and never wait for the writer. The
one thing they wait for is `exchange`, which puts another file in the place of this one and
takes milliseconds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType

import apsw

from madeleine.errors import IndexCorrupt, MadeleineError, Rejected, StoreUnwritable, Unavailable
from madeleine.index.sqlite.files import make_private
from madeleine.index.sqlite.schema import migrate_schema, set_indexes_aside

# SQLite allows one writer. Taking the lock at BEGIN, not at the first change, means that we
# wait here, where waiting is cheap, instead of failing halfway through.
BEGIN_WRITE = "BEGIN IMMEDIATE"
BUSY_TIMEOUT_MS = 5_000  # another process that looks into the file is done long before
WRITER_CACHE_KIB = 32_768  # the indexes of 100,000 memories, which a rebuild fills at random
REBUILD_CACHE_KIB = (
    131_072  # for as long as a rebuild takes: a page is then written once, not often
)
READER_CACHE_KIB = 4_096
CHECKPOINT_PAGES = 4_000  # 16 MB: a checkpoint waits for the disk, so not after every batch
MANY_FREE_PAGES = 1_000
MAX_LOG_BYTES = 67_108_864
MAX_IDLE_READERS = 8  # connections kept open; more are made when more threads read at once

_UNWRITABLE_ERRORS = (
    apsw.FullError,
    apsw.IOError,
    apsw.ReadOnlyError,
    apsw.CantOpenError,
    apsw.PermissionsError,
    apsw.AuthError,
)
_CORRUPT_ERRORS = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)


class SqliteConnections:
    """The open connections to one index file.

    A thread that holds a reading connection must not ask for a second one: `exchange` waits
    for the first and lets nobody new in.
    """

    def __init__(self, path: Path, in_the_making: bool = False) -> None:
        """`in_the_making`: nobody needs the file before it is whole, so it need not survive a
        kill; it is filled with neither log nor waiting for the disk."""
        self.path = path
        self.write_lock = threading.RLock()
        self._gate = threading.Condition()
        self._idle: list[apsw.Connection] = []
        self._held = threading.local()
        self._reading = 0
        self._exchanging = False
        self._open = True
        self._in_the_making = in_the_making
        self._writer = open_writer(path, in_the_making)
        self._late_indexes = set_indexes_aside(self._writer) if in_the_making else []

    def make_late_indexes(self) -> None:
        """Make the indexes that a file in the making is filled without."""
        with self.writing() as connection:
            while self._late_indexes:
                connection.execute(self._late_indexes.pop())

    def return_free_space(self) -> None:
        """Give the disk back what a file that was emptied does not use, if that is much."""
        with self.write_lock, translate_errors(self.path):
            if self._writer.pragma("freelist_count") >= MANY_FREE_PAGES:
                self._writer.execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")

    def reading(self) -> AbstractContextManager[apsw.Connection]:
        """Lend a connection that sees one consistent state until it is given back; inside
        `steady`, the one that this thread has already."""
        held: apsw.Connection | None = getattr(self._held, "connection", None)
        return self._read_anew() if held is None else _HeldConnection(held, self.path)

    @contextmanager
    def _read_anew(self) -> Iterator[apsw.Connection]:
        connection = self._acquire_reader()
        try:
            with translate_errors(self.path), connection:
                yield connection
        finally:
            self._release_reader(connection)

    @contextmanager
    def steady(self) -> Iterator[None]:
        """Let this thread read one consistent state, with one connection, until the end."""
        with self.reading() as connection:
            before = getattr(self._held, "connection", None)
            self._held.connection = connection
            try:
                yield
            finally:
                self._held.connection = before

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """Run one transaction on the writer: all of it, or nothing if anything is raised."""
        with self.write_lock, translate_errors(self.path):
            if not self._open:
                raise _closed_error(self.path)
            with transaction(self._writer):
                yield self._writer

    def exchange(self, act: Callable[[], None]) -> None:
        """Close every connection, call `act`, and open the file anew. Readers wait for it."""
        with self.write_lock:
            with self._gate:
                self._exchanging = True
            try:
                self._close_all()
                act()
            finally:
                try:
                    self._writer = open_writer(self.path)
                except MadeleineError:
                    self._open = False  # readers must be told so, not wait for ever
                    raise
                finally:
                    with self._gate:
                        self._exchanging = False
                        self._gate.notify_all()

    def close(self) -> None:
        """Close every connection; the last one leaves no log behind. Twice is fine."""
        with self.write_lock:
            if self._open:
                self._open = False
                self._close_all()

    def _acquire_reader(self) -> apsw.Connection:
        with self._gate:
            self._gate.wait_for(lambda: not self._exchanging)
            if not self._open:
                raise _closed_error(self.path)
            self._reading += 1
            if self._idle:
                return self._idle.pop()
        try:
            return open_reader(self.path, self._in_the_making)
        except MadeleineError:
            self._count_down()
            raise

    def _release_reader(self, connection: apsw.Connection) -> None:
        with self._gate:
            if len(self._idle) < MAX_IDLE_READERS:
                self._idle.append(connection)
            else:
                connection.close()
        self._count_down()

    def _count_down(self) -> None:
        with self._gate:
            self._reading -= 1
            self._gate.notify_all()

    def _close_all(self) -> None:
        with self._gate:
            self._gate.wait_for(lambda: self._reading == 0)
            while self._idle:
                self._idle.pop().close()
        self._writer.close()


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """Begin, and commit or roll back."""
    connection.execute(BEGIN_WRITE)
    try:
        yield
        connection.execute("COMMIT")
    finally:
        # A full disk may have rolled back by itself; then there is nothing left to take back.
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def open_writer(path: Path, in_the_making: bool = False) -> apsw.Connection:
    """Open, or make, the index file for writing, with this release's schema."""
    with translate_errors(path):
        connection = _connect(path, WRITER_CACHE_KIB, log=not in_the_making)
        try:
            if in_the_making:
                connection.pragma("journal_mode", "off")
                connection.pragma("synchronous", "off")
                connection.pragma("cache_size", -REBUILD_CACHE_KIB)
            with transaction(connection):
                migrate_schema(connection, path)
        except (MadeleineError, apsw.Error):
            connection.close()
            raise
        return connection


def open_reader(path: Path, in_the_making: bool = False) -> apsw.Connection:
    """Open the index file for reading only."""
    with translate_errors(path):
        connection = _connect(path, READER_CACHE_KIB, log=not in_the_making)
        connection.pragma("query_only", True)
        return connection


def _connect(path: Path, cache_kib: int, log: bool = True) -> apsw.Connection:
    make_private(path)
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOMUTEX
    connection = apsw.Connection(str(path), flags=flags)
    try:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        if log:
            connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "normal")
        connection.pragma("temp_store", "memory")
        connection.pragma("cache_size", -cache_kib)
        connection.pragma("wal_autocheckpoint", CHECKPOINT_PAGES)
        connection.pragma("journal_size_limit", MAX_LOG_BYTES)
    except apsw.Error:
        connection.close()
        raise
    return connection


class _HeldConnection:
    """Lends a connection that a thread holds already. An answer asks for it some thirty times: it
    is no generator, which would take several times as long."""

    __slots__ = ("_connection", "_path")

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def __enter__(self) -> apsw.Connection:
        return self._connection

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None and (told := _translate_error(self._path, error)) is not None:
            raise told from error


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Say in our words what SQLite or the disk complains about."""
    try:
        yield
    except (apsw.Error, UnicodeEncodeError, OSError) as error:
        told = _translate_error(path, error)
        if told is None:
            raise
        raise told from error


def _translate_error(path: Path, error: BaseException) -> MadeleineError | None:
    """Return the error as we word it; None for one that is neither SQLite's nor the disk's."""
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return Unavailable(
            f"{path} is locked by another process", hint="wait for it, then try again"
        )
    if isinstance(error, UnicodeEncodeError):
        start = error.start
        return Rejected(
            f"a text is not valid Unicode at character {start}", hint="send it as UTF-8"
        )
    if isinstance(error, _CORRUPT_ERRORS):
        return IndexCorrupt(path, str(error))
    if isinstance(error, _UNWRITABLE_ERRORS):
        return StoreUnwritable(path, str(error))
    if isinstance(error, OSError):
        return StoreUnwritable(path, error.strerror or str(error))
    return None


def _closed_error(path: Path) -> Unavailable:
    return Unavailable(f"{path} is closed", hint="open it again")
