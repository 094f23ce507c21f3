"""Writing an export: under another name beside its place, which it gets when it is whole."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TypeAlias

from madeleine.errors import PlaceTaken, StoreUnwritable
from madeleine.model.codec import Json

Items: TypeAlias = Iterable[Json]


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write to. It gets its name at the end; what fails leaves nothing."""
    _refuse_taken(path)
    unfinished = _temporary_path(path)
    try:
        with unfinished.open("xb") as file:
            unfinished.chmod(0o600)
            yield file
        _refuse_taken(path)
        unfinished.rename(path)
    except OSError as error:
        raise StoreUnwritable(path, error.strerror or str(error)) from error
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Give a folder to fill. It gets its name at the end; an empty one may be there already."""
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise PlaceTaken(path)
    unfinished = _temporary_path(path)
    try:
        unfinished.mkdir(mode=0o700, parents=True)
        yield unfinished
        if path.is_dir():
            path.rmdir()
        unfinished.rename(path)
    except OSError as error:
        raise StoreUnwritable(path, error.strerror or str(error)) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _temporary_path(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.parent / f".{path.name}-{secrets.token_hex(4)}.tmp"


def _refuse_taken(path: Path) -> None:
    if path.exists() or path.is_symlink():
        raise PlaceTaken(path)
