"""Our own exports: JSON lines with everything, or a zip (or folder) of markdown files.

JSON lines bring back ids, dates, connections, claims, use, the place of each file and, where a file
says more than we understand, its very text. A zip of files brings back what files say; how they
were used stands in the journal, which `madeleine backup` keeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from madeleine.errors import FileUnreadable, NoFile
from madeleine.ingest.importing.json_files import read_lines
from madeleine.ingest.importing.sources import SourceFile, is_zip, notes_of, source_on_disk
from madeleine.ingest.importing.values import (
    ImportItem,
    ImportProblem,
    ImportTotal,
    Json,
    NotThatFormat,
    ReaderOutput,
    drop_empty,
)
from madeleine.ingest.memory_fields import memory_fields
from madeleine.model.fingerprint import Fingerprint
from madeleine.vault.markdown import read_memory, render_memory

FORM = "madeleine"
EXPORT = "madeleine-export"
VERSION = 1
TRASH = "trash/"


def read(path: Path) -> Iterator[ReaderOutput]:
    """Give every memory of an export."""
    if not path.exists():
        raise NoFile(path)
    if path.is_dir() or is_zip(path):
        with notes_of(path, "memories") as sources:
            yield ImportTotal(len(sources))
            for source in sources:
                yield _read_memory_file(source)
    else:
        yield from _read_json_lines(source_on_disk(path, path.name))


# -- JSON lines ----------------------------------------------------------------------------


def _read_json_lines(source: SourceFile) -> Iterator[ReaderOutput]:
    with source.opened() as stream:
        said = read_lines(stream)
        _, head = next(said, (0, None))
        yield ImportTotal(_check(source, head))
        ended = False
        for number, value in said:
            ended = isinstance(value, Mapping) and value.get("format") == EXPORT
            if not ended:
                yield _parse_line(value, f"{source.name}:{number}")
    if not ended:
        problem = "ends before its last line: it was cut, and holds not all"
        yield ImportProblem(source.name, problem, cut=True)


def _check(source: SourceFile, head: object) -> int:
    """Look at the first line, which says what the file is; return how many memories follow."""
    if not isinstance(head, Mapping) or head.get("format") != EXPORT:
        hint = "the first line of `madeleine export` says so; `remember --jsonl` takes plain drafts"
        raise NotThatFormat(source.name, "is no export of Madeleine", hint)
    version = head.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise NotThatFormat(source.name, f"is of version {version}", "upgrade madeleine")
    total = head.get("memories")
    return total if isinstance(total, int) else 0


def _parse_line(value: object, place: str) -> ReaderOutput:
    if isinstance(value, ValueError):
        return ImportProblem(place, f"not JSON: {value}")
    if not isinstance(value, dict):
        return ImportProblem(place, "not a JSON object")
    return ImportItem({**value, "whole": True}, place)


# -- files ---------------------------------------------------------------------------------


def _read_memory_file(source: SourceFile) -> ReaderOutput:
    name = source.name.removeprefix(TRASH)
    looks = Fingerprint(int(source.modified.timestamp() * 1e9), source.size)
    try:
        text = source.text()
        memory = read_memory(name, text.encode("utf-8"), looks).memory
    except FileUnreadable as error:
        return ImportProblem(f"{source.name}:{error.line}", error.problem)
    except NotThatFormat as error:
        return ImportProblem(source.name, error.message.removeprefix(f"{source.name}: "))
    ours = render_memory(memory).decode("utf-8") == text
    values: Json = drop_empty(
        **memory_fields(memory),
        path=name,
        file=None if ours else text,
        whole=True,
        trashed=source.name.startswith(TRASH),
    )
    return ImportItem(values, source.name)
