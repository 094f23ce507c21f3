"""Homes that jobs may change: whole copies, the vault too."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from _recall_homes import EMBEDDINGS, FILLER, MARK, Homes

NOT_COPIED = (EMBEDDINGS, f"{EMBEDDINGS}-wal", f"{EMBEDDINGS}-shm", FILLER, "run", "logs", MARK)


@contextmanager
def lent(homes: Homes, home: Path, called: str = "slept") -> Iterator[Path]:
    """Lend a whole copy of a home; it is thrown away afterwards."""
    work = homes.folder / f"{home.name}.{called}"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(home, work, ignore=shutil.ignore_patterns(*NOT_COPIED))
    homes.share_embeddings(work, home)
    try:
        yield work
    finally:
        shutil.rmtree(work)
