"""Our own exports: JSON lines with everything, or a zip (or folder) of markdown files.

JSON lines bring back ids, dates, connections, claims, use, the place of each file and, where a file
says more than we understand, its very text. A zip of files brings back what files say; how they
were used stands in the journal, which `madeleine backup` keeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from madeleine.errors import FileUnreadable, NoFile
from madeleine.ingest.importing.json_files import lines
from madeleine.ingest.importing.sources import Source, is_zip, notes_of, on_disk
from madeleine.ingest.importing.values import (
    Broken,
    Found,
    Item,
    Json,
    NotThatFormat,
    Total,
    filled,
)
from madeleine.ingest.whole import fields_of
from madeleine.model.fingerprint import Fingerprint
from madeleine.vault.markdown import read_memory, render_memory

FORM = "madeleine"
EXPORT = "madeleine-export"
VERSION = 1
TRASH = "trash/"


def read(path: Path) -> Iterator[Found]:
    """Give every memory of an export."""
    if not path.exists():
        raise NoFile(path)
    if path.is_dir() or is_zip(path):
        with notes_of(path, "memories") as sources:
            yield Total(len(sources))
            for source in sources:
                yield _of_file(source)
    else:
        yield from _of_lines(on_disk(path, path.name))


# -- JSON lines ----------------------------------------------------------------------------


def _of_lines(source: Source) -> Iterator[Found]:
    with source.opened() as stream:
        said = lines(stream)
        _, head = next(said, (0, None))
        yield Total(_check(source, head))
        ended = False
        for number, value in said:
            ended = isinstance(value, Mapping) and value.get("format") == EXPORT
            if not ended:
                yield _line(value, f"{source.name}:{number}")
    if not ended:
        problem = "ends before its last line: it was cut, and holds not all"
        yield Broken(source.name, problem, cut=True)


def _check(source: Source, head: object) -> int:
    """Look at the first line, which says what the file is; return how many memories follow."""
    if not isinstance(head, Mapping) or head.get("format") != EXPORT:
        hint = "the first line of `madeleine export` says so; `remember --jsonl` takes plain drafts"
        raise NotThatFormat(source.name, "is no export of Madeleine", hint)
    version = head.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise NotThatFormat(source.name, f"is of version {version}", "upgrade madeleine")
    total = head.get("memories")
    return total if isinstance(total, int) else 0


def _line(value: object, place: str) -> Found:
    if isinstance(value, ValueError):
        return Broken(place, f"not JSON: {value}")
    if not isinstance(value, dict):
        return Broken(place, "not a JSON object")
    return Item({**value, "whole": True}, place)


# -- files ---------------------------------------------------------------------------------


def _of_file(source: Source) -> Found:
    name = source.name.removeprefix(TRASH)
    looks = Fingerprint(int(source.modified.timestamp() * 1e9), source.size)
    try:
        text = source.text()
        memory = read_memory(name, text.encode("utf-8"), looks).memory
    except FileUnreadable as error:
        return Broken(f"{source.name}:{error.line}", error.problem)
    except NotThatFormat as error:
        return Broken(source.name, error.message.removeprefix(f"{source.name}: "))
    ours = render_memory(memory).decode("utf-8") == text
    values: Json = filled(
        **fields_of(memory),
        path=name,
        file=None if ours else text,
        whole=True,
        trashed=source.name.startswith(TRASH),
    )
    return Item(values, source.name)
