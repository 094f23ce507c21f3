"""A proposal: a change that waits for a person or an agent to decide."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime


class ProposalType(enum.StrEnum):
    """What would be done."""

    MERGE = "merge"
    CONFLICT = "conflict"
    DECAY = "decay"
    LINK = "link"
    CONSOLIDATE = "consolidate"
    SPACE = "space"
    FORGET = "forget"
    REMEMBER = "remember"


class ProposalStatus(enum.StrEnum):
    """What became of it."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Proposal:
    """`action` is the change in a form that can be carried out exactly as it was shown."""

    id: str
    type: ProposalType
    source_nodes: tuple[str, ...]
    proposed_action: str
    created: datetime
    status: ProposalStatus = ProposalStatus.PENDING
    reason: str | None = None
    resolved: datetime | None = None
    action: tuple[tuple[str, str], ...] = ()
