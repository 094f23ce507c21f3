"""The port's face: each method is one read or one transaction on the modules beside it.

Nothing of the index is kept in this process but passages that cannot have changed and the order
in which the graph is drawn, so any number of processes may have one open on the same database. A
rebuild fills rows under another name (`fresh`) for which nobody waits, then lets the tenant's name
point to them (`replace_with`): killed before that, the old index goes on answering; killed after,
the new one does. The old rows are removed by whoever begins the next rebuild.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import numpy as np
from numpy.typing import NDArray

from madeleine.database import tenants
from madeleine.database.access import Access, Tenant
from madeleine.database.connection import Connections
from madeleine.database.schema import CLEARED
from madeleine.index.common.events import FEEDBACK_AT_MOST
from madeleine.index.common.gathering import Looking
from madeleine.index.common.passages import Spaces
from madeleine.index.common.pools import joined
from madeleine.index.common.postings import Cutter
from madeleine.index.common.rows import newborn
from madeleine.index.common.spelling import spellings
from madeleine.index.common.stamped import Kept, Stamped
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
from madeleine.index.postgres import (
    events,
    gathering,
    graph,
    meaning,
    nodes,
    passages,
    pool,
    ranking,
    standing,
    tally,
    usage,
    whispers,
    words,
)
from madeleine.index.postgres.pool import Sources
from madeleine.index.postgres.writing import Writing
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

EXACT_UP_TO = 4_000  # memories: above it, walking the graph is quicker than comparing each
DEFAULT_TENANT = "home"
FRESH = " (in the making)"


@dataclass(frozen=True, slots=True)
class _Place:
    """Whose rows, and whose traces. No model: text search only."""

    model: str | None
    wide: Spaces
    exact_up_to: int


class PostgresIndex:
    """An index in a PostgreSQL database. Any thread may call any method at any time."""

    def __init__(self, rows: Tenant, place: _Place) -> None:
        self._place = place
        self._rows = rows
        self._owns_connections = False
        self._cutter = Cutter()
        self._kept = Kept()
        self._ranked = ranking.Ranked()
        self._memories: int | None = None  # how many there were when somebody last counted
        with rows.bare() as connection:
            tenants.introduce(connection, rows.name)
            tenants.make_graph(connection, place.wide.vector)
        with rows.reading() as access:
            claimed = tenants.is_claimed(access, rows.name, place.model, place.wide)
        if not claimed:
            with rows.writing() as access:
                tenants.claim_model(access, rows.name, place.model, place.wide)

    @classmethod
    def open(
        cls,
        url: str,
        model: str | None = None,
        dimension: int | None = None,
        token_dimension: int = 0,
        tenant: str = DEFAULT_TENANT,
        exact_up_to: int = EXACT_UP_TO,
        admit: Callable[[Tenant, Index], None] = lambda rows, index: None,
    ) -> PostgresIndex:
        """Open a tenant's index in the database at `url`, or make an empty one. `admit` looks at
        it before anything is written, and may refuse."""
        rows = Tenant(Connections(url), tenant)
        with ExitStack() as failing:
            failing.callback(rows.connections.close)
            admit(rows, cls.of(rows))  # without a model, nobody's traces are dropped
            made = cls.of(rows, model, dimension, token_dimension, exact_up_to)
            failing.pop_all()
        made._owns_connections = True
        return made

    @classmethod
    def of(
        cls,
        rows: Tenant,
        model: str | None = None,
        dimension: int | None = None,
        token_dimension: int = 0,
        exact_up_to: int = EXACT_UP_TO,
    ) -> PostgresIndex:
        """Open the index of a tenant whose connections others use too."""
        wide = Spaces((dimension or 0) if model else 0, token_dimension if model else 0)
        return cls(rows, _Place(model, wide, exact_up_to))

    @contextmanager
    def steady(self) -> Iterator[None]:
        with self._rows.steady():
            yield

    def _read(self) -> AbstractContextManager[Access]:
        return self._rows.reading()

    # -- writing ---------------------------------------------------------------------------
    def write(self, batch: Batch) -> None:
        with self._rows.writing() as access:
            writing = Writing(access, self._cutter)
            nodes.drop_nodes(writing, batch.drops)
            placed = nodes.put_nodes(writing, batch.puts)
            passages.put_passages(writing, self._place.wide, placed)
            tally.count(writing, [each.node for each in placed], 1)
            tally.settle(writing)
            touched = events.apply(access, batch.events)
            usage.refresh(access, [*touched, *newborn(placed)])
            nodes.note_unreadable(access, batch.unreadable, batch.readable_again)
            events.note_positions(access, batch.positions)
            events.note_torn(access, batch.torn, batch.read_anew)

    def set_traces(self, traces: Mapping[str, Sequence[Trace]]) -> None:
        with self._rows.writing() as access:
            passages.set_traces(access, self._place.wide, traces)

    def clear(self) -> None:
        with self._rows.writing() as access:
            access.run(tenants.UNHURRIED)
            for table in CLEARED:
                access.run(f"DELETE FROM {table} WHERE tenant = :tenant")

    def fresh(self) -> PostgresIndex:
        made = self._rows.name + FRESH
        with self._rows.bare() as connection:
            tenants.discard(connection, made)
            tenants.sweep(connection)
        return PostgresIndex(Tenant(self._rows.connections, made), self._place)

    def replace_with(self, fresh: Index) -> None:
        if not isinstance(fresh, PostgresIndex):
            raise TypeError(f"{fresh!r} was not made by `fresh`")
        fresh.close()
        with self._rows.writing() as access:
            tenants.point(access.connection, self._rows.name, fresh._rows.name)
            self._rows.look_again()

    def close(self) -> None:
        if self._owns_connections:
            self._rows.connections.close()

    # -- memories --------------------------------------------------------------------------
    def get(self, memory_id: str) -> Stored | None:
        with self._read() as access:
            return nodes.get(access, memory_id)

    def memories(self, ids: Iterable[str]) -> dict[str, Memory]:
        wanted = list(ids)
        if not wanted:  # asked at every remember, and mostly about nothing
            return {}
        with self._read() as access:
            return nodes.memories(access, wanted)

    def scores(self, ids: Iterable[str]) -> dict[str, Mapping[str, float | None]]:
        with self._read() as access:
            return nodes.scores(access, ids)

    def ids_with_prefix(self, prefix: str, limit: int = 10) -> list[str]:
        with self._read() as access:
            return nodes.ids_with_prefix(access, prefix, limit)

    def id_at(self, path: str) -> str | None:
        with self._read() as access:
            return nodes.first_id(access, "path = %s", path)

    def path_of(self, memory_id: str) -> str | None:
        with self._read() as access:
            return nodes.path_of(access, memory_id)

    def same_text(self, space: str | None, key: str, now: datetime, limit: int = 64) -> list[str]:
        with self._read() as access:
            return nodes.same_text(access, space, key, now, limit)

    def claims(self, address: str, now: datetime, but: str | None = None) -> list[str]:
        with self._read() as access:
            return nodes.claims(access, address, now, but)

    def contested(self, now: datetime, limit: int) -> list[str]:
        with self._read() as access:
            return nodes.contested(access, now, limit)

    def with_idempotency_key(self, key: str) -> str | None:
        with self._read() as access:
            return nodes.first_id(access, "idempotency_key = %s", key)

    def self_id(self) -> str | None:
        with self._read() as access:
            return graph.self_id(access)

    def listing(self, chosen: Filter, now: datetime, limit: int, offset: int = 0) -> list[Memory]:
        with self._read() as access:
            return nodes.listing(access, chosen, now, limit, offset)

    def count(self, chosen: Filter, now: datetime) -> int:
        with self._read() as access:
            return nodes.count(access, chosen, now)

    def first_known(self) -> datetime | None:
        with self._read() as access:
            return nodes.first_known(access)

    def allowed(self, ids: Iterable[str], chosen: Filter, now: datetime) -> set[str]:
        with self._read() as access:
            return nodes.allowed(access, ids, chosen, now)

    def counts(self) -> Counts:
        with self._read() as access:
            return nodes.counts(access)

    def tags(self, beginning: str, limit: int) -> list[tuple[str, int]]:
        with self._read() as access:
            return nodes.tags(access, beginning, limit)

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
        with self._read() as access:
            looking = self._look(access, chosen, now)
            return meaning.search(access, looking, vector, limit, least)

    def _look(self, access: Access, chosen: Filter, now: datetime) -> meaning.Looking:
        place = self._place
        return meaning.look(access, place.wide.vector, chosen, now, place.exact_up_to)

    def extent(self) -> Extent:
        with self._read() as access:
            found = tally.extent(access)
        self._memories = found.memories
        return found

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
        with self._read() as access:
            return pool.pool(access, self._sources, wanted, chosen, now)

    @property
    def _sources(self) -> Sources:
        place = self._place
        return Sources(self._cutter, place.wide.vector, place.exact_up_to, self._memories)

    def details(self, found: Pool, places: NDArray[np.int64]) -> Details:
        numbers = found.numbers[places].tolist()
        with self._read() as access:
            if self._rows.is_steady and isinstance(found, Stamped):
                versions = found.versions[places].tolist()
                seen = self._kept.find(partial(pool.read, access), numbers, versions)
            else:  # the pool may be of another moment
                known = pool.read(access, numbers)
                seen = [known.get(number, (b"", b"")) for number in numbers]
        return joined(seen, self._place.wide.token)

    def records(self, wanted: Sequence[int]) -> dict[int, Record]:
        with self._read() as access:
            return nodes.records(access, wanted)

    def ids(self, wanted: Sequence[int]) -> dict[int, str]:
        with self._read() as access:
            return nodes.ids_of(access, wanted)

    def vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        if not self._place.wide.vector:
            return {}
        with self._read() as access:
            return meaning.vectors_of(access, self._place.wide.vector, ids)

    def neighbours(
        self, ids: Sequence[str], chosen: Filter, now: datetime, k: int, least: float = NO_LEAST
    ) -> dict[str, list[Hit]]:
        if not self._place.wide.vector:
            return {}
        with self._read() as access:
            looking = self._look(access, chosen, now)
            return meaning.neighbours(access, looking, ids, k, least)

    def unembedded(self, limit: int) -> list[str]:
        with self._read() as access:
            return nodes.all_ids(access, "NOT embedded ORDER BY node LIMIT %s", max(limit, 0))

    # -- graph -----------------------------------------------------------------------------
    def edges(self, ids: Sequence[str], but_by: str | None = None) -> list[EdgeRow]:
        with self._read() as access:
            return graph.edges(access, ids, but_by)

    def edges_between(self, ids: Sequence[str]) -> list[EdgeRow]:
        with self._read() as access:
            return graph.edges_between(access, ids)

    def associations(self) -> list[EdgeRow]:
        with self._read() as access:
            return graph.associations(access)

    def newest_edges(
        self, wanted: Sequence[Edge], limit: int, but_by: str | None = None
    ) -> list[EdgeRow]:
        with self._read() as access:
            return graph.newest_edges(access, wanted, limit, but_by)

    def arrows(self, ids: Sequence[str], each: int, incoming: bool = True) -> list[EdgeRow]:
        with self._read() as access:
            return graph.arrows(access, ids, each, incoming)

    def regions(self, now: datetime) -> dict[str | None, int]:
        found = self._ranked  # another thread may rank anew meanwhile
        with self._read() as access:
            if not found.is_of(access):
                found = self._ranked = ranking.ranked(access, now)
        return {space: len(each) for space, each in found.by_space.items()}

    def strongest(
        self, space: str | None, now: datetime, limit: int, offset: int = 0
    ) -> list[Sketch]:
        found = self._ranked
        with self._read() as access:
            if not found.is_about(access):
                found = self._ranked = ranking.ranked(access, now)
            wanted = found.page(space, offset, offset + limit)
            return ranking.sketches_of_nodes(access, wanted, now)

    def sketches(self, ids: Sequence[str], now: datetime) -> list[Sketch]:
        with self._read() as access:
            return ranking.sketches(access, ids, now)

    def superseded_by(self, memory_id: str) -> list[str]:
        with self._read() as access:
            return nodes.all_ids(access, "superseded_by = %s ORDER BY id", memory_id)

    # -- what the jobs go by ---------------------------------------------------------------
    def ids_after(self, after_id: str, limit: int) -> list[str]:
        with self._read() as access:
            return nodes.all_ids(access, "id > %s ORDER BY id LIMIT %s", after_id, max(limit, 0))

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
        with self._read() as access:
            return gathering.gathered(access, self._place.wide.vector, bar, now, also)

    def of_source(self, source: str) -> list[str]:
        with self._read() as access:
            return gathering.of_source(access, source)

    def used_together(
        self, pairs: Sequence[tuple[str, str]], since: Sequence[datetime]
    ) -> set[tuple[str, str]]:
        with self._read() as access:
            return gathering.used_together(access, pairs, since)

    def across_spaces(self) -> list[Across]:
        with self._read() as access:
            return standing.across_spaces(access)

    def uses(self, ids: Sequence[str]) -> dict[str, list[Use]]:
        with self._read() as access:
            return standing.uses(access, ids)

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
            by = Looking(job, judge, also)
            return standing.unseen(access, by, chosen, now, limit)

    def verdicts(
        self, pairs: Sequence[tuple[str, str]], judge: str
    ) -> dict[tuple[str, str], Verdict]:
        with self._read() as access:
            return standing.verdicts(access, pairs, judge)

    # -- files -----------------------------------------------------------------------------
    def fingerprints(self) -> dict[str, Fingerprint]:
        with self._read() as access:
            return nodes.fingerprints(access)

    def unreadable(self) -> list[Unreadable]:
        with self._read() as access:
            return nodes.unreadable(access)

    # -- the journal, indexed --------------------------------------------------------------
    def positions(self) -> dict[str, Position]:
        with self._read() as access:
            return events.positions(access)

    def torn(self) -> list[Unreadable]:
        with self._read() as access:
            return events.torn(access)

    def history(self, memory_id: str, limit: int = 100) -> list[Event]:
        with self._read() as access:
            return events.history(access, memory_id, limit)

    def event(self, event_id: str) -> Event | None:
        with self._read() as access:
            return events.known(access, [event_id]).get(event_id)

    def changes(self, change_or_run: str) -> list[Event]:
        with self._read() as access:
            return events.changes(access, change_or_run)

    def outcome(self, change_id: str) -> str | None:
        with self._read() as access:
            return events.outcome(access, change_id)

    def in_force(self, runs: Sequence[str]) -> dict[str, tuple[int, int]]:
        with self._read() as access:
            return events.in_force(access, runs)

    def unsettled(self) -> list[Event]:
        with self._read() as access:
            return events.unsettled(access)

    def recent_events(
        self, kinds: Sequence[str], limit: int, jobs: Sequence[str] = ()
    ) -> list[Event]:
        with self._read() as access:
            return events.recent(access, kinds, limit, jobs)

    def used_today(
        self, ids: Iterable[str], session: str | None, at: datetime, whispers: bool = False
    ) -> set[str]:
        with self._read() as access:
            return usage.used_today(access, ids, session, at, whispers)

    # -- telemetry -------------------------------------------------------------------------
    def log_whisper(self, entry: WhisperEntry, keep_after: datetime) -> None:
        with self._rows.noting() as access:
            whispers.log(access, entry, keep_after)

    def whispers(
        self, limit: int, session: str | None = None, after: WhisperEntry | None = None
    ) -> list[WhisperEntry]:
        with self._read() as access:
            return whispers.newest(access, limit, session, after)

    def whisper(self, whisper_id: str) -> WhisperEntry | None:
        with self._read() as access:
            return whispers.get(access, whisper_id)

    def feedback(self, ids: Sequence[str]) -> list[Event]:
        with self._read() as access:
            known = whispers.feedback_ids(access, ids, FEEDBACK_AT_MOST)
            found = events.known(access, known)
            return [found[each] for each in known if each in found]

    def proposals(self, status: ProposalStatus | None = None) -> list[Proposal]:
        with self._read() as access:
            return events.proposals(access, status)

    def state(self, key: str) -> object | None:
        with self._read() as access:
            return events.state(access, key)
