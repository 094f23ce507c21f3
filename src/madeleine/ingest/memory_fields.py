"""A memory as its own fields, the way exports write it and imports read it."""

from __future__ import annotations

from madeleine.model.codec import Json, fields_to_json
from madeleine.model.fields import FIELDS
from madeleine.model.memory import Memory, Usage
from madeleine.model.times import format_time

_UNUSED = Usage()


def memory_fields(memory: Memory) -> Json:
    """Return what a memory's file says; what is not set is left out."""
    said = fields_to_json(memory, FIELDS)
    return {name: value for name, value in said.items() if value not in (None, [], {})}


def usage_fields(usage: Usage) -> Json:
    """Return what the journal says of a memory; nothing where it says nothing yet."""
    if usage == _UNUSED:
        return {}
    given: Json = {
        "access_count": usage.access_count,
        "last_accessed": usage.last_accessed and format_time(usage.last_accessed),
        "last_review": usage.last_review and format_time(usage.last_review),
        "stability": usage.stability,
        "importance": usage.importance,
        "relevance": usage.relevance,
    }
    return {name: value for name, value in given.items() if value is not None}
