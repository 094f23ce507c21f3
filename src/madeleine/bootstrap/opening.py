"""Opening a home: its files or its database, the index brought up to date, what a kill left."""

from __future__ import annotations

import os
import threading
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from madeleine.bootstrap.clock import SystemClock
from madeleine.bootstrap.config import load_settings, make_verb_config, make_whisper_capacity
from madeleine.bootstrap.context import HomeContext, HomeContexts
from madeleine.bootstrap.home import (
    LOCK_TIMEOUT_SECONDS,
    HomeLock,
    device_name,
    make_folders,
    vault_folder,
)
from madeleine.bootstrap.index import check_store, open_index, open_shared_index
from madeleine.bootstrap.minds import make_minds
from madeleine.bootstrap.space_aliases import SpaceAliasReader
from madeleine.errors import Damaged, Unavailable
from madeleine.index.port import Index, IndexBatch
from madeleine.ingest.context import NOTE_PREFIX
from madeleine.minds.port import Minds
from madeleine.settings import Settings
from madeleine.vault.journal import FileJournal
from madeleine.vault.read_marks import ReadMarks
from madeleine.vault.vault import FolderVault, is_memory_path
from madeleine.whisper.capacity import WhisperCapacity
from madeleine.whisper.whisper import Whisperer
from madeleine.write.event_bus import SharedEventBus
from madeleine.write.executor import ThreadExecutor
from madeleine.write.identity import complete_self
from madeleine.write.questions import withdraw_contrasts
from madeleine.write.reconcile import ProgressCallback, reconcile
from madeleine.write.record import replay_journal
from madeleine.write.recover import recover_changes
from madeleine.write.stores import Stores
from madeleine.write.upkeep import REBUILD_LEASE, rebuild

if TYPE_CHECKING:
    from madeleine.database.leases import DatabaseLeases
    from madeleine.database.shared_database import SharedDatabase
    from madeleine.database.transactions import DatabaseTenant

RESTORING_FILE = "restoring.json"  # in run/: what a restore that was interrupted still has to do
UNPACKED_PATTERN = (
    ".*-restored-*"  # beside vault and journal: what one that was killed had unpacked
)
SERVER_DEVICE = (
    "server"  # the device that all servers on a database are: what one begins another ends
)


def open_home(
    home: Path,
    *,
    wait_seconds: float = LOCK_TIMEOUT_SECONDS,
    progress: ProgressCallback = lambda done, total: None,
    fresh_index: bool = False,
) -> HomeContext:
    """Open a home for this process alone.

    `fresh_index` throws the index away first; everything in it comes back from the files and
    the journal.
    """
    settings = load_settings(home)
    make_folders(home)
    if settings.store.truth == "database":
        return open_homes(home, settings, None, progress, fresh_index).first
    lock = HomeLock(home)
    lock.take(wait_seconds)
    with ExitStack() as failing:
        failing.callback(lock.release)
        context = open_locked_home(home, settings, lock, progress, fresh_index)
        failing.pop_all()
    return context


def open_homes(
    home: Path,
    settings: Settings,
    lock: HomeLock | None,
    progress: ProgressCallback = lambda done, total: None,
    fresh_index: bool = False,
    ending: threading.Event | None = None,
) -> HomeContexts:
    """Open what a server answers for. The lock is the caller's still, if this raises. Nobody waits
    for a remote model once `ending` is set."""
    if settings.store.truth == "files":
        if lock is None:
            raise ValueError("whoever opens files holds the home's lock")
        return HomeContexts(open_locked_home(home, settings, lock, progress, fresh_index, ending))
    check_store(settings)
    from madeleine.database.shared_database import SharedDatabase

    with ExitStack() as failing:
        store = settings.store
        fleet = SharedDatabase(store.url, store.lease_seconds, store.connections)
        failing.callback(fleet.close)
        minds, notes = make_minds(home, settings, os.environ, ending)
        notes += fleet.warnings()
        capacity = make_whisper_capacity(settings)
        opening = _DatabaseOpening(home, settings, fleet, minds, notes, ThreadExecutor(), capacity)
        first = opening.open_context(settings.store.tenant, progress, fresh_index)
        first.lock = lock
        failing.pop_all()
    first.contexts = HomeContexts(first, opening.open_context)
    return first.contexts


@dataclass(frozen=True, slots=True)
class _DatabaseOpening:
    """What all contexts have in common whose truth is in one database."""

    home: Path
    settings: Settings
    fleet: SharedDatabase
    minds: Minds
    notes: list[str]
    executor: ThreadExecutor
    capacity: WhisperCapacity

    def open_context(
        self,
        tenant: str,
        progress: ProgressCallback = lambda done, total: None,
        fresh_index: bool = False,
    ) -> HomeContext:
        """Open the context of a tenant."""
        rows = self.fleet.tenant(tenant)
        index, healed = self._open_index(rows, fresh_index)
        leases = self.fleet.leases(rows)
        context = HomeContext(
            self.home,
            self.settings,
            self._build_stores(rows, index, leases),
            lock=None,
            notes=[*self.notes, *healed],
            whisperer=Whisperer(capacity=self.capacity),
            tenant=tenant,
            fleet=self.fleet,
            plan=leases,
        )
        follow_database(context, progress)
        return context

    def _open_index(self, rows: DatabaseTenant, fresh: bool) -> tuple[Index, list[str]]:
        if self.settings.store.graph:
            own = replace(self.settings, store=replace(self.settings.store, tenant=rows.name))
            return open_index(self.home / "index.db", self.minds, own, fresh)
        return open_shared_index(rows, self.minds, fresh), []

    def _build_stores(self, rows: DatabaseTenant, index: Index, leases: DatabaseLeases) -> Stores:
        from madeleine.vault.database import DatabaseJournal, DatabaseVault

        first = rows.name == self.settings.store.tenant
        return Stores(
            vault=DatabaseVault(rows),
            journal=DatabaseJournal(rows, SERVER_DEVICE),
            index=index,
            minds=self.minds,
            clock=SystemClock(),
            config=make_verb_config(self.settings),
            writing=self.fleet.writing(rows),
            leases=leases,
            executor=self.executor if first else ThreadExecutor(self.executor),
            event_bus=SharedEventBus(self.fleet.tell(rows)),
            read_aliases=SpaceAliasReader(self.home, self.settings.space.aliases),
        )


def open_locked_home(
    home: Path,
    settings: Settings,
    lock: HomeLock,
    progress: ProgressCallback = lambda done, total: None,
    fresh_index: bool = False,
    ending: threading.Event | None = None,
) -> HomeContext:
    """Open a home whose lock the caller has taken, and still has if this raises."""
    _finish_restoring(home, vault_folder(home, settings))
    minds, notes = make_minds(home, settings, os.environ, ending)
    index, healed = open_index(home / "index.db", minds, settings, fresh_index)
    marks = ReadMarks(home / "run")
    with ExitStack() as unfinished:
        unfinished.callback(marks.close)
        vault = FolderVault(vault_folder(home, settings), marks)
        vault.clean_leftovers()
        stores = Stores(
            vault=vault,
            journal=FileJournal(home / "journal", device_name()),
            index=index,
            minds=minds,
            clock=SystemClock(),
            config=make_verb_config(settings),
            executor=ThreadExecutor(),
            read_aliases=SpaceAliasReader(home, settings.space.aliases),
        )
        whisperer = Whisperer(capacity=make_whisper_capacity(settings))
        context = HomeContext(
            home, settings, stores, lock, notes + healed, whisperer=whisperer, marks=marks
        )
        _note_suspect_files(context, marks)
        catch_up_index(context, progress)
        unfinished.pop_all()
    return context


def _finish_restoring(home: Path, vault: Path) -> None:
    """Finish a restore that was killed, and remove what it had unpacked. Hardly any home has such,
    so what restores is loaded only where something is found."""
    begun = (home / "run" / RESTORING_FILE).exists()
    beside = {home, vault.resolve().parent}
    unpacked = any(True for folder in beside for _ in folder.glob(UNPACKED_PATTERN))
    if begun or unpacked:
        from madeleine.ingest.backups.restoring import finish_restore, remove_unpacked

        finish_restore(home)
        remove_unpacked(home, vault)


def _note_suspect_files(context: HomeContext, marks: ReadMarks) -> None:
    """Let `status` name what was being read when the last process ended: a memory's file is looked
    at again by the reconcile that follows, a note when somebody takes it in again."""
    files: dict[str, tuple[int, str]] = {}
    for name, problem in marks.named().items():
        if name.startswith(NOTE_PREFIX):
            context.intake.tell(name.removeprefix(NOTE_PREFIX), problem)
        elif is_memory_path(name) and context.stores.vault.fingerprint(name) is not None:
            files[name] = (1, problem)
    if files:
        context.stores.index.write(IndexBatch(unreadable=files))


def catch_up_index(
    context: HomeContext, progress: ProgressCallback = lambda done, total: None
) -> None:
    """Bring the index up to date with journal and files, and finish what was interrupted.

    A journal file that lost what the index has already read, by a power cut or by hand, makes
    the index say more than the truth: then it is made anew.
    """
    stores = context.stores
    changed = stores.journal.shrunk_files(stores.log.positions())
    context.journal_problems = replay_journal(stores.journal, stores.index)
    context.notes.extend(recover_changes(stores))
    if changed:
        context.notes.append(f"the journal lost lines ({', '.join(changed)}); made the index anew")
        rebuild(stores, progress)
    else:
        reconcile(stores, progress)
    _try_complete_self(context)
    _try_withdraw_contrasts(context)


def follow_database(
    context: HomeContext, progress: ProgressCallback = lambda done, total: None
) -> None:
    """Bring an index up to date with the truth in a database. One in the same database cannot be
    behind it, unless files and journal were brought in from elsewhere or it was made anew."""
    stores = context.stores
    if _is_behind(stores):
        with stores.leases.held(REBUILD_LEASE):
            context.journal_problems = replay_journal(stores.journal, stores.index)
            reconcile(stores, progress)
    if stores.graph.self_id() is None:
        _try_complete_self(context)
    _try_withdraw_contrasts(context)


def _is_behind(stores: Stores) -> bool:
    with stores.index.steady():
        empty = not stores.search.extent().memories
        unread = next(stores.journal.read(stores.log.positions()), None)
    return unread is not None or (empty and next(stores.vault.scan(), None) is not None)


def _try_complete_self(context: HomeContext) -> None:
    try:
        complete_self(context.stores)
    except (Damaged, Unavailable) as error:  # a home must open whatever its self looks like
        context.notes.append(f"the self could not be written: {error.message}")


def _try_withdraw_contrasts(context: HomeContext) -> None:
    try:
        withdraw_contrasts(context.stores, by="upgrade")
    except Unavailable as error:  # a home must open on a disk that takes nothing
        context.notes.append(f"questions that are none any more could not go: {error.message}")
