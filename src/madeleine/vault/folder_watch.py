"""Changes in folders, as the system tells of them, gathered into batches.

Nothing runs while nothing changes. Where the system cannot tell (network shares, for one), `poll`
looks at all files again and again instead.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NamedTuple, cast

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver
from watchdog.observers.polling import PollingObserver

POLL_SECONDS = 0.4
_EVENTS: list[type[FileSystemEvent]] = [
    FileCreatedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileDeletedEvent,
    DirCreatedEvent,
    DirMovedEvent,
    DirDeletedEvent,
]


class PathChange(NamedTuple):
    """Something happened to a file or folder."""

    path: str
    is_edit: bool
    """Whether it was there and is there: it did not appear or vanish."""


def watch_folders(
    roots: Sequence[Path],
    stop: threading.Event,
    quiet_seconds: float,
    most_seconds: float,
    poll: bool = False,
) -> Iterator[set[PathChange]]:
    """Give what changed under `roots`, until `stop` is set.

    An editor's save is several events in a few milliseconds: a batch ends when nothing was told
    for `quiet_seconds`, or `most_seconds` after its first event.
    """
    changes: SimpleQueue[PathChange | None] = SimpleQueue()
    observer = _make_observer(poll)
    for root in roots:
        observer.schedule(_Listener(changes), str(root), recursive=True, event_filter=_EVENTS)
    observer.start()
    threading.Thread(target=_tell_the_end, args=(stop, changes), daemon=True).start()
    try:
        while (first := changes.get()) is not None:
            yield _gather(first, changes, quiet_seconds, time.monotonic() + most_seconds)
    finally:
        observer.stop()
        observer.join()


def _make_observer(poll: bool) -> BaseObserver:
    if poll:
        return cast(BaseObserver, PollingObserver(timeout=POLL_SECONDS))
    return Observer()


def _tell_the_end(stop: threading.Event, changes: SimpleQueue[PathChange | None]) -> None:
    stop.wait()
    changes.put(None)


def _gather(
    first: PathChange, changes: SimpleQueue[PathChange | None], quiet: float, deadline: float
) -> set[PathChange]:
    """Return the batch that begins with `first`. An end that is told meanwhile is told again."""
    batch = {first}
    while (left := min(quiet, deadline - time.monotonic())) > 0:
        try:
            change = changes.get(timeout=left)
        except Empty:
            break
        if change is None:
            changes.put(None)
            break
        batch.add(change)
    return batch


class _Listener(FileSystemEventHandler):
    """Puts what the system tells into a queue."""

    def __init__(self, changes: SimpleQueue[PathChange | None]) -> None:
        self._changes = changes

    def dispatch(self, event: FileSystemEvent) -> None:
        is_edit = isinstance(event, FileModifiedEvent)
        for path in (event.src_path, event.dest_path):
            if path:
                self._changes.put(PathChange(os.fsdecode(path), is_edit))
