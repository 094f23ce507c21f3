"""What never leaves this machine: memories with the tag `private`, those of private spaces, and
those whose text holds a key, a token or a password. Their uses and history stay here with them."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from madeleine.language.secrets import redact_secrets
from madeleine.model.memory import Memory

PRIVATE_TAG = "private"


def why_held(memory: Memory, text: str, private_spaces: AbstractSet[str]) -> str | None:
    """Return why a memory is held back; nothing if it may be shared."""
    if PRIVATE_TAG in memory.tags:
        return f"tagged `{PRIVATE_TAG}`"
    if memory.space in private_spaces:
        return f"in the private space `{memory.space}`"
    return "holds a secret" if redact_secrets(text).secrets else None


def read_spaces(text: str) -> frozenset[str]:
    """Return the spaces of a setting."""
    return frozenset(each.strip() for each in text.split(",") if each.strip())
