"""What whispers were worth, one by one: useful, useless, or nobody knows.

A person's thumb decides where there is one. Otherwise the reply does: a memory that shows in it was
useful, and where the reply was read and shows none of them, the whisper was useless.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from madeleine.index.log import WhisperEntry
from madeleine.whisper.learning import select_standing_feedback
from madeleine.whisper.log import entry_ids, is_delivered
from madeleine.write.stores import Stores

Thumbs = Mapping[tuple[str, str], int]
"""What people said outright, by whisper and memory: 1 or -1."""


@dataclass(frozen=True, slots=True)
class ToldCount:
    """How often a memory was whispered, and how often that was useful."""

    whispered: int = 0
    useful: int = 0


def select_told(entries: Iterable[WhisperEntry]) -> list[WhisperEntry]:
    """Return those by which somebody was told a memory."""
    return [each for each in entries if entry_ids(each, "injected") and is_delivered(each.body)]


def read_thumbs(stores: Stores, entries: Sequence[WhisperEntry]) -> Thumbs:
    """Return what people said about the memories of these whispers."""
    ids = sorted({memory for each in entries for memory in entry_ids(each, "injected")})
    thumbs: dict[tuple[str, str], int] = {}
    for each in select_standing_feedback(stores.log.feedback(ids)) if ids else ():
        signal = each.body.get("signal")
        if each.body.get("source") == "explicit" and isinstance(signal, int | float):
            about = str(each.body.get("whisper")), str(each.body.get("memory"))
            thumbs.setdefault(about, 1 if signal > 0 else -1)
    return thumbs


def is_useful(entry: WhisperEntry, thumbs: Thumbs) -> bool | None:
    """Return whether a whisper was useful; nothing if nobody knows."""
    told = entry_ids(entry, "injected")
    said = {memory: thumbs.get((entry.id, memory)) for memory in told}
    shown = [each for each in entry_ids(entry, "seen") if said.get(each) != -1]
    if 1 in said.values() or shown:
        return True
    return False if -1 in said.values() or entry.body.get("replied") else None


def count_told(entries: Iterable[WhisperEntry], thumbs: Thumbs) -> dict[str, ToldCount]:
    """Return for each memory how often it was whispered, and how often that was useful."""
    counts: dict[str, ToldCount] = {}
    for entry in entries:
        seen = set(entry_ids(entry, "seen"))
        for memory in entry_ids(entry, "injected"):
            thumb, before = thumbs.get((entry.id, memory)), counts.get(memory, ToldCount())
            useful = thumb == 1 or (thumb is None and memory in seen)
            counts[memory] = ToldCount(before.whispered + 1, before.useful + useful)
    return counts
