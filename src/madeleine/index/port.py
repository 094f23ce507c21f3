"""What an index must do. SQLite does it embedded; other engines may do it elsewhere.

Everything in an index follows from the vault's files and the journal's events, so nothing
here is a source of truth (I2). Each method that writes is one transaction: either all of it
is visible to the next read, or none. Readers never wait for the writer. Filters are obeyed
inside every search (I11), so that one match among many others is found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from madeleine.model.event import Event, Position
from madeleine.model.fingerprint import Fingerprint
from madeleine.model.judging import Verdict
from madeleine.model.memory import Connection, Memory
from madeleine.model.proposal import Proposal, ProposalStatus
from madeleine.model.query import Filter
from madeleine.model.stored import Stored
from madeleine.model.trace import Tokens, Trace
from madeleine.model.vector import Vector
from madeleine.model.words import Edge, MemoryType, Tier
from madeleine.rules.usage import Use

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NO_LEAST = -1.0  # no cosine is below it

Between = Callable[[], object]


def nothing() -> None:
    """Do nothing between two portions of a long read."""


@dataclass(frozen=True, slots=True)
class Put:
    """A memory to be indexed, with one trace for each of its `rules.passages.passages_of`.
    Without them it is found by text and listed as unembedded, unless `keep_traces` says that
    those already there still fit the text."""

    stored: Stored
    traces: Sequence[Trace] = ()
    keep_traces: bool = False


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
class Term:
    """A stem as a number, and in how many memories it stands."""

    stem: int
    holders: int


@dataclass(frozen=True, slots=True)
class Matches:
    """Memories that hold a word, by their numbers, and how well by bm25."""

    nodes: NDArray[np.int64]
    scores: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What candidates are drawn by.

    `words` are looked for in the text, unless `matches` says what that found. `scan` is the
    direction in which vectors are searched; `near` and `focus` are what the cosines of all
    candidates are taken with. Without a model all three are absent. `ids` come in whatever they
    say, and so do memories with the `tag`. `newest` asks for that many of the most recent.
    `draw` is how many each source gives.
    `space` is the asker's own.
    """

    words: Sequence[str] = ()
    scan: Vector | None = None
    near: Vector | None = None
    focus: Vector | None = None
    ids: Sequence[str] = ()
    tag: str | None = None
    newest: int = 0
    draw: int = 300
    space: str | None = None
    matches: Matches | None = None


@dataclass(frozen=True, slots=True)
class Pool:
    """Candidates as columns, one place for each passage.

    Those that are not `allowed` by the filter stand beside one in a conversation and are
    there for context only; they are never an answer. `before`, `after` and the two further
    out are places in the pool, or -1.
    """

    numbers: NDArray[np.int64]
    nodes: NDArray[np.int64]
    allowed: NDArray[np.bool_]
    embedded: NDArray[np.bool_]
    text: NDArray[np.float32]
    near: NDArray[np.float32]
    focus: NDArray[np.float32]
    before: NDArray[np.int64]
    after: NDArray[np.int64]
    session: NDArray[np.int64]
    """Equal for what was said in one conversation; alone where there is none."""
    talk: NDArray[np.bool_]
    """Whether at least two speak in the conversation."""
    turn: NDArray[np.int32]
    speaker: NDArray[np.int32]
    created: NDArray[np.int64]
    """Microseconds since 1970."""
    tier: NDArray[np.uint8]
    """The place of the tier in `model.words.Tier`."""
    same_space: NDArray[np.bool_]
    """Whether it is global, or of the asker's space; all are, for an asker without one."""
    outdated: NDArray[np.bool_]
    """Whether it is expired or superseded at the moment asked about."""
    tagged: NDArray[np.bool_]
    """Whether it bears the tag that is wanted."""
    traits: NDArray[np.uint16]
    capitals: NDArray[np.uint16]
    words: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.nodes)


@dataclass(frozen=True, slots=True)
class Record:
    """The little of a memory that its rank depends on."""

    id: str
    created: datetime
    confidence: float
    access_count: int
    last_accessed: datetime
    importance: float
    relevance: float | None = None


@dataclass(frozen=True, slots=True)
class Details:
    """Stems and tokens of some places of a pool, end to end: those of the i-th are
    `stems[stem_starts[i] : stem_starts[i + 1]]`."""

    stems: NDArray[np.uint32]
    stem_starts: NDArray[np.int64]
    tokens: Tokens
    token_starts: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Extent:
    """How much there is to be found: what makes a word rare, and a text long."""

    memories: int
    mean_words: float
    speakers: Mapping[str, Sequence[int]]
    """Each word of a speaker's name in lower case, with the numbers by which `Pool.speaker`
    knows those who bear it."""
    short_names: Mapping[str, Sequence[int]]
    """The same for the first three letters of longer first names."""


@dataclass(frozen=True, slots=True)
class Standings:
    """How memories stand, as columns, one place for each memory, in the order of their ids."""

    ids: Sequence[str]
    spaces: Sequence[str | None]
    sources: Sequence[str]
    types: NDArray[np.uint8]
    """The place of the type in `model.words.MemoryType`."""
    tiers: NDArray[np.uint8]
    """The place of the tier in `model.words.Tier`."""
    created: NDArray[np.int64]
    """Microseconds since 1970."""
    last_accessed: NDArray[np.int64]
    """The same; that of its birth for what was never used."""
    uses: NDArray[np.int64]
    stability: NDArray[np.float64]
    confidence: NDArray[np.float64]
    importance: NDArray[np.float64]
    relevance: NDArray[np.float64]
    """Not a number for what has no score yet."""
    relevance_at: NDArray[np.int64]
    """When that score was given; 0 for what has none."""
    connections: NDArray[np.int64]
    """How many arrows people or agents drew from it or to it. What a job or likeness drew does
    not count: a machine's own work must not make a memory matter more."""
    about_self: NDArray[np.bool_]
    """Whether it is the self, or tagged as being about the self."""
    is_self: NDArray[np.bool_]
    protected: NDArray[np.bool_]
    """Whether somebody tagged it so: it is never forgotten by a task."""

    def __len__(self) -> int:
        return len(self.ids)

    def part(self, start: int, end: int) -> Standings:
        """Return some of the places."""
        return Standings(*(getattr(self, each.name)[start:end] for each in fields(self)))


@dataclass(frozen=True, slots=True)
class Bar:
    """How relevant a memory must be to take part: more than `above`."""

    above: float
    reckon: Callable[[Standings], NDArray[np.float64]]
    """Tells how relevant memories are that have no score yet."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """Memories with their vectors, as columns, one place for each, in the order of their ids.

    The vector of a place is the row of `matrix` that `rows` names, and about of length 1.
    Nothing of it may be changed; what the index learns later does not change it either.
    """

    ids: Sequence[str]
    digests: Sequence[bytes]
    """What each says, as a hash (`rules.digest.text_digest`)."""
    spaces: NDArray[np.int32]
    """Equal for memories of one space; 0 for those of none."""
    types: NDArray[np.uint8]
    """The place of the type in `model.words.MemoryType`."""
    created: NDArray[np.int64]
    """Microseconds since 1970."""
    matrix: NDArray[np.float32]
    rows: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ids)


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
class Sketch:
    """A memory as the graph draws it: without its text."""

    id: str
    type: MemoryType
    tier: Tier
    space: str | None
    headline: str
    importance: float
    outdated: bool


@dataclass(frozen=True, slots=True)
class Across:
    """An arrow between a memory without a space and one that has one, either way."""

    memory: str
    """The one without."""
    source: str
    """Where that one came from."""
    other: str
    space: str
    edge: Edge
    by: str | None


@dataclass(frozen=True, slots=True)
class WhisperEntry:
    """One prompt, and what came of it. `body` is plain JSON."""

    id: str
    at: datetime
    session: str | None
    space: str | None
    body: Mapping[str, object]


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

    def set_traces(self, traces: Mapping[str, Sequence[Trace]]) -> None:
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

    # -- memories --------------------------------------------------------------------------
    def get(self, memory_id: str) -> Stored | None:
        """Return one memory with its usage joined, and the file it stands in."""
        ...

    def memories(self, ids: Iterable[str]) -> dict[str, Memory]: ...

    def scores(self, ids: Iterable[str]) -> dict[str, Mapping[str, float | None]]:
        """Return importance and relevance of each of the memories that is there, without all
        the rest of it."""
        ...

    def ids_with_prefix(self, prefix: str, limit: int = 10) -> list[str]: ...

    def id_at(self, path: str) -> str | None: ...

    def path_of(self, memory_id: str) -> str | None:
        """Return the file that a memory stands in. Costs less than getting the memory."""
        ...

    def same_text(self, space: str | None, key: str, now: datetime, limit: int = 64) -> list[str]:
        """Return the current memories in `space` whose `rules.text.same_text_key` is `key`,
        oldest first."""
        ...

    def claims(self, address: str, now: datetime, but: str | None = None) -> list[str]:
        """Return the current memories, of any space, whose claim has this `rules.claims.address`,
        oldest first; without those whose `rules.claims.stated` is `but`."""
        ...

    def contested(self, now: datetime, limit: int) -> list[str]:
        """Return addresses at which current memories that meet claim different values, in
        order."""
        ...

    def with_idempotency_key(self, key: str) -> str | None: ...

    def self_id(self) -> str | None:
        """Return the one self: source `system:self`, the oldest if there are several."""
        ...

    def listing(self, chosen: Filter, now: datetime, limit: int, offset: int = 0) -> list[Memory]:
        """Return memories newest first (created, then id)."""
        ...

    def count(self, chosen: Filter, now: datetime) -> int: ...

    def first_known(self) -> datetime | None:
        """Return when the oldest memory was created; nothing if there is none."""
        ...

    def allowed(self, ids: Iterable[str], chosen: Filter, now: datetime) -> set[str]:
        """Return those of the ids that pass the filter."""
        ...

    def counts(self) -> Counts: ...

    def tags(self, beginning: str, limit: int) -> list[tuple[str, int]]:
        """Return tags that begin so, each with how many memories bear it, the most used first,
        ties by name."""
        ...

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

    def extent(self) -> Extent: ...

    def terms(self, words: Sequence[str]) -> list[tuple[Term, ...]]:
        """Return the stems that stand for each word, and how common they are."""
        ...

    def spellings(self, words: Sequence[str]) -> dict[str, str]:
        """Return for words that stand nowhere which one that does may be meant: one slip of
        the finger away, of several the most common. Words without one are left out."""
        ...

    def matching(self, words: Sequence[str]) -> Matches:
        """Return what holds any of the words, passing every filter. It needs no vector, so it
        can be asked for while a model reads the question."""
        ...

    def pool(self, wanted: Wanted, chosen: Filter, now: datetime) -> Pool:
        """Return the candidates of all sources with what stands beside them. A filter that
        lets no more than `draw` through brings all of those."""
        ...

    def details(self, pool: Pool, places: NDArray[np.int64]) -> Details:
        """Return what comparing closely needs of these places of a pool."""
        ...

    def records(self, nodes: Sequence[int]) -> dict[int, Record]:
        """Return how a pool's nodes stand; what is gone meanwhile is left out."""
        ...

    def ids(self, nodes: Sequence[int]) -> dict[int, str]:
        """Return the ids of a pool's nodes; what is gone meanwhile is left out."""
        ...

    def vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        """Return the vector of each memory's first passage."""
        ...

    def neighbours(
        self, ids: Sequence[str], chosen: Filter, now: datetime, k: int, least: float = NO_LEAST
    ) -> dict[str, list[Hit]]:
        """Return for each of the ids the `k` nearest of those that pass the filter, best first,
        ties by id: the cosine of its first passage with their best one. It is no neighbour of
        itself. What has no vector is no key and no neighbour: nothing is known about it."""
        ...

    def unembedded(self, limit: int) -> list[str]:
        """Return ids of memories without a vector of the current model."""
        ...

    # -- graph -----------------------------------------------------------------------------
    def edges(self, ids: Sequence[str], but_by: str | None = None) -> list[EdgeRow]:
        """Return the arrows that start or end at any of the ids, without those whose `by` is
        `but_by`."""
        ...

    def edges_between(self, ids: Sequence[str]) -> list[EdgeRow]:
        """Return the arrows in files that start and end at one of the ids, however many there
        are at each of them."""
        ...

    def associations(self) -> list[EdgeRow]:
        """Return all `discovered` arrows, and the `contradicts` arrows that `creative` drew, whose
        both ends are there, those drawn first first."""
        ...

    def newest_edges(
        self, wanted: Sequence[Edge], limit: int, but_by: str | None = None
    ) -> list[EdgeRow]:
        """Return arrows of these kinds whose both ends are there, those drawn last first, but
        those drawn `but_by`."""
        ...

    def arrows(self, ids: Sequence[str], each: int, incoming: bool = True) -> list[EdgeRow]:
        """Return the strongest arrows at each of the ids, at most so many of those that start
        there and so many of those that end there; only such whose both ends are there. A memory
        with a million arrows takes no longer than one with some thousand."""
        ...

    def regions(self, now: datetime) -> dict[str | None, int]:
        """Return how many memories each space has, the largest first."""
        ...

    def strongest(
        self, space: str | None, now: datetime, limit: int, offset: int = 0
    ) -> list[Sketch]:
        """Return a page of a space's memories, strongest first. The order is that of the last
        `regions`, so that pages fit together while memories come and go."""
        ...

    def sketches(self, ids: Sequence[str], now: datetime) -> list[Sketch]:
        """Return memories in this order, as the graph draws them; what is gone is left out."""
        ...

    def superseded_by(self, memory_id: str) -> list[str]:
        """Return the ids of memories whose `superseded_by` names this one."""
        ...

    # -- what the jobs go by ---------------------------------------------------------------
    def ids_after(self, after_id: str, limit: int) -> list[str]:
        """Return the next ids in their order, from the first after `after_id`. Fewer than
        `limit` means that these were the last."""
        ...

    def standings(self, between: Between = nothing) -> Standings:
        """Return how all memories stand at one moment, in the order of their ids. `between` is
        called between two portions and may take its time."""
        ...

    def sample(self, bar: Bar, now: datetime, size: int, seed: int) -> list[str]:
        """Return so many memories at random; the same ones for the same seed, while nothing
        changes. It takes no longer for a large index than for a small one.

        Only such as take part in what consolidation finds by itself: current ones that are not
        archival, have a vector and are as relevant as the bar asks; not the self, and nothing
        that was made of other memories."""
        ...

    def gathered(
        self, bar: Bar, now: datetime, also: Sequence[str] = (), between: Between = nothing
    ) -> Gathered:
        """Return all memories that take part, as in `sample`, with their vectors; those of
        `also` even if they are archival, or less relevant than that. `between` is called as in
        `standings`."""
        ...

    def of_source(self, source: str) -> list[str]:
        """Return the ids of all memories that come from there, also of those that somebody
        retired, in their order."""
        ...

    def used_together(
        self, pairs: Sequence[tuple[str, str]], since: Sequence[datetime]
    ) -> set[tuple[str, str]]:
        """Return those of the pairs whose both memories were used in one session, each since
        the moment that stands at the same place. A whisper does not count: nobody asked."""
        ...

    def across_spaces(self) -> list[Across]:
        """Return the arrows in files between memories without a space and those with one."""
        ...

    def uses(self, ids: Sequence[str]) -> dict[str, list[Use]]:
        """Return the uses of each of the memories, as far as they count, oldest first."""
        ...

    def unseen(
        self,
        job: str,
        judge: str,
        chosen: Filter,
        now: datetime,
        limit: int,
        also: Sequence[str] = (),
    ) -> list[str]:
        """Return memories that pass the filter and say something else than when this job last
        noted with this judge to have looked at them, oldest first; those of `also` that pass
        the filter even if they were seen. One without a vector waits until it has one."""
        ...

    def verdicts(
        self, pairs: Sequence[tuple[str, str]], judge: str
    ) -> dict[tuple[str, str], Verdict]:
        """Return what this judge is known to have said about pairs (older, newer), where both
        still say what they said then."""
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
        """Return the `changed`, `remembered` and `scored` events of a change or of a whole run,
        newest first; a prefix of at least 6 characters will do for either."""
        ...

    def outcome(self, change_id: str) -> str | None:
        """Return what became of a change: done, dropped, undone, or None if not settled."""
        ...

    def in_force(self, runs: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Return how many changes each of the runs made, and how many of them still hold: were
        not taken back and came about. A run that made none is left out."""
        ...

    def unsettled(self) -> list[Event]:
        """Return the `changed` events that have no outcome: a write was interrupted."""
        ...

    def recent_events(
        self, kinds: Sequence[str], limit: int, jobs: Sequence[str] = ()
    ) -> list[Event]:
        """Return the newest events of these kinds, or of any; only those about `jobs`, if any
        are named."""
        ...

    def used_today(
        self, ids: Iterable[str], session: str | None, at: datetime, whispers: bool = False
    ) -> set[str]:
        """Return the memories whose recall in this session and UTC day is already counted; with
        `whispers`, also those that were whispered then."""
        ...

    # -- telemetry: follows from nothing, kept for a month --------------------------------
    def log_whisper(self, entry: WhisperEntry, keep_after: datetime) -> None:
        """Keep what was whispered, or why nothing was, and drop what is older than that."""
        ...

    def whispers(
        self, limit: int, session: str | None = None, after: WhisperEntry | None = None
    ) -> list[WhisperEntry]:
        """Return the newest entries, of one session or of all; only those that come `after` one
        in this order, if one is given."""
        ...

    def whisper(self, whisper_id: str) -> WhisperEntry | None: ...

    def feedback(self, ids: Sequence[str]) -> list[Event]:
        """Return what was said about the use of these memories, newest first."""
        ...

    def proposals(self, status: ProposalStatus | None = None) -> list[Proposal]: ...

    def state(self, key: str) -> object | None:
        """Return the newest value of a `state` event."""
        ...
