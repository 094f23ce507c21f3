"""An open home, and the open homes of a server by whose memory each is."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from madeleine.bootstrap.config import make_intervals
from madeleine.bootstrap.home import HomeLock
from madeleine.bootstrap.index import public_index_address
from madeleine.bootstrap.intake import make_intake
from madeleine.bootstrap.kept_answers import KeptAnswers
from madeleine.bootstrap.minds import make_judge
from madeleine.errors import NoSuchTenant
from madeleine.ingest.context import IngestContext
from madeleine.model.event import EventKind
from madeleine.recall.map_keeper import MapKeeper
from madeleine.settings import Settings
from madeleine.sleep.config import SleepConfig
from madeleine.sleep.intervals import JobIntervals
from madeleine.sleep.job_runner import JobRunner
from madeleine.sleep.shared_timetable import SharedSchedule, SharedTimetable
from madeleine.sleep.sleeper import BY_DAY, ORDER, TASKS, Sleeper
from madeleine.vault.read_marks import ReadMarks
from madeleine.version import __version__
from madeleine.whisper.config import WhisperConfig
from madeleine.whisper.whisper import Whisperer
from madeleine.write.event_bus import SharedEventBus
from madeleine.write.reconcile import ProgressCallback
from madeleine.write.record import new_event, record_events
from madeleine.write.stores import Stores

if TYPE_CHECKING:
    from madeleine.bootstrap.sync import HomeSync
    from madeleine.database.people import PeopleDirectory
    from madeleine.database.shared_database import SharedDatabase
    from madeleine.ingest.backups.taking import BackupResult

MAX_OPEN_CONTEXTS = 256  # tenants whose contexts a server keeps open
MAINTENANCE_KEY = "maintenance"  # the name under which the journal keeps when an agent last judged


@dataclass(slots=True)
class HomeContext:
    """An open home: the stores, where it is, and what was noticed while opening it."""

    home: Path
    settings: Settings
    stores: Stores
    lock: HomeLock | None
    """Nothing where the truth is in a database: any number may have it open."""
    notes: list[str] = field(default_factory=list)
    journal_problems: list[str] = field(default_factory=list)
    whisperer: Whisperer = field(default_factory=Whisperer)
    shift: JobRunner = field(init=False)
    """What runs at night."""
    sleeper: Sleeper = field(init=False)
    intake: IngestContext = field(init=False)
    maps: MapKeeper = field(init=False)
    """The map of all memories by meaning."""
    tenant: str = "home"
    """Whose memory it is, where several share one database."""
    fleet: SharedDatabase | None = None
    """The database and the servers on it, where the truth is there."""
    contexts: HomeContexts | None = None
    """Those of others in the same database, if it is the context of who sits at the server."""
    plan: SharedSchedule | None = None
    """Where it stands when its jobs are due, where several servers share it."""
    rounds: SharedTimetable | None = None
    """When its jobs run, where several servers share it."""
    maintenance_waits: bool = False
    """Whether an agent that judges has something to do, as far as was looked last."""
    backing_up: tuple[int, int] | None = None
    """How far a backup is that is being made: steps done, of how many."""
    marks: ReadMarks | None = None
    """Which files are being read, where they are files."""
    kept_answers: KeptAnswers = field(default_factory=KeptAnswers)
    """Counts of everything, as the page showed them last."""
    _sync: HomeSync | None = field(init=False, default=None)
    _sync_turn: threading.Lock = field(init=False, default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.intake = make_intake(self.stores, self.settings, os.environ)
        self.intake.marks = self.marks
        minds = self.stores.minds
        judge = partial(make_judge, self.settings, os.environ, minds.relations, minds.spending)
        self.shift = JobRunner(self.stores, self.sleep_config, judge)
        self.sleeper = Sleeper(self.stores, ORDER, self.shift.run, TASKS, BY_DAY)
        self.sleeper.at_rest.append(self.shift.rest)
        self.maps = MapKeeper(self.stores, self.home / f"map-{self.tenant}.npz")

    def start_timetable(self) -> None:
        """Let its jobs run by themselves, on whichever server is free."""
        if self.plan is not None:
            self.rounds = SharedTimetable(
                self.sleeper, self.intervals, self.stores.clock, self.plan
            )
            self.rounds.start()

    @property
    def sync(self) -> HomeSync:
        """How it meets other machines of the same person; loaded when it is first asked for."""
        from madeleine.bootstrap.sync import HomeSync

        with self._sync_turn:
            if self._sync is None:
                self._sync = HomeSync(self.home, self.settings, self.stores)
            return self._sync

    @property
    def sleep_config(self) -> SleepConfig:
        """The numbers that the jobs go by."""
        return self.settings.sleep

    @property
    def intervals(self) -> JobIntervals:
        """How often the daemon runs each job."""
        return make_intervals(self.settings.sleep, self.settings.consolidation)

    def look_for_maintenance(self) -> None:
        """Look whether an agent that judges has something to do; whispers say so then."""
        wanted = self.settings.judge.kind == "agent"
        self.maintenance_waits = wanted and self.shift.work_waits()

    def note_maintenance(self) -> None:
        """Note that an agent has done its part for now."""
        body = {"key": MAINTENANCE_KEY, "value": self.stores.clock.now().isoformat()}
        record_events(self.stores, [new_event(self.stores, EventKind.STATE, body)], durable=False)
        self.look_for_maintenance()

    @property
    def whisper_config(self) -> WhisperConfig:
        """The numbers that whispering goes by."""
        settings = self.settings.whisper
        due = settings.maintenance or self.maintenance_waits
        return replace(settings, maintenance=due)

    @property
    def index_place(self) -> str | None:
        """Where the index is, without credentials; nothing if it is a file of the home."""
        return public_index_address(self.settings)

    @property
    def is_over_a_network(self) -> bool:
        """Whether the index is asked over a connection that may go away."""
        return bool(self.settings.store.url or self.settings.store.graph)

    @property
    def backup_folder(self) -> Path:
        """Where backups are kept."""
        given = self.settings.backup.folder
        return Path(given).expanduser() if given else self.home / "backups"

    def back_up(
        self, to: Path | None = None, progress: ProgressCallback = lambda done, total: None
    ) -> BackupResult:
        """Make a backup of vault, journal and settings, and see that it is whole."""
        from madeleine.ingest.backups.taking import BackupRequest, back_up

        keep = self.settings.backup.keep
        wanted = BackupRequest(self.stores, self.home, self.backup_folder, __version__, keep, to)

        def report(done: int, total: int) -> None:
            self.backing_up = (done, total)
            progress(done, total)

        try:
            return back_up(wanted, report)
        finally:
            self.backing_up = None

    def leave(self) -> None:
        """Finish what is pending, and leave what is shared with other contexts to them."""
        with ExitStack() as ending:
            ending.callback(self.stores.journal.flush)
            ending.callback(self.maps.close)
            self.stores.executor.close()

    def close(self) -> None:
        """Write what is pending, and let others in, whatever the disk says."""
        with ExitStack() as ending:
            if self.lock is not None:
                ending.callback(self.lock.release)
            if self.fleet is not None:
                ending.callback(self.fleet.close)
            if self.stores.minds.embedder is not None:
                ending.callback(self.stores.minds.embedder.close)
            ending.callback(self.stores.index.close)
            if self.marks is not None:
                ending.callback(self.marks.close)
            ending.callback(self.stores.journal.flush)
            ending.callback(self.maps.close)
            self.stores.executor.close()


class HomeContexts:
    """The open contexts of one server, by the name of whose memory each is.

    With files there is exactly one. Where the truth is in a database, that of another tenant is
    opened when it is first asked for; all share the models and the connections, and the ones
    that nobody asked for the longest are let go.
    """

    def __init__(
        self,
        first: HomeContext,
        open_another: Callable[[str], HomeContext] | None = None,
        at_most: int = MAX_OPEN_CONTEXTS,
    ) -> None:
        self.first = first
        """That of the tenant whom the settings name."""
        self.on_opened: Callable[[HomeContext], None] = lambda context: None
        """Is told of each that is opened."""
        self._open = open_another
        self._at_most = at_most
        self._others: dict[str, HomeContext] = {}  # the one asked for last is the last
        self._opening_locks: dict[str, threading.Lock] = {}  # of those that are being opened
        self._lock = threading.Lock()

    @functools.cached_property
    def people(self) -> PeopleDirectory | None:
        """Who there is, where several people share a database."""
        if self._open is None or self.first.fleet is None:
            return None
        from madeleine.database.people import PeopleDirectory

        return PeopleDirectory(self.first.fleet.connections, self.first.tenant)

    def of(self, tenant: str) -> HomeContext:
        """Return the context of a tenant, opened if nobody asked for it lately."""
        if tenant == self.first.tenant:
            return self.first
        with self._lock:
            context = self._find_open(tenant)
            if context is not None:
                return context
            turn = self._opening_locks.setdefault(tenant, threading.Lock())
        return self._open_in_turn(turn, tenant)

    def _find_open(self, tenant: str) -> HomeContext | None:
        """Return a context that is open, as the one asked for last."""
        context = self._others.pop(tenant, None)
        if context is not None:
            self._others[tenant] = context
        return context

    def _open_in_turn(self, turn: threading.Lock, tenant: str) -> HomeContext:
        """Open a context, or wait for who does. Nobody waits here for anybody else's."""
        with turn:
            with self._lock:
                context = self._find_open(tenant)
            if context is not None:
                return context
            context = self._open_new(tenant)
            with self._lock:
                self._others[tenant] = context
                self._opening_locks.pop(tenant, None)
                gone = [self._others.pop(next(iter(self._others)))] if self._is_full else []
        for each in gone:
            each.leave()
        return context

    def _open_new(self, tenant: str) -> HomeContext:
        if self._open is None:
            raise NoSuchTenant(tenant)
        context = self._open(tenant)
        self.on_opened(context)
        return context

    def receive_event(self, tenant: str, text: str) -> None:
        """Publish what some server told on the event bus of a context, if it is open here."""
        with self._lock:
            context = self.first if tenant == self.first.tenant else self._others.get(tenant)
        if context is not None and isinstance(context.stores.event_bus, SharedEventBus):
            context.stores.event_bus.receive(text)

    def work_due(self) -> Iterator[Callable[[], bool]]:
        """Give the work of any tenant that is due, one after the other, for this server to do.
        Each says whether it was done."""
        fleet = self.first.fleet
        while fleet is not None and (claimed := fleet.claim()) is not None:
            context = self.of(claimed.tenant)
            if context.rounds is not None:
                yield partial(context.rounds.run, claimed.job, claimed.still_due)

    @property
    def _is_full(self) -> bool:
        return len(self._others) > self._at_most

    def list_open(self) -> list[HomeContext]:
        """Return the contexts that are open at the moment."""
        with self._lock:
            return [self.first, *self._others.values()]

    def close(self) -> None:
        """Close them all; that of the settings last, with what all of them share."""
        with self._lock:
            others, self._others = list(self._others.values()), {}
        with ExitStack() as ending:
            ending.callback(self.first.close)
            for each in others:
                ending.callback(each.leave)
