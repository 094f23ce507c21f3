"""Files to be read: in a folder, in a zip, or one alone.

Nothing is unpacked to the disk. In a folder no link is followed, so that nothing outside of it is
read. A zip that would unpack to far more than it is, or names places outside of itself, is refused
before anything is read.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, cast

from madeleine.errors import NoFile
from madeleine.ingest.importing.values import NotThatFormat

FILE_BYTES = 16 * 1024 * 1024  # of one note; what is larger is no note
ARCHIVE_BYTES = 16 * 1024**3  # of everything in a zip
RATIO = 200  # text packs ten to one; what packs better than this is there to fill a disk
TEXTS = (".md", ".markdown", ".mdc", ".txt", "")  # how a file ends that is a note
SMALL_BYTES = 64 * 1024 * 1024  # up to which nobody minds the ratio
BROKEN = "is a zip that was cut, or is damaged"
GET_AGAIN = "get it once more"
UNPACK = "unpack it first"
_ZIP = b"PK\x03\x04"  # how a zip begins
_EPOCH = datetime(1980, 1, 1, tzinfo=UTC)  # what a zip says that does not know the time


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file, by its path in the folder or zip, with `/`."""

    name: str
    modified: datetime
    size: int
    _open: Callable[[], IO[bytes]]

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Give the file's bytes as a stream."""
        try:
            with self._open() as stream:
                yield cast("BinaryIO", stream)
        except OSError as error:
            raise NotThatFormat(self.name, f"cannot be read: {error.strerror or error}") from error
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise NotThatFormat(self.name, "is damaged and cannot be unpacked") from error
        except NotImplementedError as error:
            raise NotThatFormat(self.name, "is packed in a way that is not known here") from error

    def text(self) -> str:
        """Return the file's text; one that is too large or no UTF-8 is refused."""
        if self.size > FILE_BYTES:
            raise NotThatFormat(self.name, f"is {self.size:,} bytes; at most {FILE_BYTES:,}")
        with self.opened() as stream:
            data = stream.read(FILE_BYTES + 1)
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise NotThatFormat(self.name, f"is not UTF-8 at byte {error.start}") from error


def is_zip(path: Path) -> bool:
    """Whether a path is a zip; one that was cut, or is none though its name says so, is refused,
    since it is nothing else."""
    if not path.is_file():
        return False
    if zipfile.is_zipfile(path):
        return True
    with path.open("rb") as file:
        begun = file.read(len(_ZIP)) == _ZIP
    if begun or path.suffix.lower() == ".zip":
        raise NotThatFormat(path, BROKEN if begun else "is no zip, whatever its name", GET_AGAIN)
    return False


@contextmanager
def files_of(path: Path, *suffixes: str) -> Iterator[list[SourceFile]]:
    """Give the files at a path whose names end so, in order; hidden ones are passed over."""
    if not path.exists():
        raise NoFile(path)
    if is_zip(path):
        with _open_zip(path) as archive:
            yield _list_zip(path, archive, suffixes)
    elif path.is_dir():
        yield list(_iterate_folder(path, suffixes))
    else:
        yield [source_on_disk(path, path.name)]


def find_one_file(path: Path, what: str, *names: str) -> Path:
    """Return the file that is meant: the one at the path, or in a folder the one of such a name;
    without it the only one that ends as JSON does."""
    if path.is_file():
        return path
    if not path.is_dir():
        raise NoFile(path)
    named = [path / name for name in names if (path / name).is_file()]
    found = named[:1] or sorted(each for each in path.iterdir() if _is_json(each))
    if len(found) == 1:
        return found[0]
    held = f"holds {len(found)} JSON files" if found else "holds no JSON file"
    raise NotThatFormat(path, f"is a folder that {held}; {what} is wanted", "name the file itself")


def _is_json(path: Path) -> bool:
    return path.suffix in (".json", ".jsonl") and path.is_file() and path.name[0] != "."


@contextmanager
def notes_of(path: Path, what: str = "notes") -> Iterator[list[SourceFile]]:
    """Give the markdown files at a path; refuse one that has none, or a file that is no text."""
    with files_of(path, ".md") as sources:
        if not sources:
            raise NotThatFormat(path, f"holds no {what}: there is no .md file in it")
        if path.is_file() and not is_zip(path):
            refuse_other(path)
        yield sources


def refuse_other(path: Path) -> None:
    """Refuse a file that is neither markdown nor plain text, by its name."""
    if path.suffix.lower() not in TEXTS:
        raise NotThatFormat(path, f"is no markdown: its name ends in {path.suffix}")


def source_on_disk(path: Path, name: str) -> SourceFile:
    """Return a file of the disk."""
    found = path.stat()
    modified = datetime.fromtimestamp(found.st_mtime, UTC)
    return SourceFile(name, modified, found.st_size, lambda: path.open("rb"))


def _iterate_folder(top: Path, suffixes: tuple[str, ...]) -> Iterator[SourceFile]:
    for folder, below, names in os.walk(top):
        below[:] = sorted(each for each in below if not each.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            wanted = name.endswith(suffixes) and not name.startswith(".")
            if wanted and path.is_file() and not path.is_symlink():
                yield source_on_disk(path, path.relative_to(top).as_posix())


@contextmanager
def _open_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except zipfile.BadZipFile as error:
        raise NotThatFormat(path, BROKEN, GET_AGAIN) from error


def _list_zip(path: Path, archive: zipfile.ZipFile, suffixes: tuple[str, ...]) -> list[SourceFile]:
    entries = [each for each in archive.infolist() if not each.is_dir()]
    _check(path, entries)
    wanted = [
        each
        for each in entries
        if each.filename.endswith(suffixes) and not _is_hidden(each.filename)
    ]
    return [
        _source_in_zip(archive, each) for each in sorted(wanted, key=lambda each: each.filename)
    ]


def _source_in_zip(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> SourceFile:
    return SourceFile(
        entry.filename, _entry_time(entry), entry.file_size, lambda: archive.open(entry)
    )


def _check(path: Path, entries: list[zipfile.ZipInfo]) -> None:
    """Refuse a zip that is out to do harm."""
    total = sum(each.file_size for each in entries)
    packed = sum(each.compress_size for each in entries)
    if total > ARCHIVE_BYTES or (total > SMALL_BYTES and total > RATIO * max(packed, 1)):
        raise NotThatFormat(path, f"would unpack to {total:,} bytes", "unpack it and look inside")
    for each in entries:
        parts = PurePosixPath(each.filename.replace("\\", "/")).parts
        if ".." in parts or each.filename.startswith(("/", "\\")) or ":" in parts[0]:
            raise NotThatFormat(path, f"names a place outside of itself: {each.filename!r}")
        if each.flag_bits & 1:
            raise NotThatFormat(path, f"{each.filename} is encrypted", UNPACK)


def _is_hidden(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return any(part.startswith(".") for part in parts) or parts[0] == "__MACOSX"


def _entry_time(entry: zipfile.ZipInfo) -> datetime:
    try:
        return datetime(*entry.date_time, tzinfo=UTC)
    except ValueError:
        return _EPOCH
