"""A memory together with the file it was read from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from madeleine.model.memory import Memory


class Fingerprint(NamedTuple):
    """What tells a changed file from an unchanged one without reading it.

    The ctime tells of what a program hides that puts the mtime back; it also moves when a file
    is renamed, copied or given other permissions, and then the file is read once for nothing.
    """

    mtime_ns: int
    size: int
    ctime_ns: int = 0  # no file has this one, so looks without it are those of no file


@dataclass(frozen=True, slots=True)
class Stored:
    """A memory, where its file is (relative to the vault, with `/`) and how it looked.

    `counters` are use counters found in a foreign file's front matter; they are taken over
    into the journal once and are otherwise ignored.
    """

    memory: Memory
    path: str
    fingerprint: Fingerprint
    counters: Mapping[str, object] = field(default_factory=dict)
