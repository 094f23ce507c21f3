"""Telling whether a text speaks of some memories: by their ids, or by quoting how they begin.

Reports and reasons name a memory by its whole id, by the short one in backticks beside its
headline, or show the beginning of its text. A quote counts if it is as long as such a preview,
or all there is to quote: two memories that begin with the same few words are told apart.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from madeleine.model.memory import Memory

ID_PATTERN = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SHORT_ID_PATTERN = re.compile(r"`([0-9a-f]{8})`")
_QUOTED_PATTERN = re.compile(r"“([^“”]+)”")
_WORD_PATTERN = re.compile(r"[\w.:/@+-]*", re.ASCII)
"""The name of a job, a verb, a time: a memory may say just that, and it is no quote."""
_OPENING_CHARS = 12  # characters by which a possible quote is found
_PREVIEW_CHARS = 50  # characters that a quote has at most in common by chance

QuoteOpenings = Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class PurgedMemories:
    """Memories of which nothing may be said any more."""

    ids: Collection[str]
    shorts: frozenset[str] = frozenset()
    openings: QuoteOpenings = field(default_factory=dict)
    """Beginnings of their headlines and texts, by the first few characters."""
    headlines: frozenset[str] = frozenset()

    def is_named_in(self, text: str) -> bool:
        """Whether a text names or quotes one of them."""
        return self.has_id_in(text) or self._is_quoted_in(text)

    def has_id_in(self, text: str) -> bool:
        """Whether an id of one of them stands in a text, the whole or the short one."""
        if text in self.ids or any(each in self.ids for each in ID_PATTERN.findall(text)):
            return True
        return any(each in self.shorts for each in _SHORT_ID_PATTERN.findall(text))

    def _is_quoted_in(self, text: str) -> bool:
        if _WORD_PATTERN.fullmatch(text):
            return False
        if any(each in self.headlines for each in (text, *_QUOTED_PATTERN.findall(text))):
            return True
        openings = self.openings
        return any(
            text.startswith(each, at)
            for at in range(len(text) - _OPENING_CHARS + 1)
            for each in openings.get(text[at : at + _OPENING_CHARS], ())
        )


def describe_purged(ids: Collection[str], memories: Iterable[Memory]) -> PurgedMemories:
    """Return what tells these memories, which are given as they are and as they were."""
    listed = list(memories)
    texts = {text[:_PREVIEW_CHARS] for each in listed for text in _quotable_texts(each)}
    found: dict[str, set[str]] = {}
    for text in texts:
        if len(text) >= _OPENING_CHARS:
            found.setdefault(text[:_OPENING_CHARS], set()).add(text)
    return PurgedMemories(
        ids=ids,
        shorts=frozenset(each[:8] for each in ids),
        openings={key: frozenset(some) for key, some in found.items()},
        headlines=frozenset(each.headline for each in listed),
    )


def _quotable_texts(memory: Memory) -> tuple[str, ...]:
    plain = memory.content.strip()
    return memory.headline, plain, " ".join(plain.split())
