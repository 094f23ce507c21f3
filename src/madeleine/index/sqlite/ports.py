"""The three ports over one file: most of their methods are the functions of the modules beside it,
each lent a connection; what needs the matrix too stands here.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

import apsw
import numpy as np
from numpy.typing import NDArray

from madeleine.index.common.matrix import Matrix
from madeleine.index.common.neighbours import nearest_by_id
from madeleine.index.common.passages import ModelDimensions
from madeleine.index.common.port_methods import reads
from madeleine.index.common.ranking import NodeRanking
from madeleine.index.common.spelling import find_spellings
from madeleine.index.common.stems import Stemmer
from madeleine.index.graph import MemorySketch
from madeleine.index.log import WhisperEntry
from madeleine.index.search import (
    LOWEST_COSINE,
    CandidatePool,
    CandidateQuery,
    CollectionStatistics,
    EmbeddedMemories,
    IndexedTerm,
    IndexHit,
    MemoryColumns,
    PassageDetails,
    PauseCallback,
    RelevanceThreshold,
    WordMatches,
    no_pause,
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
from madeleine.index.sqlite.connection import SqliteConnections
from madeleine.index.sqlite.vectors import TraceOptions
from madeleine.index.sqlite.vocabulary import Vocabulary
from madeleine.model.memory import Memory
from madeleine.model.query import Filter
from madeleine.model.vector import Vector

MAX_KEPT_WORDS = 50_000  # of which is known how many memories hold them
MAX_KEPT_ANSWERS = 1_000  # of one kind, to what was asked of one state of the index

Key = TypeVar("Key")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class SqliteIndexOptions:
    """Which file, and whose traces. No model: text search only."""

    path: Path
    model: str | None
    traces: TraceOptions
    exact_up_to: int

    @property
    def wide(self) -> ModelDimensions:
        return self.traces.wide


def read_missing(
    known: dict[str, Answer],
    words: Sequence[str],
    read: Callable[[Sequence[str]], Iterable[Answer]],
) -> list[Answer]:
    """Return what was read of words before, and read what was not. FTS5 needs 20 microseconds and
    more for a word, and questions of one day ask about the same ones."""
    there = {word: known[word] for word in words if word in known}
    missing = [word for word in dict.fromkeys(words) if word not in there]
    if missing:
        fresh = dict(zip(missing, read(missing), strict=True))
        there |= fresh
        if len(known) + len(fresh) <= MAX_KEPT_WORDS:
            known |= fresh
    return [there[word] for word in words]


@dataclass(slots=True)
class KeptReads:
    """What was read of one state of the index, for whoever reads it again."""

    passages: pool.PassageCache = field(default_factory=pool.PassageCache)
    terms: dict[str, tuple[IndexedTerm, ...]] = field(default_factory=dict)
    known_words: dict[str, IndexedTerm | None] = field(default_factory=dict)
    tags: dict[tuple[str, int], tuple[tuple[str, int], ...]] = field(default_factory=dict)
    unembedded: dict[int, tuple[str, ...]] = field(default_factory=dict)
    self_ids: dict[None, str | None] = field(default_factory=dict)


@dataclass(slots=True)
class SqliteState:
    """What the ports share: the file, and what is kept of it in memory."""

    place: SqliteIndexOptions
    connections: SqliteConnections
    matrix: Matrix
    numbers: itertools.count[int]
    """Gives out the numbers of nodes."""
    stems: dict[str, int] = field(default_factory=dict)
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    kept: KeptReads = field(default_factory=KeptReads)
    changes: int = 0
    """How often a memory was written, dropped or given a vector."""
    steady: threading.local = field(default_factory=threading.local)
    ranking: NodeRanking = field(default_factory=dict)
    ranked: bool = False
    """Whether the ranking still says how memories stand."""

    def note_change(self) -> None:
        """Forget what was read: some of it is no longer so."""
        self.kept = KeptReads()
        self.changes += 1

    @property
    def steady_vocabulary(self) -> Vocabulary:
        """The vocabulary of the state that this thread reads."""
        return getattr(self.steady, "vocabulary", None) or self.vocabulary

    @property
    def steady_kept(self) -> KeptReads:
        """What was read of the state that this thread reads. It is asked for before a reading
        begins, so that what an older state says never lands beside what a newer one says."""
        return getattr(self.steady, "kept", None) or self.kept

    def reading(self) -> AbstractContextManager[apsw.Connection]:
        return self.connections.reading()

    def read_once(
        self, known: dict[Key, Answer], key: Key, read: Callable[[apsw.Connection], Answer]
    ) -> Answer:
        """Return what was read of this state before, or read it."""
        if key in known:
            return known[key]
        with self.reading() as connection:
            answer = read(connection)
        if len(known) < MAX_KEPT_ANSWERS:
            known[key] = answer
        return answer


class SqliteSearch:
    """Search in a file."""

    def __init__(self, state: SqliteState) -> None:
        self._state = state
        self.reading = state.reading

    get = reads(nodes.get)
    scores = reads(nodes.scores)
    ids_with_prefix = reads(nodes.ids_with_prefix)
    id_at = reads(nodes.id_at)
    path_of = reads(nodes.path_of)
    same_text = reads(nodes.same_text)
    claims = reads(nodes.claims)
    contested_addresses = reads(nodes.contested_addresses)
    with_idempotency_key = reads(nodes.with_idempotency_key)
    listing = reads(nodes.listing)
    triggered_memories = reads(nodes.triggered_memories)
    count = reads(nodes.count)
    first_known = reads(nodes.first_known)
    select_allowed = reads(nodes.select_allowed)
    counts = reads(nodes.counts)
    core_by_importance = reads(nodes.core_by_importance)
    records = reads(nodes.records)
    ids_after = reads(nodes.ids_after)
    fingerprints = reads(nodes.fingerprints)
    unreadable = reads(nodes.unreadable)
    search_text = reads(text.search_text)
    ids = reads(vectors.read_ids)
    of_source = reads(gathering.of_source)
    unseen = reads(standing.unseen)

    def memories(self, ids: Iterable[str]) -> dict[str, Memory]:
        wanted = list(ids)
        if not wanted:  # asked at every remember, and mostly about nothing
            return {}
        with self.reading() as connection:
            return nodes.memories(connection, wanted)

    def tags(self, beginning: str, limit: int) -> list[tuple[str, int]]:
        def read(connection: apsw.Connection) -> tuple[tuple[str, int], ...]:
            return tuple(nodes.tags(connection, beginning, limit))

        return [*self._state.read_once(self._state.steady_kept.tags, (beginning, limit), read)]

    def unembedded_ids(self, limit: int) -> list[str]:
        def read(connection: apsw.Connection) -> tuple[str, ...]:
            return tuple(nodes.unembedded_ids(connection, limit))

        return [*self._state.read_once(self._state.steady_kept.unembedded, limit, read)]

    def search_vector(
        self,
        vector: Vector,
        chosen: Filter,
        now: datetime,
        limit: int,
        least: float = LOWEST_COSINE,
    ) -> list[IndexHit]:
        # The matrix is looked at while a connection is held, so that `replace_with` cannot
        # change the one without the other.
        with self.reading() as connection:
            if not self._state.place.wide.vector:
                return []
            matrix = self._state.matrix
            return vectors.search_vector(connection, matrix, vector, chosen, now, limit, least)

    def changes(self) -> int | None:
        return self._state.changes

    def extent(self) -> CollectionStatistics:
        matrix = self._state.matrix
        speakers = matrix.speakers
        return CollectionStatistics(
            matrix.nodes, matrix.mean_words, speakers.names, speakers.short_names
        )

    def terms(self, words: Sequence[str]) -> list[tuple[IndexedTerm, ...]]:
        def read(missing: Sequence[str]) -> Iterable[tuple[IndexedTerm, ...]]:
            with self.reading() as connection:
                stemmer = Stemmer(connection, self._state.stems)
                return text.terms(connection, stemmer, missing, self._state.steady_vocabulary)

        return read_missing(self._state.steady_kept.terms, words, read)

    def known_words(self, words: Sequence[str]) -> dict[str, IndexedTerm]:
        def read(missing: Sequence[str]) -> Iterable[IndexedTerm | None]:
            with self.reading() as connection:
                stemmer = Stemmer(connection, self._state.stems)
                vocabulary = self._state.steady_vocabulary
                found = text.known_words(connection, stemmer, missing, vocabulary)
            return map(found.get, missing)

        found = read_missing(self._state.steady_kept.known_words, words, read)
        return {word: term for word, term in zip(words, found, strict=True) if term is not None}

    def spellings(self, words: Sequence[str]) -> dict[str, str]:
        with self.reading() as connection:
            stemmer = Stemmer(connection, self._state.stems)
            return find_spellings(partial(text.read_terms_between, connection), stemmer, words)

    def matching(self, words: Sequence[str]) -> WordMatches:
        with self.reading() as connection:
            return WordMatches(*text.find_matches(connection, words))

    def pool(self, wanted: CandidateQuery, chosen: Filter, now: datetime) -> CandidatePool:
        with self.reading() as connection:
            return pool.pool(connection, self._state.matrix, wanted, chosen, now)

    def details(self, found: CandidatePool, places: NDArray[np.int64]) -> PassageDetails:
        kept = self._state.steady_kept.passages
        traces = self._state.place.traces
        with self.reading() as connection:
            return pool.details(connection, kept, traces, found.numbers[places])

    def vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        with self.reading() as connection:
            return vectors.read_vectors(connection, ids) if self._state.place.wide.vector else {}

    def neighbours(
        self,
        ids: Sequence[str],
        chosen: Filter,
        now: datetime,
        k: int,
        least: float = LOWEST_COSINE,
    ) -> dict[str, list[IndexHit]]:
        state = self._state
        while state.place.wide.vector:
            with self.reading() as connection:
                matrix = state.matrix
                asked = standing.prepare_neighbour_query(connection, matrix, ids, chosen, now)
            found = nearest_by_id(asked, k, least)  # nobody waits for this
            with self.reading() as connection:
                if state.matrix is matrix:  # else a rebuild came between, and numbers mean others
                    return standing.name_neighbours(connection, found, k)
        return {}

    def standings(self, between: PauseCallback = no_pause) -> MemoryColumns:
        with self.reading() as connection:
            return standing.standings(connection, between=between)

    def sample(self, bar: RelevanceThreshold, now: datetime, size: int, seed: int) -> list[str]:
        with self.reading() as connection:
            return gathering.sample(connection, self._state.matrix, bar, now, size, seed)

    def gather_all(
        self,
        bar: RelevanceThreshold,
        now: datetime,
        also: Sequence[str] = (),
        between: PauseCallback = no_pause,
    ) -> EmbeddedMemories:
        with self.reading() as connection:
            return gathering.gather_all(connection, self._state.matrix, bar, now, also, between)


class SqliteGraph:
    """The graph in a file."""

    def __init__(self, state: SqliteState) -> None:
        self._state = state
        self.reading = state.reading

    edges = reads(graph.edges)
    edges_between = reads(graph.edges_between)
    associations = reads(graph.associations)
    newest_edges = reads(graph.newest_edges)
    arrows = reads(graph.arrows)
    across_spaces = reads(standing.across_spaces)
    superseded_by = reads(nodes.superseded_by)
    sketches = reads(ranking.sketches)

    def self_id(self) -> str | None:
        return self._state.read_once(self._state.steady_kept.self_ids, None, graph.self_id)

    def regions(self, now: datetime) -> dict[str | None, int]:
        if not self._state.ranked:
            self._state.ranked = True  # what is written meanwhile says again that it is not
            with self.reading() as connection:
                self._state.ranking = ranking.read_ranking(connection, now)
        return {space: len(nodes) for space, nodes in self._state.ranking.items()}

    def strongest(
        self, space: str | None, now: datetime, limit: int, offset: int = 0
    ) -> list[MemorySketch]:
        if not self._state.ranking:
            self.regions(now)
        ranked = self._state.ranking.get(space, np.empty(0, np.int64))
        with self.reading() as connection:
            return ranking.sketches_of_nodes(connection, ranked[offset : offset + limit], now)


class SqliteLog:
    """The log in a file."""

    def __init__(self, state: SqliteState) -> None:
        self._state = state
        self.reading = state.reading

    positions = reads(events.positions)
    torn_lines = reads(events.torn_lines)
    history = reads(events.history)
    event = reads(events.event)
    changes = reads(events.changes)
    outcome = reads(events.outcome)
    in_force = reads(events.in_force)
    unsettled_changes = reads(events.unsettled_changes)
    recent_events = reads(events.recent_events)
    proposals = reads(events.proposals)
    questions_about = reads(events.questions_about)
    state = reads(events.state)
    feedback = reads(events.feedback)
    verdicts = reads(standing.verdicts)
    verdicts_on_older = reads(standing.verdicts_on_older)
    uses = reads(standing.uses)
    used_today = reads(usage.used_today)
    used_together = reads(gathering.used_together)
    whisper = reads(whispers.read_entry)  # before the next line hides the module
    whispers = reads(whispers.read_newest)

    def log_whisper(self, entry: WhisperEntry, keep_after: datetime) -> None:
        with self._state.connections.writing() as connection:
            whispers.write_entry(connection, entry, keep_after)

    def drop_whispers(self, naming: Sequence[str]) -> None:
        with self._state.connections.writing() as connection:
            whispers.drop_entries(connection, naming)
