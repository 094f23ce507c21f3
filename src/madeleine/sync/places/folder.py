"""A folder that some program carries from machine to machine: Syncthing, Dropbox, iCloud, a share.

Files are written under a hidden name, made durable, and renamed; such programs pass hidden names
over or carry them to no harm. A file that came only in part has not the hash in its name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from madeleine.sync.places.port import PlaceDown
from madeleine.sync.segments import MAX_SEGMENT_BYTES, SEGMENT_NAME, Segment
from madeleine.vault.files import flush_to_disk, fsync_folder, open_private, write_all


class FolderPlace:
    """The folder. It has to be there: a disk that is away is not an empty one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def name(self) -> str:
        return str(self._folder)

    def list_segments(self) -> dict[str, int]:
        try:
            return dict(list_folder(self._folder))
        except OSError as error:
            raise self._error(error) from error

    def fetch(self, names: Sequence[str]) -> Iterator[Segment]:
        for name in names:
            try:
                data = read_bounded(self._folder / name)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise self._error(error) from error
            yield Segment(name, data)

    def publish(self, add: Sequence[Segment], remove: Sequence[str]) -> None:
        try:
            write_segments(self._folder, add, remove)
        except OSError as error:
            raise self._error(error) from error

    def _error(self, error: OSError) -> PlaceDown:
        hint = "make the folder, or name another place" if error.errno == 2 else ""
        return PlaceDown(self.name, error.strerror or str(error), hint)


def list_folder(folder: Path) -> Iterator[tuple[str, int]]:
    """Give the names of all segments in a folder, with their lengths."""
    with os.scandir(folder) as devices:
        for device in devices:
            if device.is_dir(follow_symlinks=False):
                with os.scandir(device.path) as files:
                    for file in files:
                        name = f"{device.name}/{file.name}"
                        if SEGMENT_NAME.fullmatch(name) and file.is_file(follow_symlinks=False):
                            yield name, file.stat(follow_symlinks=False).st_size


def read_bounded(path: Path) -> bytes:
    """Return a file's bytes, or the beginning of one that is too long to be ours."""
    with path.open("rb") as file:
        return file.read(MAX_SEGMENT_BYTES)


def write_segments(folder: Path, add: Sequence[Segment], remove: Sequence[str]) -> None:
    """Write files so that each is there whole or not at all, and take others away."""
    if not folder.is_dir():
        raise FileNotFoundError(2, "there is no such folder")
    changed: set[Path] = set()
    for each in add:
        path = folder / each.name
        path.parent.mkdir(mode=0o700, exist_ok=True)
        unfinished = path.with_name(f".{path.name}.part")
        with open_private(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) as fd:
            write_all(fd, each.data)
            flush_to_disk(fd)
        unfinished.replace(path)
        changed.add(path.parent)
    for name in remove:
        (folder / name).unlink(missing_ok=True)
    for parent in changed:
        fsync_folder(parent)
