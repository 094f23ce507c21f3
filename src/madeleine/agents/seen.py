"""Something in a host's file that runs Madeleine, or speaks of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Seen:
    """What it is, the words it runs, and whether setup wrote it for this home."""

    what: str
    words: tuple[str, ...]
    ours: bool
    place: tuple[str | int, ...] = ()
    """The keys and numbers that lead to a hook."""
    home: str | None = None
    """The home that it names."""
    off: bool = False
    """Whether a person turned it off."""
