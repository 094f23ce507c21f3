"""Drawing candidates: from words, vectors, ids and recency, with what stands beside them.

Everything here is done on columns, because a question has hundreds of candidates and its
asker waits. The filter is a mask over all rows, so no source can let a foreign memory in
(I11); when it leaves few, all of them are candidates and nothing can be missed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

import apsw
import numpy as np
from numpy.typing import NDArray

from madeleine.index.common.matrix import (
    NONE,
    Mask,
    Matrix,
    MatrixSnapshot,
    Rows,
    multiply_on_one_thread,
)
from madeleine.index.common.pools import (
    COSINE_DIGITS,
    MAX_CACHED_BYTES,
    MAX_TAGGED,
    Floats,
    align_text_scores,
    join_details,
)
from madeleine.index.search import CandidatePool, CandidateQuery, PassageDetails, WordMatches
from madeleine.index.sqlite import text
from madeleine.index.sqlite.vectors import TraceOptions, mask_allowed, mask_outdated
from madeleine.language.passages import MOST_PASSAGES
from madeleine.model.embedding import TokenKeeper
from madeleine.model.query import Filter
from madeleine.model.spaces import related_spaces
from madeleine.model.vector import Vector
from madeleine.rules.passage_context import join_places

_POOL_COLUMNS = (
    *("node", "part", "embedded", "session", "turn", "speaker", "created", "tier", "space"),
    *("traits", "capitals", "words"),
)


@dataclass(frozen=True, slots=True)
class _PoolRows:
    """The rows that make the pool."""

    matrix: Matrix
    snapshot: MatrixSnapshot
    rows: Rows
    allowed: Mask
    wanted: CandidateQuery


@dataclass(frozen=True, slots=True)
class _WordRows:
    """Rows that hold a word, and how well by bm25."""

    rows: Rows
    scores: Floats


def pool(
    connection: apsw.Connection,
    matrix: Matrix,
    wanted: CandidateQuery,
    chosen: Filter,
    now: datetime,
) -> CandidatePool:
    """Return the candidates as columns."""
    snapshot = matrix.snapshot
    mask = mask_allowed(connection, matrix, snapshot, chosen, now)
    found = _find_by_words(connection, snapshot, mask, wanted)
    tagged = _find_tagged(connection, snapshot, mask, wanted)
    drawn = _draw_rows(connection, snapshot, mask, found, tagged, wanted)
    rows = _add_neighbours(snapshot, drawn)
    view = _PoolRows(matrix, snapshot, rows, mask[rows], wanted)
    passed = mask_outdated(snapshot, chosen, now, rows)
    return _build_pool(view, found, tagged, passed)


def _find_by_words(
    connection: apsw.Connection, snapshot: MatrixSnapshot, mask: Mask, wanted: CandidateQuery
) -> _WordRows:
    held = wanted.matches or WordMatches(*text.find_matches(connection, wanted.words))
    nodes, scores = held.nodes, held.scores
    rows = snapshot.rows_of(nodes)
    passing = (rows != NONE) & mask[rows] if len(mask) else np.zeros(len(rows), np.bool_)
    return _WordRows(rows[passing], scores[passing])


def _find_tagged(
    connection: apsw.Connection, snapshot: MatrixSnapshot, mask: Mask, wanted: CandidateQuery
) -> NDArray[np.int64]:
    """Return the nodes that pass and bear the wanted tag, of very many those that came last."""
    found = np.empty(0, np.int64)
    if wanted.tag is None or not len(mask):
        return found
    sql = "SELECT node FROM node_tags WHERE tag = ? ORDER BY node DESC"
    bearing = (node for (node,) in connection.execute(sql, (wanted.tag,)))
    while len(found) < MAX_TAGGED:
        some = np.fromiter(islice(bearing, MAX_TAGGED), np.int64)
        if not len(some):
            break
        passing = _select_passing(snapshot, mask, some)
        found = np.concatenate([found, snapshot.column("node")[passing]])
    return found[:MAX_TAGGED]


def _draw_rows(
    connection: apsw.Connection,
    snapshot: MatrixSnapshot,
    mask: Mask,
    found: _WordRows,
    tagged: NDArray[np.int64],
    wanted: CandidateQuery,
) -> Rows:
    """Return the rows that any source brings."""
    few = np.flatnonzero(mask)
    if len(few) <= wanted.draw:
        return few
    named = _select_passing(snapshot, mask, np.array(_find_nodes(connection, wanted.ids), np.int64))
    bearing = _select_newest(
        connection, snapshot, _select_passing(snapshot, mask, tagged), wanted.draw
    )
    spoken = np.concatenate([_select_best(found, wanted.draw), named, bearing])
    drawn = [_add_other_passages(snapshot, spoken)]
    if wanted.scan is not None and snapshot.arrays.matrix.shape[1]:
        seen = mask & snapshot.column("embedded")
        drawn.append(snapshot.likely(wanted.scan, seen, wanted.draw))
    if wanted.newest:
        drawn.append(_select_newest(connection, snapshot, few, wanted.newest))
    return join_places(snapshot.count, drawn)


def _select_best(found: _WordRows, limit: int) -> Rows:
    if len(found.rows) <= limit:
        return found.rows
    least = np.partition(found.scores, -limit)[-limit]
    best: Rows = found.rows[found.scores >= least]
    return best


def _find_nodes(connection: apsw.Connection, ids: Sequence[str]) -> list[int]:
    if not ids:
        return []
    sql = "SELECT node FROM nodes WHERE id IN (SELECT value FROM json_each(?))"
    return [node for (node,) in connection.execute(sql, (json.dumps(list(ids)),))]


def _select_passing(snapshot: MatrixSnapshot, mask: Mask, nodes: NDArray[np.int64]) -> Rows:
    rows = snapshot.rows_of(nodes)
    passing: Rows = rows[(rows != NONE) & mask[rows]]
    return passing


def _add_other_passages(snapshot: MatrixSnapshot, rows: Rows) -> Rows:
    """Return first passages with the others of their memories: a word is found in a memory,
    and which passage holds it is not known yet."""
    part = snapshot.column("part")
    found, last = [rows], rows
    while len(last):
        following = last[last + 1 < snapshot.count] + 1
        last = following[part[following] > 0]
        found.append(last)
    return np.concatenate(found)


def _select_newest(
    connection: apsw.Connection, snapshot: MatrixSnapshot, rows: Rows, limit: int
) -> Rows:
    """Return the newest memories among the rows; of those made at one moment, by their id: where
    a row stands is no reason to take it."""
    rows = rows[snapshot.column("part")[rows] == 0]
    if len(rows) <= limit:
        return rows
    created = snapshot.column("created")[rows]
    last = np.partition(created, -limit)[-limit]
    newer, tied = rows[created > last], rows[created == last]
    room = limit - len(newer)
    if len(tied) > room:
        nodes = snapshot.column("node")[tied]
        tied = tied[np.isin(nodes, _select_last_by_id(connection, nodes, room))]
    return np.concatenate([newer, tied])


def _select_last_by_id(
    connection: apsw.Connection, nodes: NDArray[np.int64], limit: int
) -> NDArray[np.int64]:
    sql = """SELECT node FROM nodes WHERE node IN (SELECT value FROM json_each(?))
             ORDER BY id DESC LIMIT ?"""
    found = connection.execute(sql, (json.dumps(nodes.tolist()), limit))
    return np.fromiter((node for (node,) in found), np.int64)


def _add_neighbours(snapshot: MatrixSnapshot, rows: Rows) -> Rows:
    """Return the rows, which are in order, with the two before and the two after each of them."""
    if (snapshot.column("session")[rows] == NONE).all():
        return rows
    before, after = snapshot.beside(rows)
    further = snapshot.beside(before)[0], snapshot.beside(after)[1]
    beside = np.concatenate([before, after, *further])
    return join_places(snapshot.count, [rows, beside[beside != NONE]])


def _build_pool(
    view: _PoolRows, found: _WordRows, tagged: NDArray[np.int64], passed: Mask
) -> CandidatePool:
    snapshot, rows, wanted = view.snapshot, view.rows, view.wanted
    arrays = snapshot.arrays
    columns = {name: arrays.columns[name].take(rows) for name in _POOL_COLUMNS}
    before, after = snapshot.beside(rows)
    vectors = arrays.matrix.take(rows, 0)  # quicker than by brackets
    session = columns["session"].astype(np.int64)
    return CandidatePool(
        numbers=columns["node"] * MOST_PASSAGES + columns["part"],
        nodes=columns["node"],
        allowed=view.allowed,
        embedded=columns["embedded"],
        text=_align_text_scores(columns["node"], snapshot, found),
        near=_compute_cosines(vectors, wanted.near),
        focus=_compute_cosines(vectors, wanted.focus),
        before=_find_places(rows, before),
        after=_find_places(rows, after),
        session=np.where(session != NONE, session, -1 - columns["node"]),
        talk=(session != NONE) & snapshot.talks[session],
        turn=columns["turn"],
        speaker=columns["speaker"],
        created=columns["created"],
        tier=columns["tier"],
        same_space=_mask_same_space(view, columns["space"]),
        outdated=passed,
        tagged=np.isin(columns["node"], tagged) if len(tagged) else np.zeros(len(rows), np.bool_),
        traits=columns["traits"],
        capitals=columns["capitals"],
        words=columns["words"],
    )


def _mask_same_space(view: _PoolRows, spaces: NDArray[np.int32]) -> Mask:
    own = view.wanted.space
    if own is None:
        return np.ones(len(spaces), np.bool_)
    known = [view.matrix.spaces.get(each, NONE) for each in related_spaces(own)]
    return np.isin(spaces, [view.matrix.spaces[None], *known])


def _align_text_scores(
    nodes: NDArray[np.int64], snapshot: MatrixSnapshot, found: _WordRows
) -> Floats:
    """Return the bm25 of each place; all passages of a memory have that of the whole."""
    return align_text_scores(nodes, snapshot.column("node")[found.rows], found.scores)


def _compute_cosines(vectors: Floats, direction: Vector | None) -> Floats:
    """Return the cosines, rounded so that equal vectors tie wherever they stand."""
    if direction is None or not vectors.shape[1]:
        return np.zeros(len(vectors), np.float32)
    return np.round(multiply_on_one_thread(vectors, direction), COSINE_DIGITS)


def _find_places(rows: Rows, wanted: Rows) -> Rows:
    """Return where in the pool these rows stand, or `NONE`."""
    if not len(rows):
        return wanted
    place = np.minimum(np.searchsorted(rows, wanted), len(rows) - 1)
    return np.where(rows[place] == wanted, place, NONE)


class PassageCache:
    """Passages looked at lately. Questions of one day are about the same things; reading the
    passages of their candidates from the file takes longer than comparing them."""

    def __init__(self) -> None:
        self._passages: dict[int, tuple[bytes, bytes]] = {}
        self._bytes = 0

    def find(
        self, connection: apsw.Connection, keeper: TokenKeeper | None, numbers: list[int]
    ) -> list[tuple[bytes, bytes]]:
        """Return the stems and tokens of each passage; one that is gone has neither."""
        known = self._passages  # another thread may begin anew meanwhile
        missing = [number for number in numbers if number not in known]
        fresh = _read_passages(connection, keeper, missing) if missing else {}
        found = [fresh.get(number) or known.get(number) or (b"", b"") for number in numbers]
        self._keep(fresh)
        return found

    def _keep(self, fresh: dict[int, tuple[bytes, bytes]]) -> None:
        self._bytes += sum(len(stems) + len(tokens) for stems, tokens in fresh.values())
        if self._bytes > MAX_CACHED_BYTES:
            self._passages, self._bytes = {}, 0
        else:
            self._passages.update(fresh)


def _read_passages(
    connection: apsw.Connection, keeper: TokenKeeper | None, numbers: list[int]
) -> dict[int, tuple[bytes, bytes]]:
    sql = """SELECT number, stems, tokens, reference FROM passages
             WHERE number IN (SELECT value FROM json_each(?))"""
    rows = list(connection.execute(sql, (json.dumps(numbers),)))
    references = [reference for *_, reference in rows if reference is not None]
    kept = keeper.tokens(references) if keeper is not None and references else {}
    return {
        number: (stems, tokens if reference is None else kept.get(reference, b""))
        for number, stems, tokens, reference in rows
    }


def details(
    connection: apsw.Connection,
    kept: PassageCache,
    traces: TraceOptions,
    numbers: NDArray[np.int64],
) -> PassageDetails:
    """Return the stems and tokens of passages, in the order of their numbers."""
    found = kept.find(connection, traces.keeper, numbers.tolist())
    return join_details(found, traces.wide.token)
