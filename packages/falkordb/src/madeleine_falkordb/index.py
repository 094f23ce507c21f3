"""The engine on FalkorDB: its three ports over one graph, and what changes them.

Nothing of the index is kept in this process but passages and vectors that cannot have changed, so
any number of processes may have one open on the same graph. A rebuild fills another graph (`fresh`)
for which nobody waits, then gives it the name of the old one (`replace_with`): killed before
that, the old index goes on answering; killed after, the new one does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from madeleine.errors import DatabaseDown
from madeleine.index.common.passages import ModelDimensions
from madeleine.index.common.ranking import changes_ranking
from madeleine.index.port import Index, IndexBatch
from madeleine.language.index_rules import INDEX_RULES
from madeleine.model.embedding import PassageEmbedding
from madeleine_falkordb import (
    consolidation,
    events,
    nodes,
    passages,
    usage,
)
from madeleine_falkordb.connection import FalkorAddress, GraphAccess, translate_errors
from madeleine_falkordb.ports import (
    FalkorGraph,
    FalkorIndexOptions,
    FalkorLog,
    FalkorSearch,
    FalkorState,
)
from madeleine_falkordb.schema import GraphHead, prepare_graph, prepare_whispers, read_head
from madeleine_falkordb.vector_store import VectorStore
from madeleine_falkordb.writing import FalkorWrite

DEFAULT_TENANT = "home"
EXACT_UP_TO = 4_000  # memories: above it, the index of vectors is quicker than comparing each
MAX_ATTEMPTS = 5  # to write, should others write in between in spite of all turns


class FalkorIndex:
    """An index in a graph of FalkorDB. Any thread may call any method at any time."""

    def __init__(self, place: FalkorIndexOptions, after: GraphHead | None = None) -> None:
        self._state = FalkorState(place)
        self.search = FalkorSearch(self._state)
        self.graph = FalkorGraph(self._state)
        self.log = FalkorLog(self._state)
        prepare_graph(self._state.access, after)
        prepare_whispers(self._state.whispers)
        consolidation.ensure_control(self._state.access)
        self._claim_analyser()
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
        apart: VectorStore | None = None,
    ) -> FalkorIndex:
        """Open the index in the graph that `url` names, or make an empty one; every other tenant
        has a graph of their own beside it. Vectors stand in the graph too, unless something
        `apart` keeps them."""
        wide = ModelDimensions((dimension or 0) if model else 0, token_dimension if model else 0)
        address = FalkorAddress.of(url)
        if tenant != DEFAULT_TENANT:
            address = replace(address, graph=f"{address.graph}:{tenant}")
        return cls(FalkorIndexOptions(address, address.graph, model, wide, exact_up_to, apart))

    @contextmanager
    def steady(self) -> Iterator[None]:
        with self._state.turns.steady():
            yield

    def write(self, batch: IndexBatch) -> None:
        self._write(partial(self._apply, batch))

    def _apply(self, batch: IndexBatch, writing: FalkorWrite) -> None:
        placed = nodes.apply_puts_and_drops(writing, self._state.place.wide, batch)
        effects = events.apply_events(writing, batch.events)
        usage.apply_usage(writing, effects, placed)
        nodes.note_unreadable(writing, batch.unreadable, batch.readable_again)
        events.note_positions(writing, batch.positions)
        events.note_torn(writing, batch.torn, batch.read_anew)
        self._state.vectors.add(writing)
        if changes_ranking(batch) and writing.statement.steps:
            writing.statement.head["ranked"] = writing.version

    def set_traces(self, traces: Mapping[str, Sequence[PassageEmbedding]]) -> None:
        def give(writing: FalkorWrite) -> None:
            passages.set_traces(writing, self._state.place.wide, traces)
            self._state.vectors.add(writing)

        self._write(give)

    def _write(self, make: Callable[[FalkorWrite], None]) -> None:
        """Write what `make` says, if the graph is still what it was when that was worked out."""
        state = self._state
        for _ in range(MAX_ATTEMPTS):
            with state.turns.writing():
                writing = FalkorWrite(state.access, read_head(state.access), state.cutter)
                make(writing)
                if not writing.statement.steps and not writing.statement.head:
                    return
                query = writing.finish().query(writing.head.version)
                state.turns.close_gate()
                written = state.access.run(*query)
            if written:
                state.vectors.settle(writing)
                return
        raise DatabaseDown(state.access.place, "others write in between, again and again")

    def _claim_analyser(self) -> None:
        """Empty a graph that was filled by other rules: the next start fills it."""
        if read_head(self._state.access).analyser == INDEX_RULES:
            return
        self.clear()

        def claim(writing: FalkorWrite) -> None:
            writing.statement.head["analyser"] = INDEX_RULES

        self._write(claim)

    def _claim(self, model: str) -> None:
        """Note whose traces the graph holds, and drop those of any other model, or place."""
        wide = f"{self._state.place.wide.vector} {self._state.place.wide.token}"
        wanted = {"model": model, "wide": wide, "vectors": self._state.vectors.place}
        head = read_head(self._state.access)
        if {"model": head.model, "wide": head.wide, "vectors": head.vectors} == wanted:
            self._state.vectors.check(head.collection)
            return

        def claim(writing: FalkorWrite) -> None:
            if writing.head.model is not None:
                _forget_embeddings(writing)
            writing.statement.head.update(wanted, collection=self._state.vectors.begin())

        self._write(claim)
        head = read_head(self._state.access)
        self._state.vectors.check(head.collection)
        self._state.vectors.sweep(head.collection)

    def clear(self) -> None:
        def clear(writing: FalkorWrite) -> None:
            head = writing.head
            writing.memories, writing.words = -head.memories, -head.words
            writing.length, writing.traced = -head.length, -head.traced
            everything = "MATCH (x) WHERE NOT x:Head DELETE x"
            writing.statement.each([0], everything)
            writing.statement.each([0], consolidation.CREATE_CONTROL)
            writing.statement.head["ranked"] = writing.version
            if self._state.place.wide.vector:
                writing.statement.head["collection"] = self._state.vectors.begin()

        self._write(clear)
        self._state.vectors.sweep(read_head(self._state.access).collection)

    def fresh(self) -> FalkorIndex:
        made = replace(self._state.place, name=f"{{{self._state.place.address.graph}}}:fresh")
        prepare_graph(self._state.access)  # it may have been emptied
        head = read_head(self._state.access)
        with translate_errors(self._state.access.place):
            for each in (made.name, self._replaced_name):
                GraphAccess(self._state.server, each).remove()
        self._state.vectors.sweep(head.collection)
        return FalkorIndex(made, head)

    @property
    def _replaced_name(self) -> str:
        """What a graph is called between its replacement and its end."""
        return f"{{{self._state.place.address.graph}}}:old"

    def replace_with(self, fresh: Index) -> None:
        if not isinstance(fresh, FalkorIndex):
            raise TypeError(f"{fresh!r} was not made by `fresh`")
        fresh.close()
        with translate_errors(self._state.access.place):
            GraphAccess(self._state.server, self._replaced_name).remove()
        with self._state.turns.writing():
            self._state.turns.close_gate()
            with self._state.server.redis.pipeline(transaction=True) as both:
                both.rename(self._state.place.name, self._replaced_name)
                both.rename(fresh._state.place.name, self._state.place.name)
                both.execute()
        with translate_errors(self._state.access.place):
            GraphAccess(self._state.server, self._replaced_name).remove()
        self._state.vectors.sweep(read_head(self._state.access).collection)

    def close(self) -> None:
        self._state.server.close()


def _forget_embeddings(writing: FalkorWrite) -> None:
    """Let every memory count as not read by any model."""
    writing.traced = -writing.head.traced
    statement = writing.statement
    statement.each([0], "MATCH (t:Trace) DELETE t")
    unread = "SET p.point = null, p.trace = null, p.tokens = '', p.version = r"
    read = f"MATCH (p:Passage) WHERE p.point IS NOT NULL {unread}"
    statement.each([writing.version], read)
    statement.each([0], "MATCH (m:Memory) WHERE m.embedded SET m.embedded = false")
