"""The engine on PostgreSQL: its three ports over one tenant's rows, and what changes them.

Nothing of the index is kept in this process but passages that cannot have changed and the order
in which the graph is drawn, so any number of processes may have one open on the same database. A
rebuild fills rows under another name (`fresh`) for which nobody waits, then lets the tenant's name
point to them (`replace_with`): killed before that, the old index goes on answering; killed after,
the new one does. The old rows are removed by whoever begins the next rebuild.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

from madeleine.database import tenants
from madeleine.database.connection import ConnectionPool
from madeleine.database.transactions import DatabaseTenant
from madeleine.index.common.passages import ModelDimensions
from madeleine.index.common.rows import find_newborn_ids
from madeleine.index.port import Index, IndexBatch
from madeleine.index.postgres import (
    events,
    nodes,
    passages,
    sums,
    usage,
)
from madeleine.index.postgres.ports import (
    PostgresGraph,
    PostgresIndexOptions,
    PostgresLog,
    PostgresSearch,
    PostgresState,
)
from madeleine.index.postgres.writing import PostgresWrite
from madeleine.language.index_rules import INDEX_RULES
from madeleine.model.embedding import PassageEmbedding

EXACT_UP_TO = 4_000  # memories: above it, walking the graph is quicker than comparing each
DEFAULT_TENANT = "home"
FRESH_SUFFIX = " (in the making)"


class PostgresIndex:
    """An index in a PostgreSQL database. Any thread may call any method at any time."""

    def __init__(self, rows: DatabaseTenant, place: PostgresIndexOptions) -> None:
        self._state = PostgresState(rows, place)
        self._owns_connections = False
        self.search = PostgresSearch(self._state)
        self.graph = PostgresGraph(self._state)
        self.log = PostgresLog(self._state)
        with rows.raw_connection() as connection:
            tenants.register_tenant(connection, rows.name)
            tenants.create_vector_index(connection, place.wide.vector)
        with rows.reading() as access:
            analysed = tenants.is_analysed_by(access, rows.name, INDEX_RULES)
            claimed = tenants.is_claimed(access, rows.name, place.model, place.wide)
        if not analysed:
            with rows.writing() as access:
                tenants.claim_analyser(access, rows.name, INDEX_RULES)
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
        admit: Callable[[DatabaseTenant, Index], None] = lambda rows, index: None,
    ) -> PostgresIndex:
        """Open a tenant's index in the database at `url`, or make an empty one. `admit` looks at
        it before anything is written, and may refuse."""
        rows = DatabaseTenant(ConnectionPool(url), tenant)
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
        rows: DatabaseTenant,
        model: str | None = None,
        dimension: int | None = None,
        token_dimension: int = 0,
        exact_up_to: int = EXACT_UP_TO,
    ) -> PostgresIndex:
        """Open the index of a tenant whose connections others use too."""
        wide = ModelDimensions((dimension or 0) if model else 0, token_dimension if model else 0)
        return cls(rows, PostgresIndexOptions(model, wide, exact_up_to))

    @contextmanager
    def steady(self) -> Iterator[None]:
        with self._state.rows.steady():
            yield

    def write(self, batch: IndexBatch) -> None:
        with self._state.rows.writing() as access:
            writing = PostgresWrite(access, self._state.cutter)
            nodes.drop_nodes(writing, batch.drops)
            placed = nodes.put_nodes(writing, batch.puts)
            passages.put_passages(writing, self._state.place.wide, placed)
            sums.adjust_sums(writing, [each.node for each in placed], 1)
            sums.update_talks(writing)
            touched = events.apply_events(access, batch.events)
            usage.refresh_usage(access, [*touched, *find_newborn_ids(placed)])
            nodes.note_unreadable(access, batch.unreadable, batch.readable_again)
            events.note_positions(access, batch.positions)
            events.note_torn(access, batch.torn, batch.read_anew)

    def set_traces(self, traces: Mapping[str, Sequence[PassageEmbedding]]) -> None:
        with self._state.rows.writing() as access:
            passages.set_traces(access, self._state.place.wide, traces)

    def clear(self) -> None:
        with self._state.rows.writing() as access:
            tenants.empty_tables(access)

    def fresh(self) -> PostgresIndex:
        made = self._state.rows.name + FRESH_SUFFIX
        with self._state.rows.raw_connection() as connection:
            tenants.discard_tenant(connection, made)
            tenants.delete_discarded_rows(connection)
        return PostgresIndex(DatabaseTenant(self._state.rows.connections, made), self._state.place)

    def replace_with(self, fresh: Index) -> None:
        if not isinstance(fresh, PostgresIndex):
            raise TypeError(f"{fresh!r} was not made by `fresh`")
        fresh.close()
        with self._state.rows.writing() as access:
            tenants.switch_tenant_rows(
                access.connection, self._state.rows.name, fresh._state.rows.name
            )
            self._state.rows.refresh()

    def close(self) -> None:
        if self._owns_connections:
            self._state.rows.connections.close()
