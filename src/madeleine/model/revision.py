"""A revision: which fields of a memory are to say something else.

A field that is not named stays; a field named with null is cleared. What cannot be cleared
(content, type, tier, confidence) refuses null.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime

from madeleine.errors import Rejected
from madeleine.model.draft import MemoryLimits, add_about_self, read_connection, read_field
from madeleine.model.fields import FIELDS, MemoryField
from madeleine.model.memory import Connection, Memory, SharedFields
from madeleine.model.request_reader import RequestReader
from madeleine.model.words import ABOUT_SELF

REVISABLE_FIELDS = tuple(row for row in FIELDS if row.in_revision)
FIELD_DEFAULTS = {each.name: each.default for each in fields(SharedFields)}


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
        return replace(revised, tags=add_about_self(others) if self.about_self else others)


def read_revision(values: Mapping[str, object], limits: MemoryLimits) -> Revision:
    """Return the revision that a request describes."""
    reader = RequestReader(values, "the revision")
    given = {
        row.name: _value_or_default(row, read_field(reader, row, limits))
        for row in REVISABLE_FIELDS
        if reader.has(row.name)
    }
    revision = Revision(
        values=given,
        add_connections=reader.items("add_connections", read_connection) or (),
        about_self=reader.flag("about_self") if reader.raw("about_self") is not None else None,
        if_updated=reader.time("if_updated"),
        if_version=reader.text("if_version"),
    )
    reader.done()
    if not given and not revision.add_connections and revision.about_self is None:
        names = ", ".join(row.name for row in REVISABLE_FIELDS)
        raise Rejected("the revision changes nothing", hint=f"name one of: {names}")
    return revision


def _value_or_default(row: MemoryField, value: object) -> object:
    """Return what a cleared field is from then on: what a draft has that does not name it."""
    return FIELD_DEFAULTS.get(row.name) if value is None else value
