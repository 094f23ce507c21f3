"""Words: which are kept of a memory, and what holds those of a question, by bm25.

PostgreSQL's own ranking knows neither how rare a word is nor how long a text, and its words
are cut otherwise than the embedded index cuts them. So each word of each memory is a posting
here, cut by SQLite's tokenizer, and bm25 is worked out with FTS5's own formula: both engines
find the same and score it alike. A word stands once more, marked, where pairs of letters stand
for words (`common/text.py`). A phrase is rare in questions: memories with all of its words are
read, and looked through for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import partial

import numpy as np

from madeleine.database.transactions import TenantAccess
from madeleine.index.common import postings
from madeleine.index.common.postings import (
    GRAM_MARK,
    LAST_CHARACTER,
    NO_MATCHES,
    MemoryPostings,
    PhrasePostings,
    TermTokenizer,
    posting_columns,
    select_best_passing,
)
from madeleine.index.common.spelling import MAX_TERMS_SCANNED
from madeleine.index.common.text import SearchPhrase, build_phrases
from madeleine.index.postgres.filters import build_condition
from madeleine.index.search import IndexedTerm, IndexHit, WordMatches
from madeleine.model.query import Filter

_INSERT_POSTINGS = """
    INSERT INTO postings (tenant, term, node, weight, length)
    SELECT :tenant, p.* FROM unnest(%s::text[], %s::bigint[], %s::real[], %s::integer[]) p
"""
_SELECT_HITS = """
    SELECT array_agg(a.part - 1), array_agg(p.node), array_agg(p.weight), array_agg(p.length),
           (SELECT memories FROM tallies WHERE tenant = :tenant),
           (SELECT length FROM tallies WHERE tenant = :tenant)
    FROM unnest(%s::text[]) WITH ORDINALITY AS a (term, part)
    JOIN postings p ON p.tenant = :tenant AND p.term = a.term
"""
_SELECT_BEGINNING = """
    SELECT node, sum(weight), max(length) FROM postings
    WHERE tenant = :tenant AND term >= %s AND term < %s GROUP BY node
"""
_SELECT_HOLDING_ALL = """
    SELECT t.title, t.content, t.tags, t.title_grams, t.grams, t.said, h.node, h.length
    FROM (SELECT node, max(length) AS length FROM postings
          WHERE tenant = :tenant AND term = ANY(%s::text[])
          GROUP BY node HAVING count(*) = %s) h
    JOIN texts t ON t.tenant = :tenant AND t.node = h.node
"""


# --- writing ------------------------------------------------------------------------------


def put_postings(access: TenantAccess, posted: Iterable[tuple[int, MemoryPostings]]) -> None:
    """Write the words of memories that have none yet."""
    rows, holders = list[tuple[str, int, float, int]](), Counter[str]()
    for node, each in posted:
        holders.update(_unmarked_terms(each))
        rows += [(term, node, weight, each.length) for term, weight in each.weights.items()]
    if rows:  # no COPY: it knows no row-level security
        access.run(_INSERT_POSTINGS, *map(list, zip(*rows, strict=True)))
    _update_holders(access, holders)


def drop_postings(access: TenantAccess, posted: Iterable[tuple[int, MemoryPostings]]) -> None:
    """Remove the words of memories, as they were written."""
    terms, nodes, holders = list[str](), list[int](), Counter[str]()
    for node, each in posted:
        holders.subtract(_unmarked_terms(each))
        terms += each.weights
        nodes += [node] * len(each.weights)
    if terms:
        sql = """DELETE FROM postings p USING unnest(%s::text[], %s::bigint[]) AS g (term, node)
                 WHERE p.tenant = :tenant AND p.term = g.term AND p.node = g.node"""
        access.run(sql, terms, nodes)
    _update_holders(access, holders)


def _unmarked_terms(posted: MemoryPostings) -> list[str]:
    return [term for term in posted.weights if not term.startswith(GRAM_MARK)]


def _update_holders(access: TenantAccess, holders: Counter[str]) -> None:
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


def terms(
    access: TenantAccess, cutter: TermTokenizer, words: Sequence[str]
) -> list[tuple[IndexedTerm, ...]]:
    """Return for each word its stems, and in how many memories each of them stands."""
    return postings.look_up_terms(
        cutter, words, partial(_read_holders, access), partial(_count_beginning, access)
    )


def _read_holders(access: TenantAccess, wanted: list[str]) -> dict[str, int]:
    if not wanted:
        return {}
    sql = "SELECT term, holders FROM vocabulary WHERE tenant = :tenant AND term = ANY(%s::text[])"
    return dict(access.rows(sql, wanted))


def _count_beginning(access: TenantAccess, letter: str) -> int:
    sql = """SELECT count(DISTINCT node) FROM postings WHERE tenant = :tenant
             AND (term = %s OR (term >= %s AND term < %s))"""
    return int(access.value(sql, letter, GRAM_MARK + letter, GRAM_MARK + letter + LAST_CHARACTER))


def read_terms_between(access: TenantAccess, first: str, end: str) -> list[tuple[str, int]]:
    """Return the words from one up to another, and how many memories hold each."""
    sql = f"""SELECT term, holders FROM vocabulary
              WHERE tenant = :tenant AND term >= %s AND term < %s LIMIT {MAX_TERMS_SCANNED}"""
    return [(term, holders) for term, holders in access.rows(sql, first, end)]


def find_matches(access: TenantAccess, cutter: TermTokenizer, words: Sequence[str]) -> WordMatches:
    """Return every node that holds any of the words, with its bm25, in no order."""
    found, parts = PhrasePostings(), build_phrases(words)
    single: dict[int, str] = {}
    if not parts:
        return NO_MATCHES
    for number, part in enumerate(parts):
        tokens = cutter.tokenize_phrase(part)
        if part.begins and len(tokens) == 1:
            rows = access.rows(_SELECT_BEGINNING, tokens[0], tokens[0] + LAST_CHARACTER)
            found.add(number, *posting_columns(rows))
        elif len(tokens) == 1:
            single[number] = tokens[0]
        elif tokens:
            found.add(number, *posting_columns(_find_phrase(access, cutter, part, tokens)))
    return found.score_bm25(*_add_single(access, single, found))


def _add_single(
    access: TenantAccess, single: dict[int, str], found: PhrasePostings
) -> tuple[int, float]:
    """Add what holds the phrases of one word; return how many memories there are, and how many
    words each has in the mean."""
    *hits, memories, length = access.rows(_SELECT_HITS, list(single.values()))[0]
    if hits[0] is not None:
        numbers = np.array(list(single), np.int64)
        found.add(numbers[hits[0]], *hits[1:])
    return memories or 0, (length or 0) / max(memories or 0, 1) or 1.0


def _find_phrase(
    access: TenantAccess, cutter: TermTokenizer, part: SearchPhrase, tokens: list[str]
) -> list[tuple[int, float, int]]:
    """Return the nodes in which a phrase stands, how much that weighs, and how long they are."""
    wanted, found = list(dict.fromkeys(tokens)), []
    for *texts, node, length in access.rows(_SELECT_HOLDING_ALL, wanted, len(wanted)):
        weight = cutter.weight(part, texts)
        if weight:
            found.append((node, weight, length))
    return found


def search_text(
    access: TenantAccess,
    cutter: TermTokenizer,
    words: Sequence[str],
    chosen: Filter,
    now: datetime,
    limit: int,
) -> list[IndexHit]:
    """Return the memories that hold any of the words, best first, ties by id."""
    passing = build_condition(chosen, now)
    sql = f"""SELECT n.node, n.id FROM nodes n WHERE n.tenant = :tenant
              AND n.node = ANY(%s::bigint[]) AND {passing.sql}"""
    held = find_matches(access, cutter, words) if limit > 0 else NO_MATCHES
    return select_best_passing(
        held, limit, lambda nodes: access.rows(sql, nodes, *passing.bindings)
    )
