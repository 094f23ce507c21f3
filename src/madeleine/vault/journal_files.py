"""Journal files on disk: private, written whole, and waited for when it matters."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from madeleine.vault.files import fsync_folder

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
OTHERS_ACCESS = stat.S_IRWXG | stat.S_IRWXO


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
