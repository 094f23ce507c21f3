"""Drawing candidates: from words, vectors, ids and recency, with what stands beside them.

All sources are one statement, because each way to the database and back is time in which
somebody waits, and so that all of them see one state. The filter stands in every source (I11);
when it leaves few, all of them are candidates and nothing can be missed. Columns come as
arrays, one place for each passage.

Passages are looked up one by one (`OFFSET 0` keeps the planner from anything else): it cannot
know how few they are, and would read the whole table for them.

What was said before and after is looked up three turns deep on either side of each candidate:
two come along, and the third tells whether those two have a neighbour in the pool themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from madeleine.database.adapters import HalfVector
from madeleine.database.schema import MAX_INDEXED_DIMENSION
from madeleine.database.transactions import TenantAccess
from madeleine.index.common.matrix import NONE
from madeleine.index.common.passage_cache import VersionedPool
from madeleine.index.common.pools import COSINE_DIGITS, MAX_TAGGED, align_text_scores
from madeleine.index.common.postings import TermTokenizer
from madeleine.index.postgres import vector_search, words
from madeleine.index.postgres.filters import build_condition, is_narrow, outdated_condition
from madeleine.index.postgres.vector_search import PostgresSearchPlan
from madeleine.index.search import CandidatePool, CandidateQuery, WordMatches
from madeleine.language.passages import MOST_PASSAGES
from madeleine.model.query import Filter
from madeleine.model.spaces import related_spaces
from madeleine.model.vector import Vector
from madeleine.model.words import Tier

LOOKUP_DEPTH = 3  # turns on either side that are looked up; one less comes along
SPARE_FACTOR = (
    1.25  # times as many of what holds a word are tried, before the filter is asked again
)
RETRY_FACTOR = 4  # times as many are tried then

Numbers = NDArray[np.int64]
Floats = NDArray[np.float32]

_TIER_CASES = " ".join(f"WHEN '{each.value}' THEN {code}" for code, each in enumerate(Tier))
_AGGREGATED_COLUMNS = """
    array_agg(p.node), array_agg(p.part), array_agg(p.allowed), array_agg(p.wide > 0),
    array_agg(p.near), array_agg(p.focus), array_agg(coalesce(p.session, -1)),
    array_agg(p.turn), array_agg(coalesce(p.speaker, -1)), array_agg(p.created),
    array_agg(p.tier),
    array_agg(p.same_space), array_agg(p.outdated), array_agg(p.traits), array_agg(p.capitals),
    array_agg(p.words), array_agg(p.version)
"""
_PASSAGE_COLUMNS = """p.node, p.part, p.type, p.tier, p.space, p.created, p.valid_until,
          p.superseded_by, p.session, p.turn, p.speaker, p.traits, p.capitals, p.words, p.wide,
          p.version, p.vector
"""
_SELECT_ID = "(SELECT n.id FROM nodes n WHERE n.tenant = :tenant AND n.node = p.node)"
# The index orders by turn and time; ids are looked up for the few that the sort has to tell apart.
_SELECT_BESIDE = f"""
    ARRAY(SELECT p.node FROM passages p
          WHERE p.tenant = :tenant AND p.part = 0 AND p.session = t.session
          AND (p.turn, p.created) {{than}}= (t.turn, t.created)
          AND ((p.turn, p.created) {{than}} (t.turn, t.created) OR {_SELECT_ID} {{than}} t.id)
          ORDER BY p.turn {{order}}, p.created {{order}}, {_SELECT_ID} {{order}} LIMIT {{deep}})
"""
_SELECT_BEFORE = _SELECT_BESIDE.format(than="<", order="DESC", deep=LOOKUP_DEPTH)
_SELECT_AFTER = _SELECT_BESIDE.format(than=">", order="", deep=LOOKUP_DEPTH)
_PADDING = ", ".join([str(NONE)] * LOOKUP_DEPTH)
_PADDED_ARRAYS = f"(array_agg(({{}} || ARRAY[{_PADDING}]::bigint[])[1:{LOOKUP_DEPTH}]))"
_SELECT_TALKS = """
    SELECT array_agg(s.session) FROM sessions s WHERE s.tenant = :tenant AND s.talk
    AND s.session IN (SELECT session FROM drawn UNION SELECT session FROM around)
"""
_SELECT_ANY_PART = f"""
    SELECT {_PASSAGE_COLUMNS} FROM {{}} w CROSS JOIN LATERAL
    (SELECT * FROM passages q WHERE q.tenant = :tenant AND q.node = w.node OFFSET 0) p
"""
_SELECT_FIRST_PART = f"""
    SELECT {_PASSAGE_COLUMNS} FROM ({{}}) w (node) CROSS JOIN LATERAL (SELECT * FROM passages q
    WHERE q.tenant = :tenant AND q.node = w.node AND q.part = 0 OFFSET 0) p
"""
_SELECT_OTHERS = f"""
    SELECT unnest(earlier[1:{LOOKUP_DEPTH - 1}] || later[1:{LOOKUP_DEPTH - 1}]) FROM beside
    EXCEPT SELECT node FROM drawn WHERE part = 0
"""
_SELECT_SPOKEN = """
    SELECT h.node FROM unnest(%s::bigint[], %s::real[]) AS h (node, score)
    CROSS JOIN LATERAL (SELECT n.node FROM nodes n
                        WHERE n.tenant = :tenant AND n.node = h.node AND {passing} OFFSET 0) n
    ORDER BY h.score DESC FETCH FIRST {draw} ROWS WITH TIES
"""


class _PoolStatement:
    """SQL that grows together with its bindings."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.bindings: list[object] = []

    def named(self, name: str, sql: str, *bindings: object) -> None:
        """Add a part that others may name."""
        self._parts.append(f"{name} AS MATERIALIZED ({sql})")
        self.bindings.extend(bindings)

    def ending(self, sql: str, *bindings: object) -> str:
        self.bindings.extend(bindings)
        return f"WITH {', '.join(self._parts)} {sql}"


@dataclass(frozen=True, slots=True)
class _PoolQuestion:
    """What a pool is drawn for."""

    wanted: CandidateQuery
    chosen: Filter
    now: datetime
    held: WordMatches
    looking: PostgresSearchPlan
    """`few` are all that pass, if they were counted and can all be compared."""

    @property
    def all_of_them(self) -> bool:
        """Whether so few are known to pass that all are candidates."""
        return self.looking.few is not None and len(self.looking.few) <= self.wanted.draw


@dataclass(frozen=True, slots=True)
class PoolSources:
    """What drawing needs beside the question: `dimension` is 0 without a model, `memories` how
    many there were lately, if that is known."""

    cutter: TermTokenizer
    dimension: int
    exact_up_to: int
    memories: int | None = None

    def plan_search(
        self, access: TenantAccess, wanted: CandidateQuery, chosen: Filter, now: datetime
    ) -> PostgresSearchPlan:
        """Return how to search. What passes a narrow filter is counted, as far as each can be
        compared. Other filters let most through: then it goes by how many there are at all,
        and whichever way is chosen, what is found is the same."""
        most = max(wanted.draw, self.exact_up_to)
        if self.memories is None or is_narrow(chosen):
            return vector_search.plan_search(access, self.dimension, chosen, now, most)
        every = self.memories <= most or self.dimension > MAX_INDEXED_DIMENSION
        return PostgresSearchPlan(self.dimension, build_condition(chosen, now, "p"), None, every)


def pool(
    access: TenantAccess,
    sources: PoolSources,
    wanted: CandidateQuery,
    chosen: Filter,
    now: datetime,
) -> CandidatePool:
    """Return the candidates as columns. The filter is asked about the best of what holds a
    word, and if it refuses too many of them, about more."""
    held = wanted.matches or words.find_matches(access, sources.cutter, wanted.words)
    asked = _PoolQuestion(
        wanted, chosen, now, held, sources.plan_search(access, wanted, chosen, now)
    )
    tried = int(SPARE_FACTOR * wanted.draw)
    while True:
        nodes, scores = _select_best(held.nodes, held.scores, tried)
        *row, spoken = _fetch_columns(access, asked, nodes, scores)
        refused = asked.looking.few is None and spoken < wanted.draw
        if not refused or len(nodes) == len(held.nodes):
            return _build_pool(tuple(row), asked)
        tried *= RETRY_FACTOR


def _select_best(nodes: Numbers, scores: Floats, limit: int) -> tuple[Numbers, Floats]:
    """Return the best, with all that tie with the last of them."""
    if len(nodes) <= limit:
        return nodes, scores
    good = scores >= np.partition(scores, -limit)[-limit]
    return nodes[good], scores[good]


def _fetch_columns(
    access: TenantAccess, asked: _PoolQuestion, nodes: Numbers, scores: Floats
) -> tuple[Any, ...]:
    """Return the columns of the pool, what stands beside, and how many came by a word."""
    statement = _PoolStatement()
    _add_spoken(statement, asked, nodes, scores)
    _add_drawn(statement, asked)
    _add_surroundings(statement)
    return _run_statement(access, statement, asked)


def _add_spoken(
    statement: _PoolStatement, asked: _PoolQuestion, nodes: Numbers, scores: Floats
) -> None:
    """Name the best of what holds a word and passes the filter `spoken`, with all that tie."""
    few, draw = asked.looking.few, asked.wanted.draw
    if few is not None:
        among = np.isin(asked.held.nodes, np.array(few, np.int64))
        best, _ = _select_best(asked.held.nodes[among], asked.held.scores[among], draw)
        chosen = [] if asked.all_of_them else best.tolist()
        statement.named("spoken (node)", "SELECT unnest(%s::bigint[])", chosen)
    else:
        passing = build_condition(asked.chosen, asked.now)
        sql = _SELECT_SPOKEN.format(passing=passing.sql, draw=draw)
        statement.named("spoken", sql, nodes.tolist(), scores.tolist(), *passing.bindings)


def _add_drawn(statement: _PoolStatement, asked: _PoolQuestion) -> None:
    """Name the passages that any source brings `drawn`, some of them more than once."""
    _add_tagged(statement, asked)
    sql, bindings = _all_passing_sql(asked) if asked.all_of_them else _whole_memories_sql(asked)
    statement.named("whole (node)", f"SELECT node FROM spoken UNION {sql}", *bindings)
    parts = [] if asked.all_of_them else list(_iterate_passages_sql(asked))
    statement.named(
        "drawn",
        " UNION ALL ".join([_SELECT_ANY_PART.format("whole"), *(f"({sql})" for sql, _ in parts)]),
        *(each for _, own in parts for each in own),
    )


def _add_tagged(statement: _PoolStatement, asked: _PoolQuestion) -> None:
    """Name the nodes `tagged` that pass and bear the wanted tag; of very many the last."""
    passing = build_condition(asked.chosen, asked.now)
    sql = f"""SELECT n.node, n.created, n.id FROM node_tags t
              JOIN nodes n ON n.tenant = :tenant AND n.node = t.node
              WHERE t.tenant = :tenant AND t.tag = %s::text AND {passing.sql}
              ORDER BY t.node DESC LIMIT {MAX_TAGGED}"""
    statement.named("tagged", sql, asked.wanted.tag, *passing.bindings)


def _all_passing_sql(asked: _PoolQuestion) -> tuple[str, list[object]]:
    return "SELECT unnest(%s::bigint[])", [asked.looking.few]


def _whole_memories_sql(asked: _PoolQuestion) -> tuple[str, list[object]]:
    """Return who comes with all passages: those that are named, who bears the tag, and if only
    few pass, all of these."""
    passing, draw = build_condition(asked.chosen, asked.now), asked.wanted.draw
    sql = f"""SELECT n.node FROM nodes n WHERE n.tenant = :tenant AND n.id = ANY(%s::text[])
              AND {passing.sql}
              UNION (SELECT t.node FROM tagged t ORDER BY t.created DESC, t.id DESC LIMIT {draw})"""
    bindings: list[object] = [list(asked.wanted.ids), *passing.bindings]
    if asked.looking.few is not None:
        return sql, bindings
    some = f"""SELECT n.node FROM nodes n
               WHERE n.tenant = :tenant AND {passing.sql} LIMIT {draw + 1}"""
    sql += f""" UNION SELECT unnest(a.nodes) FROM
                (SELECT array_agg(f.node) AS nodes FROM ({some}) f) a
                WHERE cardinality(a.nodes) <= {draw}"""
    return sql, [*bindings, *passing.bindings]


def _iterate_passages_sql(asked: _PoolQuestion) -> Iterator[tuple[str, list[object]]]:
    """Yield what brings single passages: nearness, and the newest by their first."""
    wanted, looking = asked.wanted, asked.looking
    if wanted.scan is not None and looking.dimension:
        sql, bindings = vector_search.nearest_passages_sql(looking, _PASSAGE_COLUMNS, wanted.draw)
        yield sql, [*bindings, HalfVector(wanted.scan)]
    if wanted.newest:
        passing = build_condition(asked.chosen, asked.now)
        newest = f"""SELECT n.node FROM nodes n WHERE n.tenant = :tenant AND {passing.sql}
                     ORDER BY n.created DESC, n.id DESC LIMIT {wanted.newest}"""
        yield _SELECT_FIRST_PART.format(newest), passing.bindings


def _add_surroundings(statement: _PoolStatement) -> None:
    """Name what was said before and after `beside`, and those of them that no source brought
    `around`."""
    turns = f"""SELECT DISTINCT p.node, p.session, p.turn, p.created, {_SELECT_ID} AS id
                FROM drawn p WHERE p.part = 0 AND p.session IS NOT NULL"""
    statement.named(
        "beside",
        f"SELECT t.node, {_SELECT_BEFORE} AS earlier, {_SELECT_AFTER} AS later FROM ({turns}) t",
    )
    statement.named("around", _SELECT_FIRST_PART.format(_SELECT_OTHERS))


def _run_statement(
    access: TenantAccess, statement: _PoolStatement, asked: _PoolQuestion
) -> tuple[Any, ...]:
    wanted, dimension = asked.wanted, asked.looking.dimension
    passing = build_condition(asked.chosen, asked.now, "p")
    past = outdated_condition(asked.chosen, asked.now, "p")
    near, focus = (_cosine_sql(each, dimension) for each in (wanted.near, wanted.focus))
    chosen = f"""
        SELECT p.node, p.part, p.wide, p.session, p.turn, p.speaker, p.created,
               (CASE p.tier {_TIER_CASES} END)::smallint AS tier,
               p.traits, p.capitals, p.words, p.version, ({passing.sql}) AS allowed,
               ({past.sql}) AS outdated, {near[0]} AS near, {focus[0]} AS focus,
               (%s::text IS NULL OR p.space IS NULL OR p.space = ANY(%s::text[])) AS same_space
        FROM (SELECT * FROM drawn UNION ALL SELECT * FROM around) p"""
    others = ["SELECT array_agg(node) FROM beside"]
    others += [f"SELECT {_PADDED_ARRAYS.format(each)} FROM beside" for each in ("earlier", "later")]
    others += [_SELECT_TALKS, "SELECT array_agg(node) FROM tagged", "SELECT count(*) FROM spoken"]
    also = ", ".join(f"({each})" for each in others)
    own = (*passing.bindings, *past.bindings, *near[1], *focus[1])
    own = (*own, wanted.space, [*related_spaces(wanted.space)])
    sql = statement.ending(f"SELECT {_AGGREGATED_COLUMNS}, {also} FROM ({chosen}) p", *own)
    return access.rows(sql, *statement.bindings)[0]


def _cosine_sql(direction: Vector | None, dimension: int) -> tuple[str, list[object]]:
    """Return SQL for the cosine of a passage with a direction. What half the digits leave of
    the direction is multiplied by itself: quicker than giving each passage all the digits."""
    if direction is None or not dimension:
        return "0::real", []
    coarse = direction.astype(np.float16)
    rest = direction - coarse.astype(np.float32)
    both = "(p.vector <#> %s) + (p.vector <#> %s)"
    sql = f"CASE WHEN p.wide = {dimension} THEN -({both}) ELSE 0 END::real"
    return sql, [HalfVector(coarse), HalfVector(rest)]


def _build_pool(row: tuple[Any, ...], asked: _PoolQuestion) -> CandidatePool:
    arrays = [_to_array(values, kind) for values, kind in zip(row, _COLUMN_DTYPES, strict=True)]
    order = _unique_order(arrays[0], arrays[1])
    own, others = [each[order] for each in arrays[:OWN_COLUMN_COUNT]], arrays[OWN_COLUMN_COUNT:]
    node, part, allowed, embedded, near, focus, session, turn, speaker, created, *own = own
    tier, same_space, passed, traits, capitals, counted, versions = own
    middle, earlier, later, talks, tagged = others
    turns = _build_turn_rows(middle, earlier, later)
    before, after = _find_neighbours(node, part, turns)
    has_vector = embedded & bool(asked.looking.dimension)
    return VersionedPool(
        numbers=node * MOST_PASSAGES + part,
        nodes=node,
        allowed=allowed,
        embedded=has_vector,
        text=np.where(
            allowed, align_text_scores(node, asked.held.nodes, asked.held.scores), np.float32(0)
        ).astype(np.float32),
        near=np.round(near, COSINE_DIGITS),
        focus=np.round(focus, COSINE_DIGITS),
        before=before,
        after=after,
        session=np.where(session != NONE, session, -1 - node),
        talk=np.isin(session, talks),
        turn=turn,
        speaker=speaker,
        created=created,
        tier=tier,
        same_space=same_space,
        outdated=passed,
        tagged=np.isin(node, tagged),
        traits=traits,
        capitals=capitals,
        words=counted,
        versions=versions,
    )


def _unique_order(node: Numbers, part: Numbers) -> Numbers:
    """Return the places of the passages in order, each once: several sources may bring one."""
    order = np.lexsort((part, node))
    number = node[order] * MOST_PASSAGES + part[order]
    return order[np.concatenate(([True], number[1:] != number[:-1]))] if len(order) else order


_COLUMN_DTYPES = (
    *(np.int64, np.int64, np.bool_, np.bool_, np.float32, np.float32, np.int64, np.int32),
    *(np.int32, np.int64, np.uint8, np.bool_, np.bool_, np.uint16, np.uint16, np.int32, np.int64),
    *(np.int64, np.int64, np.int64, np.int64, np.int64),
)


OWN_COLUMN_COUNT = (
    17  # columns of the pool's own places; those after them have lengths of their own
)


def _to_array(values: NDArray[Any] | None, kind: type[np.generic]) -> NDArray[Any]:
    return np.empty(0, kind) if values is None else values.astype(kind, copy=False)


def _build_turn_rows(middle: Numbers, earlier: Numbers, later: Numbers) -> Numbers:
    """Return a row for each candidate of a conversation: what was said, in its order."""
    before, after = (each.reshape(-1, LOOKUP_DEPTH) for each in (earlier, later))
    return np.hstack([before[:, ::-1], middle[:, None], after])


def _find_neighbours(node: Numbers, part: Numbers, turns: Numbers) -> tuple[Numbers, Numbers]:
    """Return for each place of the pool where in it stands what was said before, and after."""
    before = np.full(len(node), NONE, np.int64)
    after = np.full(len(node), NONE, np.int64)
    if len(turns):
        one, other = (
            _find_first_places(node, part, each.ravel()) for each in (turns[:, :-1], turns[:, 1:])
        )
        there = (one != NONE) & (other != NONE)
        after[one[there]] = other[there]
        before[other[there]] = one[there]
    return before, after


def _find_first_places(node: Numbers, part: Numbers, wanted: Numbers) -> Numbers:
    """Return where in the pool the first passages of some nodes stand, or `NONE`."""
    place = np.minimum(np.searchsorted(node, wanted), len(node) - 1)
    return np.where((node[place] == wanted) & (part[place] == 0), place, NONE)


# --- what comparing closely needs ---------------------------------------------------------

_SELECT_PASSAGES = """
    SELECT w.number, p.stems, p.tokens
    FROM unnest(%s::bigint[], %s::bigint[], %s::smallint[]) AS w (number, node, part)
    CROSS JOIN LATERAL (SELECT q.stems, q.tokens FROM passages q WHERE q.tenant = :tenant
                        AND q.node = w.node AND q.part = w.part OFFSET 0) p
"""


def read_passages(access: TenantAccess, numbers: Sequence[int]) -> dict[int, tuple[bytes, bytes]]:
    if not numbers:
        return {}
    nodes = [number // MOST_PASSAGES for number in numbers]
    parts = [number % MOST_PASSAGES for number in numbers]
    rows = access.rows(_SELECT_PASSAGES, list(numbers), nodes, parts)
    return {number: (stems, tokens) for number, stems, tokens in rows}
