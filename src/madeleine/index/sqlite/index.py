"""The embedded engine: its file, its three ports, and what changes them.

A change of the matrix follows the commit, under the same lock, so that the two never differ
for longer than that. A rebuild fills a second file (`fresh`) for which nobody waits, then puts
it in the place of this one (`replace_with`): killed before that, the old index goes on
answering; killed after, the new one does.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import apsw

from madeleine.errors import MadeleineError
from madeleine.index.common.matrix import MatrixChange
from madeleine.index.common.passages import ModelDimensions
from madeleine.index.common.ranking import changes_ranking
from madeleine.index.common.rows import PlacedMemory, find_newborn_ids
from madeleine.index.common.stems import Stemmer
from madeleine.index.port import Index, IndexBatch
from madeleine.index.sqlite import events, nodes, standing, usage, vectors
from madeleine.index.sqlite.connection import SqliteConnections, translate_errors
from madeleine.index.sqlite.files import remove_index, swap_index
from madeleine.index.sqlite.ports import (
    SqliteGraph,
    SqliteIndexOptions,
    SqliteLog,
    SqliteSearch,
    SqliteState,
)
from madeleine.index.sqlite.vocabulary import Vocabulary
from madeleine.model.embedding import PassageEmbedding, TokenKeeper

EXACT_UP_TO = 200_000  # rows: where scoring every vector takes about 15 ms
FRESH_SUFFIX = ".new"


class SqliteIndex:
    """An index in one SQLite file. Any thread may call any method at any time."""

    def __init__(self, place: SqliteIndexOptions, in_the_making: bool = False) -> None:
        connections = SqliteConnections(place.path, in_the_making)
        try:
            with connections.writing() as connection:
                emptied = vectors.claim_analyser(connection)
                vectors.claim_model(connection, place.model, place.wide)
                if place.traces.keeper is not None and not in_the_making:
                    vectors.note_lost_tokens(connection, place.traces.keeper)
                matrix = vectors.load_matrix(connection, place.wide.vector, place.exact_up_to)
                last = connection.execute("SELECT ifnull(max(node), 0) FROM nodes").get
            if emptied:
                connections.return_free_space()
        except MadeleineError:
            connections.close()
            raise
        self._state = SqliteState(place, connections, matrix, itertools.count(last + 1))
        self.search = SqliteSearch(self._state)
        self.graph = SqliteGraph(self._state)
        self.log = SqliteLog(self._state)

    @classmethod
    def open(
        cls,
        path: Path,
        model: str | None = None,
        dimension: int | None = None,
        token_dimension: int = 0,
        exact_up_to: int = EXACT_UP_TO,
        keeper: TokenKeeper | None = None,
    ) -> SqliteIndex:
        """Open the index at `path`, or make an empty one. The tokens of traces that `keeper` has
        are read there.

        A file that is no index is `IndexCorrupt`; the caller sets it aside and rebuilds.
        """
        wide = ModelDimensions((dimension or 0) if model else 0, token_dimension if model else 0)
        return cls(SqliteIndexOptions(path, model, vectors.TraceOptions(wide, keeper), exact_up_to))

    @contextmanager
    def steady(self) -> Iterator[None]:
        # Before the reading begins: a write in between brings another `KeptReads` and may bring
        # another `Vocabulary`, and what is read of the old state must not land in them.
        steady = self._state.steady
        before, steady.kept = getattr(steady, "kept", None), self._state.kept
        words, steady.vocabulary = getattr(steady, "vocabulary", None), self._state.vocabulary
        try:
            with self._state.connections.steady():
                yield
        finally:
            steady.kept, steady.vocabulary = before, words

    def write(self, batch: IndexBatch) -> None:
        state = self._state
        if any(put.traces for put in batch.puts):
            self._settle_tokens()
        with state.connections.write_lock:
            with state.connections.writing() as connection:
                gone = nodes.drop_nodes(connection, batch.drops)
                placed, displaced = nodes.put_nodes(connection, batch.puts, state.numbers)
                change = self._put_passages(connection, placed) if placed else None
                standing.note_digests(connection, placed, [*gone, *displaced])
                touched = events.apply_events(connection, batch.events)
                usage.refresh_usage(connection, [*touched, *find_newborn_ids(placed)])
                nodes.note_unreadable(connection, batch.unreadable, batch.readable_again)
                events.note_positions(connection, batch.positions)
                events.note_torn(connection, batch.torn, batch.read_anew)
            if change is not None or gone or displaced:
                state.matrix.apply(change or MatrixChange(), [*gone, *displaced])
            if state.vocabulary.wants_renewal:
                state.vocabulary = Vocabulary()
            state.vocabulary.add(each.texts for each in placed if not each.same_texts)
            if placed or gone:
                state.note_change()
            if changes_ranking(batch):
                state.ranked = False

    def _put_passages(
        self, connection: apsw.Connection, placed: Sequence[PlacedMemory]
    ) -> MatrixChange:
        state = self._state
        stemmer = Stemmer(connection, state.stems)
        return vectors.put_passages(connection, state.matrix, state.place.traces, stemmer, placed)

    def _settle_tokens(self) -> None:
        """Have tokens written before a row says where they stand."""
        if self._state.place.traces.keeper is not None:
            self._state.place.traces.keeper.flush()

    def set_traces(self, traces: Mapping[str, Sequence[PassageEmbedding]]) -> None:
        state = self._state
        self._settle_tokens()
        with state.connections.write_lock:
            with state.connections.writing() as connection:
                change = vectors.set_traces(connection, state.matrix, state.place.traces, traces)
            state.matrix.apply(change)
            state.note_change()

    def clear(self) -> None:
        state = self._state
        with state.connections.write_lock:
            with state.connections.writing() as connection:
                vectors.empty_tables(connection)
            state.matrix.clear()
            state.vocabulary = Vocabulary()
            state.note_change()
            state.ranked = False

    def fresh(self) -> SqliteIndex:
        place = self._state.place
        path = place.path.with_name(place.path.name + FRESH_SUFFIX)
        with translate_errors(path):
            remove_index(path)
        return SqliteIndex(replace(place, path=path), in_the_making=True)

    def replace_with(self, fresh: Index) -> None:
        if not isinstance(fresh, SqliteIndex):
            raise TypeError(f"{fresh!r} was not made by `fresh`")
        fresh._state.connections.make_late_indexes()
        fresh.close()
        with translate_errors(self._state.place.path):
            self._state.connections.exchange(lambda: self._take_over(fresh._state))

    def _take_over(self, fresh: SqliteState) -> None:
        state = self._state
        swap_index(fresh.place.path, state.place.path)
        state.matrix, state.numbers = fresh.matrix, fresh.numbers
        state.vocabulary = Vocabulary()
        state.note_change()
        state.ranking, state.ranked = {}, False

    def close(self) -> None:
        self._state.connections.close()
