"""Search over memories: by id, by filter, by words and by meaning, one by one or all at once.

Filters are obeyed inside every search (I11), so that one match among many others is found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from madeleine.index.log import ParseProblem
from madeleine.model.embedding import Tokens
from madeleine.model.fingerprint import Fingerprint
from madeleine.model.memory import Memory
from madeleine.model.query import Filter
from madeleine.model.stored_memory import StoredMemory
from madeleine.model.vector import Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


LOWEST_COSINE = -1.0  # no cosine is below it

PauseCallback = Callable[[], object]


def no_pause() -> None:
    """Do nothing between two portions of a long read."""


@dataclass(frozen=True, slots=True)
class IndexHit:
    """A memory found by one source. Text: bm25 as a positive number, larger is better.
    Vectors: the cosine."""

    id: str
    score: float


@dataclass(frozen=True, slots=True)
class IndexedTerm:
    """A stem as a number, and in how many memories it stands."""

    stem: int
    holders: int
    also: tuple[int, ...] = ()
    """Stems of the same word in other languages: where one of them stands, the word does."""


@dataclass(frozen=True, slots=True)
class WordMatches:
    """Memories that hold a word, by their numbers, and how well by bm25."""

    nodes: NDArray[np.int64]
    scores: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class CandidateQuery:
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
    matches: WordMatches | None = None


@dataclass(frozen=True, slots=True)
class CandidatePool:
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
class RankingRecord:
    """The little of a memory that its rank depends on."""

    id: str
    created: datetime
    confidence: float
    access_count: int
    last_accessed: datetime
    importance: float
    relevance: float | None = None


@dataclass(frozen=True, slots=True)
class PassageDetails:
    """Stems and tokens of some places of a pool, end to end: those of the i-th are
    `stems[stem_starts[i] : stem_starts[i + 1]]`."""

    stems: NDArray[np.uint32]
    stem_starts: NDArray[np.int64]
    tokens: Tokens
    token_starts: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CollectionStatistics:
    """How much there is to be found: what makes a word rare, and a text long."""

    memories: int
    mean_words: float
    speakers: Mapping[str, Sequence[int]]
    """Each word of a speaker's name in lower case, with the numbers by which
    `CandidatePool.speaker` knows those who bear it."""
    short_names: Mapping[str, Sequence[int]]
    """The same for the first three letters of longer first names."""


@dataclass(frozen=True, slots=True)
class MemoryColumns:
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
    """How many arrows people or agents drew from it or to it. What a job or similarity drew does
    not count: a machine's own work must not make a memory matter more."""
    about_self: NDArray[np.bool_]
    """Whether it is the self, or tagged as being about the self."""
    is_self: NDArray[np.bool_]
    protected: NDArray[np.bool_]
    """Whether somebody tagged it so: it is never forgotten by a task."""

    def __len__(self) -> int:
        return len(self.ids)

    def part(self, start: int, end: int) -> MemoryColumns:
        """Return some of the places."""
        return MemoryColumns(*(getattr(self, each.name)[start:end] for each in fields(self)))


@dataclass(frozen=True, slots=True)
class RelevanceThreshold:
    """How relevant a memory must be to take part: more than `above`."""

    above: float
    reckon: Callable[[MemoryColumns], NDArray[np.float64]]
    """Tells how relevant memories are that have no score yet."""


@dataclass(frozen=True, slots=True)
class EmbeddedMemories:
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
class IndexCounts:
    """How much there is."""

    memories: int
    edges: int
    unembedded: int
    unreadable: int
    events: int
    exchanges: int = 0
    """What was said in sessions, kept word for word; `memories` and the rest are without it."""
    by_type: Mapping[str, int] = field(default_factory=dict)
    by_tier: Mapping[str, int] = field(default_factory=dict)
    by_space: Mapping[str, int] = field(default_factory=dict)


class MemorySearch(Protocol):
    """The port of the search: what memories say and how they stand."""

    def get(self, memory_id: str) -> StoredMemory | None:
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

    def contested_addresses(self, now: datetime, limit: int) -> list[str]:
        """Return addresses at which current memories that meet claim different values, in
        order."""
        ...

    def with_idempotency_key(self, key: str) -> str | None: ...

    def listing(self, chosen: Filter, now: datetime, limit: int, offset: int = 0) -> list[Memory]:
        """Return memories newest first (created, then id)."""
        ...

    def triggered_memories(
        self, keys: Sequence[str], chosen: Filter, now: datetime, limit: int
    ) -> list[str]:
        """Return memories that pass the filter and stand under any of these
        `language.triggers.trigger_keys`, newest first (created, then id)."""
        ...

    def count(self, chosen: Filter, now: datetime) -> int: ...

    def first_known(self) -> datetime | None:
        """Return when the oldest memory was created; nothing if there is none."""
        ...

    def select_allowed(self, ids: Iterable[str], chosen: Filter, now: datetime) -> set[str]:
        """Return those of the ids that pass the filter."""
        ...

    def counts(self) -> IndexCounts: ...

    def tags(self, beginning: str, limit: int) -> list[tuple[str, int]]:
        """Return tags that begin so, each with how many memories bear it, the most used first,
        ties by name."""
        ...

    def core_by_importance(self) -> list[tuple[str, float]]:
        """Return every core memory but the self with its importance, least first."""
        ...

    def search_text(
        self, terms: Sequence[str], chosen: Filter, now: datetime, limit: int
    ) -> list[IndexHit]:
        """Return memories that hold any of the words, best bm25 first, title weighing 10x.

        `terms` are plain words; the index quotes them. Ties break by id.
        """
        ...

    def search_vector(
        self,
        vector: Vector,
        chosen: Filter,
        now: datetime,
        limit: int,
        least: float = LOWEST_COSINE,
    ) -> list[IndexHit]:
        """Return the memories nearest in meaning, best cosine first; only those with a cosine
        of at least `least`, which may spare the index most of the work."""
        ...

    def changes(self) -> int | None:
        """Return a number that is another one once a memory was written, dropped or given a
        vector; None where others write too."""
        ...

    def extent(self) -> CollectionStatistics: ...

    def terms(self, words: Sequence[str]) -> list[tuple[IndexedTerm, ...]]:
        """Return the stems that stand for each word, and how common they are."""
        ...

    def known_words(self, words: Sequence[str]) -> dict[str, IndexedTerm]:
        """Return those of the words that stand in some memory, each by its stem. Made for
        hundreds of words of which few are known: how many memories hold them may be as it was
        some writes ago, and one that was dropped since may still be named."""
        ...

    def spellings(self, words: Sequence[str]) -> dict[str, str]:
        """Return for words that stand nowhere which one that does may be meant: one slip of
        the finger away, of several the most common. Words without one are left out."""
        ...

    def matching(self, words: Sequence[str]) -> WordMatches:
        """Return what holds any of the words, passing every filter. It needs no vector, so it
        can be asked for while a model reads the question."""
        ...

    def pool(self, wanted: CandidateQuery, chosen: Filter, now: datetime) -> CandidatePool:
        """Return the candidates of all sources with what stands beside them. A filter that
        lets no more than `draw` through brings all of those."""
        ...

    def details(self, pool: CandidatePool, places: NDArray[np.int64]) -> PassageDetails:
        """Return what comparing closely needs of these places of a pool."""
        ...

    def records(self, nodes: Sequence[int]) -> dict[int, RankingRecord]:
        """Return how a pool's nodes stand; what is gone meanwhile is left out."""
        ...

    def ids(self, nodes: Sequence[int]) -> dict[int, str]:
        """Return the ids of a pool's nodes; what is gone meanwhile is left out."""
        ...

    def vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        """Return the vector of each memory's first passage."""
        ...

    def neighbours(
        self,
        ids: Sequence[str],
        chosen: Filter,
        now: datetime,
        k: int,
        least: float = LOWEST_COSINE,
    ) -> dict[str, list[IndexHit]]:
        """Return for each of the ids the `k` nearest of those that pass the filter, best first,
        ties by id: the cosine of its first passage with their best one. It is no neighbour of
        itself. What has no vector is no key and no neighbour: nothing is known about it."""
        ...

    def unembedded_ids(self, limit: int) -> list[str]:
        """Return ids of memories without a vector of the current model."""
        ...

    def ids_after(self, after_id: str, limit: int) -> list[str]:
        """Return the next ids in their order, from the first after `after_id`. Fewer than
        `limit` means that these were the last."""
        ...

    def standings(self, between: PauseCallback = no_pause) -> MemoryColumns:
        """Return how all memories stand at one moment, in the order of their ids. `between` is
        called between two portions and may take its time."""
        ...

    def sample(self, bar: RelevanceThreshold, now: datetime, size: int, seed: int) -> list[str]:
        """Return so many memories at random; the same ones for the same seed, while nothing
        changes. It takes no longer for a large index than for a small one.

        Only such as take part in what consolidation finds by itself: current ones that are not
        archival, have a vector and are as relevant as the bar asks; not the self, and nothing
        that was made of other memories."""
        ...

    def gather_all(
        self,
        bar: RelevanceThreshold,
        now: datetime,
        also: Sequence[str] = (),
        between: PauseCallback = no_pause,
    ) -> EmbeddedMemories:
        """Return all memories that take part, as in `sample`, with their vectors; those of
        `also` even if they are archival, or less relevant than that. `between` is called as in
        `standings`."""
        ...

    def of_source(self, source: str) -> list[str]:
        """Return the ids of all memories that come from there, also of those that somebody
        retired, in their order."""
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

    def fingerprints(self) -> dict[str, Fingerprint]:
        """Return path to fingerprint of every indexed file, the unreadable ones excluded."""
        ...

    def unreadable(self) -> list[ParseProblem]: ...
