"""Words of memories as postings, and bm25 over them, for engines that rank otherwise than FTS5.

Words are cut by the embedded index's own tokenizer and scored by FTS5's formula with the same
weights, so that every engine finds the same and scores it alike: what recall has learned from
one holds for all. A word stands once more, marked, where pairs of letters stand for words
(`common/text.py`). How postings are kept and fetched is each engine's own matter.
"""

from __future__ import annotations

import hashlib
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import apsw
import numpy as np
from numpy.typing import NDArray

from madeleine.index.analysis import IndexedTexts
from madeleine.index.common.stems import Stemmer, stem_number, stored_forms
from madeleine.index.common.text import COLUMN_WEIGHTS, SearchPhrase, has_unspaced_letter
from madeleine.index.search import IndexedTerm, IndexHit, WordMatches

GRAM_MARK = "="  # before a word that stands among pairs of letters: no word begins so
LAST_CHARACTER = "\U0010ffff"
MAX_TERM_CHARS = 200  # letters of a word that an index of a server can hold with ease
GRAM_COLUMNS = (3, 4)  # columns of `IndexedTexts` that hold pairs of letters
K1, B = 1.2, 0.75  # FTS5's
MIN_IDF = 1e-6  # what FTS5 gives a word that stands in more than half of all

MIN_NODES_PER_FILTER = 1_000  # nodes whose filter is asked about together, at least

CountHolders = Callable[[list[str]], Mapping[str, int]]
"""Returns in how many memories words stand."""
CountBeginning = Callable[[str], int]
"""Returns how many memories hold a letter, by itself or at the beginning of a pair."""
FilterNodes = Callable[[list[int]], Iterable[tuple[int, str]]]
"""Returns those of the nodes that pass a filter, with their ids."""

NO_MATCHES = WordMatches(np.empty(0, np.int64), np.empty(0, np.float32))


class TermTokenizer:
    """Cuts texts into words, in any thread. SQLite's tokenizers belong to a connection, so each
    thread has one of its own, to a database that holds nothing."""

    def __init__(self) -> None:
        self._own = threading.local()
        self._known: dict[str, int] = {}

    @property
    def stemmer(self) -> Stemmer:
        if not hasattr(self._own, "stemmer"):
            self._own.connection = apsw.Connection(":memory:")
            self._own.stemmer = Stemmer(self._own.connection, self._known)
        stemmer: Stemmer = self._own.stemmer
        return stemmer

    def tokens(self, text: str | None) -> list[str]:
        """Return the words of a text as they are kept."""
        return [shorten_term(each) for each in self.stemmer.tokens(text)] if text else []

    def tokenize_phrase(self, part: SearchPhrase) -> list[str]:
        """Return the words of a phrase that is looked for, as they are kept."""
        return [GRAM_MARK + each if part.in_grams else each for each in self.tokens(part.text)]

    def build_postings(self, texts: IndexedTexts) -> MemoryPostings:
        """Return what is kept of a memory's words."""
        found = MemoryPostings()
        for column, text in enumerate(texts):
            for term in self.tokens(text):
                found.add(term, COLUMN_WEIGHTS[column])
                if column in GRAM_COLUMNS:
                    found.weights[GRAM_MARK + term] += COLUMN_WEIGHTS[column]
        return found

    def weight(self, part: SearchPhrase, texts: Sequence[str | None]) -> float:
        """Return how much a phrase weighs in a memory's texts; 0 where it does not stand."""
        phrase = self.tokens(part.text)
        columns = GRAM_COLUMNS if part.in_grams else range(len(COLUMN_WEIGHTS))
        return sum(
            COLUMN_WEIGHTS[each] * _count_phrase(self.tokens(texts[each]), phrase)
            for each in columns
        )


@dataclass(slots=True)
class MemoryPostings:
    """How much each word of a memory weighs, and how many words there are."""

    weights: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    length: int = 0

    def add(self, term: str, weight: float) -> None:
        self.weights[term] += weight
        self.length += 1


def shorten_term(term: str) -> str:
    """Return a word as it is kept: a very long one by its beginning and a hash."""
    if len(term) <= MAX_TERM_CHARS:
        return term
    whole = hashlib.blake2b(term.encode(), digest_size=8).hexdigest()
    return f"{term[:MAX_TERM_CHARS]}#{whole}"


def _count_phrase(words: list[str], phrase: list[str]) -> int:
    """Return how often a phrase stands in a text."""
    size = len(phrase)
    return sum(words[at : at + size] == phrase for at in range(len(words) - size + 1))


@dataclass(slots=True)
class PhrasePostings:
    """Postings of a question's phrases, as columns."""

    part: list[NDArray[np.int64]] = field(default_factory=list)
    node: list[NDArray[np.int64]] = field(default_factory=list)
    weight: list[NDArray[np.float64]] = field(default_factory=list)
    length: list[NDArray[np.float64]] = field(default_factory=list)

    def add(self, part: object, node: object, weight: object, length: object) -> None:
        nodes = np.asarray(node, np.int64)
        self.node.append(nodes)
        self.part.append(np.broadcast_to(np.asarray(part, np.int64), nodes.shape))
        self.weight.append(np.asarray(weight, np.float64))
        self.length.append(np.asarray(length, np.float64))

    def score_bm25(self, memories: int, mean: float) -> WordMatches:
        """Return FTS5's bm25 of each node, given how many memories there are and how many words
        each has in the mean. Parts are added in their order, so that equal ones tie."""
        if not self.node:
            return NO_MATCHES
        part = np.concatenate(self.part)
        order = np.argsort(part, kind="stable")
        part, node = part[order], np.concatenate(self.node)[order]
        weight, length = (np.concatenate(each)[order] for each in (self.weight, self.length))
        hits = np.bincount(part)[part] if len(part) else part
        idf = np.maximum(np.log((memories - hits + 0.5) / (hits + 0.5)), MIN_IDF)
        scores = idf * weight * (K1 + 1) / (weight + K1 * (1 - B + B * length / mean))
        nodes, place = np.unique(node, return_inverse=True)
        return WordMatches(nodes, np.bincount(place, scores, len(nodes)).astype(np.float32))


def posting_columns(rows: Sequence[tuple[int, float, int]]) -> list[Sequence[float]]:
    """Return nodes, weights and lengths, each by itself."""
    return list(zip(*rows, strict=True)) if rows else [(), (), ()]


def look_up_terms(
    cutter: TermTokenizer, words: Sequence[str], holders: CountHolders, begun: CountBeginning
) -> list[tuple[IndexedTerm, ...]]:
    """Return for each word its stems, and in how many memories each of them stands. A letter
    that is a word by itself is held wherever it begins a pair."""
    stemmer = cutter.stemmer
    stems = [list(dict.fromkeys(stemmer.stems(word))) for word in words]
    kept = {
        (word, stem): [shorten_term(each) for each in stored_forms(stemmer, word, stem)]
        for word, its in zip(words, stems, strict=True)
        for stem in its
    }
    known = holders([term for its in kept.values() for term in its])

    def held(word: str, stem: str) -> int:
        if len(stem) == 1 and has_unspaced_letter(stem):
            return begun(stem)
        return sum(known.get(each, 0) for each in kept[word, stem])

    return [
        tuple(IndexedTerm(stem_number(stem), held(word, stem)) for stem in its)
        for word, its in zip(words, stems, strict=True)
    ]


def select_known_words(
    words: Sequence[str], found: Sequence[tuple[IndexedTerm, ...]]
) -> dict[str, IndexedTerm]:
    """Return the words that are one stem, which some memory holds."""
    return {
        word: stems[0]
        for word, stems in zip(words, found, strict=True)
        if len(stems) == 1 and stems[0].holders
    }


def select_best_passing(held: WordMatches, limit: int, passing: FilterNodes) -> list[IndexHit]:
    """Return the best that pass a filter, ties by id. The filter is asked about the best first,
    and about all of them if need be."""
    if limit <= 0 or not len(held.nodes):
        return []
    order = np.argsort(-held.scores, kind="stable")
    nodes, scores = held.nodes[order], held.scores[order]
    hits, start = list[IndexHit](), 0
    while start < len(nodes) and len(hits) < limit:
        end = _find_end_of_ties(scores, start + max(4 * limit, MIN_NODES_PER_FILTER))
        score = dict(zip(nodes[start:end].tolist(), scores[start:end].tolist(), strict=True))
        hits += [IndexHit(memory_id, score[node]) for node, memory_id in passing(list(score))]
        start = end
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]


def _find_end_of_ties(scores: NDArray[np.float32], end: int) -> int:
    """Return where scores end that are as good as the one before `end`."""
    if end >= len(scores):
        return len(scores)
    return int(np.searchsorted(-scores, -scores[end - 1], side="right"))


def select_best(nodes: NDArray[np.int64], scores: NDArray[np.float32], limit: int) -> list[int]:
    """Return the best nodes, with all that tie with the last of them."""
    if len(nodes) > limit:
        nodes = nodes[scores >= np.partition(scores, -limit)[-limit]]
    found: list[int] = nodes.tolist()
    return found
