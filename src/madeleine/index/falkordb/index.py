"""The port's face: each method is one read or one transaction on the modules beside it.

Nothing of the index is kept in this process but passages and vectors that cannot have changed, so
any number of processes may have one open on the same graph. A rebuild fills another graph (`fresh`)
for which nobody waits, then gives it the name of the old one (`replace_with`): killed before
that, the old index goes on answering; killed after, the new one does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

import numpy as np
from numpy.typing import NDArray

from madeleine.errors import DatabaseDown
from madeleine.index.apart import Apart
from madeleine.index.common.events import FEEDBACK_AT_MOST
from madeleine.index.common.gathering import Looking
from madeleine.index.common.passages import Spaces
from madeleine.index.common.pools import joined
from madeleine.index.common.postings import Cutter
from madeleine.index.common.ranking import reorders
from madeleine.index.common.spelling import spellings
from madeleine.index.common.stamped import Kept, Stamped
from madeleine.index.falkordb import (
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
from madeleine.index.falkordb.connection import Access, Address, Server, Turns, translated
from madeleine.index.falkordb.meaning import Space
from madeleine.index.falkordb.schema import Head, prepare, prepare_whispers, read_head
from madeleine.index.falkordb.vectors import Vectors
from madeleine.index.falkordb.writing import Writing
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

DEFAULT_TENANT = "home"
EXACT_UP_TO = 4_000  # memories: above it, the index of vectors is quicker than comparing each
TRIES = 5  # to write, should others write in between in spite of all turns


@dataclass(frozen=True, slots=True)
class _Place:
    """Which graph, whose traces, and where those are. No model: text search only."""

    address: Address
    name: str
    model: str | None
    wide: Spaces
    exact_up_to: int
    apart: Apart | None


class FalkorIndex:
    """An index in a graph of FalkorDB. Any thread may call any method at any time."""

    def __init__(self, place: _Place, after: Head | None = None) -> None:
        self._place = place
        self._server = Server(place.address)
        self._access = Access(self._server, place.name)
        self._log = Access(self._server, f"{{{place.address.graph}}}:whispers")
        self._turns = Turns(self._server, place.name)
        self._vectors = Vectors(self._access, place.wide.vector, place.apart)
        self._cutter = Cutter()
        self._kept = Kept()
        self._ranked = ranking.Ranked()
        prepare(self._access, after)
        prepare_whispers(self._log)
        if place.model is not None:  # else it may be back tomorrow
            self._claim(place.model)

    @classmethod
    def open(
        cls,
        url: str,
        model: str | None = None,
        dimension: int | None = None,
        token_dimension: int = 0,
        tenant: str = DEFAULT_TENANT,
        exact_up_to: int = EXACT_UP_TO,
        apart: Apart | None = None,
    ) -> FalkorIndex:
        """Open the index in the graph that `url` names, or make an empty one; every other tenant
        has a graph of their own beside it. Vectors stand in the graph too, unless something
        `apart` keeps them."""
        wide = Spaces((dimension or 0) if model else 0, token_dimension if model else 0)
        address = Address.of(url)
        if tenant != DEFAULT_TENANT:
            address = replace(address, graph=f"{address.graph}:{tenant}")
        return cls(_Place(address, address.graph, model, wide, exact_up_to, apart))

    @contextmanager
    def steady(self) -> Iterator[None]:
        with self._turns.steady():
            yield

    @contextmanager
    def _read(self) -> Iterator[Access]:
        """Lend the graph to who asks several questions, all about one state of it."""
        with self._turns.steady():
            yield self._access

    @contextmanager
    def _space(self) -> Iterator[Space]:
        with self._turns.steady():
            yield Space(self._access, self._vectors, self._place.exact_up_to)

    # -- writing ---------------------------------------------------------------------------
    def write(self, batch: Batch) -> None:
        self._write(partial(self._apply, batch))

    def _apply(self, batch: Batch, writing: Writing) -> None:
        placed = nodes.change(writing, self._place.wide, batch)
        effects = events.apply(writing, batch.events)
        usage.apply(writing, effects, placed)
        nodes.note_unreadable(writing, batch.unreadable, batch.readable_again)
        events.note_positions(writing, batch.positions)
        events.note_torn(writing, batch.torn, batch.read_anew)
        self._vectors.add(writing)
        if reorders(batch) and writing.statement.steps:
            writing.statement.head["ranked"] = writing.version

    def set_traces(self, traces: Mapping[str, Sequence[Trace]]) -> None:
        def give(writing: Writing) -> None:
            passages.set_traces(writing, self._place.wide, traces)
            self._vectors.add(writing)

        self._write(give)

    def _write(self, make: Callable[[Writing], None]) -> None:
        """Write what `make` says, if the graph is still what it was when that was worked out."""
        for _ in range(TRIES):
            with self._turns.writing():
                writing = Writing(self._access, read_head(self._access), self._cutter)
                make(writing)
                if not writing.statement.steps and not writing.statement.head:
                    return
                query = writing.finished().query(writing.head.version)
                self._turns.close_gate()
                written = self._access.run(*query)
            if written:
                self._vectors.settle(writing)
                return
        raise DatabaseDown(self._access.place, "others write in between, again and again")

    def _claim(self, model: str) -> None:
        """Note whose traces the graph holds, and drop those of any other model, or place."""
        wide = f"{self._place.wide.vector} {self._place.wide.token}"
        wanted = {"model": model, "wide": wide, "vectors": self._vectors.place}
        head = read_head(self._access)
        if {"model": head.model, "wide": head.wide, "vectors": head.vectors} == wanted:
            self._vectors.check(head.collection)
            return

        def claim(writing: Writing) -> None:
            if writing.head.model is not None:
                _forget_traces(writing)
            writing.statement.head.update(wanted, collection=self._vectors.begin())

        self._write(claim)
        head = read_head(self._access)
        self._vectors.check(head.collection)
        self._vectors.sweep(head.collection)

    def clear(self) -> None:
        def clear(writing: Writing) -> None:
            head = writing.head
            writing.memories, writing.words = -head.memories, -head.words
            writing.length, writing.traced = -head.length, -head.traced
            everything = "MATCH (x) WHERE NOT x:Head DELETE x"
            writing.statement.each([0], everything)
            writing.statement.head["ranked"] = writing.version
            if self._place.wide.vector:
                writing.statement.head["collection"] = self._vectors.begin()

        self._write(clear)
        self._vectors.sweep(read_head(self._access).collection)

    def fresh(self) -> FalkorIndex:
        made = replace(self._place, name=f"{{{self._place.address.graph}}}:fresh")
        prepare(self._access)  # it may have been emptied
        head = read_head(self._access)
        with translated(self._access.place):
            for each in (made.name, self._old):
                Access(self._server, each).remove()
        self._vectors.sweep(head.collection)
        return FalkorIndex(made, head)

    @property
    def _old(self) -> str:
        """What a graph is called between its replacement and its end."""
        return f"{{{self._place.address.graph}}}:old"

    def replace_with(self, fresh: Index) -> None:
        if not isinstance(fresh, FalkorIndex):
            raise TypeError(f"{fresh!r} was not made by `fresh`")
        fresh.close()
        with translated(self._access.place):
            Access(self._server, self._old).remove()
        with self._turns.writing():
            self._turns.close_gate()
            with self._server.redis.pipeline(transaction=True) as both:
                both.rename(self._place.name, self._old)
                both.rename(fresh._place.name, self._place.name)
                both.execute()
        with translated(self._access.place):
            Access(self._server, self._old).remove()
        self._vectors.sweep(read_head(self._access).collection)

    def close(self) -> None:
        self._server.close()

    # -- memories --------------------------------------------------------------------------
    def get(self, memory_id: str) -> Stored | None:
        return nodes.get(self._access, memory_id)

    def memories(self, ids: Iterable[str]) -> dict[str, Memory]:
        wanted = list(ids)
        if not wanted:  # asked at every remember, and mostly about nothing
            return {}
        return nodes.memories(self._access, wanted)

    def scores(self, ids: Iterable[str]) -> dict[str, Mapping[str, float | None]]:
        return nodes.scores(self._access, ids)

    def ids_with_prefix(self, prefix: str, limit: int = 10) -> list[str]:
        return nodes.ids_with_prefix(self._access, prefix, limit)

    def id_at(self, path: str) -> str | None:
        return nodes.id_at(self._access, path)

    def path_of(self, memory_id: str) -> str | None:
        return nodes.path_of(self._access, memory_id)

    def same_text(self, space: str | None, key: str, now: datetime, limit: int = 64) -> list[str]:
        return nodes.same_text(self._access, space, key, now, limit)

    def claims(self, address: str, now: datetime, but: str | None = None) -> list[str]:
        return nodes.claims(self._access, address, now, but)

    def contested(self, now: datetime, limit: int) -> list[str]:
        return nodes.contested(self._access, now, limit)

    def with_idempotency_key(self, key: str) -> str | None:
        return nodes.with_idempotency_key(self._access, key)

    def self_id(self) -> str | None:
        return graph.self_id(self._access)

    def listing(self, chosen: Filter, now: datetime, limit: int, offset: int = 0) -> list[Memory]:
        return nodes.listing(self._access, chosen, now, limit, offset)

    def count(self, chosen: Filter, now: datetime) -> int:
        return nodes.count(self._access, chosen, now)

    def first_known(self) -> datetime | None:
        return nodes.first_known(self._access)

    def allowed(self, ids: Iterable[str], chosen: Filter, now: datetime) -> set[str]:
        return nodes.allowed(self._access, ids, chosen, now)

    def counts(self) -> Counts:
        with self._read() as access:
            return nodes.counts(access)

    def tags(self, beginning: str, limit: int) -> list[tuple[str, int]]:
        return nodes.tags(self._access, beginning, limit)

    def core_by_importance(self) -> list[tuple[str, float]]:
        with self._read() as access:
            return nodes.core_by_importance(access)

    # -- searching -------------------------------------------------------------------------
    def search_text(
        self, terms: Sequence[str], chosen: Filter, now: datetime, limit: int
    ) -> list[Hit]:
        with self._read() as access:
            return words.search_text(access, self._cutter, terms, chosen, now, limit)

    def search_vector(
        self, vector: Vector, chosen: Filter, now: datetime, limit: int, least: float = NO_LEAST
    ) -> list[Hit]:
        if not self._place.wide.vector:
            return []
        with self._space() as space:
            return meaning.search(meaning.look(space, chosen, now), vector, limit, least)

    def extent(self) -> Extent:
        return passages.extent(self._access)

    def terms(self, wanted: Sequence[str]) -> list[tuple[Term, ...]]:
        with self._read() as access:
            return words.terms(access, self._cutter, wanted)

    def spellings(self, wanted: Sequence[str]) -> dict[str, str]:
        with self._read() as access:
            return spellings(partial(words.near, access), self._cutter.stemmer, wanted)

    def matching(self, wanted: Sequence[str]) -> Matches:
        with self._read() as access:
            return words.matches(access, self._cutter, wanted)

    def pool(self, wanted: Wanted, chosen: Filter, now: datetime) -> Pool:
        with self._space() as space:
            return pool.pool(space, self._cutter, wanted, chosen, now)

    def details(self, found: Pool, places: NDArray[np.int64]) -> Details:
        numbers = found.numbers[places].tolist()
        read = partial(pool.read, self._access)
        if self._turns.is_steady and isinstance(found, Stamped):
            seen = self._kept.find(read, numbers, found.versions[places].tolist())
        else:  # the pool may be of another moment
            known = read(numbers)
            seen = [known.get(number, (b"", b"")) for number in numbers]
        return joined(seen, self._place.wide.token)

    def records(self, wanted: Sequence[int]) -> dict[int, Record]:
        return nodes.records(self._access, wanted)

    def ids(self, wanted: Sequence[int]) -> dict[int, str]:
        return nodes.ids_of(self._access, wanted)

    def vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        if not self._place.wide.vector:
            return {}
        with self._space() as space:
            return meaning.vectors_of(space, ids)

    def neighbours(
        self, ids: Sequence[str], chosen: Filter, now: datetime, k: int, least: float = NO_LEAST
    ) -> dict[str, list[Hit]]:
        if not self._place.wide.vector:
            return {}
        with self._space() as space:
            return meaning.neighbours(meaning.look(space, chosen, now), ids, k, least)

    def unembedded(self, limit: int) -> list[str]:
        return nodes.unembedded(self._access, limit)

    # -- graph -----------------------------------------------------------------------------
    def edges(self, ids: Sequence[str], but_by: str | None = None) -> list[EdgeRow]:
        with self._read() as access:
            return graph.edges(access, ids, but_by)

    def edges_between(self, ids: Sequence[str]) -> list[EdgeRow]:
        return graph.edges_between(self._access, ids)

    def associations(self) -> list[EdgeRow]:
        return graph.associations(self._access)

    def newest_edges(
        self, wanted: Sequence[Edge], limit: int, but_by: str | None = None
    ) -> list[EdgeRow]:
        return graph.newest_edges(self._access, wanted, limit, but_by)

    def arrows(self, ids: Sequence[str], each: int, incoming: bool = True) -> list[EdgeRow]:
        with self._read() as access:
            return graph.arrows(access, ids, each, incoming)

    def regions(self, now: datetime) -> dict[str | None, int]:
        self._ranked = ranking.renewed(self._access, self._ranked, now)
        return {space: len(its) for space, its in self._ranked.by_space.items()}

    def strongest(
        self, space: str | None, now: datetime, limit: int, offset: int = 0
    ) -> list[Sketch]:
        self._ranked = known = ranking.lasting(self._access, self._ranked, now)
        page = known.page(space, limit, offset)
        return ranking.sketches_of_nodes(self._access, page, now)

    def sketches(self, ids: Sequence[str], now: datetime) -> list[Sketch]:
        return ranking.sketches(self._access, ids, now)

    def superseded_by(self, memory_id: str) -> list[str]:
        return nodes.superseded_by(self._access, memory_id)

    # -- what the jobs go by ---------------------------------------------------------------
    def ids_after(self, after_id: str, limit: int) -> list[str]:
        return nodes.ids_after(self._access, after_id, limit)

    def standings(self, between: Between = nothing) -> Standings:
        between()
        with self._read() as access:
            return standing.standings(access)

    def sample(self, bar: Bar, now: datetime, size: int, seed: int) -> list[str]:
        if not self._place.wide.vector:
            return []
        with self._read() as access:
            return gathering.sample(access, bar, now, size, seed)

    def gathered(
        self, bar: Bar, now: datetime, also: Sequence[str] = (), between: Between = nothing
    ) -> Gathered:
        between()
        with self._space() as space:
            return gathering.gathered(space, bar, now, also)

    def of_source(self, source: str) -> list[str]:
        return standing.of_source(self._access, source)

    def used_together(
        self, pairs: Sequence[tuple[str, str]], since: Sequence[datetime]
    ) -> set[tuple[str, str]]:
        return usage.used_together(self._access, pairs, since)

    def across_spaces(self) -> list[Across]:
        return standing.across_spaces(self._access)

    def uses(self, ids: Sequence[str]) -> dict[str, list[Use]]:
        return usage.uses(self._access, ids)

    def unseen(
        self,
        job: str,
        judge: str,
        chosen: Filter,
        now: datetime,
        limit: int,
        also: Sequence[str] = (),
    ) -> list[str]:
        with self._read() as access:
            return standing.unseen(access, Looking(job, judge, also), chosen, now, limit)

    def verdicts(
        self, pairs: Sequence[tuple[str, str]], judge: str
    ) -> dict[tuple[str, str], Verdict]:
        return standing.verdicts(self._access, pairs, judge)

    # -- files -----------------------------------------------------------------------------
    def fingerprints(self) -> dict[str, Fingerprint]:
        with self._read() as access:
            return nodes.fingerprints(access)

    def unreadable(self) -> list[Unreadable]:
        return nodes.unreadable(self._access)

    # -- the journal, indexed --------------------------------------------------------------
    def positions(self) -> dict[str, Position]:
        return events.positions(self._access)

    def torn(self) -> list[Unreadable]:
        return events.torn(self._access)

    def history(self, memory_id: str, limit: int = 100) -> list[Event]:
        return events.history(self._access, memory_id, limit)

    def event(self, event_id: str) -> Event | None:
        return events.event(self._access, event_id)

    def changes(self, change_or_run: str) -> list[Event]:
        with self._read() as access:
            return events.changes(access, change_or_run)

    def outcome(self, change_id: str) -> str | None:
        return events.outcome(self._access, change_id)

    def in_force(self, runs: Sequence[str]) -> dict[str, tuple[int, int]]:
        with self._read() as access:
            return events.in_force(access, runs)

    def unsettled(self) -> list[Event]:
        with self._read() as access:
            return events.unsettled(access)

    def recent_events(
        self, kinds: Sequence[str], limit: int, jobs: Sequence[str] = ()
    ) -> list[Event]:
        return events.recent(self._access, kinds, limit, jobs)

    def used_today(
        self, ids: Iterable[str], session: str | None, at: datetime, whispers: bool = False
    ) -> set[str]:
        return usage.used_today(self._access, ids, session, at, whispers)

    # -- telemetry -------------------------------------------------------------------------
    def log_whisper(self, entry: WhisperEntry, keep_after: datetime) -> None:
        whispers.log(self._log, entry, keep_after)

    def whispers(
        self, limit: int, session: str | None = None, after: WhisperEntry | None = None
    ) -> list[WhisperEntry]:
        return whispers.newest(self._log, limit, session, after)

    def whisper(self, whisper_id: str) -> WhisperEntry | None:
        return whispers.get(self._log, whisper_id)

    def feedback(self, ids: Sequence[str]) -> list[Event]:
        return events.feedback(self._access, ids, FEEDBACK_AT_MOST)

    def proposals(self, status: ProposalStatus | None = None) -> list[Proposal]:
        return events.proposals(self._access, status)

    def state(self, key: str) -> object | None:
        return events.state(self._access, key)


def _forget_traces(writing: Writing) -> None:
    """Let every memory count as not read by any model."""
    writing.traced = -writing.head.traced
    statement = writing.statement
    statement.each([0], "MATCH (t:Trace) DELETE t")
    unread = "SET p.point = null, p.trace = null, p.tokens = '', p.version = r"
    read = f"MATCH (p:Passage) WHERE p.point IS NOT NULL {unread}"
    statement.each([writing.version], read)
    statement.each([0], "MATCH (m:Memory) WHERE m.embedded SET m.embedded = false")
