"""A memory together with the file it was read from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from madeleine.model.fingerprint import Fingerprint
from madeleine.model.memory import Memory


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """A memory, where its file is (relative to the vault, with `/`) and how it looked.

    `counters` are use counters found in a foreign file's front matter; they are taken over
    into the journal once and are otherwise ignored.
    """

    memory: Memory
    path: str
    fingerprint: Fingerprint
    counters: Mapping[str, object] = field(default_factory=dict)
