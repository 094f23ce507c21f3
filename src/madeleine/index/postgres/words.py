"""Words: which are kept of a memory, and what holds those of a question, by bm25.

PostgreSQL's own ranking knows neither how rare a word is nor how long a text, and its words
are cut otherwise than the embedded index cuts them. So each word of each memory is a posting
here, cut by SQLite's tokenizer, and bm25 is worked out with FTS5's own formula: both engines
find the same and score it alike. A word stands once more, marked, where pairs of letters stand
for words (`sqlite/text.py`). A phrase is rare in questions: memories with all of its words are
read, and looked through for it.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import apsw
import numpy as np
from numpy.typing import NDArray

from madeleine.database.access import Access
from madeleine.index.port import Hit, Matches, Term
from madeleine.index.postgres.filters import condition
from madeleine.index.sqlite.nodes import Texts
from madeleine.index.sqlite.spelling import LOOKED_AT
from madeleine.index.sqlite.stems import Stemmer, number_of, spelt
from madeleine.index.sqlite.text import WEIGHTS, Part, is_unspaced, parts_of
from madeleine.model.query import Filter

MARK = "="  # before a word that stands among pairs of letters: no word begins so
LAST = "\U0010ffff"
LONGEST = 200  # letters of a word that an index of PostgreSQL can hold with ease
GRAMS = (3, 4)  # columns of `Texts` that hold pairs of letters
LOOKED_AT_ONCE = 1_000  # nodes whose filter is asked about together, at least
K1, B = 1.2, 0.75  # FTS5's
LEAST_IDF = 1e-6  # what FTS5 gives a word that stands in more than half of all

NOTHING = Matches(np.empty(0, np.int64), np.empty(0, np.float32))

_HITS = """
    SELECT array_agg(a.part - 1), array_agg(p.node), array_agg(p.weight), array_agg(p.length),
           (SELECT memories FROM tallies WHERE tenant = :tenant),
           (SELECT length FROM tallies WHERE tenant = :tenant)
    FROM unnest(%s::text[]) WITH ORDINALITY AS a (term, part)
    JOIN postings p ON p.tenant = :tenant AND p.term = a.term
"""
_BEGINNING = """
    SELECT node, sum(weight), max(length) FROM postings
    WHERE tenant = :tenant AND term >= %s AND term < %s GROUP BY node
"""
_HOLDING_ALL = """
    SELECT t.title, t.content, t.tags, t.title_grams, t.grams, t.said, h.node, h.length
    FROM (SELECT node, max(length) AS length FROM postings
          WHERE tenant = :tenant AND term = ANY(%s::text[])
          GROUP BY node HAVING count(*) = %s) h
    JOIN texts t ON t.tenant = :tenant AND t.node = h.node
"""


class Cutter:
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
        return [_short(each) for each in self.stemmer.tokens(text)] if text else []

    def posted(self, texts: Texts) -> Posted:
        """Return what is kept of a memory's words."""
        found = Posted()
        for column, text in enumerate(texts):
            for term in self.tokens(text):
                found.add(term, WEIGHTS[column])
                if column in GRAMS:
                    found.weights[MARK + term] += WEIGHTS[column]
        return found


@dataclass(slots=True)
class Posted:
    """How much each word of a memory weighs, and how many words there are."""

    weights: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    length: int = 0

    def add(self, term: str, weight: float) -> None:
        self.weights[term] += weight
        self.length += 1


def _short(term: str) -> str:
    if len(term) <= LONGEST:
        return term
    whole = hashlib.blake2b(term.encode(), digest_size=8).hexdigest()
    return f"{term[:LONGEST]}#{whole}"


# --- writing ------------------------------------------------------------------------------


def put_postings(access: Access, posted: Iterable[tuple[int, Posted]]) -> None:
    """Write the words of memories that have none yet."""
    lines, holders = [], Counter[str]()
    for node, each in posted:
        holders.update(_plain(each))
        lines += [
            f"{access.tenant}\t{term}\t{node}\t{weight}\t{each.length}\n"
            for term, weight in each.weights.items()
        ]
    if lines:
        access.copy("COPY postings (tenant, term, node, weight, length) FROM STDIN", "".join(lines))
    _count(access, holders)


def drop_postings(access: Access, posted: Iterable[tuple[int, Posted]]) -> None:
    """Remove the words of memories, as they were written."""
    terms, nodes, holders = list[str](), list[int](), Counter[str]()
    for node, each in posted:
        holders.subtract(_plain(each))
        terms += each.weights
        nodes += [node] * len(each.weights)
    if terms:
        sql = """DELETE FROM postings p USING unnest(%s::text[], %s::bigint[]) AS g (term, node)
                 WHERE p.tenant = :tenant AND p.term = g.term AND p.node = g.node"""
        access.run(sql, terms, nodes)
    _count(access, holders)


def _plain(posted: Posted) -> list[str]:
    return [term for term in posted.weights if not term.startswith(MARK)]


def _count(access: Access, holders: Counter[str]) -> None:
    """Note in how many memories words stand, more or fewer than before."""
    if not holders:
        return
    sql = """INSERT INTO vocabulary SELECT :tenant, * FROM unnest(%s::text[], %s::integer[])
             ON CONFLICT (tenant, term)
             DO UPDATE SET holders = vocabulary.holders + excluded.holders"""
    access.run(sql, list(holders), list(holders.values()))
    if min(holders.values()) < 0:
        sql = """DELETE FROM vocabulary
                 WHERE tenant = :tenant AND term = ANY(%s::text[]) AND holders <= 0"""
        access.run(sql, list(holders))


# --- reading ------------------------------------------------------------------------------


def terms(access: Access, cutter: Cutter, words: Sequence[str]) -> list[tuple[Term, ...]]:
    """Return for each word its stems, and in how many memories each of them stands."""
    stemmer = cutter.stemmer
    stems = [list(dict.fromkeys(stemmer.stems(word))) for word in words]
    kept = {
        (word, stem): [_short(each) for each in spelt(stemmer, word, stem)]
        for word, its in zip(words, stems, strict=True)
        for stem in its
    }
    holders = _holders(access, [term for its in kept.values() for term in its])
    return [
        tuple(Term(number_of(stem), _held(access, stem, kept[word, stem], holders)) for stem in its)
        for word, its in zip(words, stems, strict=True)
    ]


def _holders(access: Access, wanted: list[str]) -> dict[str, int]:
    if not wanted:
        return {}
    sql = "SELECT term, holders FROM vocabulary WHERE tenant = :tenant AND term = ANY(%s::text[])"
    return dict(access.rows(sql, wanted))


def _held(access: Access, stem: str, kept: list[str], holders: dict[str, int]) -> int:
    """Return how many hold a stem. A letter that is a word by itself is held wherever it
    begins a pair."""
    if len(stem) == 1 and is_unspaced(stem):
        sql = """SELECT count(DISTINCT node) FROM postings WHERE tenant = :tenant
                 AND (term = %s OR (term >= %s AND term < %s))"""
        return int(access.value(sql, stem, MARK + stem, MARK + stem + LAST))
    return sum(holders.get(each, 0) for each in kept)


def near(access: Access, first: str, end: str) -> list[tuple[str, int]]:
    """Return the words from one up to another, and how many memories hold each."""
    sql = f"""SELECT term, holders FROM vocabulary
              WHERE tenant = :tenant AND term >= %s AND term < %s LIMIT {LOOKED_AT}"""
    return [(term, holders) for term, holders in access.rows(sql, first, end)]


@dataclass(slots=True)
class _Found:
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


def matches(access: Access, cutter: Cutter, words: Sequence[str]) -> Matches:
    """Return every node that holds any of the words, with its bm25, in no order."""
    found, parts = _Found(), parts_of(words)
    single: dict[int, str] = {}
    if not parts:
        return NOTHING
    for number, part in enumerate(parts):
        tokens = [MARK + each if part.in_grams else each for each in cutter.tokens(part.text)]
        if part.begins and len(tokens) == 1:
            rows = access.rows(_BEGINNING, tokens[0], tokens[0] + LAST)
            found.add(number, *_columns(rows))
        elif len(tokens) == 1:
            single[number] = tokens[0]
        elif tokens:
            found.add(number, *_columns(_phrases(access, cutter, part, tokens)))
    return _scored(found, *_add_single(access, single, found))


def _add_single(access: Access, single: dict[int, str], found: _Found) -> tuple[int, float]:
    """Add what holds the phrases of one word; return how many memories there are, and how many
    words each has in the mean."""
    *columns, memories, length = access.rows(_HITS, list(single.values()))[0]
    if columns[0] is not None:
        numbers = np.array(list(single), np.int64)
        found.add(numbers[columns[0]], *columns[1:])
    return memories or 0, (length or 0) / max(memories or 0, 1) or 1.0


def _columns(rows: Sequence[tuple[int, float, int]]) -> list[Sequence[float]]:
    return list(zip(*rows, strict=True)) if rows else [(), (), ()]


def _phrases(
    access: Access, cutter: Cutter, part: Part, tokens: list[str]
) -> list[tuple[int, float, int]]:
    """Return the nodes in which a phrase stands, how much that weighs, and how long they are."""
    wanted = list(dict.fromkeys(tokens))
    plain = [each.removeprefix(MARK) for each in tokens]
    found = []
    for *texts, node, length in access.rows(_HOLDING_ALL, wanted, len(wanted)):
        columns = [(texts[each], WEIGHTS[each]) for each in GRAMS] if part.in_grams else None
        weight = sum(
            weight * _times(cutter.tokens(text), plain)
            for text, weight in columns or zip(texts, WEIGHTS, strict=True)
        )
        if weight:
            found.append((node, weight, length))
    return found


def _times(words: list[str], phrase: list[str]) -> int:
    """Return how often a phrase stands in a text."""
    size = len(phrase)
    return sum(words[at : at + size] == phrase for at in range(len(words) - size + 1))


def _scored(found: _Found, memories: int, mean: float) -> Matches:
    """Return FTS5's bm25 of each node. Parts are added in their order, so that equal ones tie."""
    if not found.node:
        return NOTHING
    part = np.concatenate(found.part)
    order = np.argsort(part, kind="stable")
    part, node = part[order], np.concatenate(found.node)[order]
    weight, length = (np.concatenate(each)[order] for each in (found.weight, found.length))
    hits = np.bincount(part)[part] if len(part) else part
    idf = np.maximum(np.log((memories - hits + 0.5) / (hits + 0.5)), LEAST_IDF)
    scores = idf * weight * (K1 + 1) / (weight + K1 * (1 - B + B * length / mean))
    nodes, place = np.unique(node, return_inverse=True)
    return Matches(nodes, np.bincount(place, scores, len(nodes)).astype(np.float32))


def search_text(
    access: Access, cutter: Cutter, words: Sequence[str], chosen: Filter, now: datetime, limit: int
) -> list[Hit]:
    """Return the memories that hold any of the words, best first, ties by id. The filter is
    asked about the best first, and about all of them if need be."""
    held = matches(access, cutter, words) if limit > 0 else None
    if held is None or not len(held.nodes):
        return []
    order = np.argsort(-held.scores, kind="stable")
    nodes, scores = held.nodes[order], held.scores[order]
    passing, hits, start = condition(chosen, now), list[Hit](), 0
    sql = f"""SELECT n.node, n.id FROM nodes n WHERE n.tenant = :tenant
              AND n.node = ANY(%s::bigint[]) AND {passing.sql}"""
    while start < len(nodes) and len(hits) < limit:
        end = _after_ties(scores, start + max(4 * limit, LOOKED_AT_ONCE))
        score = dict(zip(nodes[start:end].tolist(), scores[start:end].tolist(), strict=True))
        rows = access.rows(sql, list(score), *passing.bindings)
        hits += [Hit(memory_id, score[node]) for node, memory_id in rows]
        start = end
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]


def _after_ties(scores: NDArray[np.float32], end: int) -> int:
    """Return where scores end that are as good as the one before `end`."""
    if end >= len(scores):
        return len(scores)
    return int(np.searchsorted(-scores, -scores[end - 1], side="right"))
