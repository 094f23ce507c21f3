"""A memory as a markdown file: reading one.

Reading forgives what is missing, since people write such files by hand: a file without an id
has one that follows from its path, a file without front matter is all content. It does not
forgive what is wrong: a type nobody knows or a date that is none is reported with its line.
docs/file-format.md is the normative description. `rendering` writes a new file, `revision`
changes one that is there.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath
from typing import Any

from madeleine.errors import FileUnreadable, Rejected
from madeleine.model.fingerprint import Fingerprint
from madeleine.model.memory import Memory, Usage
from madeleine.model.stored_memory import StoredMemory
from madeleine.vault.front_matter import FrontMatterBlock, MarkdownDocument, parse_document
from madeleine.vault.front_matter_values import READER_BY_KEY, InvalidBlock, read_counter
from madeleine.vault.rendering import render_memory
from madeleine.vault.revision import FILE_SOURCE, revise_file

__all__ = ["PATH_ID_NAMESPACE", "id_of_path", "read_memory", "render_memory", "revise_file"]

PATH_ID_NAMESPACE = uuid.UUID(
    "5d3c9ab4-6a3f-5f0e-9b0e-3c1f0b8d7a21"
)  # where ids made from paths live
_NO_USAGE = Usage()  # a file says nothing about use
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_TIME_NS = 253_402_300_799 * 10**9  # the end of the year 9999, where `datetime` ends too


def read_memory(path: str, data: bytes, fingerprint: Fingerprint) -> StoredMemory:
    """Return the memory that a file says; `FileUnreadable` names the line that is wrong."""
    document = parse_document(data, path)
    values, counters = _read_values(document, path)
    content = document.content
    _check_content(document, content, path)
    return StoredMemory(
        _build_memory(values, content, path, fingerprint), path, fingerprint, counters
    )


def id_of_path(path: str) -> str:
    """Return the id of a memory whose file does not name one: the same on every device."""
    return str(uuid.uuid5(PATH_ID_NAMESPACE, path))


def _build_memory(values: dict[str, Any], content: str, path: str, found: Fingerprint) -> Memory:
    said = {key: value for key, value in values.items() if value is not None}
    if "id" not in said:
        said["id"] = id_of_path(path)
        said.setdefault("title", PurePosixPath(path).stem)
    if "created" not in said or "updated" not in said:
        changed_at = _modified_time(found)
        said.setdefault("created", changed_at)
        said.setdefault("updated", changed_at)
    said.setdefault("source", FILE_SOURCE)
    if connections := said.get("connections"):
        said["connections"] = tuple([each for each in connections if each.target != said["id"]])
    return Memory(content=content, usage=_NO_USAGE, **said)


def _read_values(document: MarkdownDocument, path: str) -> tuple[dict[str, Any], dict[str, object]]:
    values: dict[str, Any] = {}
    counters: dict[str, object] = {}
    for index, block in enumerate(document.blocks):
        reader = READER_BY_KEY.get(block.key)
        if reader is None:
            _read_other_block(document, index, path, counters)
            continue
        if block.key in values:
            raise FileUnreadable(path, document.line_of(index), f"`{block.key}` stands twice")
        try:
            values[str(block.key)] = reader(block)
        except Rejected as error:
            raise FileUnreadable(path, document.line_of(index), error.message) from error
        except InvalidBlock as error:
            line = document.line_of(index) + error.line
            raise FileUnreadable(path, line, error.problem) from error
    return values, counters


def _read_other_block(
    document: MarkdownDocument, index: int, path: str, counters: dict[str, object]
) -> None:
    """Take a counter from a block that is not ours; complain about one that is not YAML."""
    block = document.blocks[index]
    if block.key is None:
        if not block.is_gap:
            _refuse_line(block, document.line_of(index), path)
        return
    value = read_counter(block)
    if value is not None:
        counters[block.key] = value


def _refuse_line(block: FrontMatterBlock, line: int, path: str) -> None:
    shown = block.text.strip()[:40]
    raise FileUnreadable(path, line, f"{shown!r} is not a `key: value` line")


def _check_content(document: MarkdownDocument, content: str, path: str) -> None:
    if document.looks_unclosed():
        raise FileUnreadable(path, 1, "the front matter has no closing `---`")
    if not content.strip("\ufeff\x00").strip():
        raise FileUnreadable(path, document.body_line, "the memory has no text")


def _modified_time(found: Fingerprint) -> datetime:
    nanoseconds = min(max(found.mtime_ns, 0), _MAX_TIME_NS)
    return _EPOCH + timedelta(microseconds=nanoseconds // 1000)
