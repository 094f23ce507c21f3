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

from madeleine.index.common.passages import Spaces
from madeleine.index.common.pools import joined
from madeleine.index.common.postings import Cutter
from madeleine.index.common.reading import reads
from madeleine.index.common.spelling import spellings
from madeleine.index.common.stamped import Kept, Stamped
from madeleine.index.graph import Sketch
from madeleine.index.log import WhisperEntry
from madeleine.index.search import (
    NO_LEAST,
    Bar,
    Between,
    Details,
    Gathered,
    Hit,
    Matches,
    Pool,
    Standings,
    Term,
    Wanted,
    nothing,
)
from madeleine.model.memory import Memory
from madeleine.model.query import Filter
from madeleine.model.vector import Vector
from madeleine_falkordb import (
    events,
    gathering,
    graph,
    meaning,
    nodes,
    passages,
    pool,
    ranking,
    standing,
    usage,
    whispers,
    words,
)
from madeleine_falkordb.apart import Apart
from madeleine_falkordb.connection import Access, Address, Server, Turns
from madeleine_falkordb.meaning import Space
from madeleine_falkordb.vectors import Vectors

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


class GraphOwner(Protocol):
    """Has a graph that can be asked one question at a time."""

    access: Access


def asks(
    function: Callable[Concatenate[Access, Arguments], Answer],
) -> Callable[Concatenate[GraphOwner, Arguments], Answer]:
    """Return a function that asks one question of a graph as a method."""

    @wraps(function)
    def method(self: GraphOwner, /, *given: Arguments.args, **named: Arguments.kwargs) -> Answer:
        return function(self.access, *given, **named)

    return method


@dataclass(frozen=True, slots=True)
class FalkorPlace:
    """Which graph, whose traces, and where those are. No model: text search only."""

    address: Address
    name: str
    model: str | None
    wide: Spaces
    exact_up_to: int
    apart: Apart | None


class FalkorState:
    """What the ports share: the graph, the turns of those who read and write, and what is kept."""

    def __init__(self, place: FalkorPlace) -> None:
        self.place = place
        self.server = Server(place.address)
        self.access = Access(self.server, place.name)
        self.whispers = Access(self.server, f"{{{place.address.graph}}}:whispers")
        self.turns = Turns(self.server, place.name)
        self.vectors = Vectors(self.access, place.wide.vector, place.apart)
        self.cutter = Cutter()
        self.kept = Kept()
        self.ranked = ranking.Ranked()

    @contextmanager
    def reading(self) -> Iterator[Access]:
        """Lend the graph to who asks several questions, all about one state of it."""
        with self.turns.steady():
            yield self.access

    @contextmanager
    def space(self) -> Iterator[Space]:
        """Lend it with its vectors."""
        with self.turns.steady():
            yield Space(self.access, self.vectors, self.place.exact_up_to)


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
    contested = asks(nodes.contested)
    with_idempotency_key = asks(nodes.with_idempotency_key)
    listing = asks(nodes.listing)
    count = asks(nodes.count)
    first_known = asks(nodes.first_known)
    allowed = asks(nodes.allowed)
    counts = reads(nodes.counts)
    tags = asks(nodes.tags)
    core_by_importance = reads(nodes.core_by_importance)
    records = asks(nodes.records)
    ids = asks(nodes.ids_of)
    unembedded = asks(nodes.unembedded)
    ids_after = asks(nodes.ids_after)
    fingerprints = reads(nodes.fingerprints)
    unreadable = asks(nodes.unreadable)
    extent = asks(passages.extent)
    of_source = asks(standing.of_source)
    unseen = reads(standing.unseen)

    def memories(self, ids: Iterable[str]) -> dict[str, Memory]:
        wanted = list(ids)
        if not wanted:  # asked at every remember, and mostly about nothing
            return {}
        return nodes.memories(self._state.access, wanted)

    def search_text(
        self, terms: Sequence[str], chosen: Filter, now: datetime, limit: int
    ) -> list[Hit]:
        with self.reading() as access:
            return words.search_text(access, self._state.cutter, terms, chosen, now, limit)

    def search_vector(
        self, vector: Vector, chosen: Filter, now: datetime, limit: int, least: float = NO_LEAST
    ) -> list[Hit]:
        if not self._state.place.wide.vector:
            return []
        with self._state.space() as space:
            return meaning.search(meaning.look(space, chosen, now), vector, limit, least)

    def terms(self, wanted: Sequence[str]) -> list[tuple[Term, ...]]:
        with self.reading() as access:
            return words.terms(access, self._state.cutter, wanted)

    def spellings(self, wanted: Sequence[str]) -> dict[str, str]:
        with self.reading() as access:
            return spellings(partial(words.near, access), self._state.cutter.stemmer, wanted)

    def matching(self, wanted: Sequence[str]) -> Matches:
        with self.reading() as access:
            return words.matches(access, self._state.cutter, wanted)

    def pool(self, wanted: Wanted, chosen: Filter, now: datetime) -> Pool:
        with self._state.space() as space:
            return pool.pool(space, self._state.cutter, wanted, chosen, now)

    def details(self, found: Pool, places: NDArray[np.int64]) -> Details:
        numbers = found.numbers[places].tolist()
        read = partial(pool.read, self._state.access)
        if self._state.turns.is_steady and isinstance(found, Stamped):
            seen = self._state.kept.find(read, numbers, found.versions[places].tolist())
        else:  # the pool may be of another moment
            known = read(numbers)
            seen = [known.get(number, (b"", b"")) for number in numbers]
        return joined(seen, self._state.place.wide.token)

    def vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        if not self._state.place.wide.vector:
            return {}
        with self._state.space() as space:
            return meaning.vectors_of(space, ids)

    def neighbours(
        self, ids: Sequence[str], chosen: Filter, now: datetime, k: int, least: float = NO_LEAST
    ) -> dict[str, list[Hit]]:
        if not self._state.place.wide.vector:
            return {}
        with self._state.space() as space:
            return meaning.neighbours(meaning.look(space, chosen, now), ids, k, least)

    def standings(self, between: Between = nothing) -> Standings:
        between()
        with self.reading() as access:
            return standing.standings(access)

    def sample(self, bar: Bar, now: datetime, size: int, seed: int) -> list[str]:
        if not self._state.place.wide.vector:
            return []
        with self.reading() as access:
            return gathering.sample(access, bar, now, size, seed)

    def gathered(
        self, bar: Bar, now: datetime, also: Sequence[str] = (), between: Between = nothing
    ) -> Gathered:
        between()
        with self._state.space() as space:
            return gathering.gathered(space, bar, now, also)


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
        self._state.ranked = ranking.renewed(self._state.access, self._state.ranked, now)
        return {space: len(its) for space, its in self._state.ranked.by_space.items()}

    def strongest(
        self, space: str | None, now: datetime, limit: int, offset: int = 0
    ) -> list[Sketch]:
        self._state.ranked = known = ranking.lasting(self._state.access, self._state.ranked, now)
        page = known.page(space, limit, offset)
        return ranking.sketches_of_nodes(self._state.access, page, now)


class FalkorLog:
    """The log in a graph; whispers are in one of their own, which no rebuild empties."""

    def __init__(self, state: FalkorState) -> None:
        self._state = state
        self.access, self.reading = state.access, state.reading

    positions = asks(events.positions)
    torn = asks(events.torn)
    history = asks(events.history)
    event = asks(events.event)
    changes = reads(events.changes)
    outcome = asks(events.outcome)
    in_force = reads(events.in_force)
    unsettled = reads(events.unsettled)
    recent_events = asks(events.recent)
    proposals = asks(events.proposals)
    state = asks(events.state)
    feedback = asks(events.feedback)
    verdicts = asks(standing.verdicts)
    uses = asks(usage.uses)
    used_today = asks(usage.used_today)
    used_together = asks(usage.used_together)

    def log_whisper(self, entry: WhisperEntry, keep_after: datetime) -> None:
        whispers.log(self._state.whispers, entry, keep_after)

    def whispers(
        self, limit: int, session: str | None = None, after: WhisperEntry | None = None
    ) -> list[WhisperEntry]:
        return whispers.newest(self._state.whispers, limit, session, after)

    def whisper(self, whisper_id: str) -> WhisperEntry | None:
        return whispers.get(self._state.whispers, whisper_id)
