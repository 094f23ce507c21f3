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
    LAST,
    MARK,
    NOTHING,
    Cutter,
    Posted,
    Postings,
    best_passing,
    columns,
)
from madeleine.index.common.spelling import LOOKED_AT
from madeleine.index.common.text import Part, parts_of
from madeleine.index.search import Hit, Matches, Term
from madeleine.model.query import Filter
from madeleine_falkordb.adapting import at
from madeleine_falkordb.connection import Access
from madeleine_falkordb.filters import condition
from madeleine_falkordb.writing import Writing

_HELD = "indegree(w, 'HOLDS')"
_HOLDING = "WITH w MATCH (w)<-[h:HOLDS]-(m)"


# --- writing ------------------------------------------------------------------------------


def put_postings(writing: Writing, posted: Sequence[tuple[int, Posted]]) -> None:
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


def terms(access: Access, cutter: Cutter, words: Sequence[str]) -> list[tuple[Term, ...]]:
    """Return for each word its stems, and in how many memories each of them stands."""
    return postings.terms(cutter, words, partial(_holders, access), partial(_begun, access))


def _holders(access: Access, wanted: list[str]) -> dict[str, int]:
    if not wanted:
        return {}
    question = "MATCH (w:Word) WHERE w.term IN $wanted"
    return dict(access.rows(question, f"w.term, {_HELD}", wanted=wanted))


def _begun(access: Access, letter: str) -> int:
    question = f"""MATCH (w:Word) WHERE w.term = $letter
                   OR (w.term >= $first AND w.term < $last) {_HOLDING}"""
    values = {"letter": letter, "first": MARK + letter, "last": MARK + letter + LAST}
    return int(access.value(question, "count(DISTINCT m)", **values))


def near(access: Access, first: str, end: str) -> list[tuple[str, int]]:
    """Return the words from one up to another, and how many memories hold each."""
    question = f"""MATCH (w:Word) WHERE w.term >= $first AND w.term < $end
                   WITH w.term AS term, {_HELD} AS held WHERE held > 0
                   WITH term, held LIMIT {LOOKED_AT}"""
    found = access.rows(question, "term, held", first=first, end=end)
    return [(term, held) for term, held in found]


def matches(access: Access, cutter: Cutter, words: Sequence[str]) -> Matches:
    """Return every node that holds any of the words, with its bm25, in no order."""
    found, parts = Postings(), parts_of(words)
    single: dict[str, list[int]] = {}
    if not parts:
        return NOTHING
    for number, part in enumerate(parts):
        tokens = cutter.sought(part)
        if part.begins and len(tokens) == 1:
            found.add(number, *columns(_beginning(access, tokens[0])))
        elif len(tokens) == 1:
            single.setdefault(tokens[0], []).append(number)
        elif tokens:
            found.add(number, *columns(_phrases(access, cutter, part, tokens)))
    _add_single(access, single, found)
    memories, length = access.rows("MATCH (g:Head)", "g.memories, g.length")[0]
    return found.scored(memories, length / max(memories, 1) or 1.0)


def _beginning(access: Access, token: str) -> list[tuple[int, float, int]]:
    question = f"""MATCH (w:Word) WHERE w.term >= $first AND w.term < $last {_HOLDING}
                   WITH m, sum(h.weight) AS weight"""
    rows = access.rows(question, "m.node, weight, m.length", first=token, last=token + LAST)
    return [(node, weight, length) for node, weight, length in rows]


def _add_single(access: Access, single: dict[str, list[int]], found: Postings) -> None:
    """Add what holds the phrases of one word."""
    if not single:
        return
    question = f"""MATCH (w:Word) WHERE w.term IN $terms {_HOLDING}
                   WITH w, collect(m.node) AS nodes, collect(h.weight) AS weights,
                        collect(m.length) AS lengths"""
    for term, *its in access.rows(question, "w.term, nodes, weights, lengths", terms=list(single)):
        for number in single[term]:
            found.add(number, *its)


def _phrases(
    access: Access, cutter: Cutter, part: Part, tokens: list[str]
) -> list[tuple[int, float, int]]:
    """Return the nodes in which a phrase stands, how much that weighs, and how long they are."""
    wanted, found = list(dict.fromkeys(tokens)), []
    question = f"""MATCH (w:Word) WHERE w.term IN $terms {_HOLDING}
                   WITH m, count(w) AS held WHERE held = $all"""
    texts = "m.node, m.length, m.title, m.content, m.tags_text, m.title_grams, m.grams, m.said"
    for node, length, *its in access.rows(question, texts, terms=wanted, all=len(wanted)):
        weight = cutter.weight(part, its)
        if weight:
            found.append((node, weight, length))
    return found


def search_text(
    access: Access, cutter: Cutter, words: Sequence[str], chosen: Filter, now: datetime, limit: int
) -> list[Hit]:
    """Return the memories that hold any of the words, best first, ties by id."""
    held = matches(access, cutter, words) if limit > 0 else NOTHING
    return best_passing(held, limit, lambda nodes: passing(access, nodes, chosen, now))


def passing(
    access: Access, nodes: Sequence[int], chosen: Filter, now: datetime
) -> list[tuple[int, str]]:
    """Return those of the nodes that pass a filter, with their ids."""
    allowed = condition(chosen, now)
    question = f"MATCH (m:Memory) WHERE m.at IN $nodes AND {allowed.cypher}"
    rows = access.rows(question, "m.node, m.id", nodes=at(nodes), **allowed.parameters)
    return [(node, each) for node, each in rows]
