"""A row in memory for each passage of each memory: its vector, the few columns that filters
look at, and where it stands in its conversation.

Rows are only ever appended. A memory that changes or goes gives up its row, which notes *when*
(`died`, a count of batches) and is otherwise left alone; when the arrays are full, the rows
still in use are copied to new ones. So a `MatrixSnapshot` is three references and two numbers, and
whoever holds one sees one state for as long as they like while a writer carries on.

Every vector goes through float16, as it does in the file, so that an index that was filled
and one that was loaded answer alike.

Above `exact_up_to` rows a search first counts the differing signs of the components, which
are kept as bits, and scores only the nearest rows exactly; docs/decisions/0003 has the
figures. It needs no training and gives the same answer whatever the order of the rows. At any
size the signs also serve whoever asks only for what is at least so close, as linking does. A
row without a vector is a row of zeros that `embedded` marks; no search finds it.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from madeleine.errors import Rejected
from madeleine.model.vector import Vector

FOREVER = np.iinfo(np.int64).max
MIN_ROWS = 1_024
MAX_GATHER_SHARE = 0.25  # below this share of allowed rows, copying them beats multiplying all
RESCORED_ROWS = 10_000  # rows scored exactly after the comparison of signs: keeps recall above .95
LIKELY_FACTOR, LIKELY_SHARE = (
    4,
    40,
)  # rows scored for one wanted, and at least one in so many of all
MIN_COSINE_BY_SIGNS = 0.5  # cosine; below it the signs let too many rows through to be worth a look
SIGNS_SPREAD = 3.0  # standard deviations; real texts differ a little less than theory says
ROWS_PER_BLOCK = 32_768  # rows whose signs are compared at a time: what one core's cache holds
SHORT_NAME_CHARS = 3  # letters: Mel for Melanie
MIN_TALKERS = 2  # who talks alone takes notes
TIE_TOLERANCE = (
    1e-5  # products closer than this may be equal: float32 rounds by position in the matrix
)

Mask = NDArray[np.bool_]
Rows = NDArray[np.int64]
Floats = NDArray[np.float32] | NDArray[np.float16]
SpeakersByWord = dict[str, tuple[int, ...]]

COLUMN_DTYPES: dict[str, type[np.generic]] = {
    "node": np.int64,
    "type": np.uint8,
    "tier": np.uint8,
    "space": np.int32,
    "created": np.int64,
    "valid_until": np.int64,
    "superseded": np.bool_,
    "embedded": np.bool_,
    "part": np.int16,
    "session": np.int32,
    "turn": np.int32,
    "speaker": np.int32,
    "traits": np.uint16,
    "capitals": np.uint16,
    "words": np.int32,
}
NONE = -1  # no session, speaker, neighbour


class PassageCells(NamedTuple):
    """One row's values, in the order of `COLUMN_DTYPES`; and the id, which is no column."""

    node: int
    type: int
    tier: int
    space: int
    created: int
    valid_until: int
    superseded: bool
    embedded: bool
    part: int = 0
    session: int = NONE
    turn: int = NONE
    speaker: int = NONE
    traits: int = 0
    capitals: int = 0
    words: int = 0
    id: str = ""


class MatrixArrays:
    """Room for `capacity` rows. Memory that no row has touched yet costs nothing."""

    def __init__(self, capacity: int, dimension: int) -> None:
        self.capacity = capacity
        self.matrix = np.empty((capacity, dimension), np.float32)
        self.died = np.empty(capacity, np.int64)
        self.columns = {name: np.empty(capacity, kind) for name, kind in COLUMN_DTYPES.items()}
        self.before = np.empty(capacity, np.int32)
        self.after = np.empty(capacity, np.int32)
        words = -(-dimension // 64)
        self.signs: NDArray[np.uint64] | None = np.empty((words, capacity), np.uint64)

    def fill(self, start: int, cells: Sequence[PassageCells], vectors: Floats) -> int:
        """Write rows from `start` on and return where the next ones go."""
        end = start + len(cells)
        self.matrix[start:end] = vectors
        self.died[start:end] = FOREVER
        self.before[start:end] = NONE
        self.after[start:end] = NONE
        values_of = zip(*(each[: len(COLUMN_DTYPES)] for each in cells), strict=True)
        for column, values in zip(self.columns.values(), values_of, strict=True):
            column[start:end] = values
        self.note_signs(start, end)
        return end

    def take(self, other: MatrixArrays, rows: Rows) -> None:
        """Copy these rows of another one to the beginning."""
        count = len(rows)
        np.take(other.matrix, rows, axis=0, out=self.matrix[:count], mode="clip")
        self.died[:count] = FOREVER
        for name, column in self.columns.items():
            column[:count] = other.columns[name][rows]
        if self.signs is not None and other.signs is not None:
            self.signs[:, :count] = other.signs[:, rows]
        moved = np.full(other.capacity + 1, NONE, np.int32)  # the last is where NONE looks
        moved[rows] = np.arange(count)
        self.before[:count] = moved[other.before[rows]]
        self.after[:count] = moved[other.after[rows]]

    def note_signs(self, start: int, end: int) -> None:
        if self.signs is not None:
            self.signs[:, start:end] = pack_signs(self.matrix[start:end]).T


class FirstRows:
    """Where the first passage of each node stands. Numbers of nodes are small and dense, so
    an array answers for a thousand of them at once."""

    def __init__(self) -> None:
        self._rows = np.full(MIN_ROWS, NONE, np.int32)
        self.count = 0

    def __getitem__(self, node: int) -> int:
        return int(self._rows[node])

    def __setitem__(self, node: int, row: int) -> None:
        if node >= len(self._rows):
            grown = np.full(2 * node, NONE, np.int32)
            grown[: len(self._rows)] = self._rows
            self._rows = grown
        self.count += self._rows[node] == NONE
        self._rows[node] = row

    def pop(self, node: int) -> int:
        """Return the row of a node and forget it; `NONE` if it has none."""
        row = self[node] if node < len(self._rows) else NONE
        if row != NONE:
            self._rows[node] = NONE
            self.count -= 1
        return row

    def of(self, nodes: NDArray[np.int64]) -> Rows:
        """Return the rows of many nodes at once."""
        known = nodes < len(self._rows)
        return np.where(known, self._rows[np.where(known, nodes, 0)], NONE).astype(np.int64)

    @classmethod
    def at(cls, nodes: NDArray[np.int64], rows: Rows) -> FirstRows:
        made = cls()
        if len(nodes):
            made._rows = np.full(max(MIN_ROWS, 2 * int(nodes.max())), NONE, np.int32)
            made._rows[nodes] = rows
            made.count = len(nodes)
        return made


@dataclass(frozen=True, slots=True)
class MatrixSnapshot:
    """The rows as they are after one batch, whatever happens later.

    `row_of` says where the first passage of a node stands; the others follow it. It is the
    writer's own and may already know newer rows: `rows_of` leaves those out.
    """

    arrays: MatrixArrays
    count: int
    moment: int
    exact_up_to: int
    row_of: FirstRows
    talks: Mask
    """By the code of a session: whether at least two speak in it, as of now."""

    def column(self, name: str) -> NDArray[Any]:
        return self.arrays.columns[name][: self.count]

    def alive(self) -> Mask:
        return self.arrays.died[: self.count] > self.moment

    def rows_of(self, nodes: NDArray[np.int64]) -> Rows:
        """Return the first row of each of the nodes, or `NONE`."""
        rows = self.row_of.of(nodes)
        rows[rows >= self.count] = NONE
        return rows

    def beside(self, rows: Rows) -> tuple[Rows, Rows]:
        """Return what was said before and after each row, or `NONE`."""
        found = []
        for side in (self.arrays.before, self.arrays.after):
            near = np.where(rows >= 0, side[rows], NONE).astype(np.int64)
            near[near >= self.count] = NONE
            found.append(near)
        return found[0], found[1]

    def nearest(
        self, query: Vector, allowed: Mask, limit: int, least: float = -1.0
    ) -> tuple[Rows, Vector]:
        """Return nodes and cosines of the nearest allowed rows, best first.

        All that tie with the last one come along; the caller knows the ids that decide. Who
        has no use for cosines below `least` is answered sooner.
        """
        rows = self.candidates(query, self._mask_promising(query, allowed, least), limit)
        scores = multiply_exactly(self.arrays.matrix, rows, query)
        if len(rows) > limit:
            kept = scores >= np.partition(scores, -limit)[-limit]
            rows, scores = rows[kept], scores[kept]
        order = np.argsort(-scores, kind="stable")
        return self.arrays.columns["node"][rows[order]], scores[order]

    def likely(self, query: Vector, allowed: Mask, limit: int) -> Rows:
        """Return rows that are likely among the best `limit`: of those whose signs differ
        least from the query's, the nearest. Whoever compares them closely anyway is spared
        the multiplication of all rows."""
        signs = self.arrays.signs
        wanted = min(max(LIKELY_FACTOR * limit, self.count // LIKELY_SHARE), RESCORED_ROWS)
        if signs is None or int(np.count_nonzero(allowed)) <= wanted:
            return self.candidates(query, allowed, limit)
        rows = np.flatnonzero(self._near_by_signs(signs, query, allowed, wanted))
        best: Rows = rows[
            _best_positions(multiply_on_one_thread(self.arrays.matrix.take(rows, 0), query), limit)
        ]
        return best

    def candidates(self, query: Vector, allowed: Mask, limit: int) -> Rows:
        """Return the rows that may be among the best `limit`."""
        count = int(np.count_nonzero(allowed))
        signs = self.arrays.signs
        many = self.count > self.exact_up_to and count > max(RESCORED_ROWS, limit)
        if signs is not None and many:
            allowed = self._near_by_signs(signs, query, allowed, max(RESCORED_ROWS, limit))
            count = int(np.count_nonzero(allowed))
        if count <= limit or count < MAX_GATHER_SHARE * self.count:
            rows = np.flatnonzero(allowed)
            return rows[
                _best_positions(multiply_on_one_thread(self.arrays.matrix[rows], query), limit)
            ]
        scores = multiply_on_one_thread(self.arrays.matrix[: self.count], query)
        scores[~allowed] = -np.inf
        return _best_positions(scores, limit)

    def _mask_promising(self, query: Vector, allowed: Mask, least: float) -> Mask:
        """Return the allowed rows whose signs leave a cosine of `least` possible."""
        signs = self.arrays.signs
        if signs is None or least < MIN_COSINE_BY_SIGNS:
            return allowed
        differing = _count_differing_signs(signs, self.count, pack_signs(query[None, :])[0])
        near: Mask = differing <= max_differing_signs(least, len(query))
        return near & allowed

    def _near_by_signs(
        self, signs: NDArray[np.uint64], query: Vector, allowed: Mask, wanted: int
    ) -> Mask:
        """Return the allowed rows that differ from the query in the fewest signs."""
        differing = _count_differing_signs(signs, self.count, pack_signs(query[None, :])[0])
        reached = np.cumsum(np.bincount(differing[allowed]))
        near: Mask = differing <= np.searchsorted(reached, wanted)
        return near & allowed


@dataclass(frozen=True, slots=True)
class MatrixChange:
    """What a batch means for the matrix. `kept` rows get new columns and keep their vector."""

    fresh: Sequence[PassageCells] = ()
    vectors: Floats = field(default_factory=lambda: np.empty((0, 0), np.float16))
    kept: Sequence[PassageCells] = ()
    dropped: Sequence[int] = ()


class ConversationOrder:
    """Who spoke in which conversation, and in what order: by turn, by time, and then by id, so that
    it is the same however the index was made."""

    def __init__(self) -> None:
        self._turns: dict[int, list[tuple[int, int, str, int]]] = {}
        self._turn_of: dict[int, tuple[int, int, str, int]] = {}
        """Where a node stands in its conversation."""
        self._speakers: dict[int, Counter[int]] = {}
        self.talks = np.zeros(64, np.bool_)
        """See `MatrixSnapshot.talks`."""

    def add(self, cells: PassageCells) -> tuple[int, int]:
        """Take a passage in and return the nodes before and after it, or `NONE`."""
        turns = self._turns.setdefault(cells.session, [])
        turn = (cells.turn, cells.created, cells.id, cells.node)
        place = bisect_left(turns, turn)
        turns.insert(place, turn)
        self._turn_of[cells.node] = turn
        self._count(cells.session, cells.speaker, 1)
        before = turns[place - 1][3] if place else NONE
        after = turns[place + 1][3] if place + 1 < len(turns) else NONE
        return before, after

    def remove(self, session: int, node: int, speaker: int) -> None:
        turns = self._turns[session]
        del turns[bisect_left(turns, self._turn_of.pop(node))]
        self._count(session, speaker, -1)

    def _count(self, session: int, speaker: int, change: int) -> None:
        if session >= len(self.talks):
            grown = np.zeros(2 * session + 1, np.bool_)
            grown[: len(self.talks)] = self.talks
            self.talks = grown
        if speaker == NONE:
            return
        speakers = self._speakers.setdefault(session, Counter())
        speakers[speaker] += change
        self.talks[session] = sum(1 for count in speakers.values() if count > 0) >= MIN_TALKERS


class SpeakerCodes:
    """Who speaks in the memories that are there. Readers look on while somebody comes or goes,
    so what they may hold is replaced and never changed."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._known: list[str] = []
        self._said: Counter[int] = Counter()
        self.names: dict[str, tuple[int, ...]] = {}
        """See `search.CollectionStatistics.speakers`."""
        self.short_names: dict[str, tuple[int, ...]] = {}

    def code(self, speaker: str | None) -> int:
        """Return the number that stands for a speaker, whichever way the name is written."""
        if speaker is None:
            return NONE
        name = speaker.casefold()
        if name not in self._codes:
            self._codes[name] = len(self._known)
            self._known.append(name)
        return self._codes[name]

    def count(self, code: int, change: int) -> None:
        """Note that a memory of this speaker came or went."""
        if code == NONE:
            return
        before = self._said[code]
        self._said[code] += change
        if not before or not self._said[code]:
            self._note(code, here=not before)

    def _note(self, code: int, here: bool) -> None:
        words = self._known[code].split()
        short = [words[0][:SHORT_NAME_CHARS]] if words and len(words[0]) > SHORT_NAME_CHARS else []
        for names, said in ((self.names, words), (self.short_names, short)):
            for word in dict.fromkeys(said):
                bearers = tuple(each for each in names.get(word, ()) if each != code)
                names[word] = (*bearers, code) if here else bearers
                if not names[word]:
                    del names[word]


def speakers_by_word(names: Iterable[tuple[str, int]]) -> tuple[SpeakersByWord, SpeakersByWord]:
    """Return by each word of a speaker's name who bears it, and the same for the first letters
    of longer first names; see `search.CollectionStatistics`."""
    whole: SpeakersByWord = {}
    short: SpeakersByWord = {}
    for name, speaker in names:
        spoken = name.split()
        for word in dict.fromkeys(spoken):
            whole[word] = (*whole.get(word, ()), speaker)
        if spoken and len(spoken[0]) > SHORT_NAME_CHARS:
            first = spoken[0][:SHORT_NAME_CHARS]
            short[first] = (*short.get(first, ()), speaker)
    return whole, short


class Matrix:
    """The writer's side: one thread at a time changes it, any thread takes `snapshot`."""

    def __init__(self, dimension: int, exact_up_to: int, rows: int = 0) -> None:
        self.dimension = dimension
        self.spaces: dict[str | None, int] = {None: 0}
        self._sessions: dict[tuple[int, str], int] = {}
        self._exact_up_to = exact_up_to
        self.row_of = FirstRows()
        self.order = ConversationOrder()
        self.speakers = SpeakerCodes()
        self._words = 0
        self.snapshot = self._make_snapshot(
            MatrixArrays(max(MIN_ROWS, rows + rows // 4), dimension), 0, 0
        )

    @property
    def nodes(self) -> int:
        """How many memories there are."""
        return self.row_of.count

    @property
    def mean_words(self) -> float:
        """How many words a memory has, or the first passage of a long one."""
        return self._words / max(self.row_of.count, 1)

    def space_code(self, space: str | None) -> int:
        """Return the number that stands for a space, a new one if need be."""
        return self.spaces.setdefault(space, len(self.spaces))

    def session_code(self, space: int, session: str | None) -> int:
        """Return the number that stands for a conversation of a space."""
        if session is None:
            return NONE
        return self._sessions.setdefault((space, session), len(self._sessions))

    def apply(self, change: MatrixChange, dropped: Iterable[int] = ()) -> None:
        """Let rows appear, change and disappear. Readers see all of it or nothing."""
        moment = self.snapshot.moment + 1
        old = self.snapshot.arrays.matrix
        stay = old[[self.row_of[cells.node] + cells.part for cells in change.kept]]
        written = [*change.fresh, *change.kept]
        nodes = (cells.node for cells in written if not cells.part)
        self._mark_dead(moment, [*dropped, *change.dropped, *nodes])
        arrays, count = self._make_room(len(written))
        if change.fresh:
            count = self._append(arrays, count, change.fresh, change.vectors)
        if change.kept:
            count = self._append(arrays, count, change.kept, stay)
        self.snapshot = self._make_snapshot(arrays, count, moment)

    def _make_snapshot(self, arrays: MatrixArrays, count: int, moment: int) -> MatrixSnapshot:
        talks = self.order.talks
        return MatrixSnapshot(arrays, count, moment, self._exact_up_to, self.row_of, talks)

    def clear(self) -> None:
        self.row_of = FirstRows()
        self.order = ConversationOrder()
        self.speakers = SpeakerCodes()
        self._words = 0
        arrays = MatrixArrays(MIN_ROWS, self.dimension)
        self.snapshot = self._make_snapshot(arrays, 0, self.snapshot.moment + 1)

    def _mark_dead(self, moment: int, nodes: Iterable[int]) -> None:
        arrays, count = self.snapshot.arrays, self.snapshot.count
        buried = []
        for node in nodes:
            row = self.row_of.pop(node)
            while row != NONE and row < count and arrays.columns["node"][row] == node:
                buried.append(row)
                row += 1
        arrays.died[buried] = moment
        for row in buried:
            self._unlink(arrays, row)

    def _unlink(self, arrays: MatrixArrays, row: int) -> None:
        """Let those before and after a row become neighbours."""
        columns = arrays.columns
        if columns["part"][row]:
            return
        self._words -= int(columns["words"][row])
        self.speakers.count(int(columns["speaker"][row]), -1)
        session = int(columns["session"][row])
        if session == NONE:
            return
        before, after = int(arrays.before[row]), int(arrays.after[row])
        if before != NONE:
            arrays.after[before] = after
        if after != NONE:
            arrays.before[after] = before
        self.order.remove(session, int(columns["node"][row]), int(columns["speaker"][row]))

    def _append(
        self, arrays: MatrixArrays, start: int, cells: Sequence[PassageCells], vectors: Floats
    ) -> int:
        end = arrays.fill(start, cells, vectors)
        for row, each in enumerate(cells, start):
            if not each.part:
                self.row_of[each.node] = row
                self._words += each.words
                self.speakers.count(each.speaker, 1)
                if each.session != NONE:
                    self._link(arrays, row, each)
        return end

    def _link(self, arrays: MatrixArrays, row: int, cells: PassageCells) -> None:
        before, after = (
            NONE if node == NONE else self.row_of[node] for node in self.order.add(cells)
        )
        arrays.before[row], arrays.after[row] = before, after
        if before != NONE:
            arrays.after[before] = row
        if after != NONE:
            arrays.before[after] = row

    def _make_room(self, more: int) -> tuple[MatrixArrays, int]:
        """Return arrays with room for more rows, and how many rows they hold."""
        old, count = self.snapshot.arrays, self.snapshot.count
        if count + more <= old.capacity:
            return old, count
        live = np.flatnonzero(old.died[:count] == FOREVER)
        new = MatrixArrays(max(MIN_ROWS, 2 * (len(live) + more)), self.dimension)
        new.take(old, live)
        first = new.columns["part"][: len(live)] == 0
        nodes = new.columns["node"][: len(live)][first]
        self.row_of = FirstRows.at(nodes, np.flatnonzero(first))
        return new, len(live)


def to_half_vectors(vectors: Sequence[Vector], dimension: int) -> NDArray[np.float16]:
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


def pack_signs(vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Return the signs of each vector's components, 64 to a number."""
    signs = np.packbits(vectors > 0, axis=1)
    if short := -signs.shape[1] % 8:
        signs = np.pad(signs, ((0, 0), (0, short)))
    return signs.view(np.uint64)


def max_differing_signs(cosine: float, dimension: int) -> float:
    """Return in how many signs two vectors of at least this cosine differ, at most.

    A component's sign differs with the chance angle / pi. Three standard deviations above the
    mean, one pair in 700 that is just close enough is passed over, and hardly ever a closer one.
    """
    chance = math.acos(min(cosine, 1.0)) / math.pi
    spread = math.sqrt(dimension * chance * (1 - chance))
    return dimension * chance + SIGNS_SPREAD * spread


def multiply_on_one_thread(matrix: NDArray[np.float32], query: Vector) -> NDArray[np.float32]:
    """Return the product of each row with the query, on this thread alone.

    `@` would share the work between threads and wait for the slowest: ten times longer as
    soon as somebody else, an agent's own work for one, keeps a core busy.
    """
    scores: NDArray[np.float32] = np.vecdot(matrix, query)
    return scores


def multiply_exactly(matrix: NDArray[np.float32], rows: Rows, query: Vector) -> Vector:
    """Return products that do not depend on where in the matrix a row stands.

    BLAS may round a row differently at another position; equal vectors have to tie.
    """
    scores = np.empty(len(rows), np.float64)
    for start in range(0, len(rows), ROWS_PER_BLOCK):
        part = matrix[rows[start : start + ROWS_PER_BLOCK]].astype(np.float64)
        scores[start : start + ROWS_PER_BLOCK] = (part * query).sum(axis=1)
    return scores.astype(np.float32)


def _best_positions(scores: NDArray[np.float32], limit: int) -> Rows:
    """Return the positions of the best `limit` scores and of all that may tie with the last."""
    if len(scores) <= limit:
        return np.arange(len(scores))
    least = np.partition(scores, -limit)[-limit]
    return np.flatnonzero(scores >= least - TIE_TOLERANCE)


def _count_differing_signs(
    signs: NDArray[np.uint64], count: int, query: NDArray[np.uint64]
) -> NDArray[np.uint16]:
    """Return in how many signs each of the first rows differs from the query."""
    total = np.zeros(count, np.uint16)
    for start in range(0, count, ROWS_PER_BLOCK):
        end = min(start + ROWS_PER_BLOCK, count)
        for plane, word in zip(signs, query, strict=True):
            total[start:end] += np.bitwise_count(plane[start:end] ^ word)
    return total
