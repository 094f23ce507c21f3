"""The index's files on disk: `index.db` and what SQLite keeps beside it.

A write-ahead log belongs to a database by its name alone. A log that met another database
would be played into it, so every function here treats the files as one thing.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path

FILE_SUFFIXES = ("", "-wal", "-shm")
PRIVATE_MODE = 0o600  # the index holds the text of memories


def make_private(path: Path) -> None:
    """Create the file if it is not there; only its owner may read it.

    SQLite gives `-wal` and `-shm` the mode of the database.
    """
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_MODE))
    for side in map(path.with_name, _file_names(path)):
        if side.exists() and side.stat().st_mode & 0o777 != PRIVATE_MODE:
            side.chmod(PRIVATE_MODE)


def set_aside(path: Path) -> Path:
    """Rename a damaged index out of the way and return its new name.

    Nobody may have it open. The database goes last: as long as it is there under its old
    name, a second try finds and moves it.
    """
    for number in itertools.count(1):
        target = path.with_name(f"{path.name}.damaged-{number}")
        if not target.exists():
            break
    for side in reversed(FILE_SUFFIXES):
        source = path.with_name(path.name + side)
        if source.exists():
            source.replace(target.with_name(target.name + side))
    return target


def remove_index(path: Path) -> None:
    """Delete an index that nobody has open, the database last."""
    for side in reversed(FILE_SUFFIXES):
        path.with_name(path.name + side).unlink(missing_ok=True)


def swap_index(new: Path, path: Path) -> None:
    """Put the index `new` in the place of `path`, at one stroke.

    Neither may be open, and both must have been closed properly, so that their logs are
    played in and gone. Killed at any moment, `path` is either the old index or the new one.
    """
    for side in ("-wal", "-shm"):
        for name in (new, path):
            _remove_empty(name.with_name(name.name + side), side)
    _sync_to_disk(new, os.O_RDONLY)  # it may have been filled without waiting for the disk
    new.replace(path)
    _sync_to_disk(path.parent, os.O_RDONLY | os.O_DIRECTORY)


def _remove_empty(side: Path, kind: str) -> None:
    if side.exists():
        if kind == "-wal" and side.stat().st_size:
            raise FileExistsError(f"{side} still holds changes")
        side.unlink()


def _file_names(path: Path) -> list[str]:
    return [path.name + side for side in FILE_SUFFIXES]


def _sync_to_disk(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
