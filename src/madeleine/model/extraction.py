"""What a language model is shown to find memories in, and what it finds, as values."""

from __future__ import annotations

from dataclasses import dataclass

from madeleine.model.words import MemoryType


@dataclass(frozen=True, slots=True)
class ExtractionSource:
    """One thing that somebody said, or one section of a file."""

    speaker: str
    """`user`, `agent`, a person's name, or `file`."""
    text: str


@dataclass(frozen=True, slots=True)
class MemoryCandidate:
    """Something that may be worth keeping, and the words in which it was told."""

    content: str
    title: str
    type: MemoryType
    number: int
    """The place, among what was told, in which the quote stands."""
    quote: str
    """Words that stand there, as they stand there."""
    confidence: float
    about_self: bool = False
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a language model found."""

    found: tuple[MemoryCandidate, ...] = ()
    unproven: frozenset[int] = frozenset()
    """The places of which it told something that cannot be believed, and nothing that can."""
