"""Words: `(:Word)` nodes that memories hold, and what holds those of a question, by bm25.

FalkorDB's own full text knows no weight for titles, cuts words by other rules and reads signs of
a question as commands. So the words of a memory are nodes of the graph, cut and scored as
`madeleine.index.common.postings` says: every engine finds the same. How many hold a word is how
many arrows end at it. A phrase is rare in questions: memories with all of its words are read, and
looked through for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

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
from madeleine.index.search import IndexedTerm, IndexHit, WordMatches
from madeleine.model.query import Filter
from madeleine_falkordb.connection import GraphAccess
from madeleine_falkordb.encoding import number_keys
from madeleine_falkordb.filters import build_condition
from madeleine_falkordb.writing import FalkorWrite

_HOLDER_COUNT = "indegree(w, 'HOLDS')"
_MATCH_HOLDING = "WITH w MATCH (w)<-[h:HOLDS]-(m)"


# --- writing ------------------------------------------------------------------------------


def put_postings(writing: FalkorWrite, posted: Sequence[tuple[int, MemoryPostings]]) -> None:
    """Write the words of memories that have none yet."""
    terms = dict.fromkeys(term for _, each in posted for term in each.weights)
    writing.statement.each(terms, "MERGE (w:Word {term: r})")
    rows = [
        (str(node), term, weight) for node, each in posted for term, weight in each.weights.items()
    ]
    writing.statement.each(
        rows,
        """MATCH (m:Memory {at: r[0]}) MATCH (w:Word {term: r[1]})
           CREATE (m)-[:HOLDS {weight: r[2]}]->(w)""",
    )


# --- reading ------------------------------------------------------------------------------


def terms(
    access: GraphAccess, cutter: TermTokenizer, words: Sequence[str]
) -> list[tuple[IndexedTerm, ...]]:
    """Return for each word its stems, and in how many memories each of them stands."""
    return postings.look_up_terms(
        cutter, words, partial(_read_holders, access), partial(_count_beginning, access)
    )


def _read_holders(access: GraphAccess, wanted: list[str]) -> dict[str, int]:
    if not wanted:
        return {}
    question = "MATCH (w:Word) WHERE w.term IN $wanted"
    return dict(access.rows(question, f"w.term, {_HOLDER_COUNT}", wanted=wanted))


def _count_beginning(access: GraphAccess, letter: str) -> int:
    question = f"""MATCH (w:Word) WHERE w.term = $letter
                   OR (w.term >= $first AND w.term < $last) {_MATCH_HOLDING}"""
    values = {
        "letter": letter,
        "first": GRAM_MARK + letter,
        "last": GRAM_MARK + letter + LAST_CHARACTER,
    }
    return int(access.value(question, "count(DISTINCT m)", **values))


def read_terms_between(access: GraphAccess, first: str, end: str) -> list[tuple[str, int]]:
    """Return the words from one up to another, and how many memories hold each."""
    question = f"""MATCH (w:Word) WHERE w.term >= $first AND w.term < $end
                   WITH w.term AS term, {_HOLDER_COUNT} AS held WHERE held > 0
                   WITH term, held LIMIT {MAX_TERMS_SCANNED}"""
    found = access.rows(question, "term, held", first=first, end=end)
    return [(term, held) for term, held in found]


def find_matches(access: GraphAccess, cutter: TermTokenizer, words: Sequence[str]) -> WordMatches:
    """Return every node that holds any of the words, with its bm25, in no order."""
    found, parts = PhrasePostings(), build_phrases(words)
    single: dict[str, list[int]] = {}
    if not parts:
        return NO_MATCHES
    for number, part in enumerate(parts):
        tokens = cutter.tokenize_phrase(part)
        if part.begins and len(tokens) == 1:
            found.add(number, *posting_columns(_find_beginning(access, tokens[0])))
        elif len(tokens) == 1:
            single.setdefault(tokens[0], []).append(number)
        elif tokens:
            found.add(number, *posting_columns(_find_phrase(access, cutter, part, tokens)))
    _add_single(access, single, found)
    memories, length = access.rows("MATCH (g:Head)", "g.memories, g.length")[0]
    return found.score_bm25(memories, length / max(memories, 1) or 1.0)


def _find_beginning(access: GraphAccess, token: str) -> list[tuple[int, float, int]]:
    question = f"""MATCH (w:Word) WHERE w.term >= $first AND w.term < $last {_MATCH_HOLDING}
                   WITH m, sum(h.weight) AS weight"""
    rows = access.rows(
        question, "m.node, weight, m.length", first=token, last=token + LAST_CHARACTER
    )
    return [(node, weight, length) for node, weight, length in rows]


def _add_single(access: GraphAccess, single: dict[str, list[int]], found: PhrasePostings) -> None:
    """Add what holds the phrases of one word."""
    if not single:
        return
    question = f"""MATCH (w:Word) WHERE w.term IN $terms {_MATCH_HOLDING}
                   WITH w, collect(m.node) AS nodes, collect(h.weight) AS weights,
                        collect(m.length) AS lengths"""
    for term, *its in access.rows(question, "w.term, nodes, weights, lengths", terms=list(single)):
        for number in single[term]:
            found.add(number, *its)


def _find_phrase(
    access: GraphAccess, cutter: TermTokenizer, part: SearchPhrase, tokens: list[str]
) -> list[tuple[int, float, int]]:
    """Return the nodes in which a phrase stands, how much that weighs, and how long they are."""
    wanted, found = list(dict.fromkeys(tokens)), []
    question = f"""MATCH (w:Word) WHERE w.term IN $terms {_MATCH_HOLDING}
                   WITH m, count(w) AS held WHERE held = $all"""
    texts = "m.node, m.length, m.title, m.content, m.tags_text, m.title_grams, m.grams, m.said"
    for node, length, *its in access.rows(question, texts, terms=wanted, all=len(wanted)):
        weight = cutter.weight(part, its)
        if weight:
            found.append((node, weight, length))
    return found


def search_text(
    access: GraphAccess,
    cutter: TermTokenizer,
    words: Sequence[str],
    chosen: Filter,
    now: datetime,
    limit: int,
) -> list[IndexHit]:
    """Return the memories that hold any of the words, best first, ties by id."""
    held = find_matches(access, cutter, words) if limit > 0 else NO_MATCHES
    return select_best_passing(
        held, limit, lambda nodes: select_passing(access, nodes, chosen, now)
    )


def select_passing(
    access: GraphAccess, nodes: Sequence[int], chosen: Filter, now: datetime
) -> list[tuple[int, str]]:
    """Return those of the nodes that pass a filter, with their ids."""
    allowed = build_condition(chosen, now)
    question = f"MATCH (m:Memory) WHERE m.at IN $nodes AND {allowed.cypher}"
    rows = access.rows(question, "m.node, m.id", nodes=number_keys(nodes), **allowed.parameters)
    return [(node, each) for node, each in rows]
