"""The three ports over one graph: most of their methods are the functions of the modules beside it.
Those that ask one question are given the graph (`asks`), those that ask several are lent it while
nobody changes it (`reads`); what needs more of the engine stands here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial, wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from madeleine.index.common.passage_cache import VersionedPassageCache, VersionedPool
from madeleine.index.common.passages import ModelDimensions
from madeleine.index.common.pools import join_details
from madeleine.index.common.port_methods import reads
from madeleine.index.common.postings import TermTokenizer, select_known_words
from madeleine.index.common.spelling import find_spellings
from madeleine.index.graph import MemorySketch
from madeleine.index.log import WhisperEntry
from madeleine.index.search import (
    LOWEST_COSINE,
    CandidatePool,
    CandidateQuery,
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
from madeleine_falkordb import (
    events,
    gathering,
    graph,
    nodes,
    passages,
    pool,
    ranking,
    standing,
    usage,
    vector_search,
    whispers,
    words,
)
from madeleine_falkordb.connection import (
    FalkorAddress,
    FalkorServer,
    GraphAccess,
    GraphReadWriteLock,
)
from madeleine_falkordb.vector_search import VectorSpace
from madeleine_falkordb.vector_store import VectorStore
from madeleine_falkordb.vectors import GraphVectors

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


class GraphOwner(Protocol):
    """Has a graph that can be asked one question at a time."""

    access: GraphAccess


def asks(
    function: Callable[Concatenate[GraphAccess, Arguments], Answer],
) -> Callable[Concatenate[GraphOwner, Arguments], Answer]:
    """Return a function that asks one question of a graph as a method."""

    @wraps(function)
    def method(self: GraphOwner, /, *given: Arguments.args, **named: Arguments.kwargs) -> Answer:
        return function(self.access, *given, **named)

    return method


@dataclass(frozen=True, slots=True)
class FalkorIndexOptions:
    """Which graph, whose traces, and where those are. No model: text search only."""

    address: FalkorAddress
    name: str
    model: str | None
    wide: ModelDimensions
    exact_up_to: int
    apart: VectorStore | None


class FalkorState:
    """What the ports share: the graph, the turns of those who read and write, and what is kept."""

    def __init__(self, place: FalkorIndexOptions) -> None:
        self.place = place
        self.server = FalkorServer(place.address)
        self.access = GraphAccess(self.server, place.name)
        self.whispers = GraphAccess(self.server, f"{{{place.address.graph}}}:whispers")
        self.turns = GraphReadWriteLock(self.server, place.name)
        self.vectors = GraphVectors(self.access, place.wide.vector, place.apart)
        self.cutter = TermTokenizer()
        self.kept = VersionedPassageCache()
        self.ranked = ranking.FalkorRanking()

    @contextmanager
    def reading(self) -> Iterator[GraphAccess]:
        """Lend the graph to who asks several questions, all about one state of it."""
        with self.turns.steady():
            yield self.access

    @contextmanager
    def space(self) -> Iterator[VectorSpace]:
        """Lend it with its vectors."""
        with self.turns.steady():
            yield VectorSpace(self.access, self.vectors, self.place.exact_up_to)


class FalkorSearch:
    """Search in a graph."""

    def __init__(self, state: FalkorState) -> None:
        self._state = state
        self.access, self.reading = state.access, state.reading

    get = asks(nodes.get)
    scores = asks(nodes.scores)
    ids_with_prefix = asks(nodes.ids_with_prefix)
    id_at = asks(nodes.id_at)
    path_of = asks(nodes.path_of)
    same_text = asks(nodes.same_text)
    claims = asks(nodes.claims)
    contested_addresses = asks(nodes.contested_addresses)
    with_idempotency_key = asks(nodes.with_idempotency_key)
    listing = asks(nodes.listing)
    triggered_memories = asks(nodes.triggered_memories)
    count = asks(nodes.count)
    first_known = asks(nodes.first_known)
    select_allowed = asks(nodes.select_allowed)
    counts = reads(nodes.counts)
    tags = asks(nodes.tags)
    core_by_importance = reads(nodes.core_by_importance)
    records = asks(nodes.records)
    ids = asks(nodes.read_ids)
    unembedded_ids = asks(nodes.unembedded_ids)
    ids_after = asks(nodes.ids_after)
    fingerprints = reads(nodes.fingerprints)
    unreadable = asks(nodes.unreadable)
    extent = asks(passages.extent)
    of_source = asks(standing.of_source)
    unseen = reads(standing.unseen)

    def changes(self) -> int | None:
        return None

    def memories(self, ids: Iterable[str]) -> dict[str, Memory]:
        wanted = list(ids)
        if not wanted:  # asked at every remember, and mostly about nothing
            return {}
        return nodes.memories(self._state.access, wanted)

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
        with self._state.space() as space:
            return vector_search.search_nearest(
                vector_search.plan_search(space, chosen, now), vector, limit, least
            )

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
        with self._state.space() as space:
            return pool.pool(space, self._state.cutter, wanted, chosen, now)

    def details(self, found: CandidatePool, places: NDArray[np.int64]) -> PassageDetails:
        numbers = found.numbers[places].tolist()
        read = partial(pool.read_passages, self._state.access)
        if self._state.turns.is_steady and isinstance(found, VersionedPool):
            seen = self._state.kept.find(read, numbers, found.versions[places].tolist())
        else:  # the pool may be of another moment
            known = read(numbers)
            seen = [known.get(number, (b"", b"")) for number in numbers]
        return join_details(seen, self._state.place.wide.token)

    def vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        if not self._state.place.wide.vector:
            return {}
        with self._state.space() as space:
            return vector_search.read_vectors(space, ids)

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
        with self._state.space() as space:
            return vector_search.neighbours(
                vector_search.plan_search(space, chosen, now), ids, k, least
            )

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
        with self._state.space() as space:
            return gathering.gather_all(space, bar, now, also)


class FalkorGraph:
    """The graph itself."""

    def __init__(self, state: FalkorState) -> None:
        self._state = state
        self.access, self.reading = state.access, state.reading

    self_id = asks(graph.self_id)
    edges = reads(graph.edges)
    edges_between = asks(graph.edges_between)
    associations = asks(graph.associations)
    newest_edges = asks(graph.newest_edges)
    arrows = reads(graph.arrows)
    across_spaces = asks(standing.across_spaces)
    superseded_by = asks(nodes.superseded_by)
    sketches = asks(ranking.sketches)

    def regions(self, now: datetime) -> dict[str | None, int]:
        self._state.ranked = ranking.refresh_ranking(self._state.access, self._state.ranked, now)
        return {space: len(its) for space, its in self._state.ranked.by_space.items()}

    def strongest(
        self, space: str | None, now: datetime, limit: int, offset: int = 0
    ) -> list[MemorySketch]:
        self._state.ranked = known = ranking.reuse_ranking(
            self._state.access, self._state.ranked, now
        )
        page = known.page(space, limit, offset)
        return ranking.sketches_of_nodes(self._state.access, page, now)


class FalkorLog:
    """The log in a graph; whispers are in one of their own, which no rebuild empties."""

    def __init__(self, state: FalkorState) -> None:
        self._state = state
        self.access, self.reading = state.access, state.reading

    positions = asks(events.positions)
    torn_lines = asks(events.torn_lines)
    history = asks(events.history)
    event = asks(events.event)
    changes = reads(events.changes)
    outcome = asks(events.outcome)
    in_force = reads(events.in_force)
    unsettled_changes = reads(events.unsettled_changes)
    recent_events = asks(events.recent_events)
    proposals = asks(events.proposals)
    questions_about = asks(events.questions_about)
    state = asks(events.state)
    feedback = asks(events.feedback)
    verdicts = asks(standing.verdicts)
    verdicts_on_older = asks(standing.verdicts_on_older)
    uses = asks(usage.uses)
    used_today = asks(usage.used_today)
    used_together = asks(usage.used_together)

    def log_whisper(self, entry: WhisperEntry, keep_after: datetime) -> None:
        whispers.write_entry(self._state.whispers, entry, keep_after)

    def drop_whispers(self, naming: Sequence[str]) -> None:
        whispers.drop_entries(self._state.whispers, naming)

    def whispers(
        self,
        limit: int,
        session: str | None = None,
        after: WhisperEntry | None = None,
        naming: str | None = None,
    ) -> list[WhisperEntry]:
        return whispers.read_newest(self._state.whispers, limit, session, after, naming)

    def whisper(self, whisper_id: str) -> WhisperEntry | None:
        return whispers.read_entry(self._state.whispers, whisper_id)
