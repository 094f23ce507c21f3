"""Memories as plain JSON and back: one shape for HTTP, `--json`, MCP and Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, cast

from madeleine.model.fields import FIELDS, UNQUERIED_FIELDS, FieldKind, MemoryField
from madeleine.model.memory import Claim, Connection, Memory, Origin, Usage
from madeleine.model.meta_pattern import meta_pattern_to_json
from madeleine.model.metadata import Metadata
from madeleine.model.times import format_time, parse_time
from madeleine.model.words import Edge, MemoryKind, MemoryType, Tier

Json = dict[str, object]

CREATIVE = "creative"  # who draws associations
ALGORITHM = "creative_association"  # what the document calls that
ALGORITHMS: Mapping[Edge, Mapping[str, str]] = {
    Edge.DISCOVERED: {CREATIVE: ALGORITHM},
    Edge.CONTRADICTS: {
        CREATIVE: ALGORITHM,
        "conflict_detector": "conflict_detector",
        "auto_linker": "auto_linker",
    },
}
"""How a connection was found, by its edge and by who drew it, or proposed it to a person."""


def memory_to_json(memory: Memory) -> Json:
    """Return every field of the data model, the file's and the journal's joined."""
    return {
        "id": memory.id,
        "short_id": memory.short_id,
        **fields_to_json(memory, FIELDS),
        "headline": memory.headline,
        "importance": memory.importance,
        "access_count": memory.access_count,
        "last_accessed": format_time(memory.last_accessed),
        "last_review": _time_to_json(memory.last_review),
        "stability": memory.stability,
        "relevance": memory.relevance,
        **({"meta": meta} if (meta := meta_pattern_to_json(memory)) else {}),
    }


def memory_from_json(values: Mapping[str, object]) -> Memory:
    """Return the memory that `memory_to_json` described. Trusts its input: it is our own."""
    return Memory(**fields_from_json(values, FIELDS), usage=_usage_from_json(values))


def fields_to_json(memory: Memory, rows: Iterable[MemoryField]) -> Json:
    """Return the fields of these rows by their names; null where a field is not set."""
    said: Json = {}
    for row in rows:
        value = getattr(memory, row.name)
        change = _WRITERS.get(row.name)
        said[row.name] = value if value is None or change is None else change(value)
    return said


def extra_to_json(memory: Memory) -> Json | None:
    """Return the fields that no query asks for, as far as they are set; None if none is."""
    said = fields_to_json(memory, UNQUERIED_FIELDS)
    return {name: value for name, value in said.items() if value is not None} or None


def fields_from_json(values: Mapping[str, object], rows: Iterable[MemoryField]) -> dict[str, Any]:
    """Return the fields of these rows as a `Memory` takes them. A field that is not there keeps
    its default: the values may come from a release that did not know it."""
    given: dict[str, Any] = {}
    for row in rows:
        if row.name in values:
            value = values[row.name]
            change = _READERS.get(row.name)
            given[row.name] = value if value is None or change is None else change(value)
    return given


def connection_to_json(connection: Connection) -> Json:
    """Return a connection; what is not set is left out, as in the file."""
    values: Json = {
        "target": connection.target,
        "edge": connection.edge.value,
        "weight": connection.weight,
        "reason": connection.reason,
        "by": connection.by,
        "at": _time_to_json(connection.at),
        "kind": connection.kind,
        "confidence": connection.confidence,
        **_discovery_to_json(connection),
    }
    return {key: value for key, value in values.items() if value is not None}


def _discovery_to_json(connection: Connection) -> Json:
    """Return what the document calls the other properties of what was found, not told."""
    algorithm = algorithm_of(connection)
    return (
        {"discovered_at": _time_to_json(connection.at), "algorithm": algorithm} if algorithm else {}
    )


def algorithm_of(connection: Connection) -> str | None:
    """Return how a connection was found; nothing if it was told."""
    return ALGORITHMS.get(connection.edge, {}).get(connection.by or "")


def connection_from_json(values: Json) -> Connection:
    return Connection(
        target=str(values["target"]),
        edge=Edge(str(values["edge"])),
        weight=cast("float", values["weight"]),
        reason=cast("str | None", values.get("reason")),
        by=cast("str | None", values.get("by")),
        at=_time_from_json(values.get("at")),
        kind=cast("str | None", values.get("kind")),
        confidence=cast("float | None", values.get("confidence")),
    )


def origin_to_json(origin: Origin | None) -> Json | None:
    if origin is None:
        return None
    values: Json = {
        "session": origin.session,
        "turn": origin.turn,
        "speaker": origin.speaker,
        "uri": origin.uri,
    }
    return {key: value for key, value in values.items() if value is not None}


def origin_from_json(values: Json | None) -> Origin | None:
    if values is None:
        return None
    return Origin(
        session=cast("str | None", values.get("session")),
        turn=cast("int | None", values.get("turn")),
        speaker=cast("str | None", values.get("speaker")),
        uri=cast("str | None", values.get("uri")),
    )


def claim_to_json(claim: Claim | None) -> Json | None:
    if claim is None:
        return None
    return {"subject": claim.subject, "attribute": claim.attribute, "value": claim.value}


def claim_from_json(values: Json | None) -> Claim | None:
    if values is None:
        return None
    return Claim(str(values["subject"]), str(values["attribute"]), str(values["value"]))


def _usage_from_json(values: Mapping[str, object]) -> Usage:
    return Usage(
        access_count=cast("int", values["access_count"]),
        last_accessed=_time_from_json(values["last_accessed"]),
        last_review=_time_from_json(values["last_review"]),
        stability=cast("float", values["stability"]),
        importance=cast("float", values["importance"]),
        relevance=cast("float | None", values["relevance"]),
    )


def _time_to_json(moment: datetime | None) -> str | None:
    return None if moment is None else format_time(moment)


def _time_from_json(value: object) -> datetime | None:
    return None if value is None else parse_time("time", value)


# What is not named here is the same in JSON.
_TO_JSON: Mapping[FieldKind, Callable[[Any], object]] = {
    FieldKind.TYPE: lambda value: value.value,
    FieldKind.TIER: lambda value: value.value,
    FieldKind.TIME: format_time,
    FieldKind.TAGS: list,
    FieldKind.TRIGGERS: list,
    FieldKind.KIND: lambda value: value.value,
    FieldKind.ORIGIN: origin_to_json,
    FieldKind.CLAIM: claim_to_json,
    FieldKind.METADATA: Metadata.to_json,
    FieldKind.CONNECTIONS: lambda value: [connection_to_json(each) for each in value],
}
_FROM_JSON: Mapping[FieldKind, Callable[[Any], object]] = {
    FieldKind.TYPE: MemoryType,
    FieldKind.TIER: Tier,
    FieldKind.TIME: lambda value: parse_time("time", value),
    FieldKind.TAGS: tuple,
    FieldKind.TRIGGERS: tuple,
    FieldKind.KIND: MemoryKind,
    FieldKind.ORIGIN: origin_from_json,
    FieldKind.CLAIM: claim_from_json,
    FieldKind.METADATA: Metadata,
    FieldKind.CONNECTIONS: lambda value: tuple(connection_from_json(each) for each in value),
}
_WRITERS = {row.name: _TO_JSON[row.kind] for row in FIELDS if row.kind in _TO_JSON}
_READERS = {row.name: _FROM_JSON[row.kind] for row in FIELDS if row.kind in _FROM_JSON}
