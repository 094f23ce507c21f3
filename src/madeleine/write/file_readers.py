"""Reading many files with two processes.

Reading a file and working out what the index keeps of its texts takes more than half of the time
of a rebuild, and Python does it on one core. So where there are many files and another core, a
process of its own (`reading_process`) reads ahead, while this one writes to the index, and reads a
batch itself whenever no answer is there yet. Who reads a file makes no difference to what is
indexed: its looks are taken before it is read, and compared again under the lock.

Where no process can be started, or one ends, everything is read here.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Collection, Generator, Iterator, Sequence
from typing import NamedTuple

from madeleine.errors import FileUnreadable
from madeleine.index.port import MemoryPut
from madeleine.model.stored_memory import StoredMemory
from madeleine.vault.port import Vault
from madeleine.vault.vault import FolderVault
from madeleine.write.reading_process import (
    READER_RELEASE,
    read_frame,
    write_frame,
)

FEWEST_FILES = 4_096  # a reader needs half a second until it can read
BATCHES_AHEAD = 10  # more than go into one transaction: the reader reads on while it is written
EXIT_SECONDS = 5.0

_NO_ANSWER = (
    *(pickle.UnpicklingError, AttributeError, ImportError, TypeError, ValueError),
    *(EOFError, IndexError, KeyError),
)
"""What comes of an answer that is none of ours, or of another release."""

FileReading = MemoryPut | FileUnreadable


class BatchRead(NamedTuple):
    """Paths, and what stands there; nothing of files that are gone."""

    paths: Sequence[str]
    files: Iterator[FileReading]


class FileReader:
    """A process that reads, as seen by the one that asks it. One thread may use it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._requests, self._pipe = process.stdin, process.stdout
        self._answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._asked: deque[Sequence[str]] = deque()
        """What it owes an answer to, the oldest first."""
        self._ready = False
        self._gone = False
        threading.Thread(target=self._receive, daemon=True).start()

    @classmethod
    def start(cls, vault: FolderVault) -> FileReader | None:
        """Return a reader of a vault, which is not ready yet; none if no process starts."""
        if not sys.executable:
            return None
        command = [sys.executable, "-P", "-m", "madeleine.write.reading_process", str(vault.root)]
        pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
        try:
            return cls(subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere))
        except OSError:
            return None

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def wants_more(self) -> bool:
        """Whether it can be asked for one more batch."""
        if not self._ready and not self._gone and not self._answers.empty():
            self._ready = self._load_answer(self._answers.get()) == READER_RELEASE
            self._gone = not self._ready
        return self._ready and not self._gone and len(self._asked) < BATCHES_AHEAD

    @property
    def is_busy(self) -> bool:
        """Whether it owes an answer."""
        return bool(self._asked)

    def ask(self, paths: Sequence[str], leave: Collection[str]) -> None:
        """Have files read, but for those that are to be left."""
        self._asked.append(paths)
        try:
            write_frame(self._requests, [path for path in paths if path not in leave])
        except OSError:
            self._gone = True

    def take(self, wait: bool) -> tuple[Sequence[str], list[MemoryPut]] | None:
        """Return the oldest answer, with what was asked; nothing if there is none yet, and nobody
        waits. What the answer lacks is for the asker to look at: all of it, if the reader ended."""
        if not self._asked or (not wait and not self._gone and self._answers.empty()):
            return None
        answer = None if self._gone else self._load_answer(self._answers.get())
        self._gone = not isinstance(answer, list)
        return self._asked.popleft(), answer if isinstance(answer, list) else []

    def close(self) -> None:
        """End the process, which has nothing to lose."""
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(EXIT_SECONDS)
        for pipe in (self._requests, self._pipe):
            with contextlib.suppress(OSError):  # what was asked last is lost with it
                pipe.close()

    def _receive(self) -> None:
        """Take answers off the pipe, so that the reader reads on while this process writes."""
        data: bytes | None = b""
        while data is not None:
            try:
                data = read_frame(self._pipe)
            except (OSError, ValueError):
                data = None  # the pipe was closed
            self._answers.put(data)

    def _load_answer(self, data: bytes | None) -> object:
        try:
            return None if data is None else pickle.loads(data)
        except _NO_ANSWER:
            return None


def read_batches(
    vault: Vault, batches: Iterator[Sequence[str]], count: int
) -> Generator[BatchRead]:
    """Yield what stands in files, batch by batch, in no particular order. `count` is how many
    files there are in all. Close it, if it is not read to its end."""
    with contextlib.ExitStack() as stack:
        if isinstance(vault, FolderVault) and count >= FEWEST_FILES and has_other_core():
            reader = FileReader.start(vault)
            if reader is not None:
                stack.callback(reader.close)
                yield from _read_with(reader, vault, batches)
        for paths in batches:
            yield BatchRead(paths, _read_here(vault, paths))


def _read_with(
    reader: FileReader, vault: FolderVault, batches: Iterator[Sequence[str]]
) -> Iterator[BatchRead]:
    suspected = vault.suspected_files()
    paths = next(batches, None)
    while paths is not None or reader.is_busy:
        while paths is not None and reader.wants_more:
            reader.ask(paths, leave=suspected)
            paths = next(batches, None)
        taken = reader.take(wait=paths is None)
        if taken is not None:
            yield BatchRead(taken[0], _complete(vault, *taken))
        elif paths is not None:
            yield BatchRead(paths, _read_here(vault, paths))
            paths = next(batches, None)


def _complete(
    vault: Vault, paths: Sequence[str], found: Sequence[MemoryPut]
) -> Iterator[FileReading]:
    """Yield what was read, and look at all other files that were asked for."""
    yield from found
    read = {each.stored.path for each in found}
    yield from _read_here(vault, [path for path in paths if path not in read])


def _read_here(vault: Vault, paths: Sequence[str]) -> Iterator[FileReading]:
    for each in vault.read_all(paths):
        yield MemoryPut(each) if isinstance(each, StoredMemory) else each


def has_other_core() -> bool:
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0)) > 1
    return (os.cpu_count() or 1) > 1
