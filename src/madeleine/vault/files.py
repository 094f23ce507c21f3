"""Bytes onto the disk, so that a kill or a power cut never leaves half a file (I4).

A file is written under a name of its own beside its place, fsync'd, and then given its name
in one step; the folder is fsync'd too, because the name lives there. Whoever opens the file
sees the old bytes or the new ones. Everything we create is for its owner only: 0600, 0700.

A refusal by the disk (full, read-only, no permission) is `StoreUnwritable`. If it comes
before the file got its name, nothing has changed and the unfinished file is removed; a kill
may leave one behind, which nobody reads and `is_leftover` recognises.

Waiting for the disk takes long enough for a person to save the same file. So a caller hands
in a `check`, which is called in the last moment and raises if the file must be left alone.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from madeleine.errors import StoreUnwritable
from madeleine.model.fingerprint import Fingerprint

_TEMPORARY_PREFIX = (
    ".madeleine-"  # hidden, so that no scan and no other program takes it for a memory
)
_TEMPORARY_SUFFIX = ".tmp"
FULL_FSYNC: int | None = getattr(fcntl, "F_FULLFSYNC", None)  # only macOS has it
_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
# Threads that wait for the disk at once; it finishes their files together. They are started
# when they are first needed.
_WRITE_POOL = ThreadPoolExecutor(8, thread_name_prefix="write-files")
LastMomentCheck = Callable[[], None]
PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
OTHERS_ACCESS = stat.S_IRWXG | stat.S_IRWXO
# What file systems without hard links (FAT, some network shares) answer to link().
_NO_HARD_LINK_ERRORS = frozenset(
    {errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}
)


def no_check() -> None:
    """Nothing has to be looked at again."""


def write_file(path: Path, data: bytes, check: LastMomentCheck = no_check) -> Fingerprint:
    """Put `data` at `path`, replacing what is there. Returns how the new file looks."""
    return _publish_file(path, data, check, _replace_file)


def create_file(path: Path, data: bytes, check: LastMomentCheck = no_check) -> Fingerprint:
    """Put `data` at `path`; `FileExistsError` if something is there, which stays as it is."""
    return _publish_file(path, data, check, _link_new_name)


def create_files(files: Sequence[tuple[Path, bytes]]) -> list[Fingerprint | OSError]:
    """Put many new files in their places; for each, how it looks or what kept it from there.

    Each is as safe as by `create_file`. The disk is waited for by several threads at once and
    once for each folder, which is most of what many small files cost.
    """
    if len(files) == 1:  # the usual case, and threads would only cost
        unfinished = [_write_unfinished(*files[0])]
    else:
        unfinished = list(_WRITE_POOL.map(lambda file: _write_unfinished(*file), files))
    paths = [path for path, _ in files]
    results = [_name_unfinished(found, path) for path, found in zip(paths, unfinished, strict=True)]
    refused = {folder: _fsync_error(folder) for folder in {path.parent for path in paths}}
    return [
        _keep_or_remove(path, found, refused[path.parent])
        for path, found in zip(paths, results, strict=True)
    ]


def write_files(files: Sequence[tuple[Path, bytes, LastMomentCheck]]) -> list[Fingerprint]:
    """Put bytes at many places as `write_file` does, waiting for the disk together.

    It stops at the first that is refused; those before it have their new bytes then.
    """
    unfinished = list(_WRITE_POOL.map(lambda file: _write_unfinished(*file[:2]), files))
    try:
        found = [_replace_one(*each) for each in zip(files, unfinished, strict=True)]
        _fsync_folders([path for path, _, _ in files])
    finally:
        for each in unfinished:
            if not isinstance(each, OSError):
                each[0].unlink(missing_ok=True)
    return found


def move_file(source: Path, target: Path, check: LastMomentCheck = no_check) -> Fingerprint:
    """Rename a file, over folders too; `FileExistsError` if something is at the target.

    Looking first is enough for the target: one process writes the vault, and the name is one
    that was free when it was chosen. Returns how the file looks under its new name.
    """
    return move_files([(source, target, check)])[0]


def move_files(moves: Sequence[tuple[Path, Path, LastMomentCheck]]) -> list[Fingerprint]:
    """Rename many files as `move_file` does, waiting for the disk once for each folder.

    It stops at the first that is refused; those before it are at their new place then.
    """
    found = [_move_one(*each) for each in moves]
    _fsync_folders([target for _, target, _ in moves])
    left = {target.parent for _, target, _ in moves}
    _fsync_folders([source for source, _, _ in moves if source.parent not in left])
    return found


def remove_file(path: Path) -> None:
    """Remove a file for good; one that is gone already is fine."""
    with _translate_disk_errors(path):
        path.unlink(missing_ok=True)
        if path.parent.is_dir():
            fsync_folder(path.parent)


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it, so that only its owner can look inside."""
    if folder.is_dir():
        return
    with _translate_disk_errors(folder):
        make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        fsync_folder(folder.parent)


def write_all(descriptor: int, data: bytes | bytearray) -> None:
    """Write all of `data`. The disk may take it in parts; what it refuses is an OSError."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def flush_to_disk(descriptor: int) -> None:
    """Wait until what was written is on the disk itself. On macOS fsync leaves it in the memory of
    the drive, which a power cut empties; there the drive is asked, if its file system can."""
    if FULL_FSYNC is not None:
        try:
            fcntl.fcntl(descriptor, FULL_FSYNC)
        except OSError:  # a network share, say
            os.fsync(descriptor)
        return
    os.fsync(descriptor)


def fsync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        flush_to_disk(descriptor)
    finally:
        os.close(descriptor)


def fingerprint_of(found: os.stat_result) -> Fingerprint:
    """Return what is kept of how a file looked."""
    return Fingerprint(found.st_mtime_ns, found.st_size, found.st_ctime_ns)


def is_leftover(name: str) -> bool:
    """Whether a file of this name is one that a kill kept from getting its own."""
    return name.startswith(_TEMPORARY_PREFIX) and name.endswith(_TEMPORARY_SUFFIX)


def _publish_file(
    path: Path, data: bytes, check: LastMomentCheck, give_name: Callable[[Path, Path], None]
) -> Fingerprint:
    with _translate_disk_errors(path):
        make_folder(path.parent)
        unfinished = path.parent / f"{_TEMPORARY_PREFIX}{secrets.token_hex(8)}{_TEMPORARY_SUFFIX}"
        try:
            written = _write_new_file(unfinished, data)
            check()
            give_name(unfinished, path)
        finally:
            unfinished.unlink(missing_ok=True)
        found = _fingerprint_under(path, written)
        fsync_folder(path.parent)
    return found


def _move_one(source: Path, target: Path, check: LastMomentCheck) -> Fingerprint:
    with _translate_disk_errors(target):
        make_folder(target.parent)
        seen = source.lstat()
        check()
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
        source.rename(target)
        return _fingerprint_under(target, seen)


def _replace_one(
    file: tuple[Path, bytes, LastMomentCheck], found: tuple[Path, os.stat_result] | OSError
) -> Fingerprint:
    path, _, check = file
    with _translate_disk_errors(path):
        if isinstance(found, OSError):
            raise found
        unfinished, written = found
        check()
        unfinished.replace(path)
        return _fingerprint_under(path, written)


def _fsync_folders(paths: Sequence[Path]) -> None:
    """Wait until the names of these files are on disk."""
    for folder in {path.parent for path in paths}:
        with _translate_disk_errors(folder):
            fsync_folder(folder)


def _write_unfinished(path: Path, data: bytes) -> tuple[Path, os.stat_result] | OSError:
    """Write a file under a name of its own beside its place."""
    place = path.parent / f"{_TEMPORARY_PREFIX}{secrets.token_hex(8)}{_TEMPORARY_SUFFIX}"
    try:
        return place, _write_new_file(place, data)
    except OSError as error:
        place.unlink(missing_ok=True)
        return error


def _name_unfinished(
    found: tuple[Path, os.stat_result] | OSError, path: Path
) -> Fingerprint | OSError:
    if isinstance(found, OSError):
        return found
    unfinished, written = found
    try:
        _link_new_name(unfinished, path)
    except OSError as error:
        return error
    finally:
        unfinished.unlink(missing_ok=True)
    return _fingerprint_under(path, written)


def _fsync_error(folder: Path) -> OSError | None:
    try:
        fsync_folder(folder)
    except OSError as error:
        return error
    return None


def _keep_or_remove(
    path: Path, found: Fingerprint | OSError, refusal: OSError | None
) -> Fingerprint | OSError:
    """Take a new file away again if its name may not last: a refusal has changed nothing."""
    if refusal is None or isinstance(found, OSError):
        return found
    path.unlink(missing_ok=True)
    return refusal


def _replace_file(unfinished: Path, path: Path) -> None:
    unfinished.replace(path)


def _link_new_name(unfinished: Path, path: Path) -> None:
    """Give a file a name that nothing has. A link fails where a rename would overwrite."""
    try:
        path.hardlink_to(unfinished)
    except OSError as error:
        if error.errno not in _NO_HARD_LINK_ERRORS:
            raise
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from error
        unfinished.replace(path)


def _write_new_file(path: Path, data: bytes) -> os.stat_result:
    descriptor = os.open(path, _CREATE_FLAGS, 0o600)
    try:
        write_all(descriptor, data)
        flush_to_disk(descriptor)
        return os.fstat(descriptor)
    finally:
        os.close(descriptor)


def _fingerprint_under(path: Path, written: os.stat_result) -> Fingerprint:
    """Return how a file looks under its name; getting the name changed its ctime.

    If somebody has changed or replaced it since, return how it looked before: then the next
    scan sees that it is another.
    """
    try:
        now = path.lstat()
    except FileNotFoundError:
        return fingerprint_of(written)
    return fingerprint_of(now if _is_same_file(now, written) else written)


def _is_same_file(one: os.stat_result, other: os.stat_result) -> bool:
    return (one.st_ino, one.st_mtime_ns, one.st_size) == (
        other.st_ino,
        other.st_mtime_ns,
        other.st_size,
    )


@contextmanager
def _translate_disk_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        raise StoreUnwritable(path, error.strerror or str(error)) from error


# -- what only its owner may read -------------------------------------------------------------


@contextmanager
def open_private(path: Path, flags: int) -> Iterator[int]:
    """Give a descriptor of a file that only its owner may read, whoever made it."""
    fd = os.open(path, flags | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        if os.fstat(fd).st_mode & OTHERS_ACCESS:
            os.fchmod(fd, PRIVATE_FILE)
        yield fd
    finally:
        os.close(fd)


def make_private_folder(folder: Path) -> None:
    """Make the folder if need be, and make it its owner's own."""
    if not folder.is_dir():
        folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        fsync_folder(folder.parent)
    if folder.stat().st_mode & OTHERS_ACCESS:
        folder.chmod(PRIVATE_FOLDER)


def is_utf8_name(name: str) -> bool:
    """Whether a name on the disk is text: Python reads other bytes as surrogates."""
    return not any("\ud800" <= char <= "\udfff" for char in name)
