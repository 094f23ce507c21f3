"""Memories as plain JSON and back: one shape for HTTP, `--json`, MCP and Python."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import cast

from madeleine.model.memory import Claim, Connection, Memory, Origin, Usage
from madeleine.model.pattern import pattern_to_json
from madeleine.model.times import format_time, parse_time
from madeleine.model.words import Edge, MemoryType, Tier

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
        "type": memory.type.value,
        "tier": memory.tier.value,
        "space": memory.space,
        "title": memory.title,
        "headline": memory.headline,
        "content": memory.content,
        "tags": list(memory.tags),
        "source": memory.source,
        "confidence": memory.confidence,
        "created": format_time(memory.created),
        "updated": format_time(memory.updated),
        "valid_until": _time(memory.valid_until),
        "superseded_by": memory.superseded_by,
        "origin": origin_to_json(memory.origin),
        "claim": claim_to_json(memory.claim),
        "idempotency_key": memory.idempotency_key,
        "connections": [connection_to_json(each) for each in memory.connections],
        "importance": memory.importance,
        "access_count": memory.access_count,
        "last_accessed": format_time(memory.last_accessed),
        "last_review": _time(memory.last_review),
        "stability": memory.stability,
        "relevance": memory.relevance,
        **({"meta": meta} if (meta := pattern_to_json(memory)) else {}),
    }


def memory_from_json(values: Mapping[str, object]) -> Memory:
    """Return the memory that `memory_to_json` described. Trusts its input: it is our own."""
    value = values
    return Memory(
        id=str(value["id"]),
        content=str(value["content"]),
        created=parse_time("created", value["created"]),
        updated=parse_time("updated", value["updated"]),
        type=MemoryType(str(value["type"])),
        tier=Tier(str(value["tier"])),
        space=cast("str | None", value["space"]),
        title=cast("str | None", value["title"]),
        tags=tuple(cast("list[str]", value["tags"])),
        source=str(value["source"]),
        confidence=cast("float", value["confidence"]),
        valid_until=_maybe_time(value["valid_until"]),
        superseded_by=cast("str | None", value["superseded_by"]),
        origin=origin_from_json(cast("Json | None", value["origin"])),
        claim=claim_from_json(cast("Json | None", value["claim"])),
        idempotency_key=cast("str | None", value["idempotency_key"]),
        connections=tuple(
            connection_from_json(each) for each in cast("list[Json]", value["connections"])
        ),
        usage=_usage(value),
    )


def connection_to_json(connection: Connection) -> Json:
    """Return a connection; what is not set is left out, as in the file."""
    values: Json = {
        "target": connection.target,
        "edge": connection.edge.value,
        "weight": connection.weight,
        "reason": connection.reason,
        "by": connection.by,
        "at": _time(connection.at),
        "kind": connection.kind,
        "confidence": connection.confidence,
        **_discovery(connection),
    }
    return {key: value for key, value in values.items() if value is not None}


def _discovery(connection: Connection) -> Json:
    """Return what the document calls the other properties of what was found, not told."""
    algorithm = ALGORITHMS.get(connection.edge, {}).get(connection.by or "")
    return {"discovered_at": _time(connection.at), "algorithm": algorithm} if algorithm else {}


def connection_from_json(values: Json) -> Connection:
    return Connection(
        target=str(values["target"]),
        edge=Edge(str(values["edge"])),
        weight=cast("float", values["weight"]),
        reason=cast("str | None", values.get("reason")),
        by=cast("str | None", values.get("by")),
        at=_maybe_time(values.get("at")),
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


def _usage(values: Mapping[str, object]) -> Usage:
    return Usage(
        access_count=cast("int", values["access_count"]),
        last_accessed=_maybe_time(values["last_accessed"]),
        last_review=_maybe_time(values["last_review"]),
        stability=cast("float", values["stability"]),
        importance=cast("float", values["importance"]),
        relevance=cast("float | None", values["relevance"]),
    )


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else format_time(moment)


def _maybe_time(value: object) -> datetime | None:
    return None if value is None else parse_time("time", value)
