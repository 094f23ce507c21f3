"""What an index must do, as three ports. SQLite does it embedded, other engines elsewhere.

search   memories: by id, filter, words and meaning (`index/search.py`)
graph    arrows between them (`index/graph.py`)
log      events, proposals, uses, whispers, state (`index/log.py`)

Everything in an index follows from the vault's files and the journal's events, so nothing
here is a source of truth (I2). Each method that writes is one transaction: either all of it
is visible to the next read, or none. Readers never wait for the writer. Whoever only reads takes
the port that it needs; `Index` is for those who write, rebuild or close.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from madeleine.index.analysis import MemoryAnalysis
from madeleine.index.graph import MemoryGraph
from madeleine.index.log import EventLog
from madeleine.index.search import MemorySearch
from madeleine.model.embedding import PassageEmbedding
from madeleine.model.event import Event, JournalCursor
from madeleine.model.stored_memory import StoredMemory


@dataclass(frozen=True, slots=True)
class MemoryPut:
    """A memory to be indexed, with one trace for each of its `language.passages.split_passages`.
    Without them it is found by text and listed as unembedded, unless `keep_traces` says that
    those already there still fit the text. `analysis` is what somebody has worked out of the texts
    already; an engine that has no use for it passes it over."""

    stored: StoredMemory
    traces: Sequence[PassageEmbedding] = ()
    keep_traces: bool = False
    analysis: MemoryAnalysis | None = None


@dataclass(frozen=True, slots=True)
class IndexBatch:
    """What one transaction changes."""

    puts: Sequence[MemoryPut] = ()
    drops: Sequence[str] = ()
    """Ids of memories whose file is gone."""
    events: Sequence[Event] = ()
    positions: Mapping[str, JournalCursor] = field(default_factory=dict)
    unreadable: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    """Files that do not parse: path to line and problem. A memory put or dropped at a path
    clears its entry."""
    readable_again: Sequence[str] = ()
    """Paths whose problem is over: the file parses now, or is gone."""
    torn: Mapping[str, Sequence[tuple[int, str]]] = field(default_factory=dict)
    """Journal lines that cannot be read and were passed over: file to line and problem."""
    read_anew: Sequence[str] = ()
    """Journal files read from their beginning: what was said of their lines is over."""


class Index(Protocol):
    """An engine: its three ports over one state, and what changes that state."""

    @property
    def search(self) -> MemorySearch: ...

    @property
    def graph(self) -> MemoryGraph: ...

    @property
    def log(self) -> EventLog: ...

    def write(self, batch: IndexBatch) -> None:
        """Apply a batch in one transaction. An event already known by its id changes nothing.

        Putting a memory again replaces its row, text, tags and outgoing edges; edges that
        point to it stay. A put whose path held another id before drops that other row.
        """
        ...

    def set_traces(self, traces: Mapping[str, Sequence[PassageEmbedding]]) -> None:
        """Give traces to memories that are there, one for each of its passages;
        ids that are not there are passed over, and so is a wrong number of traces."""
        ...

    def clear(self) -> None:
        """Forget everything, to be filled anew. A reader sees the old state until the end of
        the transaction."""
        ...

    def fresh(self) -> Index:
        """Return an empty index beside this one, for a rebuild to fill. Nobody waits for it,
        and one that was left behind by a rebuild that was killed is thrown away first."""
        ...

    def replace_with(self, fresh: Index) -> None:
        """Answer from what `fresh` holds from now on, all of it at once. Killed before that,
        the old index goes on answering. `fresh` itself is closed."""
        ...

    def close(self) -> None: ...

    def steady(self) -> AbstractContextManager[None]:
        """Whatever this thread reads inside is of one moment, and costs less. Nothing slow may
        be waited for inside: a rebuild waits for its end."""
        ...
