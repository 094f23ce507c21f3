"""Noticing that somebody changed the vault by hand.

The system tells us (inotify, FSEvents); where it cannot, on network shares for one, `poll`
looks again and again instead, and tells times apart by whole seconds, so that a second edit
within one second waits for the next reconcile. Our own writes are noticed like anybody's:
whoever is told compares what the file looks like with what is known of it.

Of something that is gone nobody can say whether it was a folder, and a folder means a look at
the whole vault, which the backup file of an editor (`note.md~`) is not worth. So the folders
are known beforehand.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import watchfiles

from madeleine.vault.vault import FOREIGN_TRASH, TRASH, is_memory_path

# An editor's save is several events in a few milliseconds; they are told as one.
_DEBOUNCE_MS = 150
_STEP_MS = 50
_STOP_CHECK_MS = 200  # how long `stop` may go unnoticed
_POLL_MS = 300


def watch_vault(
    root: Path,
    on_change: Callable[[set[str]], None],
    stop: threading.Event,
    poll: bool = False,
) -> None:
    """Call `on_change` with the paths that changed, until `stop` is set. Blocks.

    A path is that of a memory's file that appeared, changed or vanished, or that of a folder
    that did so, with a `/` behind it: then anything under it may have changed.
    """
    top = root.resolve()
    folders = _WatchedFolders(top)
    batches = watchfiles.watch(
        top,
        watch_filter=None,
        debounce=_DEBOUNCE_MS,
        step=_STEP_MS,
        stop_event=stop,
        rust_timeout=_STOP_CHECK_MS,
        raise_interrupt=False,
        force_polling=poll,
        poll_delay_ms=_POLL_MS,
        ignore_permission_denied=True,
    )
    for batch in batches:
        paths = {told for change, place in batch if (told := folders.told(change, place))}
        if paths:
            on_change(paths)


class _WatchedFolders:
    """The folders that may hold memories: those there were at first and those told of since."""

    def __init__(self, top: Path) -> None:
        self._top = top
        self._known: set[str] = set()
        self._learn(top)

    def told(self, change: watchfiles.Change, place: str) -> str | None:
        """Return what to tell about one event, or None if no memory can be concerned."""
        path = self._relative_path(place)
        if is_memory_path(path):
            self._known.update(each.as_posix() for each in PurePosixPath(path).parents)
            return path
        if change is watchfiles.Change.modified or not _may_hold_memories(path):
            return None
        was_folder = path in self._known
        self._known.discard(path)
        is_folder = Path(place).is_dir()
        if is_folder:
            self._learn(Path(place))
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
