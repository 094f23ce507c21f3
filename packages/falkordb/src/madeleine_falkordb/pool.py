"""Drawing candidates: from words, vectors, ids and recency, with what stands beside them.

The filter stands in every source (I11); when it leaves few, all of them are candidates and
nothing can be missed. A candidate is a passage, by its number. What was said before and after
comes along two turns deep on either side, from the packed tables of conversations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from madeleine.index.common.matrix import MIN_TALKERS, NONE, multiply_on_one_thread
from madeleine.index.common.passage_cache import VersionedPool
from madeleine.index.common.passages import TIER_CODES
from madeleine.index.common.pools import COSINE_DIGITS, MAX_TAGGED, align_text_scores
from madeleine.index.common.postings import TermTokenizer, select_best
from madeleine.index.common.times import DAY_MICROS, to_micros
from madeleine.index.search import CandidatePool, CandidateQuery, WordMatches
from madeleine.language.passages import MOST_PASSAGES
from madeleine.model.query import Filter
from madeleine.model.spaces import related_spaces
from madeleine.model.vector import Vector
from madeleine_falkordb import vector_search, words
from madeleine_falkordb.connection import GraphAccess, GraphRow
from madeleine_falkordb.encoding import decode_bytes, hash_key, number_keys
from madeleine_falkordb.filters import build_condition, outdated_condition
from madeleine_falkordb.passages import read_conversations
from madeleine_falkordb.vector_search import FalkorSearchPlan, VectorSpace

NEW_DAYS = (30, 365, 1_000_000)
NEIGHBOUR_DEPTH = 2  # turns on either side that come along
SPARE_FACTOR = 2  # times as many of what holds a word are tried, before the filter is asked again

Numbers = NDArray[np.int64]
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _PoolQuestion:
    """What a pool is drawn for."""

    space: VectorSpace
    wanted: CandidateQuery
    chosen: Filter
    now: datetime
    held: WordMatches
    looking: FalkorSearchPlan
    tagged: list[int]
    """Nodes that pass and bear the wanted tag; of very many the last."""

    @property
    def all_of_them(self) -> list[int] | None:
        """All that pass, if they are so few that all are candidates."""
        few = self.looking.few
        return few if few is not None and len(few) <= self.wanted.draw else None


def pool(
    space: VectorSpace, cutter: TermTokenizer, wanted: CandidateQuery, chosen: Filter, now: datetime
) -> CandidatePool:
    """Return the candidates as columns."""
    access = space.access
    held = wanted.matches or words.find_matches(access, cutter, wanted.words)
    looking = vector_search.plan_search(space, chosen, now, wanted.draw)
    asked = _PoolQuestion(
        space, wanted, chosen, now, held, looking, _find_tagged(access, wanted, chosen, now)
    )
    whole, single = _draw_passages(asked)
    rows = _read_places(asked, whole, single)
    sessions = {row[_SESSION_COLUMN] for row in rows} - {None}
    turns = read_conversations(access, sorted(sessions))
    beside = _find_beside(rows, turns)
    rows += _read_places(asked, [], sorted(beside - {row[0] for row in rows}))
    return _build_pool(asked, sorted(rows, key=lambda row: row[0]), turns)


def _find_tagged(
    access: GraphAccess, wanted: CandidateQuery, chosen: Filter, now: datetime
) -> list[int]:
    if wanted.tag is None:
        return []
    passing = build_condition(chosen, now)
    question = f"""MATCH (m:Memory) WHERE $tag IN m.tag_keys AND {passing.cypher}
                   WITH m ORDER BY m.node DESC LIMIT {MAX_TAGGED}"""
    return access.column(question, "m.node", tag=hash_key(wanted.tag), **passing.parameters)


def _draw_passages(asked: _PoolQuestion) -> tuple[list[int], list[int]]:
    """Return the nodes that come with all their passages, and single passages by number."""
    if asked.all_of_them is not None:
        return asked.all_of_them, []
    wanted, access = asked.wanted, asked.space.access
    whole = {*_find_spoken(asked), *_find_named(asked), *_find_newest_tagged(asked)}
    single = [node * MOST_PASSAGES for node in _find_newest(access, asked)]
    if wanted.scan is not None and asked.space.vectors.dimension:
        single += _find_nearest(asked, wanted.scan)
    return sorted(whole), single


def _find_nearest(asked: _PoolQuestion, scan: Vector) -> list[int]:
    """Return the nearest passages, with all that tie with the last of them."""
    draw = asked.wanted.draw
    found = vector_search.find_nearest_passages(asked.looking, scan, draw)
    if len(found) > draw:
        last = sorted((score for _, score in found), reverse=True)[draw - 1]
        found = [each for each in found if each[1] >= last]
    return [row[0] * MOST_PASSAGES + row[2] for row, _ in found]


def _find_spoken(asked: _PoolQuestion) -> list[int]:
    """Return the best of what holds a word and passes the filter, with all that tie."""
    nodes, scores, draw = asked.held.nodes, asked.held.scores, asked.wanted.draw
    if asked.looking.few is not None:
        passing = np.isin(nodes, np.array(asked.looking.few, np.int64))
        return select_best(nodes[passing], scores[passing], draw)
    tried = SPARE_FACTOR * draw
    while True:
        some = select_best(nodes, scores, tried)
        allowed = words.select_passing(asked.space.access, some, asked.chosen, asked.now)
        passing = np.isin(nodes, np.array([node for node, _ in allowed], np.int64))
        if int(passing.sum()) >= draw or len(some) == len(nodes):
            return select_best(nodes[passing], scores[passing], draw)
        tried *= 2 * SPARE_FACTOR


def _find_named(asked: _PoolQuestion) -> list[int]:
    """Return those that are named and pass."""
    if not asked.wanted.ids:
        return []
    passing = build_condition(asked.chosen, asked.now)
    question = f"MATCH (m:Memory) WHERE m.id IN $ids AND {passing.cypher}"
    ids = list(asked.wanted.ids)
    return asked.space.access.column(question, "m.node", ids=ids, **passing.parameters)


def _find_newest_tagged(asked: _PoolQuestion) -> list[int]:
    question = """MATCH (m:Memory) WHERE m.at IN $nodes
                  WITH m ORDER BY m.created DESC, m.id DESC LIMIT $limit"""
    listed = {"nodes": number_keys(asked.tagged), "limit": asked.wanted.draw}
    return asked.space.access.column(question, "m.node", **listed) if asked.tagged else []


def _find_newest(access: GraphAccess, asked: _PoolQuestion) -> list[int]:
    """Return the newest that pass. They are put in order, so it is tried with those of the last
    month and year before all of them are."""
    limit, found = asked.wanted.newest, list[int]()
    passing = build_condition(asked.chosen, asked.now)
    question = f"""MATCH (m:Memory) WHERE m.created >= $since AND {passing.cypher}
                   WITH m ORDER BY m.created DESC, m.id DESC LIMIT $limit"""
    for days in NEW_DAYS if limit else ():
        since = to_micros(asked.chosen.as_of or asked.now) - days * DAY_MICROS
        values = {"since": since, "limit": limit, **passing.parameters}
        found = access.column(question, "m.node", **values)
        if len(found) == limit:
            break
    return found


# --- what stands at each place ------------------------------------------------------------

_PLACE_COLUMNS = """p.number, m.node, m.session, m.turn, m.speaker, m.created, m.tier, m.space,
            p.traits, p.capitals, p.words, p.version, p.point"""
_SESSION_COLUMN = 2


def _read_places(
    asked: _PoolQuestion, nodes: Sequence[int], numbers: Sequence[int]
) -> list[GraphRow]:
    """Return what is kept of all passages of nodes, and of single ones, each once."""
    passing, past = (
        build_condition(asked.chosen, asked.now),
        outdated_condition(asked.chosen, asked.now),
    )
    columns = f"{_PLACE_COLUMNS}, coalesce({passing.cypher}, false), coalesce({past.cypher}, false)"
    values = {**passing.parameters, **past.parameters}
    access, found = asked.space.access, dict[int, GraphRow]()
    whole = "UNWIND $wanted AS each MATCH (m:Memory {at: each}) WITH m MATCH (m)-[:PART]->(p)"
    single = "UNWIND $wanted AS each MATCH (p:Passage {at: each}) WITH p MATCH (p)<-[:PART]-(m)"
    for question, wanted in ((whole, nodes), (single, numbers)):
        if wanted:
            rows = access.rows(question, columns, wanted=number_keys(wanted), **values)
            found.update((row[0], row) for row in rows)
    return list(found.values())


def _find_beside(rows: Sequence[GraphRow], turns: dict[int, Numbers]) -> set[int]:
    """Return the first passages of what was said around each first passage."""
    found: set[int] = set()
    for session, its in _group_by_session(rows).items():
        order = turns[session][:, 2].tolist() if session in turns else []
        places = {node: place for place, node in enumerate(order)}
        for node in its:
            at = places.get(node)
            if at is not None:
                found.update(order[max(at - NEIGHBOUR_DEPTH, 0) : at + NEIGHBOUR_DEPTH + 1])
    return {node * MOST_PASSAGES for node in found}


def _group_by_session(rows: Sequence[GraphRow]) -> dict[int, list[int]]:
    """Return the nodes whose first passage is there, by their conversation."""
    found: dict[int, list[int]] = {}
    for row in rows:
        if row[_SESSION_COLUMN] is not None and row[0] % MOST_PASSAGES == 0:
            found.setdefault(row[_SESSION_COLUMN], []).append(row[1])
    return found


def _build_pool(
    asked: _PoolQuestion, rows: Sequence[GraphRow], turns: dict[int, Numbers]
) -> CandidatePool:
    columns: list[Sequence[Any]] = list(zip(*rows, strict=True)) if rows else [()] * 15
    number, node, session, turn, speaker, created, tier, space, *own = columns
    traits, capitals, counted, version, point, allowed, passed = own
    nodes = np.array(node, np.int64)
    sessions = np.array([NONE if each is None else each for each in session], np.int64)
    before, after = _find_neighbours(rows, turns)
    embedded = np.array([each is not None for each in point], np.bool_)
    embedded &= bool(asked.space.vectors.dimension)
    near, focus = _compute_cosines(asked, point, embedded)
    may = np.array(allowed, np.bool_)
    text = align_text_scores(nodes, asked.held.nodes, asked.held.scores)
    return VersionedPool(
        numbers=np.array(number, np.int64),
        nodes=nodes,
        allowed=may,
        embedded=embedded,
        text=np.where(may, text, np.float32(0)).astype(np.float32),
        near=near,
        focus=focus,
        before=before,
        after=after,
        session=np.where(sessions != NONE, sessions, -1 - nodes),
        talk=np.isin(sessions, [each for each, its in turns.items() if _has_several_speakers(its)]),
        turn=np.array(turn, np.int32),
        speaker=np.array([NONE if each is None else each for each in speaker], np.int32),
        created=np.array(created, np.int64),
        tier=np.array([TIER_CODES[each] for each in tier], np.uint8),
        same_space=np.array(_are_same_space(asked.wanted.space, space), np.bool_),
        outdated=np.array(passed, np.bool_),
        tagged=np.isin(nodes, np.array(asked.tagged, np.int64)),
        traits=np.array(traits, np.uint16),
        capitals=np.array(capitals, np.uint16),
        words=np.array(counted, np.int32),
        versions=np.array(version, np.int64),
    )


def _find_neighbours(
    rows: Sequence[GraphRow], turns: dict[int, Numbers]
) -> tuple[Numbers, Numbers]:
    """Return for each place of the pool where in it stands what was said before, and after."""
    before = np.full(len(rows), NONE, np.int64)
    after = np.full(len(rows), NONE, np.int64)
    places = {row[0]: place for place, row in enumerate(rows)}
    for session in _group_by_session(rows):
        order = turns[session][:, 2].tolist() if session in turns else []
        there = [places.get(node * MOST_PASSAGES, NONE) for node in order]
        for one, other in pairwise(there):
            if one != NONE and other != NONE:
                after[one], before[other] = other, one
    return before, after


def _has_several_speakers(turns: Numbers) -> bool:
    """Whether at least two speak."""
    speakers = turns[:, 3]
    return len(np.unique(speakers[speakers != NONE])) >= MIN_TALKERS


def _are_same_space(own: str | None, spaces: Sequence[str | None]) -> list[bool]:
    mine = (None, *related_spaces(own))
    return [own is None or each in mine for each in spaces]


def _compute_cosines(
    asked: _PoolQuestion, points: Sequence[int | None], embedded: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Return the cosines with both directions, rounded so that equal vectors tie."""
    directions = (asked.wanted.near, asked.wanted.focus)
    found = [np.zeros(len(points), np.float32) for _ in directions]
    if embedded.any() and any(each is not None for each in directions):
        known = [each for each, there in zip(points, embedded, strict=True) if there and each]
        matrix = asked.space.vectors.read(asked.looking.head, known)
        for column, direction in zip(found, directions, strict=True):
            if direction is not None:
                column[embedded] = np.round(
                    multiply_on_one_thread(matrix, direction), COSINE_DIGITS
                )
    return found[0], found[1]


# --- what comparing closely needs ---------------------------------------------------------


def read_passages(access: GraphAccess, numbers: Sequence[int]) -> dict[int, tuple[bytes, bytes]]:
    """Return stems and tokens of passages."""
    if not numbers:
        return {}
    question = "UNWIND $numbers AS each MATCH (p:Passage {at: each})"
    rows = access.rows(question, "p.number, p.stems, p.tokens", numbers=number_keys(numbers))
    return {number: (decode_bytes(stems), decode_bytes(tokens)) for number, stems, tokens in rows}
