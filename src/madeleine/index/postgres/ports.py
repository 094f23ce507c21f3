"""The three ports over one tenant's rows: most of their methods are the functions of the modules
beside it, each lent a connection; what needs more of the engine stands here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

import numpy as np
from numpy.typing import NDArray

from madeleine.database.transactions import DatabaseTenant, TenantAccess
from madeleine.index.common.passage_cache import VersionedPassageCache, VersionedPool
from madeleine.index.common.passages import ModelDimensions
from madeleine.index.common.pools import join_details
from madeleine.index.common.port_methods import reads
from madeleine.index.common.postings import TermTokenizer, select_known_words
from madeleine.index.common.spelling import find_spellings
from madeleine.index.graph import MemorySketch
from madeleine.index.log import WhisperEntry
from madeleine.index.postgres import (
    events,
    gathering,
    graph,
    nodes,
    pool,
    ranking,
    standing,
    sums,
    usage,
    vector_search,
    whispers,
    words,
)
from madeleine.index.postgres.pool import PoolSources
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
from madeleine.model.memory import Memory
from madeleine.model.query import Filter
from madeleine.model.vector import Vector


@dataclass(frozen=True, slots=True)
class PostgresIndexOptions:
    """Whose traces, and how wide they are. No model: text search only."""

    model: str | None
    wide: ModelDimensions
    exact_up_to: int


@dataclass(slots=True)
class PostgresState:
    """What the ports share: whose rows they are, and the little that is kept of them here."""

    rows: DatabaseTenant
    place: PostgresIndexOptions
    cutter: TermTokenizer = field(default_factory=TermTokenizer)
    kept: VersionedPassageCache = field(default_factory=VersionedPassageCache)
    ranked: ranking.PostgresRanking = field(default_factory=ranking.PostgresRanking)
    memories: int | None = None
    """How many there were when somebody last counted."""

    def reading(self) -> AbstractContextManager[TenantAccess]:
        return self.rows.reading()


class PostgresSearch:
    """Search in a tenant's rows."""

    def __init__(self, state: PostgresState) -> None:
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
    tags = reads(nodes.tags)
    core_by_importance = reads(nodes.core_by_importance)
    records = reads(nodes.records)
    ids = reads(nodes.read_ids)
    unembedded_ids = reads(nodes.unembedded_ids)
    ids_after = reads(nodes.ids_after)
    fingerprints = reads(nodes.fingerprints)
    unreadable = reads(nodes.unreadable)
    of_source = reads(gathering.of_source)
    unseen = reads(standing.unseen)

    def memories(self, ids: Iterable[str]) -> dict[str, Memory]:
        wanted = list(ids)
        if not wanted:  # asked at every remember, and mostly about nothing
            return {}
        with self.reading() as access:
            return nodes.memories(access, wanted)

    def search_text(
        self, terms: Sequence[str], chosen: Filter, now: datetime, limit: int
    ) -> list[IndexHit]:
        with self.reading() as access:
            return words.search_text(access, self._state.cutter, terms, chosen, now, limit)

    def search_vector(
        self,
        vector: Vector,
        chosen: Filter,
        now: datetime,
        limit: int,
        least: float = LOWEST_COSINE,
    ) -> list[IndexHit]:
        if not self._state.place.wide.vector:
            return []
        with self.reading() as access:
            looking = self._look(access, chosen, now)
            return vector_search.search_nearest(access, looking, vector, limit, least)

    def _look(
        self, access: TenantAccess, chosen: Filter, now: datetime
    ) -> vector_search.PostgresSearchPlan:
        place = self._state.place
        return vector_search.plan_search(access, place.wide.vector, chosen, now, place.exact_up_to)

    def changes(self) -> int | None:
        return None

    def extent(self) -> CollectionStatistics:
        with self.reading() as access:
            found = sums.extent(access)
        self._state.memories = found.memories
        return found

    def terms(self, wanted: Sequence[str]) -> list[tuple[IndexedTerm, ...]]:
        with self.reading() as access:
            return words.terms(access, self._state.cutter, wanted)

    def known_words(self, wanted: Sequence[str]) -> dict[str, IndexedTerm]:
        return select_known_words(wanted, self.terms(wanted))

    def spellings(self, wanted: Sequence[str]) -> dict[str, str]:
        with self.reading() as access:
            return find_spellings(
                partial(words.read_terms_between, access), self._state.cutter.stemmer, wanted
            )

    def matching(self, wanted: Sequence[str]) -> WordMatches:
        with self.reading() as access:
            return words.find_matches(access, self._state.cutter, wanted)

    def pool(self, wanted: CandidateQuery, chosen: Filter, now: datetime) -> CandidatePool:
        with self.reading() as access:
            return pool.pool(access, self._sources, wanted, chosen, now)

    @property
    def _sources(self) -> PoolSources:
        place = self._state.place
        return PoolSources(
            self._state.cutter, place.wide.vector, place.exact_up_to, self._state.memories
        )

    def details(self, found: CandidatePool, places: NDArray[np.int64]) -> PassageDetails:
        numbers = found.numbers[places].tolist()
        with self.reading() as access:
            if self._state.rows.is_steady and isinstance(found, VersionedPool):
                versions = found.versions[places].tolist()
                seen = self._state.kept.find(partial(pool.read_passages, access), numbers, versions)
            else:  # the pool may be of another moment
                known = pool.read_passages(access, numbers)
                seen = [known.get(number, (b"", b"")) for number in numbers]
        return join_details(seen, self._state.place.wide.token)

    def vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        if not self._state.place.wide.vector:
            return {}
        with self.reading() as access:
            return vector_search.read_vectors(access, self._state.place.wide.vector, ids)

    def neighbours(
        self,
        ids: Sequence[str],
        chosen: Filter,
        now: datetime,
        k: int,
        least: float = LOWEST_COSINE,
    ) -> dict[str, list[IndexHit]]:
        if not self._state.place.wide.vector:
            return {}
        with self.reading() as access:
            looking = self._look(access, chosen, now)
            return vector_search.neighbours(access, looking, ids, k, least)

    def standings(self, between: PauseCallback = no_pause) -> MemoryColumns:
        between()
        with self.reading() as access:
            return standing.standings(access)

    def sample(self, bar: RelevanceThreshold, now: datetime, size: int, seed: int) -> list[str]:
        if not self._state.place.wide.vector:
            return []
        with self.reading() as access:
            return gathering.sample(access, bar, now, size, seed)

    def gather_all(
        self,
        bar: RelevanceThreshold,
        now: datetime,
        also: Sequence[str] = (),
        between: PauseCallback = no_pause,
    ) -> EmbeddedMemories:
        between()
        with self.reading() as access:
            return gathering.gather_all(access, self._state.place.wide.vector, bar, now, also)


class PostgresGraph:
    """The graph in a tenant's rows."""

    def __init__(self, state: PostgresState) -> None:
        self._state = state
        self.reading = state.reading

    self_id = reads(graph.self_id)
    edges = reads(graph.edges)
    edges_between = reads(graph.edges_between)
    associations = reads(graph.associations)
    newest_edges = reads(graph.newest_edges)
    arrows = reads(graph.arrows)
    across_spaces = reads(standing.across_spaces)
    superseded_by = reads(nodes.superseded_by)
    sketches = reads(ranking.sketches)

    def regions(self, now: datetime) -> dict[str | None, int]:
        found = self._state.ranked  # another thread may rank anew meanwhile
        with self.reading() as access:
            if not found.is_of(access):
                found = self._state.ranked = ranking.read_ranking(access, now)
        return {space: len(each) for space, each in found.by_space.items()}

    def strongest(
        self, space: str | None, now: datetime, limit: int, offset: int = 0
    ) -> list[MemorySketch]:
        found = self._state.ranked
        with self.reading() as access:
            if not found.is_about(access):
                found = self._state.ranked = ranking.read_ranking(access, now)
            wanted = found.page(space, offset, offset + limit)
            return ranking.sketches_of_nodes(access, wanted, now)


class PostgresLog:
    """The log in a tenant's rows."""

    def __init__(self, state: PostgresState) -> None:
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
        with self._state.rows.note_transaction() as access:
            whispers.write_entry(access, entry, keep_after)

    def drop_whispers(self, naming: Sequence[str]) -> None:
        with self._state.rows.note_transaction() as access:
            whispers.drop_entries(access, naming)
