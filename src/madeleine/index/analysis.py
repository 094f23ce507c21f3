"""What follows from a memory's own texts, as an engine keeps it.

Working it out takes most of the time of indexing, and needs no index: whoever reads many files may
have it done elsewhere, and hand it in with the memory (`MemoryPut.analysis`).
"""

from __future__ import annotations

from dataclasses import dataclass

IndexedTexts = tuple[str | None, str, str, str, str, str]
"""title, content, tags, title_grams, grams, said: what FTS5 has to be told to forget a row."""
PassageColumns = tuple[int, int, int, bytes]
"""Of a passage: the bits of its traits, its capitals, its words, and its stems."""


@dataclass(frozen=True, slots=True)
class MemoryAnalysis:
    """The texts that are searched, the key of the whole text, the keys that it is looked up by, and
    its passages."""

    texts: IndexedTexts
    text_key: str
    lookup_keys: tuple[str, ...]
    passages: tuple[PassageColumns, ...]
