"""What an index must do. SQLite does it embedded; other engines may do it elsewhere.

Everything in an index follows from the vault's files and the journal's events, so nothing
here is a source of truth (I2). Each method that writes is one transaction: either all of it
is visible to the next read, or none. Readers never wait for the writer. Filters are obeyed
inside every search (I11), so that one match among many others is found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from madeleine.model.event import Event, Position
from madeleine.model.memory import Connection, Memory
from madeleine.model.proposal import Proposal, ProposalStatus
from madeleine.model.query import Filter
from madeleine.model.stored import Fingerprint, Stored
from madeleine.model.vector import Vector

NO_LEAST = -1.0  # no cosine is below it


@dataclass(frozen=True, slots=True)
class Put:
    """A memory to be indexed. Without a vector it is found by text and listed as unembedded,
    unless `keep_vector` says that the one already there still fits the text."""

    stored: Stored
    vector: Vector | None = None
    keep_vector: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """What one transaction changes."""

    puts: Sequence[Put] = ()
    drops: Sequence[str] = ()
    """Ids of memories whose file is gone."""
    events: Sequence[Event] = ()
    positions: Mapping[str, Position] = field(default_factory=dict)
    unreadable: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    """Files that do not parse: path to line and problem. A memory put or dropped at a path
    clears its entry."""
    readable_again: Sequence[str] = ()
    """Paths whose problem is over: the file parses now, or is gone."""
    torn: Mapping[str, Sequence[tuple[int, str]]] = field(default_factory=dict)
    """Journal lines that cannot be read and were passed over: file to line and problem."""
    read_anew: Sequence[str] = ()
    """Journal files read from their beginning: what was said of their lines is over."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory found by one source. Text: bm25 as a positive number, larger is better.
    Vectors: the cosine."""

    id: str
    score: float


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """One arrow as the graph sees it. `implied` ones stand in no file: self defines every
    memory tagged about_self."""

    source: str
    connection: Connection
    resolved: bool = True
    """Whether the target exists now; a dangling arrow is kept until it does."""
    implied: bool = False


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that does not parse."""

    path: str
    line: int
    problem: str


@dataclass(frozen=True, slots=True)
class Counts:
    """How much there is."""

    memories: int
    edges: int
    unembedded: int
    unreadable: int
    events: int
    by_type: Mapping[str, int] = field(default_factory=dict)
    by_tier: Mapping[str, int] = field(default_factory=dict)
    by_space: Mapping[str, int] = field(default_factory=dict)


class Index(Protocol):
    """The port."""

    # -- writing ---------------------------------------------------------------------------
    def write(self, batch: Batch) -> None:
        """Apply a batch in one transaction. An event already known by its id changes nothing.

        Putting a memory again replaces its row, text, tags and outgoing edges; edges that
        point to it stay. A put whose path held another id before drops that other row.
        """
        ...

    def set_vectors(self, vectors: Mapping[str, Vector]) -> None:
        """Give vectors to memories that are there; ids that are not are passed over."""
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

    # -- memories --------------------------------------------------------------------------
    def get(self, memory_id: str) -> Stored | None:
        """Return one memory with its usage joined, and the file it stands in."""
        ...

    def memories(self, ids: Iterable[str]) -> dict[str, Memory]: ...

    def ids_with_prefix(self, prefix: str, limit: int = 10) -> list[str]: ...

    def id_at(self, path: str) -> str | None: ...

    def same_text(self, space: str | None, key: str, now: datetime, limit: int = 64) -> list[str]:
        """Return the current memories in `space` whose `rules.text.same_text_key` is `key`,
        oldest first."""
        ...

    def with_idempotency_key(self, key: str) -> str | None: ...

    def self_id(self) -> str | None:
        """Return the one self: source `system:self`, the oldest if there are several."""
        ...

    def listing(self, chosen: Filter, now: datetime, limit: int, offset: int = 0) -> list[Memory]:
        """Return memories newest first (created, then id)."""
        ...

    def count(self, chosen: Filter, now: datetime) -> int: ...

    def allowed(self, ids: Iterable[str], chosen: Filter, now: datetime) -> set[str]:
        """Return those of the ids that pass the filter."""
        ...

    def counts(self) -> Counts: ...

    def core_by_importance(self) -> list[tuple[str, float]]:
        """Return every core memory but the self with its importance, least first."""
        ...

    # -- searching -------------------------------------------------------------------------
    def search_text(
        self, terms: Sequence[str], chosen: Filter, now: datetime, limit: int
    ) -> list[Hit]:
        """Return memories that hold any of the words, best bm25 first, title weighing 10x.

        `terms` are plain words; the index quotes them. Ties break by id.
        """
        ...

    def search_vector(
        self, vector: Vector, chosen: Filter, now: datetime, limit: int, least: float = NO_LEAST
    ) -> list[Hit]:
        """Return the memories nearest in meaning, best cosine first; only those with a cosine
        of at least `least`, which may spare the index most of the work."""
        ...

    def vectors(self, ids: Sequence[str]) -> dict[str, Vector]: ...

    def unembedded(self, limit: int) -> list[str]:
        """Return ids of memories without a vector of the current model."""
        ...

    # -- graph -----------------------------------------------------------------------------
    def edges(self, ids: Sequence[str]) -> list[EdgeRow]:
        """Return the arrows that start or end at any of the ids."""
        ...

    def superseded_by(self, memory_id: str) -> list[str]:
        """Return the ids of memories whose `superseded_by` names this one."""
        ...

    # -- files -----------------------------------------------------------------------------
    def fingerprints(self) -> dict[str, Fingerprint]:
        """Return path to fingerprint of every indexed file, the unreadable ones excluded."""
        ...

    def unreadable(self) -> list[Unreadable]: ...

    # -- the journal, indexed --------------------------------------------------------------
    def positions(self) -> dict[str, Position]: ...

    def torn(self) -> list[Unreadable]:
        """Return the journal lines that were passed over because they cannot be read."""
        ...

    def history(self, memory_id: str, limit: int = 100) -> list[Event]:
        """Return what happened to a memory, newest first. Uses and scores are not told one by
        one: they are in its counters."""
        ...

    def event(self, event_id: str) -> Event | None:
        """Return a known event; a `scored` one comes without its scores, which stand with the
        memories."""
        ...

    def changes(self, change_or_run: str) -> list[Event]:
        """Return the `changed` and `remembered` events of a change or of a whole run, newest
        first; a prefix of at least 6 characters will do for a change."""
        ...

    def outcome(self, change_id: str) -> str | None:
        """Return what became of a change: done, dropped, undone, or None if not settled."""
        ...

    def unsettled(self) -> list[Event]:
        """Return the `changed` events that have no outcome: a write was interrupted."""
        ...

    def recent_events(self, kinds: Sequence[str], limit: int) -> list[Event]: ...

    def used_today(self, memory_id: str, session: str | None, at: datetime) -> bool:
        """Whether a use of this memory in this session and UTC day is already counted."""
        ...

    def proposals(self, status: ProposalStatus | None = None) -> list[Proposal]: ...

    def state(self, key: str) -> object | None:
        """Return the newest value of a `state` event."""
        ...
