"""What a verb needs of the world, as one value. Bootstrap builds it once."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from types import TracebackType
from typing import Protocol

from madeleine.index.graph import MemoryGraph
from madeleine.index.log import EventLog
from madeleine.index.port import Index
from madeleine.index.search import MemorySearch
from madeleine.minds.port import Minds
from madeleine.model.draft import MemoryLimits
from madeleine.model.fingerprint import Fingerprint
from madeleine.rules.fusion import RecallHead
from madeleine.vault.port import Journal, Vault
from madeleine.write.config import (
    ExclusionConfig,
    RecallConfig,
    RerankerConfig,
    SpaceConfig,
    WriteConfig,
)
from madeleine.write.event_bus import EventBus
from madeleine.write.executor import BackgroundExecutor, InlineExecutor
from madeleine.write.priority_gate import PriorityGate


class Clock(Protocol):
    """Where the time comes from. Tests bring their own."""

    def now(self) -> datetime: ...


class WriteLock(Protocol):
    """What is held while files and index change: a lock that a thread may take again while it has
    it. Where the truth is in a database, it is also one transaction."""

    def __enter__(self) -> bool: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
    def acquire(self, blocking: bool = True) -> bool: ...
    def release(self) -> None: ...


class Leases(Protocol):
    """Sees to it that of all who could do some work, one does."""

    @property
    def shared(self) -> bool:
        """Whether others may have the same stores open."""
        ...

    def held(self, work: str, doing: str = "") -> AbstractContextManager[Callable[[], bool]]:
        """Do this work alone; `UnderWay` if somebody does it. Gives a function that says whether
        to end it: somebody asked for that, or the right to do it was lost, and then nothing that
        is written for it is kept. Others are told what is being done."""
        ...

    def doing(self, work: str) -> str | None:
        """Return what whoever does this work says about it; nothing if nobody does."""
        ...

    def stop(self, work: str, doing: str) -> bool:
        """Ask whoever does this work to end it, if they still do just that; whether so."""
        ...


class LocalLeases:
    """Nobody else has these stores open."""

    shared = False

    @contextmanager
    def held(self, work: str, doing: str = "") -> Iterator[Callable[[], bool]]:
        yield lambda: False

    def doing(self, work: str) -> str | None:
        return None

    def stop(self, work: str, doing: str) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class VerbConfig:
    """The settings that verbs and recall go by."""

    limits: MemoryLimits = field(default_factory=MemoryLimits)
    write: WriteConfig = field(default_factory=WriteConfig)
    exclude: ExclusionConfig = field(default_factory=ExclusionConfig)
    space: SpaceConfig = field(default_factory=SpaceConfig)
    recall: RecallConfig = field(default_factory=RecallConfig)
    reranker: RerankerConfig = field(default_factory=RerankerConfig)
    heads: Mapping[str, RecallHead] = field(default_factory=dict)
    """The weights of recall, when others than the shipped ones are set."""


@dataclass(slots=True)
class KnownSpaces:
    """The spaces that have memories, as they were a moment ago: counting them for every prompt
    would read every row. A space that only a revision gave is known half a minute later."""

    memories: int = -1
    """How many memories there were in all."""
    read_at: datetime | None = None
    names: frozenset[str] = frozenset()


@dataclass(slots=True)
class BranchWatch:
    """When it was last looked what became of the branches of each repository."""

    looked_at: dict[str, datetime] = field(default_factory=dict)


@dataclass(slots=True)
class ReadingProgress:
    """What reading files by hand is up to. Only counts and looks: any thread may ask."""

    waiting: int = 0
    """Changed files that are not read yet."""
    refused: dict[str, Fingerprint] = field(default_factory=dict)
    """Files that could not be read, as they looked then: they are not read again until they look
    different."""
    copies: set[str] = field(default_factory=set)
    """Files that stand back because another one has their id. Guarded by `Stores.writing`."""


@dataclass(slots=True)
class PendingRepairs:
    """What a write that the disk refused midway left to be done. `pending_repairs` does it before
    the next write, so that nothing waits for a restart. Guarded by `Stores.writing`."""

    events: bool = False
    """The journal may hold events that the index has not read."""
    paths: set[str] = field(default_factory=set)
    """Files whose rows may not say what the files say."""
    changes: bool = False
    """A change is neither done nor taken back."""

    def __bool__(self) -> bool:
        return self.events or bool(self.paths) or self.changes


def new_id() -> str:
    return str(uuid.uuid4())


@dataclass(frozen=True, slots=True)
class Stores:
    """The vault, the journal, the index, the models and the clock.

    `writing` is held while files and index change, never while a model thinks.
    """

    vault: Vault
    journal: Journal
    index: Index
    minds: Minds
    clock: Clock
    config: VerbConfig = field(default_factory=VerbConfig)
    writing: WriteLock = field(default_factory=threading.RLock)
    leases: Leases = field(default_factory=LocalLeases)
    pending_repairs: PendingRepairs = field(default_factory=PendingRepairs)
    reading: ReadingProgress = field(default_factory=ReadingProgress)
    known_spaces: KnownSpaces = field(default_factory=KnownSpaces)
    branch_watch: BranchWatch = field(default_factory=BranchWatch)
    upkeep: threading.Lock = field(default_factory=threading.Lock)
    """Held by the one rebuild that may be under way."""
    executor: BackgroundExecutor = field(default_factory=InlineExecutor)
    """Does what nobody has to wait for."""
    deciding: set[str] = field(default_factory=set)
    """Proposals that somebody is deciding right now."""
    jobs: set[str] = field(default_factory=set)
    """Jobs of the night that are under way. Guarded by `writing`, as the one above."""
    read_aliases: Callable[[], str] | None = None
    """Gives `space.aliases` as it is set now, where the home has a file of settings."""
    event_bus: EventBus = field(default_factory=EventBus)
    """Tells those who listen what happens."""
    priority_gate: PriorityGate = field(default_factory=PriorityGate)
    """Lets those go first who are waited for."""
    new_id: Callable[[], str] = new_id

    @property
    def search(self) -> MemorySearch:
        """The index, for those who look for memories."""
        return self.index.search

    @property
    def graph(self) -> MemoryGraph:
        """The index, for those who follow arrows."""
        return self.index.graph

    @property
    def log(self) -> EventLog:
        """The index, for those who ask what happened."""
        return self.index.log
