"""Reading files in a process of its own: `python -m madeleine.write.reading_process VAULT`.

`file_readers` starts it, hands in lists of paths on its standard input, and gets back what stands
in those files, as far as they can be read, with what is worked out of it for the index. What it
cannot read it leaves to whoever asked: it keeps no note of what it reads, and changes nothing.
Should a file end it, nothing is lost but the time.

It ends when nobody asks any more, however that came about.
"""

from __future__ import annotations

import gc
import os
import pickle
import queue
import struct
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from madeleine.errors import FileUnreadable, NoFile
from madeleine.index.common.analysis import analyse_memory, make_stemmer
from madeleine.index.common.stems import Stemmer
from madeleine.index.port import MemoryPut
from madeleine.language.word_stems import ANALYSER
from madeleine.vault.vault import FolderVault
from madeleine.version import __version__

FRAME_HEADER = struct.Struct("<Q")
MAX_FRAME_BYTES = 1 << 30  # a batch of the longest files has a fifth of it
GARBAGE_THRESHOLD = 100_000  # values that are still there: what it reads goes by itself
READER_RELEASE = f"{__version__} {ANALYSER}"
"""What a reader says first: one of another release might read otherwise."""


def write_frame(pipe: IO[bytes], value: object) -> None:
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    pipe.write(FRAME_HEADER.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def read_frame(pipe: IO[bytes]) -> bytes | None:
    """Return one value as it was sent; nothing at the end."""
    header = pipe.read(FRAME_HEADER.size)
    if len(header) < FRAME_HEADER.size:
        return None
    (size,) = FRAME_HEADER.unpack(header)
    if size > MAX_FRAME_BYTES:
        return None
    data = pipe.read(size)
    return data if len(data) == size else None


def read_files(vault: FolderVault, stemmer: Stemmer, paths: Sequence[str]) -> list[MemoryPut]:
    """Read and analyse files; those that cannot be read, or are gone, are left out."""
    found = []
    for path in paths:
        try:
            stored = vault.read(path)
        except (FileUnreadable, NoFile):
            continue
        found.append(MemoryPut(stored, analysis=analyse_memory(stemmer, stored.memory)))
    return found


def _take_requests(pipe: IO[bytes]) -> Iterator[list[str]]:
    """Yield what is asked for. Requests are taken off the pipe at once, so that whoever asks never
    waits for us to write an answer that they are not reading yet."""
    waiting: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    def take() -> None:
        data: bytes | None = b""
        while data is not None:
            data = read_frame(pipe)
            waiting.put(data)

    threading.Thread(target=take, daemon=True).start()
    while (data := waiting.get()) is not None:
        yield pickle.loads(data)


def main() -> None:
    """Answer until nobody asks."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints does not print between the answers
    root = Path(sys.argv[1])
    if not root.is_dir():
        return  # its disk is away: nobody makes it anew here
    gc.set_threshold(GARBAGE_THRESHOLD)
    vault, stemmer = FolderVault(root), make_stemmer()
    write_frame(answers, READER_RELEASE)
    for paths in _take_requests(sys.stdin.buffer):
        write_frame(answers, read_files(vault, stemmer, paths))


if __name__ == "__main__":
    main()
