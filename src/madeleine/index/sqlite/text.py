"""Words in FTS5: how they are looked for, and how common they are. What is indexed for a text is in
`common/text.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import apsw
import numpy as np
from numpy.typing import NDArray

from madeleine.index.common.spelling import LOOKED_AT
from madeleine.index.common.stems import Stemmer, number_of, spelt
from madeleine.index.common.text import (
    WEIGHTS,
    Part,
    is_unspaced,
    parts_of,
)
from madeleine.index.search import Hit, Term
from madeleine.index.sqlite.filters import condition
from madeleine.model.query import Filter

_WEIGHTS = ", ".join(map(str, WEIGHTS))


def match_expression(terms: Sequence[str]) -> str:
    """Return the FTS5 query for any of the terms, each quoted; empty if they say nothing."""
    return " OR ".join(map(_expression, parts_of(terms)))


def _expression(part: Part) -> str:
    where = "{title_grams grams} : " if part.in_grams else ""
    return f"{where}{_quoted(part.text)}{' *' if part.begins else ''}"


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'


def matches(
    connection: apsw.Connection, terms: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return every node that holds any of the terms, with its bm25, in no order."""
    wanted = match_expression(terms)
    if not wanted:
        return np.empty(0, np.int64), np.empty(0, np.float32)
    sql = f"SELECT rowid, -bm25(fts, {_WEIGHTS}) FROM fts WHERE fts MATCH ?"
    rows = list(connection.execute(sql, (wanted,)))
    nodes, scores = zip(*rows, strict=True) if rows else ((), ())
    return np.array(nodes, np.int64), np.array(scores, np.float32)


def search_text(
    connection: apsw.Connection, terms: Sequence[str], chosen: Filter, now: datetime, limit: int
) -> list[Hit]:
    """Return the memories that hold any of the terms, best first, ties by id."""
    wanted = match_expression(terms)
    if not wanted or limit <= 0:
        return []
    passing = condition(chosen, now)
    rows = connection.execute(
        f"SELECT n.id, -bm25(fts, {_WEIGHTS}) AS score FROM fts JOIN nodes n ON n.node = fts.rowid "
        f"WHERE fts MATCH ? AND {passing.sql} ORDER BY score DESC, n.id LIMIT ?",
        (wanted, *passing.bindings, limit),
    )
    return [Hit(memory_id, score) for memory_id, score in rows]


def terms(
    connection: apsw.Connection, stemmer: Stemmer, words: Sequence[str]
) -> list[tuple[Term, ...]]:
    """Return for each word its stems, and in how many memories each of them stands. One that
    holds two forms of a word counts twice: for telling rare from common that will do."""
    return [
        tuple(
            Term(number_of(stem), _holders(connection, stemmer, word, stem))
            for stem in dict.fromkeys(stemmer.stems(word))
        )
        for word in words
    ]


def _holders(connection: apsw.Connection, stemmer: Stemmer, word: str, stem: str) -> int:
    if len(stem) == 1 and is_unspaced(stem):
        sql = "SELECT count(*) FROM fts WHERE fts MATCH ?"
        return int(connection.execute(sql, (match_expression([stem]),)).get)
    written = spelt(stemmer, word, stem)
    sql = "SELECT doc FROM fts_words WHERE term = ?"
    return sum(row[0] for each in written for row in connection.execute(sql, (each,)))


_NEAR = f"SELECT term, doc FROM fts_words WHERE term >= ? AND term < ? LIMIT {LOOKED_AT}"


def near(connection: apsw.Connection, first: str, end: str) -> list[tuple[str, int]]:
    return list(connection.execute(_NEAR, (first, end)))
