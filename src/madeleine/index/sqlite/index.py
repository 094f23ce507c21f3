"""The port's face: each method is one read or one transaction on the modules beside it.

A change of the matrix follows the commit, under the same lock, so that the two never differ
for longer than that. A rebuild fills a second file (`fresh`) for which nobody waits, then puts
it in the place of this one (`replace_with`): killed before that, the old index goes on
answering; killed after, the new one does.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

import apsw
import numpy as np
from numpy.typing import NDArray

from madeleine.errors import MadeleineError
from madeleine.index.common.events import FEEDBACK_AT_MOST
from madeleine.index.common.gathering import Looking
from madeleine.index.common.matrix import Change
from madeleine.index.common.neighbours import near
from madeleine.index.common.passages import Spaces
from madeleine.index.common.ranking import Ranking, reorders
from madeleine.index.common.rows import Placed, newborn
from madeleine.index.common.spelling import spellings
from madeleine.index.common.stems import Stemmer
from madeleine.index.port import (
    NO_LEAST,
    Across,
    Bar,
    Batch,
    Between,
    Counts,
    Details,
    EdgeRow,
    Extent,
    Gathered,
    Hit,
    Index,
    Matches,
    Pool,
    Record,
    Sketch,
    Standings,
    Term,
    Unreadable,
    Wanted,
    WhisperEntry,
    nothing,
)
from madeleine.index.sqlite import (
    events,
    gathering,
    graph,
    nodes,
    pool,
    ranking,
    standing,
    text,
    usage,
    vectors,
    whispers,
)
from madeleine.index.sqlite.connection import Connections, translated
from madeleine.index.sqlite.files import remove, swap
from madeleine.index.sqlite.schema import CLEARED
from madeleine.model.event import Event, Position
from madeleine.model.fingerprint import Fingerprint
from madeleine.model.judging import Verdict
from madeleine.model.memory import Memory
from madeleine.model.proposal import Proposal, ProposalStatus
from madeleine.model.query import Filter
from madeleine.model.stored import Stored
from madeleine.model.trace import Trace
from madeleine.model.vector import Vector
from madeleine.model.words import Edge
from madeleine.rules.usage import Use

EXACT_UP_TO = 200_000  # rows: where scoring every vector takes about 15 ms
FRESH = ".new"


@dataclass(frozen=True, slots=True)
class _Place:
    """Which file, and whose traces. No model: text search only."""

    path: Path
    model: str | None
    wide: Spaces
    exact_up_to: int


class SqliteIndex:
    """An index in one SQLite file. Any thread may call any method at any time."""

    def __init__(self, place: _Place, in_the_making: bool = False) -> None:
        self._place = place
        self._connections = Connections(place.path, in_the_making)
        try:
            with self._connections.writing() as connection:
                vectors.claim_model(connection, place.model, place.wide)
                self._matrix = vectors.load(connection, place.wide.vector, place.exact_up_to)
                last = connection.execute("SELECT ifnull(max(node), 0) FROM nodes").get
        except MadeleineError:
            self._connections.close()
            raise
        self._numbers = itertools.count(last + 1)
        self._stems: dict[str, int] = {}
        self._kept = pool.Kept()
        self._steady = threading.local()
        self._ranking: Ranking = {}
        self._ranked = False
        """Whether the ranking still says how memories stand."""

    @classmethod
    def open(
        cls,
        path: Path,
        model: str | None = None,
        dimension: int | None = None,
        token_dimension: int = 0,
        exact_up_to: int = EXACT_UP_TO,
    ) -> SqliteIndex:
        """Open the index at `path`, or make an empty one.

        A file that is no index is `IndexCorrupt`; the caller sets it aside and rebuilds.
        """
        wide = Spaces((dimension or 0) if model else 0, token_dimension if model else 0)
        return cls(_Place(path, model, wide, exact_up_to))

    @contextmanager
    def steady(self) -> Iterator[None]:
        # Before the reading begins: a write in between brings another `Kept`, and what is read
        # of the old state must not land in it.
        before, self._steady.kept = getattr(self._steady, "kept", None), self._kept
        try:
            with self._connections.steady():
                yield
        finally:
            self._steady.kept = before

    def _read(self) -> AbstractContextManager[apsw.Connection]:
        return self._connections.reading()

    # -- writing ---------------------------------------------------------------------------
    def write(self, batch: Batch) -> None:
        with self._connections.write_lock:
            with self._connections.writing() as connection:
                gone = nodes.drop_nodes(connection, batch.drops)
                placed, displaced = nodes.put_nodes(connection, batch.puts, self._numbers)
                change = self._put_passages(connection, placed)
                standing.note_digests(connection, placed, [*gone, *displaced])
                touched = events.apply(connection, batch.events)
                usage.refresh(connection, [*touched, *newborn(placed)])
                nodes.note_unreadable(connection, batch.unreadable, batch.readable_again)
                events.note_positions(connection, batch.positions)
                events.note_torn(connection, batch.torn, batch.read_anew)
            self._matrix.apply(change, [*gone, *displaced])
            if placed or gone:
                self._kept = pool.Kept()
            if reorders(batch):
                self._ranked = False

    def _put_passages(self, connection: apsw.Connection, placed: Sequence[Placed]) -> Change:
        stemmer = Stemmer(connection, self._stems)
        return vectors.put_passages(connection, self._matrix, self._place.wide, stemmer, placed)

    def set_traces(self, traces: Mapping[str, Sequence[Trace]]) -> None:
        with self._connections.write_lock:
            with self._connections.writing() as connection:
                change = vectors.set_traces(connection, self._matrix, self._place.wide, traces)
            self._matrix.apply(change)
            self._kept = pool.Kept()

    def clear(self) -> None:
        with self._connections.write_lock:
            with self._connections.writing() as connection:
                connection.execute("INSERT INTO fts (fts) VALUES ('delete-all')")
                for table in CLEARED:
                    connection.execute(f"DELETE FROM {table}")
            self._matrix.clear()
            self._kept = pool.Kept()
            self._ranked = False

    def fresh(self) -> SqliteIndex:
        path = self._place.path.with_name(self._place.path.name + FRESH)
        with translated(path):
            remove(path)
        return SqliteIndex(replace(self._place, path=path), in_the_making=True)

    def replace_with(self, fresh: Index) -> None:
        if not isinstance(fresh, SqliteIndex):
            raise TypeError(f"{fresh!r} was not made by `fresh`")
        fresh.close()
        with translated(self._place.path):
            self._connections.exchange(lambda: self._become(fresh))

    def _become(self, fresh: SqliteIndex) -> None:
        swap(fresh._place.path, self._place.path)
        self._matrix, self._numbers = fresh._matrix, fresh._numbers
        self._kept = pool.Kept()
        self._ranking, self._ranked = {}, False

    def close(self) -> None:
        self._connections.close()

    # -- memories --------------------------------------------------------------------------
    def get(self, memory_id: str) -> Stored | None:
        with self._read() as connection:
            return nodes.get(connection, memory_id)

    def memories(self, ids: Iterable[str]) -> dict[str, Memory]:
        wanted = list(ids)
        if not wanted:  # asked at every remember, and mostly about nothing
            return {}
        with self._read() as connection:
            return nodes.memories(connection, wanted)

    def scores(self, ids: Iterable[str]) -> dict[str, Mapping[str, float | None]]:
        with self._read() as connection:
            return nodes.scores(connection, ids)

    def ids_with_prefix(self, prefix: str, limit: int = 10) -> list[str]:
        with self._read() as connection:
            return nodes.ids_with_prefix(connection, prefix, limit)

    def id_at(self, path: str) -> str | None:
        with self._read() as connection:
            return nodes.first_id(connection, "path = ?", path)

    def path_of(self, memory_id: str) -> str | None:
        with self._read() as connection:
            return nodes.path_of(connection, memory_id)

    def same_text(self, space: str | None, key: str, now: datetime, limit: int = 64) -> list[str]:
        with self._read() as connection:
            return nodes.same_text(connection, space, key, now, limit)

    def claims(self, address: str, now: datetime, but: str | None = None) -> list[str]:
        with self._read() as connection:
            return nodes.claims(connection, address, now, but)

    def contested(self, now: datetime, limit: int) -> list[str]:
        with self._read() as connection:
            return nodes.contested(connection, now, limit)

    def with_idempotency_key(self, key: str) -> str | None:
        with self._read() as connection:
            return nodes.first_id(connection, "idempotency_key = ?", key)

    def self_id(self) -> str | None:
        with self._read() as connection:
            return graph.self_id(connection)

    def listing(self, chosen: Filter, now: datetime, limit: int, offset: int = 0) -> list[Memory]:
        with self._read() as connection:
            return nodes.listing(connection, chosen, now, limit, offset)

    def count(self, chosen: Filter, now: datetime) -> int:
        with self._read() as connection:
            return nodes.count(connection, chosen, now)

    def first_known(self) -> datetime | None:
        with self._read() as connection:
            return nodes.first_known(connection)

    def allowed(self, ids: Iterable[str], chosen: Filter, now: datetime) -> set[str]:
        with self._read() as connection:
            return nodes.allowed(connection, ids, chosen, now)

    def counts(self) -> Counts:
        with self._read() as connection:
            return nodes.counts(connection)

    def tags(self, beginning: str, limit: int) -> list[tuple[str, int]]:
        with self._read() as connection:
            return nodes.tags(connection, beginning, limit)

    def core_by_importance(self) -> list[tuple[str, float]]:
        with self._read() as connection:
            return nodes.core_by_importance(connection)

    # -- searching -------------------------------------------------------------------------
    def search_text(
        self, terms: Sequence[str], chosen: Filter, now: datetime, limit: int
    ) -> list[Hit]:
        with self._read() as connection:
            return text.search_text(connection, terms, chosen, now, limit)

    def search_vector(
        self, vector: Vector, chosen: Filter, now: datetime, limit: int, least: float = NO_LEAST
    ) -> list[Hit]:
        # The matrix is looked at while a connection is held, so that `replace_with` cannot
        # change the one without the other.
        with self._read() as connection:
            if not self._place.wide.vector:
                return []
            matrix = self._matrix
            return vectors.search_vector(connection, matrix, vector, chosen, now, limit, least)

    def extent(self) -> Extent:
        matrix = self._matrix
        speakers = matrix.speakers
        return Extent(matrix.nodes, matrix.mean_words, speakers.names, speakers.short_names)

    def terms(self, words: Sequence[str]) -> list[tuple[Term, ...]]:
        with self._read() as connection:
            return text.terms(connection, Stemmer(connection, self._stems), words)

    def spellings(self, words: Sequence[str]) -> dict[str, str]:
        with self._read() as connection:
            stemmer = Stemmer(connection, self._stems)
            return spellings(partial(text.near, connection), stemmer, words)

    def matching(self, words: Sequence[str]) -> Matches:
        with self._read() as connection:
            return Matches(*text.matches(connection, words))

    def pool(self, wanted: Wanted, chosen: Filter, now: datetime) -> Pool:
        with self._read() as connection:
            return pool.pool(connection, self._matrix, wanted, chosen, now)

    def details(self, found: Pool, places: NDArray[np.int64]) -> Details:
        kept = getattr(self._steady, "kept", None) or self._kept
        with self._read() as connection:
            return pool.details(connection, kept, self._place.wide.token, found.numbers[places])

    def records(self, wanted: Sequence[int]) -> dict[int, Record]:
        with self._read() as connection:
            return nodes.records(connection, wanted)

    def ids(self, wanted: Sequence[int]) -> dict[int, str]:
        with self._read() as connection:
            return vectors.ids_of(connection, wanted)

    def vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        with self._read() as connection:
            return vectors.vectors_of(connection, ids) if self._place.wide.vector else {}

    def neighbours(
        self, ids: Sequence[str], chosen: Filter, now: datetime, k: int, least: float = NO_LEAST
    ) -> dict[str, list[Hit]]:
        while self._place.wide.vector:
            with self._read() as connection:
                matrix = self._matrix
                asked = standing.asked(connection, matrix, ids, chosen, now)
            close = near(asked, k, least)  # nobody waits for this
            with self._read() as connection:
                if self._matrix is matrix:  # else a rebuild came between, and numbers mean others
                    return standing.named(connection, close, k)
        return {}

    def unembedded(self, limit: int) -> list[str]:
        with self._read() as connection:
            return nodes.all_ids(connection, "embedded = 0 ORDER BY node LIMIT ?", max(limit, 0))

    # -- graph -----------------------------------------------------------------------------
    def edges(self, ids: Sequence[str], but_by: str | None = None) -> list[EdgeRow]:
        with self._read() as connection:
            return graph.edges(connection, ids, but_by)

    def edges_between(self, ids: Sequence[str]) -> list[EdgeRow]:
        with self._read() as connection:
            return graph.edges_between(connection, ids)

    def associations(self) -> list[EdgeRow]:
        with self._read() as connection:
            return graph.associations(connection)

    def newest_edges(
        self, wanted: Sequence[Edge], limit: int, but_by: str | None = None
    ) -> list[EdgeRow]:
        with self._read() as connection:
            return graph.newest_edges(connection, wanted, limit, but_by)

    def arrows(self, ids: Sequence[str], each: int, incoming: bool = True) -> list[EdgeRow]:
        with self._read() as connection:
            return graph.arrows(connection, ids, each, incoming)

    def regions(self, now: datetime) -> dict[str | None, int]:
        if not self._ranked:
            self._ranked = True  # what is written meanwhile says again that it is not
            with self._read() as connection:
                self._ranking = ranking.ranking(connection, now)
        return {space: len(nodes) for space, nodes in self._ranking.items()}

    def strongest(
        self, space: str | None, now: datetime, limit: int, offset: int = 0
    ) -> list[Sketch]:
        if not self._ranking:
            self.regions(now)
        ranked = self._ranking.get(space, np.empty(0, np.int64))
        with self._read() as connection:
            return ranking.sketches_of_nodes(connection, ranked[offset : offset + limit], now)

    def sketches(self, ids: Sequence[str], now: datetime) -> list[Sketch]:
        with self._read() as connection:
            return ranking.sketches(connection, ids, now)

    def superseded_by(self, memory_id: str) -> list[str]:
        with self._read() as connection:
            return nodes.all_ids(connection, "superseded_by = ? ORDER BY id", memory_id)

    # -- what the jobs go by ---------------------------------------------------------------
    def ids_after(self, after_id: str, limit: int) -> list[str]:
        with self._read() as connection:
            return nodes.all_ids(connection, "id > ? ORDER BY id LIMIT ?", after_id, max(limit, 0))

    def standings(self, between: Between = nothing) -> Standings:
        with self._read() as connection:
            return standing.standings(connection, between=between)

    def sample(self, bar: Bar, now: datetime, size: int, seed: int) -> list[str]:
        with self._read() as connection:
            return gathering.sample(connection, self._matrix, bar, now, size, seed)

    def gathered(
        self, bar: Bar, now: datetime, also: Sequence[str] = (), between: Between = nothing
    ) -> Gathered:
        with self._read() as connection:
            return gathering.gathered(connection, self._matrix, bar, now, also, between)

    def of_source(self, source: str) -> list[str]:
        with self._read() as connection:
            return gathering.of_source(connection, source)

    def used_together(
        self, pairs: Sequence[tuple[str, str]], since: Sequence[datetime]
    ) -> set[tuple[str, str]]:
        with self._read() as connection:
            return gathering.used_together(connection, pairs, since)

    def across_spaces(self) -> list[Across]:
        with self._read() as connection:
            return standing.across_spaces(connection)

    def uses(self, ids: Sequence[str]) -> dict[str, list[Use]]:
        with self._read() as connection:
            return standing.uses(connection, ids)

    def unseen(
        self,
        job: str,
        judge: str,
        chosen: Filter,
        now: datetime,
        limit: int,
        also: Sequence[str] = (),
    ) -> list[str]:
        with self._read() as connection:
            by = Looking(job, judge, also)
            return standing.unseen(connection, by, chosen, now, limit)

    def verdicts(
        self, pairs: Sequence[tuple[str, str]], judge: str
    ) -> dict[tuple[str, str], Verdict]:
        with self._read() as connection:
            return standing.verdicts(connection, pairs, judge)

    # -- files -----------------------------------------------------------------------------
    def fingerprints(self) -> dict[str, Fingerprint]:
        with self._read() as connection:
            return nodes.fingerprints(connection)

    def unreadable(self) -> list[Unreadable]:
        with self._read() as connection:
            return nodes.unreadable(connection)

    # -- the journal, indexed --------------------------------------------------------------
    def positions(self) -> dict[str, Position]:
        with self._read() as connection:
            return events.positions(connection)

    def torn(self) -> list[Unreadable]:
        with self._read() as connection:
            return events.torn(connection)

    def history(self, memory_id: str, limit: int = 100) -> list[Event]:
        with self._read() as connection:
            return events.history(connection, memory_id, limit)

    def event(self, event_id: str) -> Event | None:
        with self._read() as connection:
            return events.event(connection, event_id)

    def changes(self, change_or_run: str) -> list[Event]:
        with self._read() as connection:
            return events.changes(connection, change_or_run)

    def outcome(self, change_id: str) -> str | None:
        with self._read() as connection:
            return events.outcome(connection, change_id)

    def in_force(self, runs: Sequence[str]) -> dict[str, tuple[int, int]]:
        with self._read() as connection:
            return events.in_force(connection, runs)

    def unsettled(self) -> list[Event]:
        with self._read() as connection:
            return events.unsettled(connection)

    def recent_events(
        self, kinds: Sequence[str], limit: int, jobs: Sequence[str] = ()
    ) -> list[Event]:
        with self._read() as connection:
            return events.recent(connection, kinds, limit, jobs)

    def used_today(
        self, ids: Iterable[str], session: str | None, at: datetime, whispers: bool = False
    ) -> set[str]:
        with self._read() as connection:
            return usage.used_today(connection, ids, session, at, whispers)

    # -- telemetry -------------------------------------------------------------------------
    def log_whisper(self, entry: WhisperEntry, keep_after: datetime) -> None:
        with self._connections.writing() as connection:
            whispers.log(connection, entry, keep_after)

    def whispers(
        self, limit: int, session: str | None = None, after: WhisperEntry | None = None
    ) -> list[WhisperEntry]:
        with self._read() as connection:
            return whispers.newest(connection, limit, session, after)

    def whisper(self, whisper_id: str) -> WhisperEntry | None:
        with self._read() as connection:
            return whispers.get(connection, whisper_id)

    def feedback(self, ids: Sequence[str]) -> list[Event]:
        with self._read() as connection:
            known = whispers.feedback_ids(connection, ids, FEEDBACK_AT_MOST)
            found = (events.event(connection, each) for each in known)
            return [each for each in found if each is not None]

    def proposals(self, status: ProposalStatus | None = None) -> list[Proposal]:
        with self._read() as connection:
            return events.proposals(connection, status)

    def state(self, key: str) -> object | None:
        with self._read() as connection:
            return events.state(connection, key)
