"""Words in FTS5: how they are looked for, and how common they are. What is indexed for a text is in
`common/text.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import apsw
import numpy as np
from numpy.typing import NDArray

from madeleine.index.common.spelling import MAX_TERMS_SCANNED
from madeleine.index.common.stems import Stemmer, stem_number, stored_forms
from madeleine.index.common.text import (
    COLUMN_WEIGHTS,
    SearchPhrase,
    build_phrases,
    has_unspaced_letter,
)
from madeleine.index.search import IndexedTerm, IndexHit
from madeleine.index.sqlite.filters import build_condition
from madeleine.index.sqlite.vocabulary import Vocabulary
from madeleine.model.query import Filter

_BM25_WEIGHTS = ", ".join(map(str, COLUMN_WEIGHTS))


def build_match_expression(terms: Sequence[str]) -> str:
    """Return the FTS5 query for any of the terms, each quoted; empty if they say nothing."""
    return " OR ".join(map(_render_phrase, build_phrases(terms)))


def _render_phrase(part: SearchPhrase) -> str:
    where = "{title_grams grams} : " if part.in_grams else ""
    return f"{where}{_quote_term(part.text)}{' *' if part.begins else ''}"


def _quote_term(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'


def find_matches(
    connection: apsw.Connection, terms: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return every node that holds any of the terms, with its bm25, in no order."""
    wanted = build_match_expression(terms)
    if not wanted:
        return np.empty(0, np.int64), np.empty(0, np.float32)
    sql = f"SELECT rowid, -bm25(fts, {_BM25_WEIGHTS}) FROM fts WHERE fts MATCH ?"
    rows = list(connection.execute(sql, (wanted,)))
    nodes, scores = zip(*rows, strict=True) if rows else ((), ())
    return np.array(nodes, np.int64), np.array(scores, np.float32)


def search_text(
    connection: apsw.Connection, terms: Sequence[str], chosen: Filter, now: datetime, limit: int
) -> list[IndexHit]:
    """Return the memories that hold any of the terms, best first, ties by id."""
    wanted = build_match_expression(terms)
    if not wanted or limit <= 0:
        return []
    passing = build_condition(chosen, now)
    rows = connection.execute(
        f"SELECT n.id, -bm25(fts, {_BM25_WEIGHTS}) AS score FROM fts "
        f"JOIN nodes n ON n.node = fts.rowid WHERE fts MATCH ? AND {passing.sql} "
        f"ORDER BY score DESC, n.id LIMIT ?",
        (wanted, *passing.bindings, limit),
    )
    return [IndexHit(memory_id, score) for memory_id, score in rows]


def terms(
    connection: apsw.Connection, stemmer: Stemmer, words: Sequence[str], vocabulary: Vocabulary
) -> list[tuple[IndexedTerm, ...]]:
    """Return for each word its stems, and in how many memories each of them stands. One that
    holds two forms of a word counts twice: for telling rare from common that will do."""
    stems = [list(dict.fromkeys(stemmer.stems(word))) for word in words]
    numbers = {stem: stem_number(stem) for its in stems for stem in its}
    there = vocabulary.may_hold(connection, stemmer, list(numbers.values()))
    held = {stem for stem, may_stand in zip(numbers, there, strict=True) if may_stand}

    def count(word: str, stem: str) -> int:
        if stem in held or not stem.isascii():
            return _count_holders(connection, stemmer, word, stem)
        return 0

    return [
        tuple(IndexedTerm(numbers[stem], count(word, stem)) for stem in its)
        for word, its in zip(words, stems, strict=True)
    ]


def known_words(
    connection: apsw.Connection, stemmer: Stemmer, words: Sequence[str], vocabulary: Vocabulary
) -> dict[str, IndexedTerm]:
    """Return those of the words that stand somewhere, and in how many memories. The vocabulary
    tells the few that may, the index itself how often: an answer is the same after a rebuild."""
    found: dict[str, IndexedTerm] = {}
    for word, term in vocabulary.known_words(connection, stemmer, words).items():
        (stem,) = stemmer.stems(word)
        if holders := _count_holders(connection, stemmer, word, stem):
            found[word] = IndexedTerm(term.stem, holders)
    return found


def _count_holders(connection: apsw.Connection, stemmer: Stemmer, word: str, stem: str) -> int:
    if len(stem) == 1 and has_unspaced_letter(stem):
        sql = "SELECT count(*) FROM fts WHERE fts MATCH ?"
        return int(connection.execute(sql, (build_match_expression([stem]),)).get)
    written = stored_forms(stemmer, word, stem)
    sql = "SELECT doc FROM fts_words WHERE term = ?"
    return sum(row[0] for each in written for row in connection.execute(sql, (each,)))


_SELECT_TERMS_BETWEEN = (
    "SELECT CAST(term AS BLOB), doc FROM fts_words WHERE term >= ? AND term < ? "
    f"LIMIT {MAX_TERMS_SCANNED}"
)


def read_terms_between(connection: apsw.Connection, first: str, end: str) -> list[tuple[str, int]]:
    found = connection.execute(_SELECT_TERMS_BETWEEN, (first, end))
    return [(term.decode("utf-8", "replace"), holders) for term, holders in found]
