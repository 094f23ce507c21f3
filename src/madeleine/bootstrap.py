"""The one place that reads settings and the environment, and builds everything.

`open_house` opens a home folder for this process: it makes the folders, takes the lock (one
process writes), opens vault, journal, index and models, brings the index up to date and
finishes what a kill interrupted. What healed itself on the way is said in `notes`.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import importlib
import importlib.util
import json
import os
import re
import socket
import tempfile
import threading
import time
import tomllib
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, cast

from madeleine import __version__
from madeleine.errors import (
    BadSetting,
    Damaged,
    HomeBusy,
    IndexCorrupt,
    IndexOfAnother,
    IndexOfFiles,
    MadeleineError,
    MindDown,
    NoSuchTenant,
    NotInFiles,
    StoreUnwritable,
    TruthInDatabase,
    Unavailable,
)
from madeleine.index.port import Batch, Index
from madeleine.index.sqlite.files import remove, set_aside
from madeleine.index.sqlite.index import SqliteIndex
from madeleine.ingest.habits import IngestHabits
from madeleine.ingest.intake import NOTE_PREFIX, Intake
from madeleine.minds.cache import CachedEmbedder, VectorCache
from madeleine.minds.fake import FakeEmbedder
from madeleine.minds.judges.absent import AbsentJudge
from madeleine.minds.local import LocalEmbedder, built_in, why_not_built_in
from madeleine.minds.port import Embedder, Extractor, Judge, Minds, Reranker
from madeleine.minds.remote import RemoteEmbedder
from madeleine.minds.reranker import LocalReranker
from madeleine.model.draft import Limits
from madeleine.model.event import Kind
from madeleine.model.people import read_person
from madeleine.model.toml_bounds import find_long_key
from madeleine.recall.weights import weights_at
from madeleine.settings import (
    Consolidation,
    Settings,
    Sleep,
    Store,
    read_settings,
    store_variables,
    unknown_variables,
)
from madeleine.sleep.habits import ConsolidationHabits, SleepHabits, protected_types
from madeleine.sleep.intervals import Intervals
from madeleine.sleep.rounds import Plan, Rounds
from madeleine.sleep.sleeper import ORDER, TASKS, Sleeper
from madeleine.sleep.sleeper import Progress as Counting
from madeleine.sleep.sleeper import Stopped as Stop
from madeleine.sleep.values import Report
from madeleine.vault.journal import Journal
from madeleine.vault.read_marks import ReadMarks
from madeleine.vault.vault import Vault, is_memory_path
from madeleine.whisper.habits import WhisperHabits
from madeleine.whisper.whisper import Whisperer
from madeleine.write.aside import Threads
from madeleine.write.bell import FarBell
from madeleine.write.identity import complete_self
from madeleine.write.questions import withdraw_contrasts
from madeleine.write.reconcile import Progress, reconcile
from madeleine.write.record import event, record, replay
from madeleine.write.recover import recover
from madeleine.write.stores import Habits, Stores
from madeleine.write.upkeep import FILLING, rebuild

if TYPE_CHECKING:
    from madeleine.database.access import Tenant
    from madeleine.database.fleet import Fleet
    from madeleine.database.people import People
    from madeleine.ingest.backups.restoring import Restored
    from madeleine.ingest.backups.taking import BackedUp
    from madeleine.ingest.moving import Moved
    from madeleine.sleep.shift import Shift
    from madeleine.vault.database.moving import DatabaseSide

LOCK_WAIT_SECONDS = 10.0  # another command usually ends within a second
LOCK_PAUSE_SECONDS = 0.02
TICK = timedelta(microseconds=1)
LEASE_PAUSE_SECONDS = 0.5  # between two looks whether a lease is over
MOVING = "moving"  # in run/: where a move that was interrupted was going
RESTORING = "restoring.json"  # in run/: what a restore that was interrupted still has to do
BEGINNING = 20  # events of each part of a journal that are looked for in an index
UNPACKED = ".*-restored-*"  # beside vault and journal: what one that was killed had unpacked
HOUSES_AT_MOST = 256  # tenants whose houses a server keeps open
SERVER = "server"  # the device that all servers on a database are: what one begins another ends
MAINTENANCE = "maintenance"  # the name under which the journal keeps when an agent last judged


class SystemClock:
    """The machine's time, in UTC, to the millisecond: finer only makes files longer.

    No two looks give the same time, so that what happened one after the other also has an
    order by time.
    """

    def __init__(self) -> None:
        self._last = datetime.min.replace(tzinfo=UTC)
        self._looking = threading.Lock()

    def now(self) -> datetime:
        now = datetime.now(UTC)
        now = now.replace(microsecond=now.microsecond // 1000 * 1000)
        with self._looking:
            just_now = timedelta(0) <= self._last - now < timedelta(seconds=1)
            self._last = self._last + TICK if just_now else now
            return self._last


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
    sleeper: Sleeper = field(init=False)
    intake: Intake = field(init=False)
    tenant: str = "home"
    """Whose memory it is, where several share one database."""
    fleet: Fleet | None = None
    """The database and the servers on it, where the truth is there."""
    houses: Houses | None = None
    """Those of others in the same database, if it is the house of who sits at the server."""
    rounds: Rounds | None = None
    """When its jobs run, where several servers share it."""
    maintenance_waits: bool = False
    """Whether an agent that judges has something to do, as far as was looked last."""
    backing_up: tuple[int, int] | None = None
    """How far a backup is that is being made: steps done, of how many."""
    marks: ReadMarks | None = None
    """Which files are being read, where they are files."""
    _judge: Judge | None = None

    def __post_init__(self) -> None:
        self.intake = make_intake(self.stores, self.settings, os.environ)
        self.intake.marks = self.marks
        self.sleeper = Sleeper(self.stores, ORDER, self._run_job, TASKS)

    def keep_time(self) -> None:
        """Let its jobs run by themselves, on whichever server is free."""
        plan = cast("Plan", self.stores.leases)
        self.rounds = Rounds(self.sleeper, self.intervals, self.stores.clock, plan)
        self.rounds.start()

    @property
    def judge(self) -> Judge:
        """Who says what memories are to each other; made when first asked for."""
        if self._judge is None:
            try:
                self._judge = self._make_judge()
            except MadeleineError as error:
                self._judge = AbsentJudge(error)
        return self._judge

    def _make_judge(self) -> Judge:
        if self.settings.judge.kind == "agent":
            return self.shift.agent_judge()
        return make_judge(self.settings, os.environ)

    @property
    def shift(self) -> Shift:
        """What happens at night: loaded when it is needed first, see there."""
        late = importlib.import_module("madeleine.sleep.shift")
        return cast("Shift", late.Shift(self.stores, self.sleep_habits))

    @property
    def sleep_habits(self) -> SleepHabits:
        """The numbers that the jobs go by."""
        known = {each.name for each in fields(self.settings.sleep)}
        names = [each.name for each in fields(SleepHabits) if each.name in known]
        given = {name: getattr(self.settings.sleep, name) for name in names}
        unasked = self.settings.judge.unasked
        return SleepHabits(**given, unasked=unasked, consolidation=self._consolidation_habits)

    @property
    def _consolidation_habits(self) -> ConsolidationHabits:
        wanted = self.settings.consolidation
        names = [each.name for each in fields(ConsolidationHabits)]
        return ConsolidationHabits(**{name: getattr(wanted, name) for name in names})

    @property
    def intervals(self) -> Intervals:
        """How often the daemon runs each job."""
        return make_intervals(self.settings.sleep, self.settings.consolidation)

    def look_for_maintenance(self) -> None:
        """Look whether an agent that judges has something to do; whispers say so then."""
        wanted = self.settings.judge.kind == "agent"
        self.maintenance_waits = wanted and self.shift.work_waits()

    def note_maintenance(self) -> None:
        """Note that an agent has done its part for now."""
        body = {"key": MAINTENANCE, "value": self.stores.clock.now().isoformat()}
        record(self.stores, [event(self.stores, Kind.STATE, body)], durable=False)
        self.look_for_maintenance()

    def _run_job(self, job: str, dry_run: bool, stop: Stop, progress: Counting) -> Report:
        running = self.sleeper.running()
        given = (job, self.judge, dry_run, stop, progress)
        if running is None:
            return self.shift.run(*given)
        return self.shift.run(*given, running.due, running.at_once, running.request)

    @property
    def whisper_habits(self) -> WhisperHabits:
        """The numbers that whispering goes by."""
        given = {
            each.name: getattr(self.settings.whisper, each.name) for each in fields(WhisperHabits)
        }
        given["maintenance"] = given["maintenance"] or self.maintenance_waits
        return WhisperHabits(**given)

    @property
    def index_place(self) -> str | None:
        """Where the index is, without what lets one in; nothing if it is a file of the home."""
        store = self.settings.store
        if store.graph:
            late = importlib.import_module("madeleine.index.falkordb.connection")
            return str(late.Address.of(store.graph).place)
        if store.url:
            return str(importlib.import_module("madeleine.database.address").place_of(store.url))
        return None

    @property
    def backup_folder(self) -> Path:
        """Where backups are kept."""
        given = self.settings.backup.folder
        return Path(given).expanduser() if given else self.home / "backups"

    def back_up(
        self, to: Path | None = None, progress: Progress = lambda done, total: None
    ) -> BackedUp:
        """Make a backup of vault, journal and settings, and see that it is whole."""
        late = _backups("taking")
        keep = self.settings.backup.keep
        wanted = late.Wanted(self.stores, self.home, self.backup_folder, __version__, keep, to)

        def told(done: int, total: int) -> None:
            self.backing_up = (done, total)
            progress(done, total)

        try:
            return cast("BackedUp", late.back_up(wanted, told))
        finally:
            self.backing_up = None

    def leave(self) -> None:
        """Finish what is pending, and leave what is shared with other houses to them."""
        with ExitStack() as ending:
            ending.callback(self.stores.journal.flush)
            self.stores.aside.close()

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
            self.stores.aside.close()


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
    def people(self) -> People | None:
        """Who there is, where several people share a database."""
        if self._open is None or self.first.fleet is None:
            return None
        late = importlib.import_module("madeleine.database.people")
        return cast("People", late.People(self.first.fleet.connections, self.first.tenant))

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
        if house is not None and isinstance(house.stores.bell, FarBell):
            house.stores.bell.hear(text)

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


def load_settings(home: Path) -> Settings:
    """Return the settings of a home, with the environment's on top."""
    path = home / "config.toml"
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if (line := find_long_key(text)) is not None:
            raise BadSetting(f"{path}:{line}", "does not parse: a key has too many parts")
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSetting(str(path), f"does not parse: {error}") from error
    except RecursionError as error:
        raise BadSetting(str(path), "does not parse: it is nested too deeply") from error
    settings = read_settings(table, os.environ)
    # Types that nobody knows are refused now, and not at night.
    protected_types(settings.consolidation.protected_types)
    protected_types(settings.sleep.protected_types, "sleep.protected_types")
    return settings


def unknown_variables_of(home: Path) -> list[str]:
    """Return a sentence about each variable of the environment that looks like a setting of ours
    and means nothing. Those that the settings of this home name, because they hold a key, do."""
    try:
        settings = load_settings(home)
    except MadeleineError:
        return unknown_variables(os.environ)  # whoever opens the home is told what is wrong there
    keys = (settings.embedder.key_env, settings.judge.key_env)
    return unknown_variables(os.environ, keys)


def open_house(
    home: Path,
    *,
    wait_seconds: float = LOCK_WAIT_SECONDS,
    progress: Progress = lambda done, total: None,
    fresh_index: bool = False,
) -> House:
    """Open a home for this process alone.

    `fresh_index` throws the index away first; everything in it comes back from the files and
    the journal.
    """
    settings = load_settings(home)
    make_folders(home)
    if settings.store.truth == "database":
        return open_houses(home, settings, None, progress, fresh_index).first
    lock = HomeLock(home)
    lock.take(wait_seconds)
    with ExitStack() as failing:
        failing.callback(lock.release)
        house = open_locked(home, settings, lock, progress, fresh_index)
        failing.pop_all()
    return house


def open_houses(
    home: Path,
    settings: Settings,
    lock: HomeLock | None,
    progress: Progress = lambda done, total: None,
    fresh_index: bool = False,
) -> Houses:
    """Open what a server answers for. The lock is the caller's still, if this raises."""
    if settings.store.truth == "files":
        if lock is None:
            raise ValueError("whoever opens files holds the home's lock")
        return Houses(open_locked(home, settings, lock, progress, fresh_index))
    check_store(settings)
    with ExitStack() as failing:
        module = importlib.import_module("madeleine.database.fleet")
        store = settings.store
        fleet: Fleet = module.Fleet(store.url, store.lease_seconds, store.connections)
        failing.callback(fleet.close)
        minds, notes = make_minds(home, settings, os.environ)
        notes += fleet.warnings()
        opening = _Opening(home, settings, fleet, minds, notes, Threads())
        first = opening.house(settings.store.tenant, progress, fresh_index)
        first.lock = lock
        failing.pop_all()
    first.houses = Houses(first, opening.house)
    return first.houses


@dataclass(frozen=True, slots=True)
class _Opening:
    """What all houses have in common whose truth is in one database."""

    home: Path
    settings: Settings
    fleet: Fleet
    minds: Minds
    notes: list[str]
    aside: Threads

    def house(
        self,
        tenant: str,
        progress: Progress = lambda done, total: None,
        fresh_index: bool = False,
    ) -> House:
        """Open the house of a tenant."""
        rows = self.fleet.tenant(tenant)
        index, healed = self._index(rows, fresh_index)
        house = House(
            self.home,
            self.settings,
            self._stores(rows, index),
            lock=None,
            notes=[*self.notes, *healed],
            tenant=tenant,
            fleet=self.fleet,
        )
        follow(house, progress)
        return house

    def _index(self, rows: Tenant, fresh: bool) -> tuple[Index, list[str]]:
        if self.settings.store.graph:
            own = replace(self.settings, store=replace(self.settings.store, tenant=rows.name))
            return open_index(self.home / "index.db", self.minds, own, fresh)
        if not fresh and _is_known(rows, "follows_files"):
            raise IndexOfFiles(rows.called)
        made: Index = importlib.import_module("madeleine.index.postgres").PostgresIndex.of(
            rows, *_traces(self.minds)
        )
        if fresh:
            made.clear()
        return made, []

    def _stores(self, rows: Tenant, index: Index) -> Stores:
        kept = importlib.import_module("madeleine.vault.database")
        first = rows.name == self.settings.store.tenant
        return Stores(
            vault=kept.DatabaseVault(rows),
            journal=kept.DatabaseJournal(rows, SERVER),
            index=index,
            minds=self.minds,
            clock=SystemClock(),
            habits=make_habits(self.settings),
            writing=self.fleet.writing(rows),
            leases=self.fleet.leases(rows),
            aside=self.aside if first else Threads(self.aside),
            bell=FarBell(self.fleet.tell(rows)),
        )


def open_locked(
    home: Path,
    settings: Settings,
    lock: HomeLock,
    progress: Progress = lambda done, total: None,
    fresh_index: bool = False,
) -> House:
    """Open a home whose lock the caller has taken, and still has if this raises."""
    if (home / "run" / RESTORING).exists():
        _backups("restoring").finish(home)
    beside = {home, vault_folder(home, settings).resolve().parent}
    if any(True for folder in beside for _ in folder.glob(UNPACKED)):
        _backups("restoring").remove_unpacked(home, vault_folder(home, settings))
    minds, notes = make_minds(home, settings, os.environ)
    index, healed = open_index(home / "index.db", minds, settings, fresh_index)
    marks = ReadMarks(home / "run")
    with ExitStack() as unfinished:
        unfinished.callback(marks.close)
        vault = Vault(vault_folder(home, settings), marks)
        vault.clean_leftovers()
        stores = Stores(
            vault=vault,
            journal=Journal(home / "journal", device_name()),
            index=index,
            minds=minds,
            clock=SystemClock(),
            habits=make_habits(settings),
            aside=Threads(),
        )
        house = House(home, settings, stores, lock, notes + healed, marks=marks)
        _name_suspects(house, marks)
        catch_up(house, progress)
        unfinished.pop_all()
    return house


def _name_suspects(house: House, marks: ReadMarks) -> None:
    """Let `status` name what was being read when the last process ended: a memory's file is looked
    at again by the reconcile that follows, a note when somebody takes it in again."""
    files: dict[str, tuple[int, str]] = {}
    for name, problem in marks.named().items():
        if name.startswith(NOTE_PREFIX):
            house.intake.tell(name.removeprefix(NOTE_PREFIX), problem)
        elif is_memory_path(name) and house.stores.vault.fingerprint(name) is not None:
            files[name] = (1, problem)
    if files:
        house.stores.index.write(Batch(unreadable=files))


def vault_folder(home: Path, settings: Settings) -> Path:
    """Return the folder of the memories' files."""
    return Path(settings.vault.path).expanduser() if settings.vault.path else home / "vault"


def restore_home(
    home: Path, archive: Path, progress: Progress = lambda done, total: None
) -> Restored:
    """Put a backup in place of what a home holds, which is put aside. Nobody may have it open."""
    late, now = _backups("restoring"), SystemClock().now()
    late.refuse_inside(home)
    settings = load_settings(home)
    if settings.store.truth == "database":
        raise NotInFiles("a backup is restored")
    make_folders(home)
    lock = HomeLock(home)
    lock.take(LOCK_WAIT_SECONDS)
    try:
        late.finish(home)
        done = late.restore(home, vault_folder(home, settings), archive, now, progress)
    finally:
        lock.release()
    return cast("Restored", done)


@dataclass(frozen=True, slots=True)
class MovedHome:
    """A memory that was moved: what both ends say, and what the index there holds."""

    place: str
    moved: Moved
    in_index: int
    left_out: tuple[str, ...] = ()
    aside: tuple[Path, ...] = ()


def move_home(
    home: Path,
    to: str,
    tenant: str | None = None,
    progress: Progress = lambda done, total: None,
    tell: Callable[[str], None] = lambda text: None,
) -> MovedHome:
    """Move a home's memory into the database at `to`, or back into `files`. Only when it is there
    whole and compared, the settings name the new place; killed before, the next try goes on.
    `tell` is told what it waits for."""
    settings = load_settings(home)
    make_folders(home)
    if to == "files":
        _refuse_fixed(home, None)
        return _move_out(home, settings, progress)
    name = settings.store.tenant if tenant is None else read_person(tenant, "tenant")
    store = replace(settings.store, url=to, truth="database", tenant=name)
    check_store(replace(settings, store=store))
    _refuse_fixed(home, store)
    return _move_in(home, settings, replace(settings, store=store), progress, tell)


def _refuse_fixed(home: Path, store: Store | None) -> None:
    """Refuse a move after which the environment would still name another place."""
    table = tomllib.loads(_naming_store(home, store))
    wanted, found = read_settings(table, {}).store, read_settings(table, os.environ).store
    names = ("url", "truth") if store is None else ("url", "truth", "tenant")
    if any(getattr(found, name) != getattr(wanted, name) for name in names):
        raise _moving().PlaceFixed(store_variables(os.environ))


def _move_in(
    home: Path, old: Settings, new: Settings, progress: Progress, tell: Callable[[str], None]
) -> MovedHome:
    """Move files into a database. They stay where they are, and are read no more."""
    late = _moving()
    if old.store.truth == "database":
        raise late.NothingToMove("a database")
    open_house(home, progress=progress).close()  # finishes what was interrupted
    lock = HomeLock(home)
    lock.take(LOCK_WAIT_SECONDS)
    try:
        source = late.FileSide(vault_folder(home, old), home / "journal")
        with _database_side(new) as target:
            _refuse_taken(home, target)
            done: Moved = late.move(source, target, progress)
        _await_filling(new.store, tell)
        in_index = _fill(open_houses(home, new, None, progress).first, progress)
        _name_store(home, new.store)
        (home / "run" / MOVING).unlink()
    finally:
        lock.release()
    return MovedHome(target.place, done, in_index, tuple(source.left_out))


def _move_out(home: Path, settings: Settings, progress: Progress) -> MovedHome:
    """Move a memory out of a database into files. What lies in their place is put aside."""
    late, restoring = _moving(), _backups("restoring")
    if settings.store.truth == "files":
        raise late.NothingToMove("files")
    stamp = _stamp(home)
    folders = (vault_folder(home, settings).resolve(), (home / "journal").resolve())
    exchanges = [restoring.exchange_of(folder, stamp) for folder in folders]
    target = late.FileSide(*(each.staged for each in exchanges))
    with _database_side(settings) as source:
        first: Moved = late.move(source, target, progress)
        with source.writing():
            rest: Moved = late.move(source, target, progress)  # what changed meanwhile
    done = replace(rest, copied=first.copied + rest.copied)
    restoring.write_mark(home, exchanges)
    restoring.finish(home)
    _name_store(home, None)
    (home / "run" / MOVING).unlink()
    in_index = _fill(open_house(home, progress=progress), progress)
    aside = tuple(each.aside for each in exchanges if each.aside.exists())
    return MovedHome(str(folders[0]), done, in_index, aside=aside)


@contextmanager
def _database_side(settings: Settings) -> Iterator[DatabaseSide]:
    with _fleet(settings.store) as fleet:
        kept = importlib.import_module("madeleine.vault.database.moving")
        yield kept.DatabaseSide(fleet.tenant(settings.store.tenant), SERVER)


@contextmanager
def _fleet(store: Store) -> Iterator[Fleet]:
    """Lend the connections to a database, for what is no server."""
    module = importlib.import_module("madeleine.database.fleet")
    fleet: Fleet = module.Fleet(store.url, store.lease_seconds)
    try:
        yield fleet
    finally:
        fleet.close()


def _await_filling(store: Store, tell: Callable[[str], None]) -> None:
    """Wait while the lease of a move lasts that was killed as it filled the index. One that lasts
    longer is renewed by somebody who still works."""
    with _fleet(store) as fleet:
        leases = fleet.leases(fleet.tenant(store.tenant))
        if leases.doing(FILLING) is None:
            return
        tell(f"a move was killed before; going on within {store.lease_seconds:g} seconds")
        deadline = time.monotonic() + store.lease_seconds + LEASE_PAUSE_SECONDS
        while leases.doing(FILLING) is not None and time.monotonic() < deadline:
            time.sleep(LEASE_PAUSE_SECONDS)


def _refuse_taken(home: Path, target: DatabaseSide) -> None:
    """Refuse a place where there is a memory, unless a move of ours began there."""
    if _moves_to(home, target.place):
        return
    there = target.listed()
    if there:
        raise _moving().PlaceTaken(target.place, len(there))
    (home / "run" / MOVING).write_text(target.place, encoding="utf-8")


def _moves_to(home: Path, place: str) -> bool:
    """Whether a move of this home to that place began, and did not end."""
    mark = home / "run" / MOVING
    return mark.exists() and mark.read_text(encoding="utf-8") == place


def _stamp(home: Path) -> str:
    """Return the time in the names of what a move puts in place: that of its first try."""
    mark = home / "run" / MOVING
    if not mark.exists():
        mark.write_text(SystemClock().now().strftime("%Y%m%dT%H%M%S"), encoding="utf-8")
    return mark.read_text(encoding="utf-8")


def _fill(house: House, progress: Progress) -> int:
    """Make the index of a house say what its files say; return how many memories it holds."""
    try:
        reconcile(house.stores, progress)
        return house.stores.index.counts().memories
    finally:
        house.close()


def _name_store(home: Path, store: Store | None) -> None:
    """Let the settings name where the memory is: in a database, or in files as without any."""
    data = _naming_store(home, store).encode()
    importlib.import_module("madeleine.vault.files").write_file(home / "config.toml", data)


def _naming_store(home: Path, store: Store | None) -> str:
    path = home / "config.toml"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    names = ("url", "tenant", "truth") if store is not None else ()
    lines = [f"{name} = {json.dumps(getattr(store, name))}" for name in names]
    return cast("str", _moving().with_store(text, lines))


def _moving() -> ModuleType:
    """Return what moves a memory, loaded when it is needed first."""
    return importlib.import_module("madeleine.ingest.moving")


def _backups(name: str) -> ModuleType:
    """Return a part of what makes and restores backups, loaded when it is needed first."""
    return importlib.import_module(f"madeleine.ingest.backups.{name}")


def catch_up(house: House, progress: Progress = lambda done, total: None) -> None:
    """Bring the index up to date with journal and files, and finish what was interrupted.

    A journal file that lost what the index has already read, by a power cut or by hand, makes
    the index say more than the truth: then it is made anew.
    """
    stores = house.stores
    changed = stores.journal.shrunk(stores.index.positions())
    house.journal_problems = replay(stores.journal, stores.index)
    house.notes.extend(recover(stores))
    if changed:
        house.notes.append(f"the journal lost lines ({', '.join(changed)}); made the index anew")
        rebuild(stores, progress)
    else:
        reconcile(stores, progress)
    _complete_self(house)
    _withdraw_contrasts(house)


def follow(house: House, progress: Progress = lambda done, total: None) -> None:
    """Bring an index up to date with the truth in a database. One in the same database cannot be
    behind it, unless files and journal were brought in from elsewhere or it was made anew."""
    stores = house.stores
    if _is_behind(stores):
        with stores.leases.held(FILLING):
            house.journal_problems = replay(stores.journal, stores.index)
            reconcile(stores, progress)
    if stores.index.self_id() is None:
        _complete_self(house)
    _withdraw_contrasts(house)


def _is_behind(stores: Stores) -> bool:
    with stores.index.steady():
        empty = not stores.index.extent().memories
        unread = next(stores.journal.read(stores.index.positions()), None)
    return unread is not None or (empty and next(stores.vault.scan(), None) is not None)


def _complete_self(house: House) -> None:
    try:
        complete_self(house.stores)
    except (Damaged, Unavailable) as error:  # a home must open whatever its self looks like
        house.notes.append(f"the self could not be written: {error.message}")


def _withdraw_contrasts(house: House) -> None:
    try:
        withdraw_contrasts(house.stores, by="upgrade")
    except Unavailable as error:  # a home must open on a disk that takes nothing
        house.notes.append(f"questions that are none any more could not go: {error.message}")


def open_index(
    path: Path, minds: Minds, settings: Settings, fresh: bool = False
) -> tuple[Index, list[str]]:
    """Open the index; one that cannot be read is set aside and made anew (I2)."""
    if settings.store.graph or settings.store.vectors:
        return _falkordb(minds, settings, fresh), []
    if settings.store.url:
        return _postgres(path.parent, minds, settings, fresh), []
    notes = []
    if fresh:
        remove(path)
    try:
        index = _sqlite(path, minds, settings)
    except IndexCorrupt as corrupt:
        moved = set_aside(path)
        notes.append(f"{corrupt.message}; made the index anew (the old one is {moved.name})")
        index = _sqlite(path, minds, settings)
    return index, notes


def check_store(settings: Settings) -> None:
    """Refuse a database that cannot be spoken to. Its packages are an extra."""
    if not settings.store.url:
        hint = "name the database in `store.url`, or leave `store.truth` at files"
        raise BadSetting("store.url", 'is empty, while `store.truth` is "database"', hint)
    if not settings.store.url.startswith(("postgresql://", "postgres://")):
        raise BadSetting("store.url", "does not begin with postgresql://")
    if importlib.util.find_spec("psycopg") is None:
        raise BadSetting("store.url", "needs `pip install 'madeleine-memory[postgres]'`")
    importlib.import_module("madeleine.database.address").place_of(settings.store.url)


def _postgres(home: Path, minds: Minds, settings: Settings, fresh: bool) -> Index:
    """Open the index in a database, while files and journal stay in the home."""
    check_store(settings)
    index: Index = importlib.import_module("madeleine.index.postgres").PostgresIndex.open(
        settings.store.url,
        *_traces(minds),
        tenant=settings.store.tenant,
        admit=partial(_refuse_other, home, fresh),
    )
    if fresh:
        index.clear()
    return index


def _refuse_other(home: Path, fresh: bool, rows: Tenant, index: Index) -> None:
    """Refuse to fill, from this home's files, an index that follows something else."""
    if _is_known(rows, "holds_truth") and not _moves_to(home, rows.called):
        raise TruthInDatabase(rows.called)
    if not fresh and not _follows(index, Journal(home / "journal", device_name())):
        raise IndexOfAnother(rows.called)


def _is_known(rows: Tenant, what: str) -> bool:
    """Ask the database what it knows of a tenant, by the name of the question."""
    late = importlib.import_module("madeleine.database.tenants")
    with rows.reading() as access:
        return bool(getattr(late, what)(access))


def _follows(index: Index, journal: Journal) -> bool:
    """Whether an index has read this journal, or none. One that was restored from a backup, or
    lost lines, still begins with events that the index knows; another home's does not."""
    read = {name: each for name, each in index.positions().items() if each.offset}
    if len(journal.shrunk(read)) < len(read) or not read:
        return True
    begun = (each for chunk in journal.read({}) for each in chunk.events[:BEGINNING])
    return any(index.event(each.id) is not None for each in begun)


def _falkordb(minds: Minds, settings: Settings, fresh: bool) -> Index:
    """Open the index in a graph, with its vectors apart if a place for them is named."""
    store = settings.store
    if not store.graph:
        raise BadSetting("store.vectors", "needs `store.graph`, for all that is no vector")
    for name, extra in (("graph", "falkordb"), ("vectors", "qdrant")):
        package = {"falkordb": "falkordb", "qdrant": "qdrant_client"}[extra]
        if getattr(store, name) and importlib.util.find_spec(package) is None:
            raise BadSetting(f"store.{name}", f"needs `pip install 'madeleine-memory[{extra}]'`")
    vectors = importlib.import_module("madeleine.index.qdrant") if store.vectors else None
    index: Index = importlib.import_module("madeleine.index.falkordb").FalkorIndex.open(
        store.graph,
        *_traces(minds),
        tenant=store.tenant,
        apart=None if vectors is None else vectors.QdrantVectors.open(store.vectors),
    )
    if fresh:
        index.clear()
    return index


def _traces(minds: Minds) -> tuple[str | None, int | None, int]:
    """Return whose traces an index keeps, and how wide they are."""
    embedder = minds.embedder
    if embedder is None:
        return None, None, 0
    return embedder.name, embedder.dimension, embedder.token_dimension


def _sqlite(path: Path, minds: Minds, settings: Settings) -> SqliteIndex:
    embedder = minds.embedder
    return SqliteIndex.open(
        path,
        model=embedder.name if embedder else None,
        dimension=embedder.dimension if embedder else None,
        token_dimension=embedder.token_dimension if embedder else 0,
        exact_up_to=settings.index.exact_up_to,
    )


def make_minds(
    home: Path, settings: Settings, environment: Mapping[str, str]
) -> tuple[Minds, list[str]]:
    """Return the models that the settings ask for; none still works, and says so."""
    reranker, why_no_reranker = _reranker(home, settings)
    without = Minds(reranker=reranker, why_no_reranker=why_no_reranker)
    try:
        embedder, why_not = _embedder(settings, environment)
        if embedder is None:
            return replace(without, why_not=why_not), [f"text search only: {why_not}"]
        kept, healed = _with_cache(embedder, home / "embeddings.db")
    except MindDown as down:
        return replace(without, why_not=down.message), [f"text search only: {down.message}"]
    return replace(without, embedder=kept), healed


def _with_cache(embedder: Embedder, path: Path) -> tuple[CachedEmbedder, list[str]]:
    """Return a model with its cache, and what healed itself."""
    cache = VectorCache.open(path)
    kept = CachedEmbedder(embedder, cache)
    try:
        _ = kept.dimension, kept.token_dimension  # a model never reached may not know them yet
    except MindDown:
        kept.close()
        raise
    aside = cache.set_aside
    return kept, [f"{path.name} was damaged; begun anew ({aside.name} is the old)"] if aside else []


def _reranker(home: Path, settings: Settings) -> tuple[Reranker | None, str]:
    """Return the cross-encoder, or why there is none: recall works without."""
    wanted = settings.reranker
    folder = Path(wanted.folder).expanduser() if wanted.folder else home / "models" / wanted.model
    if not wanted.folder and not folder.is_dir():
        return None, f"no cross-encoder: reranker.folder is not set, and there is no {folder}"
    try:
        return LocalReranker.from_folder(folder, wanted.model), ""
    except MindDown as down:
        return None, f"no cross-encoder: {down.message}"


def _embedder(settings: Settings, environment: Mapping[str, str]) -> tuple[Embedder | None, str]:
    wanted = settings.embedder
    match wanted.kind:
        case "none":
            return None, "embedder.kind is none"
        case "fake":
            return FakeEmbedder(), ""
        case "openai":
            key = environment.get(wanted.key_env, "")
            return RemoteEmbedder(wanted.url, wanted.model, key, wanted.timeout_seconds), ""
        case _ if wanted.folder:
            folder = Path(wanted.folder).expanduser()
            return LocalEmbedder.from_folder(folder, wanted.threads), ""
        case _:
            return built_in(wanted.threads), why_not_built_in()


def make_judge(settings: Settings, environment: Mapping[str, str]) -> Judge:
    """Return the judge that the settings ask for; an agent that judges is no such."""
    if settings.judge.kind == "llm":
        return _remote_judge(settings, environment)
    return cast("Judge", _judges().local_judge(settings.judge.weights))


def _remote_judge(settings: Settings, environment: Mapping[str, str]) -> Judge:
    wanted = settings.judge
    made = _judges().remote_judge(
        wanted.url,
        wanted.model,
        environment.get(wanted.key_env, ""),
        provider=wanted.provider,
        timeout_seconds=wanted.timeout_seconds,
        tokens=wanted.tokens_per_run,
        cost=wanted.cost_per_run,
        prices=(wanted.price_in, wanted.price_out),
    )
    return cast("Judge", made)


def make_intake(stores: Stores, settings: Settings, environment: Mapping[str, str]) -> Intake:
    """Return who takes in. A language model that cannot be had leaves it to do without, and
    `status` says why."""
    wanted = settings.ingest
    given = {each.name: getattr(wanted, each.name) for each in fields(IngestHabits)}
    intake = Intake(stores, IngestHabits(**given), why_not="ingest.extractor is none")
    if wanted.extractor == "llm":
        try:
            intake.extractor, intake.why_not = _extractor(settings, environment), ""
        except MadeleineError as error:
            intake.why_not = error.message
    return intake


def _extractor(settings: Settings, environment: Mapping[str, str]) -> Extractor:
    wanted = settings.judge
    made = importlib.import_module("madeleine.minds.extractor").remote_extractor(
        wanted.url,
        wanted.model,
        environment.get(wanted.key_env, ""),
        provider=wanted.provider,
        timeout_seconds=wanted.timeout_seconds,
        tokens=wanted.tokens_per_run,
        cost=wanted.cost_per_run,
        prices=(wanted.price_in, wanted.price_out),
    )
    return cast("Extractor", made)


def followed_sessions(settings: Settings) -> list[tuple[Path, str]]:
    """Return the folders of transcripts that are followed, each with the agent whose they are."""
    given = settings.ingest.session_folders
    if given:
        return [(path, _agent_of(path)) for path in folders_in(given)]
    claude = os.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude"
    codex = os.environ.get("CODEX_HOME") or "~/.codex"
    places = ((f"{claude}/projects", "claude-code"), (f"{codex}/sessions", "codex"))
    return [(Path(path).expanduser(), agent) for path, agent in places]


def _agent_of(folder: Path) -> str:
    return "codex" if {"codex", ".codex"} & set(folder.parts) else "claude-code"


def folders_in(given: str) -> list[Path]:
    """Return the folders that a setting names, separated as in PATH."""
    return [Path(each).expanduser().absolute() for each in given.split(os.pathsep) if each.strip()]


def _judges() -> ModuleType:
    """Return what makes judges, loaded when one is needed first."""
    return importlib.import_module("madeleine.minds.judges.making")


def make_habits(settings: Settings) -> Habits:
    """Return the numbers that verbs go by."""
    limits, write, recall = settings.limits, settings.write, settings.recall
    return Habits(
        limits=Limits(
            content_bytes=limits.content_bytes,
            title_chars=limits.title_chars,
            tags=limits.tags,
            tag_chars=limits.tag_chars,
            connections=limits.connections,
        ),
        link_threshold=write.link_threshold,
        cross_space_penalty=write.cross_space_penalty,
        link_neighbours=write.link_neighbours,
        core_cap=write.core_cap,
        recall_pool=recall.pool,
        recall_compared=recall.compared,
        recall_least_score=recall.least_score,
        recall_least_best=recall.least_best,
        recall_relevance_weight=recall.relevance_weight,
        heads=weights_at(recall.weights),
        activation_seeds=recall.activation_seeds,
        activation_per_seed=recall.activation_per_seed,
        activation_decay=recall.activation_decay,
        rerank_candidates=settings.reranker.candidates,
        rerank_deadline_ms=settings.reranker.deadline_ms,
        rerank_blend=settings.reranker.blend,
    )


def make_intervals(sleep: Sleep, consolidation: Consolidation) -> Intervals:
    """Return the timetable that the settings ask for. The jobs of the night and the tasks of
    consolidation are turned off each by a setting of their own."""
    return Intervals(
        every=_job_intervals(sleep) if sleep.enabled else {},
        first=timedelta(seconds=sleep.first_seconds),
        retry=timedelta(minutes=sleep.retry_minutes),
        tasks=_task_intervals(consolidation) if consolidation.enabled else {},
        tick=timedelta(seconds=consolidation.tick_seconds),
    )


def _job_intervals(sleep: Sleep) -> dict[str, timedelta]:
    return {
        "importance_scorer": timedelta(minutes=sleep.importance_scorer_minutes),
        "index_updater": timedelta(minutes=sleep.index_updater_minutes),
        "duplicate_merger": timedelta(hours=sleep.duplicate_merger_hours),
        "conflict_detector": timedelta(hours=sleep.conflict_detector_hours),
        "auto_linker": timedelta(hours=sleep.auto_linker_hours),
        "auto_cluster": timedelta(minutes=sleep.auto_cluster_minutes),
        "consolidator": timedelta(hours=sleep.consolidator_hours),
        "decay_manager": timedelta(hours=sleep.decay_manager_hours),
    }


def _task_intervals(consolidation: Consolidation) -> dict[str, timedelta]:
    return {
        "decay": timedelta(seconds=consolidation.decay_interval_seconds),
        "creative": timedelta(seconds=consolidation.creative_interval_seconds),
        "cluster": timedelta(seconds=consolidation.cluster_interval_seconds),
        "forget": timedelta(seconds=consolidation.forget_interval_seconds),
    }


def make_folders(home: Path) -> None:
    """Make the home's folders, readable by their owner only."""
    try:
        for folder in (home, home / "vault", home / "journal", home / "run", home / "logs"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for private in (home / "journal", home / "run"):
            private.chmod(0o700)
    except OSError as error:
        raise StoreUnwritable(home, error.strerror or str(error)) from error


def device_name() -> str:
    """Return a name for this machine that stays the same and does not travel with a home.

    It is made from the machine's own id and not kept in the home, so that a home copied to
    another machine writes to journal files of its own.
    """
    machine = Path("/etc/machine-id")
    seed = machine.read_text(encoding="utf-8").strip() if machine.exists() else str(uuid.getnode())
    mark = hashlib.sha256(f"madeleine\n{seed}".encode()).hexdigest()[:6]
    host = re.sub(r"[^a-z0-9]+", "-", socket.gethostname().lower()).strip("-")[:24] or "device"
    return f"{host}-{mark}"


class HomeLock:
    """One process has a home open at a time. The lock goes with the process, however it ends."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._file: int | None = None

    def take(self, wait_seconds: float) -> None:
        """Wait for the lock, then write down who has it."""
        path = self._home / "run" / "lock"
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreUnwritable(path, error.strerror or str(error)) from error
        deadline = time.monotonic() + wait_seconds
        while not _locked(handle):
            if time.monotonic() >= deadline:
                holder = _pid(handle)
                os.close(handle)
                raise HomeBusy(self._home, holder)
            time.sleep(LOCK_PAUSE_SECONDS)
        os.truncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        self._file = handle

    def release(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _pid(handle: int) -> int | None:
    text = os.pread(handle, 32, 0).decode("ascii", "replace").strip()
    return int(text) if text.isdigit() else None


def runtime_folder() -> Path:
    """Return a folder with a short path for what lasts no longer than a login."""
    given = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir())
    return given if given.is_dir() else Path(tempfile.gettempdir())
