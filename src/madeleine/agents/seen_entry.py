"""Something in a host's file that runs Madeleine, or speaks of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

EntryPlace = tuple[str | int, ...]
"""The keys and numbers that lead to a hook; the second is its event."""

PlacedEntry = tuple[EntryPlace, Any]
"""Where a hook stands, and its entry."""


@dataclass(frozen=True, slots=True)
class SeenEntry:
    """What it is, the words it runs, and whether setup wrote it for this home."""

    what: str
    words: tuple[str, ...]
    ours: bool
    place: EntryPlace = ()
    home: str | None = None
    """The home that it names."""
    off: bool = False
    """Whether a person turned it off."""
