"""A revision: which fields of a memory are to say something else.

A field that is not named stays; a field named with null is cleared. What cannot be cleared
(content, type, tier, confidence) refuses null.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from madeleine.errors import Rejected
from madeleine.model.draft import (
    Limits,
    check_content,
    one_line,
    read_claim,
    read_connection,
    read_origin,
    read_space,
    read_tags,
    with_about_self,
)
from madeleine.model.memory import Connection, Memory
from madeleine.model.reading import Reader, unit_number
from madeleine.model.words import ABOUT_SELF, MemoryType, Tier, word


@dataclass(frozen=True, slots=True)
class Revision:
    """New values by field name, connections to add, and the state it was made for."""

    values: Mapping[str, object] = field(default_factory=dict)
    add_connections: tuple[Connection, ...] = ()
    about_self: bool | None = None
    if_updated: datetime | None = None
    if_version: str | None = None

    def applied_to(self, memory: Memory) -> Memory:
        """Return the memory as the revision wants it; connections are added by the verb."""
        revised = replace(memory, **self.values)  # type: ignore[arg-type]  # read_revision typed them
        if self.about_self is None:
            return revised
        others = tuple(tag for tag in revised.tags if tag != ABOUT_SELF)
        return replace(revised, tags=with_about_self(others) if self.about_self else others)


def read_revision(values: Mapping[str, object], limits: Limits) -> Revision:
    """Return the revision that a request describes."""
    reader = Reader(values, "the revision")
    readers = _readers(reader, limits)
    given = {name: read() for name, read in readers.items() if reader.has(name)}
    revision = Revision(
        values=given,
        add_connections=reader.items("add_connections", read_connection) or (),
        about_self=reader.flag("about_self") if reader.raw("about_self") is not None else None,
        if_updated=reader.time("if_updated"),
        if_version=reader.text("if_version"),
    )
    reader.done()
    if not given and not revision.add_connections and revision.about_self is None:
        raise Rejected("the revision changes nothing", hint=f"name one of: {', '.join(readers)}")
    return revision


def _readers(reader: Reader, limits: Limits) -> dict[str, Callable[[], object]]:
    return {
        "content": lambda: check_content(reader.text("content"), limits),
        "type": lambda: word(MemoryType, "type", reader.raw("type")),
        "tier": lambda: word(Tier, "tier", reader.raw("tier")),
        "space": lambda: read_space(reader.text("space")),
        "title": lambda: one_line("title", reader.text("title"), limits.title_chars),
        "tags": lambda: read_tags(reader.texts("tags") or (), limits),
        "source": lambda: one_line("source", reader.text("source"), 200) or "agent:unknown",
        "confidence": lambda: unit_number("confidence", reader.raw("confidence")),
        "valid_until": lambda: reader.time("valid_until"),
        "superseded_by": lambda: reader.text("superseded_by"),
        "origin": lambda: read_origin(reader.raw("origin")),
        "claim": lambda: read_claim(reader.raw("claim")),
    }
