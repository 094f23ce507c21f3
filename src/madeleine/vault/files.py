"""Bytes onto the disk, so that a kill or a power cut never leaves half a file (I4).

A file is written under a name of its own beside its place, fsync'd, and then given its name
in one step; the folder is fsync'd too, because the name lives there. Whoever opens the file
sees the old bytes or the new ones. Everything we create is for its owner only: 0600, 0700.

A refusal by the disk (full, read-only, no permission) is `StoreUnwritable`. If it comes
before the file got its name, nothing has changed and the unfinished file is removed; a kill
may leave one behind, which nobody reads and `is_leftover` recognises.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from madeleine.errors import StoreUnwritable
from madeleine.model.stored import Fingerprint

_PREFIX = ".madeleine-"  # hidden, so that no scan and no other program takes it for a memory
_SUFFIX = ".tmp"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_WRITERS = 8  # threads that wait for the disk at once; it finishes their files together
# What file systems without hard links (FAT, some network shares) answer to link().
_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK})


def write_file(path: Path, data: bytes) -> Fingerprint:
    """Put `data` at `path`, replacing what is there. Returns how the new file looks."""
    return _publish(path, data, _replace)


def create_file(path: Path, data: bytes) -> Fingerprint:
    """Put `data` at `path`; `FileExistsError` if something is there, which stays as it is."""
    return _publish(path, data, _name_new)


def create_files(files: Sequence[tuple[Path, bytes]]) -> list[Fingerprint | OSError]:
    """Put many new files in their places; for each, how it looks or what kept it from there.

    Each is as safe as by `create_file`. The disk is waited for by several threads at once and
    once for each folder, which is most of what many small files cost.
    """
    with ThreadPoolExecutor(_WRITERS, thread_name_prefix="write-files") as pool:
        unfinished = list(pool.map(lambda file: _unfinished(file[0], file[1]), files))
    results = [_named(found, path) for (path, _), found in zip(files, unfinished, strict=True)]
    folders = {path.parent for (path, _), found in zip(files, results, strict=True)}
    for folder in folders:
        _sync_folder(folder)
    return results


def move_file(source: Path, target: Path) -> None:
    """Rename a file, over folders too; `FileExistsError` if something is at the target.

    Looking first is enough here: one process writes the vault, and the target's name is one
    that was free when it was chosen.
    """
    with _writing(target):
        make_folder(target.parent)
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
        source.rename(target)
        _sync_folder(target.parent)
        if source.parent != target.parent:
            _sync_folder(source.parent)


def remove_file(path: Path) -> None:
    """Remove a file for good; one that is gone already is fine."""
    with _writing(path):
        path.unlink(missing_ok=True)
        if path.parent.is_dir():
            _sync_folder(path.parent)


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it, so that only its owner can look inside."""
    if folder.is_dir():
        return
    with _writing(folder):
        make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        _sync_folder(folder.parent)


def is_leftover(name: str) -> bool:
    """Whether a file of this name is one that a kill kept from getting its own."""
    return name.startswith(_PREFIX) and name.endswith(_SUFFIX)


def _publish(path: Path, data: bytes, give_name: Callable[[Path, Path], None]) -> Fingerprint:
    with _writing(path):
        make_folder(path.parent)
        unfinished = path.parent / f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}"
        try:
            found = _write_new(unfinished, data)
            give_name(unfinished, path)
        finally:
            unfinished.unlink(missing_ok=True)
        _sync_folder(path.parent)
    return found


def _unfinished(path: Path, data: bytes) -> tuple[Path, Fingerprint] | OSError:
    """Write a file under a name of its own beside its place."""
    place = path.parent / f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}"
    try:
        return place, _write_new(place, data)
    except OSError as error:
        place.unlink(missing_ok=True)
        return error


def _named(found: tuple[Path, Fingerprint] | OSError, path: Path) -> Fingerprint | OSError:
    if isinstance(found, OSError):
        return found
    unfinished, looks = found
    try:
        _name_new(unfinished, path)
    except OSError as error:
        return error
    finally:
        unfinished.unlink(missing_ok=True)
    return looks


def _replace(unfinished: Path, path: Path) -> None:
    unfinished.replace(path)


def _name_new(unfinished: Path, path: Path) -> None:
    """Give a file a name that nothing has. A link fails where a rename would overwrite."""
    try:
        path.hardlink_to(unfinished)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from error
        unfinished.replace(path)


def _write_new(path: Path, data: bytes) -> Fingerprint:
    descriptor = os.open(path, _NEW, 0o600)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
        found = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    return Fingerprint(found.st_mtime_ns, found.st_size)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        raise StoreUnwritable(path, error.strerror or str(error)) from error
