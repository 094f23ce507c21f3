"""A memory of ours as AutoMem has it, and what a client sends as a draft of ours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from madeleine.errors import InvalidValue
from madeleine.ingest.importing.automem_words import (
    META_PATTERN,
    METADATA_KEY,
    TYPE_NAMES,
)
from madeleine.ingest.importing.words import map_type
from madeleine.model.codec import Json
from madeleine.model.draft import MemoryLimits, normalize_tag
from madeleine.model.memory import Memory
from madeleine.model.times import parse_time
from madeleine.model.words import META_SOURCE, Tier
from madeleine.rules.forgetting import PROTECTED_TAG
from madeleine.server.automem.call import format_moment

SHORT_TEXT_CHARS = 160  # of a memory that another one has a relation with
SHORT_TAGS = 5

_UNBOUNDED = MemoryLimits(tag_chars=2**31)
_PREFIX_ENDS = re.compile(r"[:/]")


def kept_fields(memory: Memory) -> dict[str, Any]:
    """Return what a client sent and we have no field for."""
    kept = None if memory.metadata is None else memory.metadata.get(METADATA_KEY)
    return kept if isinstance(kept, dict) else {}


def own_metadata(memory: Memory) -> dict[str, Any]:
    """Return a memory's metadata without what AutoMem does not call so."""
    given = dict(memory.metadata or {})
    given.pop(METADATA_KEY, None)
    return given


def join_metadata(own: Mapping[str, object], kept: Mapping[str, object]) -> Json:
    """Return metadata with what is kept beside them."""
    given = {name: value for name, value in own.items() if name != METADATA_KEY}
    said = {name: value for name, value in kept.items() if value is not None}
    return {**given, METADATA_KEY: said} if said else given


def name_type(memory: Memory) -> str:
    """Return what AutoMem calls a memory's type: the word that was sent, as long as the memory is
    still of that type."""
    sent = kept_fields(memory).get("type")
    if isinstance(sent, str) and map_type(sent) == memory.type.value:
        return sent
    return META_PATTERN if memory.source == META_SOURCE else TYPE_NAMES[memory.type]


def importance_of(memory: Memory) -> float:
    """Return the importance that was sent; where none was, ours."""
    sent = kept_fields(memory).get("importance")
    if isinstance(sent, int | float) and not isinstance(sent, bool) and 0 <= sent <= 1:
        return sent
    return round(memory.importance, 4)


def tags_of(memory: Memory) -> list[str]:
    """Return the tags as they were sent, as long as the memory still has just these."""
    sent = kept_fields(memory).get("tags")
    if isinstance(sent, list) and all(isinstance(each, str) for each in sent):
        spelled = {normalize_tag(each, _UNBOUNDED) for each in sent} - {""}
        if spelled == set(memory.tags):
            return sent
    return list(memory.tags)


def is_not_yet_valid(memory: Memory, now: datetime) -> bool:
    since = kept_fields(memory).get("t_valid")
    try:
        return isinstance(since, str) and parse_time("t_valid", since) > now
    except InvalidValue:
        return False  # whoever wrote the file by hand


def is_outdated(memory: Memory, now: datetime) -> bool:
    return memory.superseded_by is not None or (
        memory.valid_until is not None and memory.valid_until <= now
    )


def tag_prefixes(tags: Sequence[str]) -> list[str]:
    """Return every beginning of the tags that ends at a `:` or `/`, joined by `:`."""
    found: dict[str, None] = {}
    for tag in tags:
        parts = [each.strip() for each in _PREFIX_ENDS.split(tag.lower())]
        parts = [each for each in parts if each]
        found.update({":".join(parts[: end + 1]): None for end in range(len(parts))})
    return list(found)


def memory_to_automem(memory: Memory) -> Json:
    """Return a memory whole."""
    kept, tags = kept_fields(memory), tags_of(memory)
    created = format_moment(memory.created)
    given: Json = {
        "id": memory.id,
        "content": memory.content,
        "type": name_type(memory),
        "timestamp": created,
        "updated_at": format_moment(memory.updated),
        "last_accessed": format_moment(memory.last_accessed),
        "t_valid": kept.get("t_valid") or created,
        "t_invalid": format_moment(memory.valid_until) if memory.valid_until else None,
        "tags": tags,
        "tag_prefixes": tag_prefixes(tags),
        "importance": importance_of(memory),
        "confidence": memory.confidence,
        "metadata": own_metadata(memory),
        "processed": True,
        "summary": memory.title,
        "relevance_score": memory.relevance,
        "archived": True if memory.tier is Tier.ARCHIVAL else None,
        "protected": True if PROTECTED_TAG in memory.tags else None,
    }
    return {name: value for name, value in given.items() if value is not None}


def memory_to_short(memory: Memory) -> Json:
    """Return a memory as it stands beside another one."""
    return {
        "id": memory.id,
        "type": name_type(memory),
        "timestamp": format_moment(memory.created),
        "summary": memory.title or memory.content[:SHORT_TEXT_CHARS],
        "importance": importance_of(memory),
        "confidence": memory.confidence,
        "tags": tags_of(memory)[:SHORT_TAGS],
    }
