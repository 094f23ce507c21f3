"""Which words stand in some memory, kept at hand for those who ask about many of them.

FTS5 needs 30 microseconds and more to say in how many memories a word stands. The kin of a
question's words are hundreds, and most of them stand nowhere. So the words of all memories are read
once, as sorted numbers of their stems with their counts; what is written later is added when
somebody asks. What is dropped stays: a word that stands nowhere any more finds nothing.

A reader may see a state from before a write. Its reading leaves nothing out all the same, because
what was written since this vocabulary was made is never taken for read; and after many writes the
index begins a new one (`wants_renewal`), while a steady reader goes on with its own.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from zlib import crc32

import apsw
import numpy as np
from numpy.typing import NDArray

from madeleine.index.analysis import IndexedTexts
from madeleine.index.common.stems import MAX_CACHED_WORDS, Stemmer, stem_number
from madeleine.index.search import IndexedTerm
from madeleine.language.word_hints import IRREGULAR_FORMS

MAX_ADDED = 200  # memories: to read everything anew takes no longer
NO_STEM = -1  # of what is no word, or several
CUT_FROM = 32_000  # bytes of a word, and a bit less than where FTS5 cuts it
# As bytes: FTS5 cuts a word at 32,766 of them, also in the middle of a letter.
SELECT_WORDS = "SELECT CAST(term AS BLOB), doc FROM fts_words"


class Vocabulary:
    """The stems of an index, and about how many memories hold each. Any thread may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stems: NDArray[np.int64] | None = None
        self._holders: NDArray[np.int64] = np.empty(0, np.int64)
        self._irregular: dict[int, int] = {}
        self._waiting: list[IndexedTexts] = []
        self._added: dict[int, int] = {}
        self._written = 0
        self._numbers: dict[str, int] = {}

    @property
    def wants_renewal(self) -> bool:
        """Whether so much was written that a new one should be begun."""
        return self._written > MAX_ADDED

    def add(self, texts: Iterable[IndexedTexts]) -> None:
        """Add what memories say that were written."""
        with self._lock:
            before = len(self._waiting)
            self._waiting += texts
            self._written += len(self._waiting) - before

    def known_words(
        self, connection: apsw.Connection, stemmer: Stemmer, words: Sequence[str]
    ) -> dict[str, IndexedTerm]:
        """Return those of the words that stand somewhere."""
        if not words:
            return {}
        wanted = np.array(self._number_words(stemmer, words), np.int64)
        counts = self._count_holders(connection, stemmer, wanted)
        return {
            words[each]: IndexedTerm(int(wanted[each]), int(counts[each]))
            for each in np.flatnonzero(counts).tolist()
        }

    def may_hold(
        self, connection: apsw.Connection, stemmer: Stemmer, stems: Sequence[int]
    ) -> list[bool]:
        """Return for each stem whether some memory may hold it. No is certain."""
        counts = self._count_holders(connection, stemmer, np.array(stems, np.int64))
        held: list[bool] = (counts > 0).tolist()
        return held

    def _count_holders(
        self, connection: apsw.Connection, stemmer: Stemmer, wanted: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        with self._lock:
            if self._stems is None:
                self._read(connection, stemmer)
            if self._waiting:
                self._read_waiting(stemmer)
            stems, holders, added = self._stems, self._holders, self._added
        if stems is None or not len(stems):
            counts = np.zeros(len(wanted), np.int64)
        else:
            place = np.minimum(np.searchsorted(stems, wanted), len(stems) - 1)
            counts = np.where(stems[place] == wanted, holders[place], 0)
        if added:
            counts = np.maximum(counts, [added.get(stem, 0) for stem in wanted.tolist()])
        return counts

    def _read(self, connection: apsw.Connection, stemmer: Stemmer) -> None:
        """Read all words, the irregular forms of one together."""
        self._irregular = {
            stem_number(written): stem_number(stem)
            for form in IRREGULAR_FORMS
            for written, stem in zip(stemmer.tokens(form), stemmer.stems(form), strict=False)
        }
        counts: dict[int, int] = {}
        irregular = self._irregular
        for term, count in connection.execute(SELECT_WORDS):
            # A word that was cut may end in half a letter; all others are the bytes of a stem.
            stem = (
                crc32(term) if len(term) < CUT_FROM else stem_number(term.decode(errors="replace"))
            )
            stem = irregular.get(stem, stem)
            counts[stem] = counts.get(stem, 0) + count
        stems = np.fromiter(counts, np.int64, len(counts))
        order = np.argsort(stems)
        self._holders = np.fromiter(counts.values(), np.int64, len(counts))[order]
        self._stems = stems[order]

    def _read_waiting(self, stemmer: Stemmer) -> None:
        for texts in self._waiting:
            said = " ".join(text for text in texts if text)
            for written in set(stemmer.tokens(said)):
                stem = stem_number(written)
                stem = self._irregular.get(stem, stem)
                self._added[stem] = self._added.get(stem, 0) + 1
        self._waiting = []

    def _number_words(self, stemmer: Stemmer, words: Sequence[str]) -> list[int]:
        known = self._numbers
        try:
            return [known[word] for word in words]
        except KeyError:
            if len(known) > MAX_CACHED_WORDS:
                known.clear()
        return [known[word] if word in known else self._learn(stemmer, word) for word in words]

    def _learn(self, stemmer: Stemmer, word: str) -> int:
        stems = stemmer.stems(word)
        number = self._numbers[word] = stem_number(stems[0]) if len(stems) == 1 else NO_STEM
        return number
