"""Under which keys an index keeps a memory beside its words: what it is triggered by, and that it
may say how things are to be done."""

from __future__ import annotations

from madeleine.language.standing import standing_keys
from madeleine.language.triggers import trigger_keys
from madeleine.model.memory import Memory


def lookup_keys(memory: Memory) -> list[str]:
    """Return the keys of a memory."""
    return [*trigger_keys(memory), *standing_keys(memory)]
