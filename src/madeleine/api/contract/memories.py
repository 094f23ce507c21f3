"""Memories, connections and proposals as JSON has them, and what all answers share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from madeleine.api.contract.shape import Contract, ShapeCodec, field, shape
from madeleine.api.error_codec import error_from_json, error_to_json
from madeleine.errors import MadeleineError
from madeleine.model.codec import (
    Json,
    claim_from_json,
    claim_to_json,
    connection_from_json,
    connection_to_json,
    memory_from_json,
    memory_to_json,
    origin_from_json,
    origin_to_json,
)
from madeleine.model.memory import Claim, Connection, Memory, Origin
from madeleine.model.proposal import Proposal, ProposalStatus, ProposalType
from madeleine.model.times import format_time, parse_time
from madeleine.model.words import Edge, MemoryKind, MemoryType, Tier

TimeText = Annotated[str, (("format", "date-time"),)]
"""A time as JSON has it: RFC 3339 in UTC."""
RequestTime = Annotated[str, (("formats", ("date-time", "date")),)]
"""A time as a client sends it: RFC 3339, or a bare date, which is its first moment in UTC."""
SpokenTime = Annotated[
    str, (("examples", ("2026-11-15T18:04:00Z", "2026-11-15", "yesterday", "since friday")),)
]
"""A time as people say it, or as `RequestTime`; of a stretch of time, its first moment."""
UnitNumber = Annotated[float, (("minimum", 0), ("maximum", 1))]
"""A number from 0 to 1."""
WrittenText = Annotated[str, (("pattern", r"\S"),)]
"""A text that says something."""
PromptOutcome = Literal["whispered", "silent", "held_out", "late", "undelivered"]
"""What came of a prompt: what the page may ask for, and what it is told."""
ToldMoment = Literal["prompt", "start", "deed"]
"""When something was told: to a prompt, at the start of a session, or before a deed."""
BriefPart = Literal["person", "task", "rules", "told", "project", "open"]
"""A section of what a session is told at its start."""


@shape
class CauseShape:
    """What a sentence is made of: its kind, and the values that the kind names."""

    is_open = True
    kind: str = field("what programs decide by; docs/reference/kinds.md has all")


CauseParts = Annotated[Mapping[str, object], CauseShape]


@shape
class OriginShape:
    """Where a memory came from."""

    session: str | None = field("the conversation", left_out=True, default=None)
    turn: int | None = field("the position in it", left_out=True, default=None)
    speaker: str | None = field("who said it", left_out=True, default=None)
    uri: str | None = field("where it can be found", left_out=True, default=None)


@shape
class ClaimShape:
    """What a memory states: of a subject an attribute has a value."""

    subject: WrittenText = field()
    attribute: WrittenText = field()
    value: WrittenText = field()


@shape
class ConnectionShape:
    """A typed, weighted arrow to another memory."""

    target: str = field("the id of the memory that it leads to")
    edge: Edge = field("what it says")
    weight: UnitNumber = field("how strong it is")
    reason: str | None = field("why it is there", left_out=True, default=None)
    by: str | None = field("who drew it", left_out=True, default=None)
    at: TimeText | None = field("when it was drawn", left_out=True, default=None)
    kind: str | None = field(
        "which association, of the edge `discovered`", left_out=True, default=None
    )
    confidence: UnitNumber | None = field("how sure who drew it was", left_out=True, default=None)
    discovered_at: TimeText | None = field("when a job found it", left_out=True, default=None)
    algorithm: str | None = field("how a job found it", left_out=True, default=None)


@shape
class MemoryShape:
    """A memory: what its file says, and how it was used."""

    id: str = field()
    short_id: str = field("the first 8 characters of the id")
    type: MemoryType = field()
    tier: Tier = field()
    space: str | None = field("the project it belongs to; null is global")
    title: str | None = field()
    headline: str = field("the title, or the beginning of the text")
    content: str = field("what it says")
    tags: tuple[str, ...] = field()
    source: str = field("where it comes from")
    confidence: UnitNumber = field("how sure its author is")
    created: TimeText = field("when it was first known")
    updated: TimeText = field()
    valid_until: TimeText | None = field("when it stops, or stopped, being true")
    superseded_by: str | None = field("the id of the memory that replaces it")
    origin: Origin | None = field("where it was said")
    claim: Claim | None = field("what it states")
    triggers: tuple[str, ...] | None = field(
        "before which deeds it is told, if that is not left to its text", default=None
    )
    kind: MemoryKind | None = field(
        "whether it says how things are to be done, if that is not left to its text", default=None
    )
    metadata: Mapping[str, object] | None = field(
        "what other programs keep beside it", default=None
    )
    idempotency_key: str | None = field()
    connections: tuple[Connection, ...] = field()
    importance: float = field()
    access_count: int = field("how often it was used")
    last_accessed: TimeText = field()
    last_review: TimeText | None = field()
    stability: float = field("days until it comes to mind with a chance of 0.9")
    relevance: float | None = field()
    meta: Mapping[str, object] | None = field(
        "of a summary: what it is of", left_out=True, default=None
    )


@shape
class ProposalShape:
    """A change that waits for a decision."""

    id: str = field()
    type: ProposalType = field()
    status: ProposalStatus = field()
    source_nodes: tuple[str, ...] = field("the memories that it is about")
    proposed_action: str = field("what would be done, in a sentence")
    reason: str | None = field()
    created: TimeText = field()
    resolved: TimeText | None = field("when it was decided")
    action: Mapping[str, str] = field("what would be done, as it would be carried out")


@shape
class ErrorShape:
    """What went wrong and what to do next."""

    code: Literal["rejected", "missing", "conflict", "unavailable", "damaged", "error"] = field()
    kind: str = field("which error it is; docs/reference/kinds.md lists them")
    message: str = field()
    hint: str = field()
    parts: Mapping[str, object] = field("the values that the message is made of")


@shape
class ErrorAnswer:
    """The answer to a request that was not carried out."""

    error: MadeleineError = field()


def proposal_to_json(proposal: Proposal) -> Json:
    resolved = proposal.resolved
    return {
        "id": proposal.id,
        "type": proposal.type.value,
        "status": proposal.status.value,
        "source_nodes": list(proposal.source_nodes),
        "proposed_action": proposal.proposed_action,
        "reason": proposal.reason,
        "created": format_time(proposal.created),
        "resolved": format_time(resolved) if resolved else None,
        "action": dict(proposal.action),
    }


def proposal_from_json(values: Mapping[str, object]) -> Proposal:
    """Return the proposal that `proposal_to_json` described. Trusts its input: it is our own."""
    resolved, reason, action = values["resolved"], values["reason"], values["action"]
    nodes = values["source_nodes"]
    return Proposal(
        id=str(values["id"]),
        type=ProposalType(str(values["type"])),
        source_nodes=tuple(nodes) if isinstance(nodes, list) else (),
        proposed_action=str(values["proposed_action"]),
        created=parse_time("created", values["created"]),
        status=ProposalStatus(str(values["status"])),
        reason=None if reason is None else str(reason),
        resolved=None if resolved is None else parse_time("resolved", resolved),
        action=tuple(sorted(action.items())) if isinstance(action, dict) else (),
    )


CONTRACT = Contract(
    {
        Memory: ShapeCodec(MemoryShape, memory_to_json, memory_from_json),
        Connection: ShapeCodec(ConnectionShape, connection_to_json, connection_from_json),
        Origin: ShapeCodec(OriginShape, origin_to_json, origin_from_json),
        Claim: ShapeCodec(ClaimShape, claim_to_json, claim_from_json),
        Proposal: ShapeCodec(ProposalShape, proposal_to_json, proposal_from_json),
        MadeleineError: ShapeCodec(ErrorShape, error_to_json, error_from_json),
    }
)
to_json, from_json = CONTRACT.to_json, CONTRACT.from_json
