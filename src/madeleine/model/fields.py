"""The fields of a memory's file: one row each, in the order in which a new file has them.

Reading and writing of front matter, JSON, drafts, revisions, exports and imports go by this table;
a row's `kind` says how its values are read and written everywhere. The attribute itself, with its
type and its default, stands in `model/memory.py`. `docs/contributing/add-a-field.md` shows how a
field is added.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class FieldKind(enum.Enum):
    """What the values of a field are."""

    TEXT = "text"
    """One line of text."""
    TIME = "time"
    """A moment."""
    UNIT = "unit"
    """A number from 0 to 1."""
    ID = "id"
    """The whole id of a memory."""
    REFERENCE = "reference"
    """The id of another memory; a request may shorten it."""
    TYPE = "type"
    TIER = "tier"
    SPACE = "space"
    """One line of text; `global` is the same as nothing."""
    CONTENT = "content"
    """The text of the memory: the body of the file."""
    TAGS = "tags"
    ORIGIN = "origin"
    CLAIM = "claim"
    TRIGGERS = "triggers"
    """Short texts; none of them is not the same as no value."""
    KIND = "kind"
    METADATA = "metadata"
    """An object of JSON."""
    CONNECTIONS = "connections"


@dataclass(frozen=True, slots=True)
class MemoryField:
    """How one field is read and written."""

    name: str
    kind: FieldKind
    chars: int = 200
    """How many characters a text of a request may have."""
    in_draft: bool = True
    """Whether `remember` takes it."""
    in_revision: bool = True
    """Whether `revise` takes it."""
    queried: bool = False
    """Whether the index searches or sorts by it and therefore has a column for it. The other
    fields lie together in one column as JSON."""


FIELDS: tuple[MemoryField, ...] = (
    MemoryField("id", FieldKind.ID, in_revision=False, queried=True),
    MemoryField("type", FieldKind.TYPE, queried=True),
    MemoryField("tier", FieldKind.TIER, queried=True),
    MemoryField("space", FieldKind.SPACE, queried=True),
    MemoryField("title", FieldKind.TEXT, queried=True),
    MemoryField("content", FieldKind.CONTENT, queried=True),
    MemoryField("tags", FieldKind.TAGS, queried=True),
    MemoryField("source", FieldKind.TEXT, queried=True),
    MemoryField("confidence", FieldKind.UNIT, queried=True),
    MemoryField("created", FieldKind.TIME, in_revision=False, queried=True),
    MemoryField("updated", FieldKind.TIME, in_draft=False, in_revision=False, queried=True),
    MemoryField("valid_until", FieldKind.TIME, queried=True),
    MemoryField("superseded_by", FieldKind.REFERENCE, in_draft=False, queried=True),
    MemoryField("origin", FieldKind.ORIGIN, queried=True),
    MemoryField("claim", FieldKind.CLAIM, queried=True),
    MemoryField("triggers", FieldKind.TRIGGERS),
    MemoryField("kind", FieldKind.KIND),
    MemoryField("metadata", FieldKind.METADATA),
    MemoryField("idempotency_key", FieldKind.TEXT, in_revision=False, queried=True),
    MemoryField("connections", FieldKind.CONNECTIONS, in_revision=False, queried=True),
)
FRONT_MATTER_FIELDS = tuple(row for row in FIELDS if row.kind is not FieldKind.CONTENT)
UNQUERIED_FIELDS = tuple(row for row in FIELDS if not row.queried)
