"""Noticing that somebody changed the vault by hand.

The system tells us (inotify, FSEvents); where it cannot, on network shares for one, `poll`
looks again and again instead, and tells times apart by whole seconds, so that a second edit
within one second waits for the next reconcile. Our own writes are noticed like anybody's:
whoever is told compares what the file looks like with what is known of it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import watchfiles

from madeleine.vault.vault import FOREIGN_TRASH, TRASH, is_memory_path

# An editor's save is several events in a few milliseconds; they are told as one.
_DEBOUNCE_MS = 150
_STEP_MS = 50
_STOP_MS = 200  # how long `stop` may go unnoticed
_POLL_MS = 300


def watch(
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
    batches = watchfiles.watch(
        top,
        watch_filter=None,
        debounce=_DEBOUNCE_MS,
        step=_STEP_MS,
        stop_event=stop,
        rust_timeout=_STOP_MS,
        raise_interrupt=False,
        force_polling=poll,
        poll_delay_ms=_POLL_MS,
        ignore_permission_denied=True,
    )
    for batch in batches:
        paths = {told for change, path in batch if (told := _told(top, change, path))}
        if paths:
            on_change(paths)


def _told(top: Path, change: watchfiles.Change, place: str) -> str | None:
    """Return what to tell about one event, or None if no memory can be concerned."""
    path = os.path.relpath(place, top).replace(os.sep, "/")
    if is_memory_path(path):
        return path
    if change is watchfiles.Change.modified or not _may_hold_memories(path):
        return None
    # Of something that is gone nobody can say whether it was a folder.
    is_folder = change is watchfiles.Change.deleted or Path(place).is_dir()
    return f"{path}/" if is_folder else None


def _may_hold_memories(path: str) -> bool:
    parts = path.split("/")
    aside = parts[0] in (TRASH, FOREIGN_TRASH)
    return not aside and not any(part.startswith(".") for part in parts)
