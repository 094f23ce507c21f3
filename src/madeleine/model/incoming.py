"""A memory that comes from elsewhere: an export, another program's notes, an old vault.

It is a draft with more to it: it may bring its whole state (when it was updated, what replaced it,
how it was used), the very text of its file, and where that file was. What comes through any door
is checked here, once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from madeleine.errors import InvalidValue
from madeleine.model.draft import Draft, MemoryLimits, read_draft
from madeleine.model.memory import Usage, parse_id
from madeleine.model.request_reader import RequestReader

PATH_CHARS = 1_000
MAX_ACCESS_COUNT = 1_000_000_000
INCOMING_FIELDS = ("updated", "superseded_by", "usage", "path", "file", "plain", "whole", "trashed")


@dataclass(frozen=True, slots=True)
class IncomingMemory:
    """What is to be brought in. A draft without an id gets a new one."""

    draft: Draft
    updated: datetime | None = None
    superseded_by: str | None = None
    usage: Usage | None = None
    path: str | None = None
    """Where its file was, relative to the vault."""
    file: str | None = None
    """The whole text of its file, when that says more than the fields do."""
    plain: bool = False
    """It is its text and nothing else: known, when its space has the same text already."""
    whole: bool = False
    """It comes with all its state from a store like ours: the one updated last counts."""
    trashed: bool = False
    """It was forgotten there, and goes to the trash here."""


@dataclass(frozen=True, slots=True)
class ImportBatch:
    """One batch of an import: who brings it, in which run, and whether only to look."""

    by: str
    run: str
    dry_run: bool = False


def read_incoming(
    values: object, limits: MemoryLimits, default_space: str | None
) -> IncomingMemory:
    """Return the incoming memory that `values` describe."""
    reader = RequestReader(values, "the item")
    superseded_by = reader.raw("superseded_by")
    incoming = IncomingMemory(
        draft=_read_incoming_draft(values, limits, default_space),
        updated=reader.time("updated"),
        superseded_by=None if superseded_by is None else parse_id("superseded_by", superseded_by),
        usage=_read_usage(reader.raw("usage")),
        path=_read_path(reader),
        file=reader.text("file"),
        plain=reader.flag("plain"),
        whole=reader.flag("whole"),
        trashed=reader.flag("trashed"),
    )
    for each in incoming.draft.connections:
        parse_id("target", each.target)
    return incoming


def _read_incoming_draft(values: object, limits: MemoryLimits, default_space: str | None) -> Draft:
    given = values if isinstance(values, Mapping) else {}
    rest = {name: value for name, value in given.items() if name not in INCOMING_FIELDS}
    return read_draft(rest, limits, default_space)


def _read_path(reader: RequestReader) -> str | None:
    path = reader.text("path")
    if path is not None and len(path) > PATH_CHARS:
        raise InvalidValue("path", f"is {len(path)} characters long", f"at most {PATH_CHARS}")
    return path


def _read_usage(values: object) -> Usage | None:
    """Return how it was used before; what it does not say is as for a new memory."""
    if values is None:
        return None
    reader = RequestReader(values, "`usage`")
    unused = Usage()
    usage = Usage(
        access_count=reader.whole("access_count", 0, 0, MAX_ACCESS_COUNT),
        last_accessed=reader.time("last_accessed"),
        last_review=reader.time("last_review"),
        stability=_read_positive(reader, "stability", unused.stability),
        importance=reader.unit("importance", unused.importance),
        relevance=None if reader.raw("relevance") is None else reader.unit("relevance", 0.0),
    )
    reader.done()
    return usage


def _read_positive(reader: RequestReader, name: str, default: float) -> float:
    value = reader.raw(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e6:
        raise InvalidValue(name, f"is {value!r}", hint="a number of days above 0")
    return float(value)
