"""Taking a backup while others read and write.

First everything is copied without holding anybody up. Then, with the writers' lock, only what
changed meanwhile is copied again: so the backup is of one moment, a change is in it whole or not at
all, and nobody waits longer than it takes to look at each file's looks. The copies lie one behind
the other in a temporary file; the zip is made of them afterwards, read back and compared, and only
then gets its name. A kill leaves temporary files, which the next backup removes.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from madeleine.errors import Rejected, StoreUnwritable, UnderWay
from madeleine.ingest.backups.archive import (
    BLOCK_BYTES,
    CONFIG,
    JOURNAL,
    MANIFEST,
    VAULT,
    ArchiveEntry,
    BackupManifest,
    Progress,
    verify_backup,
)
from madeleine.ingest.backups.rotation import list_unfinished, new_backup_path, rotate
from madeleine.ingest.backups.secrecy import remove_secrets
from madeleine.model.times import format_time
from madeleine.vault.files import flush_to_disk, fsync_folder, make_folder
from madeleine.write.stores import Stores

NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW


@dataclass(frozen=True, slots=True)
class BackupResult:
    """A backup that was made and found whole."""

    path: Path
    manifest: BackupManifest
    size: int
    removed: tuple[Path, ...] = ()
    """Older ones that made room for it."""
    left_out: tuple[str, ...] = ()
    """Files that could not be read."""


class InOwnData(Rejected):
    """A backup that would lie among what it is a backup of."""

    kind = "in_own_data"

    def __init__(self, place: Path, folder: Path) -> None:
        super().__init__(
            f"{place} lies in {folder}, which is what a backup is made of",
            hint="name a place outside of the home, or none",
            place=place,
            folder=folder,
        )


class FileSignature(NamedTuple):
    """By what a file that changed is told from one that did not."""

    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


class _Copy(NamedTuple):
    """Where in the temporary file a copy lies, and how its original looked."""

    offset: int
    entry: ArchiveEntry
    looks: FileSignature


@dataclass(frozen=True, slots=True)
class BackupRequest:
    """What is to be backed up, and where to."""

    stores: Stores
    home: Path
    folder: Path
    release: str
    keep: int = 0
    """How many there are to be at most; 0 for any number."""
    to: Path | None = None
    """Another place than the folder: nothing is rotated there."""


def back_up(wanted: BackupRequest, progress: Progress = lambda done, total: None) -> BackupResult:
    """Make a backup, see that it is whole, and let the oldest go."""
    place = new_backup_path(wanted.folder, wanted.to, wanted.stores.clock.now())
    _refuse_inside(wanted, place)
    with _translate_os_errors(place):
        make_folder(place.parent)
        make_folder(wanted.folder)
    with _hold_backup_lock(wanted.folder), _translate_os_errors(place):
        for left in list_unfinished(place.parent):
            left.unlink(missing_ok=True)
        with _temporary_file(place, "copies") as spool:
            copies = _Copies(spool)
            _copy_all(wanted, copies, progress)
            return _pack(wanted, copies, place, progress)


def _refuse_inside(wanted: BackupRequest, place: Path) -> None:
    """Refuse a place in the vault or the home, other than the folder for backups: the next
    backup would hold this one."""
    real, vault = place.resolve(), wanted.stores.vault
    own = [wanted.home / "journal", *([vault.root] if vault.is_folder else [])]
    for folder in (each.resolve() for each in own):
        if real.is_relative_to(folder) and not _is_hidden(real.relative_to(folder)):
            raise InOwnData(place, folder)
    home, kept = wanted.home.resolve(), wanted.folder.resolve()
    if real.is_relative_to(home) and not real.is_relative_to(kept):
        raise InOwnData(place, home)


def _is_hidden(path: Path) -> bool:
    """Whether it lies in a folder that belongs to no vault, as a home in a folder of notes may."""
    return any(part.startswith(".") for part in path.parent.parts)


@contextmanager
def _hold_backup_lock(folder: Path) -> Iterator[None]:
    """One backup at a time; the lock goes with the process, however it ends."""
    handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _lock_backups(handle)
        yield
    finally:
        os.close(handle)


def _lock_backups(handle: int) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise UnderWay("a backup") from error


@contextmanager
def _translate_os_errors(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreUnwritable(place, error.strerror or str(error)) from error


@contextmanager
def _temporary_file(place: Path, what: str) -> Iterator[BinaryIO]:
    path = unfinished_name(place, what)
    with os.fdopen(os.open(path, NEW, 0o600), "w+b") as file:
        try:
            yield file
        finally:
            path.unlink(missing_ok=True)


def unfinished_name(place: Path, what: str) -> Path:
    return place.parent / f".{place.name}.{os.getpid()}.{what}.tmp"


# -- copying -------------------------------------------------------------------------------


class _Copies:
    """Copies of files, one behind the other. A file copied again replaces its first copy."""

    def __init__(self, spool: BinaryIO) -> None:
        self.made: dict[str, _Copy] = {}
        self.unread: dict[str, None] = {}
        self._spool = spool

    def take(self, name: str, path: Path) -> None:
        """Copy a file; one that is gone is left out, one that cannot be read is noted."""
        try:
            handle = os.open(path, READ)
        except FileNotFoundError:
            self.made.pop(name, None)
            return
        except OSError:
            self.unread[name] = None
            return
        with os.fdopen(handle, "rb") as file:
            looks = _build_signature(os.fstat(handle))
            self._append(name, file, looks)
        self.unread.pop(name, None)

    def put(self, name: str, data: bytes, mtime_ns: int) -> None:
        """Take bytes that stand in no file like this."""
        offset = self._spool.seek(0, os.SEEK_END)
        self._spool.write(data)
        entry = ArchiveEntry(hashlib.sha256(data).hexdigest(), len(data), mtime_ns)
        self.made[name] = _Copy(offset, entry, FileSignature(0, len(data), mtime_ns, 0))

    def _append(self, name: str, file: BinaryIO, looks: FileSignature) -> None:
        """Copy as many bytes as the file had when we looked: a journal only grows."""
        offset, digest, size = self._spool.seek(0, os.SEEK_END), hashlib.sha256(), 0
        while block := file.read(min(BLOCK_BYTES, looks.size - size)):
            digest.update(block)
            size += len(block)
            self._spool.write(block)
        self.made[name] = _Copy(
            offset, ArchiveEntry(digest.hexdigest(), size, looks.mtime_ns), looks
        )

    def blocks(self, name: str) -> Iterator[bytes]:
        """Give the bytes of a copy."""
        copy = self.made[name]
        self._spool.seek(copy.offset)
        rest = copy.entry.size
        while rest:
            block = self._spool.read(min(BLOCK_BYTES, rest))
            rest -= len(block)
            yield block

    def is_fresh(self, name: str, looks: FileSignature) -> bool:
        return name in self.made and self.made[name].looks == looks


def _copy_all(wanted: BackupRequest, copies: _Copies, progress: Progress) -> None:
    if not wanted.stores.vault.is_folder:
        _copy_rows(wanted.stores, copies, progress)
    else:
        _copy_files(wanted, copies, progress)
    _copy_settings(wanted.home / CONFIG, copies)


def _copy_rows(stores: Stores, copies: _Copies, progress: Progress) -> None:
    """Copy vault and journal out of a database, as files, all of one moment."""
    with stores.index.steady():
        paths = [*(each.path for each in stores.vault.scan()), *stores.vault.trashed_paths()]
        for number, path in enumerate(paths, start=1):
            copies.put(f"{VAULT}{path}", stores.vault.read_bytes(path), 0)
            progress(number, 2 * len(paths))
        for name in stores.journal.names():
            copies.put(f"{JOURNAL}{name}", b"".join(stores.journal.lines(name)), 0)


def _copy_files(wanted: BackupRequest, copies: _Copies, progress: Progress) -> None:
    files = _list_files(wanted, copies)
    for number, (name, (path, _)) in enumerate(files.items(), start=1):
        copies.take(name, path)
        progress(number, 2 * len(files))
    with wanted.stores.writing:
        wanted.stores.journal.flush()
        now = _list_files(wanted, copies)
        for name in copies.made.keys() - now.keys():
            del copies.made[name]
        for name, (path, looks) in now.items():
            if not copies.is_fresh(name, looks):
                copies.take(name, path)


def _copy_settings(path: Path, copies: _Copies) -> None:
    if path.is_file():
        text = remove_secrets(path.read_text(encoding="utf-8"))
        copies.put(CONFIG, text.encode("utf-8"), path.stat().st_mtime_ns)


def _list_files(wanted: BackupRequest, copies: _Copies) -> dict[str, tuple[Path, FileSignature]]:
    """Return every file that belongs into the backup, and how it looks."""
    found: dict[str, tuple[Path, FileSignature]] = {}
    folders = [(wanted.stores.vault.root, VAULT), (wanted.home / "journal", JOURNAL)]
    while folders:
        folder, name = folders.pop()
        try:
            for each in _list_visible(folder):
                if each.is_dir(follow_symlinks=False):
                    folders.append((Path(each.path), f"{name}{each.name}/"))
                elif (looks := _file_signature(each)) is not None:
                    found[f"{name}{each.name}"] = (Path(each.path), looks)
        except PermissionError:
            copies.unread[name] = None
        except FileNotFoundError:
            # Gone since it was listed. A vault that is not there is not an empty one.
            if name == VAULT:
                raise
    return found


def _list_visible(folder: Path) -> list[os.DirEntry[str]]:
    """Return what lies in a folder; hidden files and links belong to other programs."""
    with os.scandir(folder) as entries:
        return [each for each in entries if each.name[0] != "." and not each.is_symlink()]


def _file_signature(each: os.DirEntry[str]) -> FileSignature | None:
    """Return how a file looks; nothing if it is none, or gone since it was listed."""
    try:
        return (
            _build_signature(each.stat(follow_symlinks=False))
            if each.is_file(follow_symlinks=False)
            else None
        )
    except FileNotFoundError:
        return None


def _build_signature(found: os.stat_result) -> FileSignature:
    return FileSignature(found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


# -- packing -------------------------------------------------------------------------------


def _pack(wanted: BackupRequest, copies: _Copies, place: Path, progress: Progress) -> BackupResult:
    stores = wanted.stores
    made = format_time(stores.clock.now())
    entries = {name: copies.made[name].entry for name in sorted(copies.made)}
    manifest = BackupManifest(made, wanted.release, stores.journal.device, entries)
    unfinished = unfinished_name(place, "zip")
    try:
        _write(unfinished, manifest, copies, progress)
        verify_backup(unfinished)
        unfinished.rename(place)
    finally:
        unfinished.unlink(missing_ok=True)
    fsync_folder(place.parent)
    removed = rotate(wanted.folder, wanted.keep, place) if wanted.to is None else ()
    return BackupResult(place, manifest, place.stat().st_size, removed, tuple(copies.unread))


def _write(path: Path, manifest: BackupManifest, copies: _Copies, progress: Progress) -> None:
    """Write the zip and wait until it is on disk."""
    total = len(manifest.files)
    with os.fdopen(os.open(path, NEW, 0o600), "w+b") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
            archive.writestr(_zip_info(MANIFEST), manifest.to_json())
            for number, name in enumerate(manifest.files, start=1):
                with archive.open(_zip_info(name), "w", force_zip64=True) as entry:
                    for block in copies.blocks(name):
                        entry.write(block)
                progress(total + number, 2 * total)
        file.flush()
        flush_to_disk(file.fileno())


def _zip_info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o600 << 16
    return info
