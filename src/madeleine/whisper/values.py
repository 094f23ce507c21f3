"""A prompt that arrives, and what is whispered about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from madeleine.model.cause import Cause, MissingModel
from madeleine.model.memory import Memory

STANDING = "standing"  # the head of what is weighed by how things are to be done
REPLACED = "replaced"  # what held a memory back in whose place a newer one is told


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a person typed, and where."""

    text: str
    space: str | None = None
    session_id: str | None = None
    cwd: str | None = None
    explain: bool = False
    due: float | None = None
    """When whoever asks stops waiting, by the monotonic clock; a model that would take longer is
    not waited for."""
    dry_run: bool = False
    """Whether somebody only looks: nothing is told, logged or remembered of it."""
    awaits_receipt: bool = False
    """Whether the door says later if the whisper reached anybody; else it counts as delivered."""
    is_action: bool = False
    """Whether it is no prompt but what an agent is about to do."""


@dataclass(frozen=True, slots=True)
class InjectedMemory:
    """A memory that is whispered: in full, or by its title only. An explorer was let in below
    the gate, to learn whether it helps."""

    memory: Memory
    score: float
    full: bool
    explorer: bool = False
    instead_of: Memory | None = None
    """The older memory in whose place it is told."""


@dataclass(frozen=True, slots=True)
class WhisperResult:
    """What the agent gets to read, or why it gets nothing. `stage` is where it was decided."""

    text: str
    whisper_id: str
    injected: tuple[InjectedMemory, ...] = ()
    silence: Cause | None = None
    stage: str = ""
    took_ms: float = 0.0
    without_model: MissingModel | None = None
    """Why words alone decided though there is a model."""
    explained: Mapping[str, object] = field(default_factory=dict)
