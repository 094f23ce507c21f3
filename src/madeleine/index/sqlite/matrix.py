"""All vectors in memory, with the few columns that filters look at.

Rows are only ever appended. A memory that changes or goes gives up its row, which notes *when*
(`died`, a count of batches) and is otherwise left alone; when the arrays are full, the rows
still in use are copied to new ones. So a `Snapshot` is three references and two numbers, and
whoever holds one sees one state for as long as they like while a writer carries on.

Every vector goes through float16, as it does in the file, so that an index that was filled
and one that was loaded answer alike.

Above `exact_up_to` rows a search first counts the differing signs of the components, which
are kept as bits, and scores only the nearest rows exactly; docs/decisions/0003 has the
figures. It needs no training and gives the same answer whatever the order of the rows. At any
size the signs also serve whoever asks only for what is at least so close, as linking does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from madeleine.errors import Rejected
from madeleine.model.vector import Vector

FOREVER = np.iinfo(np.int64).max
LEAST_ROWS = 1_024
GATHER_SHARE = 0.25  # below this share of allowed rows, copying them beats multiplying all
RESCORED = 10_000  # rows scored exactly after the comparison of signs: keeps recall above .95
LEAST_BY_SIGNS = 0.5  # cosine; below it the signs let too many rows through to be worth a look
SIGNS_SPREAD = 3.0  # standard deviations; real texts differ a little less than theory says
CHUNK = 32_768  # rows whose signs are compared at a time: what one core's cache holds
TIE = 1e-5  # products closer than this may be equal: float32 rounds by position in the matrix

Mask = NDArray[np.bool_]
Rows = NDArray[np.int64]
Floats = NDArray[np.float32] | NDArray[np.float16]

COLUMNS: dict[str, type[np.generic]] = {
    "node": np.int64,
    "type": np.uint8,
    "tier": np.uint8,
    "space": np.int32,
    "created": np.int64,
    "valid_until": np.int64,
    "superseded": np.bool_,
}
Cells = tuple[int, int, int, int, int, int, bool]
"""One row's values, in the order of `COLUMNS`."""


class Arrays:
    """Room for `capacity` rows. Memory that no row has touched yet costs nothing."""

    def __init__(self, capacity: int, dimension: int) -> None:
        self.capacity = capacity
        self.matrix = np.empty((capacity, dimension), np.float32)
        self.died = np.empty(capacity, np.int64)
        self.columns = {name: np.empty(capacity, kind) for name, kind in COLUMNS.items()}
        words = -(-dimension // 64)
        self.signs: NDArray[np.uint64] | None = np.empty((words, capacity), np.uint64)

    def fill(self, start: int, cells: Sequence[Cells], vectors: Floats) -> int:
        """Write rows from `start` on and return where the next ones go."""
        end = start + len(cells)
        self.matrix[start:end] = vectors
        self.died[start:end] = FOREVER
        for column, values in zip(self.columns.values(), zip(*cells, strict=True), strict=True):
            column[start:end] = values
        self.note_signs(start, end)
        return end

    def take(self, other: Arrays, rows: Rows) -> None:
        """Copy these rows of another one to the beginning."""
        count = len(rows)
        np.take(other.matrix, rows, axis=0, out=self.matrix[:count], mode="clip")
        self.died[:count] = FOREVER
        for name, column in self.columns.items():
            column[:count] = other.columns[name][rows]
        if self.signs is not None and other.signs is not None:
            self.signs[:, :count] = other.signs[:, rows]

    def note_signs(self, start: int, end: int) -> None:
        if self.signs is not None:
            self.signs[:, start:end] = sign_words(self.matrix[start:end]).T


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The rows as they are after one batch, whatever happens later."""

    arrays: Arrays
    count: int
    moment: int
    exact_up_to: int

    def column(self, name: str) -> NDArray[Any]:
        return self.arrays.columns[name][: self.count]

    def alive(self) -> Mask:
        return self.arrays.died[: self.count] > self.moment

    def nearest(
        self, query: Vector, allowed: Mask, limit: int, least: float = -1.0
    ) -> tuple[Rows, Vector]:
        """Return nodes and cosines of the nearest allowed rows, best first.

        All that tie with the last one come along; the caller knows the ids that decide. Who
        has no use for cosines below `least` is answered sooner.
        """
        rows = self._candidates(query, self._promising(query, allowed, least), limit)
        scores = exact_products(self.arrays.matrix, rows, query)
        if len(rows) > limit:
            kept = scores >= np.partition(scores, -limit)[-limit]
            rows, scores = rows[kept], scores[kept]
        order = np.argsort(-scores, kind="stable")
        return self.arrays.columns["node"][rows[order]], scores[order]

    def _candidates(self, query: Vector, allowed: Mask, limit: int) -> Rows:
        """Return the rows that may be among the best `limit`."""
        count = int(np.count_nonzero(allowed))
        signs = self.arrays.signs
        many = self.count > self.exact_up_to and count > max(RESCORED, limit)
        if signs is not None and many:
            allowed = self._near_by_signs(signs, query, allowed, max(RESCORED, limit))
            count = int(np.count_nonzero(allowed))
        if count <= limit or count < GATHER_SHARE * self.count:
            rows = np.flatnonzero(allowed)
            return rows[_best(products(self.arrays.matrix[rows], query), limit)]
        scores = products(self.arrays.matrix[: self.count], query)
        scores[~allowed] = -np.inf
        return _best(scores, limit)

    def _promising(self, query: Vector, allowed: Mask, least: float) -> Mask:
        """Return the allowed rows whose signs leave a cosine of `least` possible."""
        signs = self.arrays.signs
        if signs is None or least < LEAST_BY_SIGNS:
            return allowed
        differing = _differing(signs, self.count, sign_words(query[None, :])[0])
        near: Mask = differing <= most_differing(least, len(query))
        return near & allowed

    def _near_by_signs(
        self, signs: NDArray[np.uint64], query: Vector, allowed: Mask, wanted: int
    ) -> Mask:
        """Return the allowed rows that differ from the query in the fewest signs."""
        differing = _differing(signs, self.count, sign_words(query[None, :])[0])
        reached = np.cumsum(np.bincount(differing[allowed]))
        near: Mask = differing <= np.searchsorted(reached, wanted)
        return near & allowed


@dataclass(frozen=True, slots=True)
class Change:
    """What a batch means for the matrix. `kept` rows get new columns and keep their vector."""

    fresh: Sequence[Cells] = ()
    vectors: Floats = field(default_factory=lambda: np.empty((0, 0), np.float16))
    kept: Sequence[Cells] = ()
    dropped: Sequence[int] = ()


class Matrix:
    """The writer's side: one thread at a time changes it, any thread takes `snapshot`."""

    def __init__(self, dimension: int, exact_up_to: int, rows: int = 0) -> None:
        self.dimension = dimension
        self.spaces: dict[str | None, int] = {None: 0}
        self._exact_up_to = exact_up_to
        self._row_of: dict[int, int] = {}
        arrays = Arrays(max(LEAST_ROWS, rows + rows // 4), dimension)
        self.snapshot = Snapshot(arrays, 0, 0, exact_up_to)

    def space_code(self, space: str | None) -> int:
        """Return the number that stands for a space, a new one if need be."""
        return self.spaces.setdefault(space, len(self.spaces))

    def apply(self, change: Change, dropped: Iterable[int] = ()) -> None:
        """Let rows appear, change and disappear. Readers see all of it or nothing."""
        moment = self.snapshot.moment + 1
        stay = self.snapshot.arrays.matrix[[self._row_of[cells[0]] for cells in change.kept]]
        written = [*change.fresh, *change.kept]
        self._bury(moment, [*dropped, *change.dropped, *(cells[0] for cells in written)])
        arrays, count = self._room_for(len(written))
        if change.fresh:
            count = self._append(arrays, count, change.fresh, change.vectors)
        if change.kept:
            count = self._append(arrays, count, change.kept, stay)
        self.snapshot = Snapshot(arrays, count, moment, self._exact_up_to)

    def clear(self) -> None:
        self._row_of = {}
        moment = self.snapshot.moment + 1
        arrays = Arrays(LEAST_ROWS, self.dimension)
        self.snapshot = Snapshot(arrays, 0, moment, self._exact_up_to)

    def _bury(self, moment: int, nodes: Iterable[int]) -> None:
        rows = [row for node in nodes if (row := self._row_of.pop(node, None)) is not None]
        self.snapshot.arrays.died[rows] = moment

    def _append(self, arrays: Arrays, start: int, cells: Sequence[Cells], vectors: Floats) -> int:
        rows = range(start, start + len(cells))
        self._row_of.update(zip((each[0] for each in cells), rows, strict=True))
        return arrays.fill(start, cells, vectors)

    def _room_for(self, more: int) -> tuple[Arrays, int]:
        """Return arrays with room for more rows, and how many rows they hold."""
        old, count = self.snapshot.arrays, self.snapshot.count
        if count + more <= old.capacity:
            return old, count
        live = np.flatnonzero(old.died[:count] == FOREVER)
        new = Arrays(max(LEAST_ROWS, 2 * (len(live) + more)), self.dimension)
        new.take(old, live)
        nodes = new.columns["node"][: len(live)].tolist()
        self._row_of = dict(zip(nodes, range(len(live)), strict=True))
        return new, len(live)


def to_halves(vectors: Sequence[Vector], dimension: int) -> NDArray[np.float16]:
    """Return vectors as they are kept; one that cannot be a vector of the model is refused."""
    for vector in vectors:
        if vector.shape != (dimension,):
            raise Rejected(
                f"a vector of shape {vector.shape}; the model's have {dimension} numbers",
                hint="`madeleine status` shows which model is set",
            )
    halves = np.array(vectors, np.float16).reshape(len(vectors), dimension)
    if not np.isfinite(halves).all():
        raise Rejected("a vector holds a number that is not finite", hint="embed the text again")
    return halves


def sign_words(vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Return the signs of each vector's components, 64 to a number."""
    signs = np.packbits(vectors > 0, axis=1)
    if short := -signs.shape[1] % 8:
        signs = np.pad(signs, ((0, 0), (0, short)))
    return signs.view(np.uint64)


def most_differing(cosine: float, dimension: int) -> float:
    """Return in how many signs two vectors of at least this cosine differ, at most.

    A component's sign differs with the chance angle / pi. Three standard deviations above the
    mean, one pair in 700 that is just close enough is passed over, and hardly ever a closer one.
    """
    chance = math.acos(min(cosine, 1.0)) / math.pi
    spread = math.sqrt(dimension * chance * (1 - chance))
    return dimension * chance + SIGNS_SPREAD * spread


def products(matrix: NDArray[np.float32], query: Vector) -> NDArray[np.float32]:
    """Return the product of each row with the query, on this thread alone.

    `@` would share the work between threads and wait for the slowest: ten times longer as
    soon as somebody else, an agent's own work for one, keeps a core busy.
    """
    scores: NDArray[np.float32] = np.vecdot(matrix, query)
    return scores


def exact_products(matrix: NDArray[np.float32], rows: Rows, query: Vector) -> Vector:
    """Return products that do not depend on where in the matrix a row stands.

    BLAS may round a row differently at another position; equal vectors have to tie.
    """
    scores = np.empty(len(rows), np.float64)
    for start in range(0, len(rows), CHUNK):
        part = matrix[rows[start : start + CHUNK]].astype(np.float64)
        scores[start : start + CHUNK] = (part * query).sum(axis=1)
    return scores.astype(np.float32)


def _best(scores: NDArray[np.float32], limit: int) -> Rows:
    """Return the positions of the best `limit` scores and of all that may tie with the last."""
    if len(scores) <= limit:
        return np.arange(len(scores))
    least = np.partition(scores, -limit)[-limit]
    return np.flatnonzero(scores >= least - TIE)


def _differing(
    signs: NDArray[np.uint64], count: int, query: NDArray[np.uint64]
) -> NDArray[np.uint16]:
    """Return in how many signs each of the first rows differs from the query."""
    total = np.zeros(count, np.uint16)
    for start in range(0, count, CHUNK):
        end = min(start + CHUNK, count)
        for plane, word in zip(signs, query, strict=True):
            total[start:end] += np.bitwise_count(plane[start:end] ^ word)
    return total
