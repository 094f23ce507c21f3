"""Which words two memories share, and how rare those are in their store.

Of two near notes that both name Twilio, which two memories of the store name, one more likely
replaces the other than of two that both speak of an invoice. How many memories have a word the
index knows; each word is asked for once in a run.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping
from dataclasses import replace

from madeleine.index.search import MemorySearch
from madeleine.language.stems import is_telling, split_words, stem
from madeleine.model.memory import Memory
from madeleine.model.verdict import MemoryPair, SharedWords
from madeleine.rules.store_chances import RARE_HOLDERS, word_rarity

KNOWN_AT_MOST = 20_000  # memories whose words are kept at hand: some 20 MB
WORD_CHARS = 2_000  # of a text


class StoreWords:
    """The words of memories that are paired in a run."""

    def __init__(self, search: MemorySearch) -> None:
        self._search = search
        self._memories = search.extent().memories
        self._known: set[str] = set()
        self._stems: dict[str, frozenset[str]] = {}
        self._rarity: dict[str, float] = {}
        self._rare: set[str] = set()

    def learn(self, memories: Iterable[Memory]) -> None:
        """Look up how many memories have each word of these."""
        new = [each for each in memories if each.id not in self._stems]
        if len(self._stems) + len(new) > KNOWN_AT_MOST:
            self._stems.clear()
        roots: dict[str, str] = {}
        for each in new:
            found = find_word_stems(each)
            self._stems[each.id] = frozenset(found.values())
            roots |= found
        unknown = [word for word in roots if word not in self._known]
        for word, terms in zip(
            unknown, self._search.terms(unknown) if unknown else (), strict=True
        ):
            holders = max((term.holders for term in terms), default=1)
            self._rarity[roots[word]] = word_rarity(holders, self._memories)
            self._rare |= {roots[word]} if holders <= RARE_HOLDERS else set()
        self._known.update(unknown)

    def weigh(self, pair: MemoryPair) -> MemoryPair:
        """Return a pair of learnt memories with what the two share."""
        one, other = (self._stems.get(each, frozenset()) for each in pair.ids)
        return replace(pair, shared=share_words(one, other, self._rarity, self._rare))


def find_word_stems(memory: Memory) -> dict[str, str]:
    """Return the telling words of a memory with their stems."""
    text = f"{memory.title or ''}\n{memory.content}"[:WORD_CHARS]
    return {word: stem(word) for word in split_words(text) if is_telling(word)}


def share_words(
    one: frozenset[str], other: frozenset[str], rarity: Mapping[str, float], rare: Container[str]
) -> SharedWords:
    """Return what two sets of stems have in common; a stem that is not known is rare."""
    both = one & other
    mine, theirs, total = (
        math.fsum(rarity.get(each, 1.0) for each in some) for some in (one, other, both)
    )
    least = min(mine, theirs)
    return SharedWords(total / least if least else 0.0, total, sum(each in rare for each in both))
