"""SQLite files of other programs, read without changing them or anything beside them.

A database with changes that wait beside it, because its program runs or was killed, is copied
first: reading it in place would make SQLite write files into another program's folder.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from madeleine.errors import NoFile
from madeleine.ingest.importing.values import NotThatFormat

SQLITE_HEAD = b"SQLite format 3\x00"  # how such a file begins
WAITING_SUFFIX = "-wal"  # of the file in which changes wait

Row = Mapping[str, object]


def is_sqlite(path: Path) -> bool:
    """Whether a path is a file that begins as SQLite's do."""
    try:
        with path.open("rb") as file:
            return file.read(len(SQLITE_HEAD)) == SQLITE_HEAD
    except OSError:
        return False


@contextmanager
def open_foreign(path: Path) -> Iterator[ForeignTables]:
    """Give the tables of a database."""
    if not path.is_file():
        raise NoFile(path)
    waiting = path.with_name(f"{path.name}{WAITING_SUFFIX}")
    with tempfile.TemporaryDirectory(prefix="madeleine-import-") as folder:
        place = path
        if waiting.is_file() and waiting.stat().st_size:
            place = Path(folder, path.name)
            shutil.copyfile(path, place)
            shutil.copyfile(waiting, place.with_name(waiting.name))
        options = "mode=ro&immutable=1" if place == path else "mode=rw"
        try:
            opened = sqlite3.connect(f"file:{quote(str(place.absolute()))}?{options}", uri=True)
            with closing(opened) as connection:
                connection.row_factory = sqlite3.Row
                yield ForeignTables(path, connection)
        except sqlite3.Error as error:
            hint = "end the program that writes to it, and try again"
            raise NotThatFormat(path, f"cannot be read: {error}", hint) from error


class ForeignTables:
    """The tables of another program's database."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection

    def names(self) -> set[str]:
        """Return the names of all tables."""
        return {str(each["name"]) for each in self.rows("SELECT name FROM sqlite_master")}

    def count(self, table: str) -> int:
        """Return how many rows a table has; 0 if there is no such table."""
        if table not in self.names():
            return 0
        return next(int(str(each["n"])) for each in self.rows(f'SELECT count(*) n FROM "{table}"'))

    def rows(self, sql: str, *values: object) -> Iterator[Row]:
        """Give what a query finds, a row at a time."""
        for each in self._connection.execute(sql, values):
            yield dict(each)
