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
from madeleine.bootstrap.index import name_index_place
from madeleine.bootstrap.intake import make_intake
from madeleine.bootstrap.minds import make_judge
from madeleine.errors import NoSuchTenant
from madeleine.ingest.intake import IngestContext
from madeleine.model.event import EventKind
from madeleine.settings import Settings
from madeleine.sleep.config import SleepConfig
from madeleine.sleep.intervals import JobIntervals
from madeleine.sleep.rounds import SharedSchedule, SharedTimetable
from madeleine.sleep.shift import JobRunner
from madeleine.sleep.sleeper import ORDER, TASKS, Sleeper
from madeleine.vault.read_marks import ReadMarks
from madeleine.version import __version__
from madeleine.whisper.config import WhisperConfig
from madeleine.whisper.whisper import Whisperer
from madeleine.write.bell import SharedEventBus
from madeleine.write.reconcile import ProgressCallback
from madeleine.write.record import new_event, record_events
from madeleine.write.stores import Stores

if TYPE_CHECKING:
    from madeleine.database.fleet import SharedDatabase
    from madeleine.database.people import PeopleDirectory
    from madeleine.ingest.backups.taking import BackupResult

HOUSES_AT_MOST = 256  # tenants whose houses a server keeps open
MAINTENANCE = "maintenance"  # the name under which the journal keeps when an agent last judged


@dataclass(slots=True)
class House:
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
    tenant: str = "home"
    """Whose memory it is, where several share one database."""
    fleet: SharedDatabase | None = None
    """The database and the servers on it, where the truth is there."""
    houses: Houses | None = None
    """Those of others in the same database, if it is the house of who sits at the server."""
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

    def __post_init__(self) -> None:
        self.intake = make_intake(self.stores, self.settings, os.environ)
        self.intake.marks = self.marks
        judge = partial(make_judge, self.settings, os.environ)
        self.shift = JobRunner(self.stores, self.sleep_config, judge)
        self.sleeper = Sleeper(self.stores, ORDER, self.shift.run, TASKS)

    def keep_time(self) -> None:
        """Let its jobs run by themselves, on whichever server is free."""
        if self.plan is not None:
            self.rounds = SharedTimetable(
                self.sleeper, self.intervals, self.stores.clock, self.plan
            )
            self.rounds.start()

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
        body = {"key": MAINTENANCE, "value": self.stores.clock.now().isoformat()}
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
        return name_index_place(self.settings)

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
        """Finish what is pending, and leave what is shared with other houses to them."""
        with ExitStack() as ending:
            ending.callback(self.stores.journal.flush)
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
            self.stores.executor.close()


class Houses:
    """The open houses of one server, by the name of whose memory each is.

    With files there is exactly one. Where the truth is in a database, that of another tenant is
    opened when it is first asked for; all share the models and the connections, and the ones
    that nobody asked for the longest are let go.
    """

    def __init__(
        self,
        first: House,
        open_another: Callable[[str], House] | None = None,
        at_most: int = HOUSES_AT_MOST,
    ) -> None:
        self.first = first
        """That of the tenant whom the settings name."""
        self.arrived: Callable[[House], None] = lambda house: None
        """Is told of each that is opened."""
        self._open = open_another
        self._at_most = at_most
        self._others: dict[str, House] = {}  # the one asked for last is the last
        self._turns: dict[str, threading.Lock] = {}  # of those that are being opened
        self._asking = threading.Lock()

    @property
    def many(self) -> bool:
        """Whether there can be more than one."""
        return self._open is not None

    @functools.cached_property
    def people(self) -> PeopleDirectory | None:
        """Who there is, where several people share a database."""
        if self._open is None or self.first.fleet is None:
            return None
        from madeleine.database.people import PeopleDirectory

        return PeopleDirectory(self.first.fleet.connections, self.first.tenant)

    def of(self, tenant: str) -> House:
        """Return the house of a tenant, opened if nobody asked for it lately."""
        if tenant == self.first.tenant:
            return self.first
        with self._asking:
            house = self._asked_for(tenant)
            if house is not None:
                return house
            turn = self._turns.setdefault(tenant, threading.Lock())
        return self._opened_in(turn, tenant)

    def _asked_for(self, tenant: str) -> House | None:
        """Return a house that is open, as the one asked for last."""
        house = self._others.pop(tenant, None)
        if house is not None:
            self._others[tenant] = house
        return house

    def _opened_in(self, turn: threading.Lock, tenant: str) -> House:
        """Open a house, or wait for who does. Nobody waits here for anybody else's."""
        with turn:
            with self._asking:
                house = self._asked_for(tenant)
            if house is not None:
                return house
            house = self._opened(tenant)
            with self._asking:
                self._others[tenant] = house
                self._turns.pop(tenant, None)
                gone = [self._others.pop(next(iter(self._others)))] if self._too_many else []
        for each in gone:
            each.leave()
        return house

    def _opened(self, tenant: str) -> House:
        if self._open is None:
            raise NoSuchTenant(tenant)
        house = self._open(tenant)
        self.arrived(house)
        return house

    def hear(self, tenant: str, text: str) -> None:
        """Ring the bell of a house for what some server told, if it is open here."""
        with self._asking:
            house = self.first if tenant == self.first.tenant else self._others.get(tenant)
        if house is not None and isinstance(house.stores.event_bus, SharedEventBus):
            house.stores.event_bus.receive(text)

    def work_due(self) -> Iterator[Callable[[], bool]]:
        """Give the work of any tenant that is due, one after the other, for this server to do.
        Each says whether it was done."""
        fleet = self.first.fleet
        while fleet is not None and (claimed := fleet.claim()) is not None:
            house = self.of(claimed.tenant)
            if house.rounds is not None:
                yield partial(house.rounds.run, claimed.job, claimed.still_due)

    @property
    def _too_many(self) -> bool:
        return len(self._others) > self._at_most

    def open_now(self) -> list[House]:
        """Return the houses that are open at the moment."""
        with self._asking:
            return [self.first, *self._others.values()]

    def close(self) -> None:
        """Close them all; that of the settings last, with what all of them share."""
        with self._asking:
            others, self._others = list(self._others.values()), {}
        with ExitStack() as ending:
            ending.callback(self.first.close)
            for each in others:
                ending.callback(each.leave)
