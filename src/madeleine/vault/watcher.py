"""Noticing that somebody changed the vault by hand.

The system tells us (inotify, FSEvents); where it cannot, on network shares for one, `poll`
looks again and again instead. Our own writes are noticed like anybody's: whoever is told
compares what the file looks like with what is known of it.

Of something that is gone nobody can say whether it was a folder, and a folder means a look at
the whole vault, which the backup file of an editor (`note.md~`) is not worth. So the folders
are known beforehand.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from madeleine.vault.file_naming import is_unread_text
from madeleine.vault.folder_watch import PathChange, watch_folders
from madeleine.vault.vault import FOREIGN_TRASH, TRASH, is_memory_path

QUIET_SECONDS = 0.05
MOST_SECONDS = 0.2


def watch_vault(
    root: Path,
    on_change: Callable[[set[str]], None],
    stop: threading.Event,
    poll: bool = False,
) -> None:
    """Call `on_change` with the paths that changed, until `stop` is set. Blocks.

    A path is that of a memory's file that appeared, changed or vanished, or that of a folder
    that did so, with a `/` behind it: then anything under it may have changed. A text with
    another suffix that appeared or vanished is told too: somebody may take it for a memory.
    """
    top = root.resolve()
    folders = _WatchedFolders(top)
    for batch in watch_folders([top], stop, QUIET_SECONDS, MOST_SECONDS, poll):
        paths = {path for change in batch if (path := folders.find_changed_path(change))}
        if paths:
            on_change(paths)


class _WatchedFolders:
    """The folders that may hold memories: those there were at first and those told of since."""

    def __init__(self, top: Path) -> None:
        self._top = top
        self._known: set[str] = set()
        self._learn(top)

    def find_changed_path(self, change: PathChange) -> str | None:
        """Return what to tell about one change, or None if no memory can be concerned."""
        path = self._relative_path(change.path)
        if is_memory_path(path):
            self._known.update(each.as_posix() for each in PurePosixPath(path).parents)
            return path
        if change.is_edit or not _may_hold_memories(path):
            return None
        if is_unread_text(path.rpartition("/")[2]):
            return path
        was_folder = path in self._known
        self._known.discard(path)
        is_folder = Path(change.path).is_dir()
        if is_folder:
            self._learn(Path(change.path))
        return f"{path}/" if is_folder or was_folder else None

    def _learn(self, folder: Path) -> None:
        for place, names, _ in os.walk(folder):
            self._known.add(self._relative_path(place))
            inside = {each: self._relative_path(f"{place}/{each}") for each in names}
            names[:] = [each for each in names if _may_hold_memories(inside[each])]

    def _relative_path(self, place: str) -> str:
        return os.path.relpath(place, self._top).replace(os.sep, "/")


def _may_hold_memories(path: str) -> bool:
    parts = path.split("/")
    aside = parts[0] in (TRASH, FOREIGN_TRASH)
    return not aside and not any(part.startswith(".") for part in parts)
