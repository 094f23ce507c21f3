"""The loops that keep an open home up to date while the daemon runs.

Where the truth is in a database there is nothing to watch: no file can change but by a verb. In
place of that the server listens to what others tell, and does what is due for any tenant.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from madeleine.api.wording import render_cause
from madeleine.bootstrap import HomeContext, HomeContexts, list_session_folders, parse_folders
from madeleine.errors import MadeleineError, UnderWay
from madeleine.ingest.backups.rotation import is_backup_due
from madeleine.ingest.sessions import SessionWatcher, TranscriptFolder
from madeleine.server.background import BackgroundLoop
from madeleine.server.process_memory import release_unused_memory
from madeleine.write.copied_files import separate_copies
from madeleine.write.core_cap import describe_demotions, hold_core_cap
from madeleine.write.identity import complete_self
from madeleine.write.languages import find_text_to_warm_with
from madeleine.write.reconcile import embed_missing, reconcile, reconcile_paths
from madeleine.write.record import replay_journal

if TYPE_CHECKING:
    from madeleine.database.shared_database import SharedDatabase

HOME_CHECK_SECONDS = 5.0
ROUND_SECONDS = 2.0  # between two looks at what is due in the whole fleet
FLUSH_SECONDS = 1.0  # what a power cut may cost of the notes of use
DEVICES_SECONDS = 5.0
VECTORS_SECONDS = 10.0
CACHE_FLUSH_SECONDS = 2.0  # what a kill may cost of what the model made: it is asked again
SWEEP_SECONDS = 300.0  # the watcher is told of everything, if the system did not lose it
SLEEP_PATIENCE_SECONDS = 1.5  # how long an ending daemon waits for a job that heard it
TIMETABLE_DELAY_SECONDS = (
    2.0  # the daemon answers by then, and nobody waits for the scheduler to load
)
AGENT_WORK_SECONDS = 300.0
BACKUP_CHECK_SECONDS = 300.0  # between two looks whether one is due, and after the start
BACKUP_RETRY = timedelta(minutes=30)  # after one that failed: it may be long work
SYNC_CHECK_SECONDS = 5.0  # between two looks whether one is due
FIRST_SYNC_SECONDS = 3.0
FIRST_SWEEP_SECONDS = 1.0  # edits made while the watcher was being set up

log = logging.getLogger("madeleine.background")

FileStamps = dict[str, tuple[int, int]]


def make_loops(contexts: HomeContexts, stop: threading.Event) -> list[BackgroundLoop]:
    """Return every loop of a server."""
    context = contexts.first
    context.sleeper.at_rest.append(release_unused_memory)
    if context.fleet is not None:
        return [
            *_common_loops(context, stop),
            *_shared_database_loops(contexts, context.fleet, stop),
        ]
    return [*_common_loops(context, stop), *_file_loops(context, stop)]


def _common_loops(context: HomeContext, stop: threading.Event) -> list[BackgroundLoop]:
    """Return the loops that there are wherever the truth is."""
    loops = [
        BackgroundLoop("model", _make_warm_up(context)),
        BackgroundLoop("vectors", _make_embedding_work(context, stop), VECTORS_SECONDS),
        BackgroundLoop(
            "cache",
            _make_cache_flush(context),
            CACHE_FLUSH_SECONDS,
            first_seconds=CACHE_FLUSH_SECONDS,
        ),
        BackgroundLoop(
            "sleep",
            lambda: context.sleeper.attend(stop.is_set),
            patience_seconds=SLEEP_PATIENCE_SECONDS,
            wake=context.sleeper.wake,
        ),
    ]
    loops.append(BackgroundLoop("home", _make_home_check(context, stop), HOME_CHECK_SECONDS))
    if context.settings.judge.kind == "agent":
        loops.append(BackgroundLoop("agent work", context.look_for_maintenance, AGENT_WORK_SECONDS))
    return [*loops, *_ingest_loops(context, stop)]


def _file_loops(context: HomeContext, stop: threading.Event) -> Iterator[BackgroundLoop]:
    """Give the loops of a home whose truth is files in the home."""
    journal = context.stores.journal
    yield BackgroundLoop(
        "journal", journal.flush, FLUSH_SECONDS, FLUSH_SECONDS, news=journal.unflushed
    )
    yield BackgroundLoop(
        "devices", DeviceJournalWatch(context).look, DEVICES_SECONDS, first_seconds=DEVICES_SECONDS
    )
    if _has_timetable(context):
        yield BackgroundLoop(
            "timetable", _make_timetable(context, stop), first_seconds=TIMETABLE_DELAY_SECONDS
        )
    if context.settings.backup.enabled:
        yield _backup_loop(context)
    if context.settings.sync.every and context.settings.sync.place:
        yield _sync_loop(context)
    if context.settings.vault.watch:
        yield BackgroundLoop("watcher", _make_watcher(context, stop))
        yield BackgroundLoop(
            "sweep", _make_sweep(context), SWEEP_SECONDS, first_seconds=FIRST_SWEEP_SECONDS
        )


def _has_timetable(context: HomeContext) -> bool:
    return context.settings.sleep.enabled or context.settings.consolidation.enabled


def _shared_database_loops(
    contexts: HomeContexts, fleet: SharedDatabase, stop: threading.Event
) -> Iterator[BackgroundLoop]:
    """Give the loops of one server among several."""
    yield BackgroundLoop("listening", lambda: fleet.listen(contexts.receive_event, stop.is_set))
    if _has_timetable(contexts.first):
        contexts.on_opened = HomeContext.start_timetable
        yield BackgroundLoop("timetable", contexts.first.start_timetable)
        yield BackgroundLoop(
            "rounds",
            _make_round(contexts, stop),
            ROUND_SECONDS,
            first_seconds=ROUND_SECONDS,
            patience_seconds=SLEEP_PATIENCE_SECONDS,
        )


def _make_round(contexts: HomeContexts, stop: threading.Event) -> Callable[[], None]:
    """Do what is due, whoever's it is, as long as there is any."""

    def go() -> None:
        for do in contexts.work_due():
            do()
            if stop.is_set():
                return

    return go


def _ingest_loops(context: HomeContext, stop: threading.Event) -> Iterator[BackgroundLoop]:
    """Give the loops that take in notes and sessions, as far as they are set."""
    wanted, intake = context.settings.ingest, context.intake
    if wanted.folders:
        from madeleine.ingest.folders import FolderWatcher

        vault = context.stores.vault
        private = [context.home, *([vault.root] if vault.is_folder else [])]
        folders = FolderWatcher(intake, parse_folders(wanted.folders), private)
        poll = context.settings.vault.poll
        yield BackgroundLoop("notes", lambda: folders.watch(stop, poll))
        yield BackgroundLoop(
            "note sweep", lambda: _take_in_new(context, folders.scan, stop, "notes"), SWEEP_SECONDS
        )
    if wanted.watch_sessions:
        places = [TranscriptFolder(*each) for each in list_session_folders(context.settings)]
        sessions = SessionWatcher(intake, places)
        pause = wanted.session_debounce_seconds
        yield BackgroundLoop(
            "sessions", lambda: _take_in_new(context, sessions.look, stop, "sessions"), pause
        )


def _take_in_new(
    context: HomeContext,
    look: Callable[[Callable[[], bool]], int],
    stop: threading.Event,
    what: str,
) -> None:
    """Look for what is new, unless another server does."""
    try:
        with context.stores.leases.held(what):
            taken = look(lambda: not stop.is_set())
    except UnderWay:
        return
    if taken:
        log.info("taken in: %d %s", taken, what)


def _make_home_check(context: HomeContext, stop: threading.Event) -> Callable[[], None]:
    """End the daemon when somebody deletes its home: nobody can reach it any more."""

    def look() -> None:
        if not (context.home / "run" / "lock").exists():
            log.warning("the home is gone; ending")
            stop.set()

    return look


def _make_timetable(context: HomeContext, stop: threading.Event) -> Callable[[], None]:
    """Say when each job is due, until the daemon ends."""

    def keep_time() -> None:
        from madeleine.sleep.timetable import Timetable

        running = Timetable(context.sleeper, context.intervals, context.stores.clock)
        running.start()
        stop.wait()
        running.end()

    return keep_time


def _backup_loop(context: HomeContext) -> BackgroundLoop:
    """Make a backup when the newest one is old enough."""
    return BackgroundLoop(
        "backup",
        BackupScheduler(context).look,
        BACKUP_CHECK_SECONDS,
        first_seconds=BACKUP_CHECK_SECONDS,
        patience_seconds=SLEEP_PATIENCE_SECONDS,  # one that is cut off leaves no file
    )


def _sync_loop(context: HomeContext) -> BackgroundLoop:
    """Meet other machines every few minutes."""
    return BackgroundLoop(
        "sync",
        SyncScheduler(context).look,
        SYNC_CHECK_SECONDS,
        first_seconds=FIRST_SYNC_SECONDS,
        patience_seconds=SLEEP_PATIENCE_SECONDS,  # one that is cut off goes on the next time
    )


def _make_watcher(context: HomeContext, stop: threading.Event) -> Callable[[], None]:
    stores = context.stores

    def on_change(paths: set[str]) -> None:
        report = reconcile_paths(stores, sorted(paths))
        complete_self(stores)
        if report.written or report.dropped:
            log.info("by hand: %d written, %d dropped", report.written, report.dropped)
        for note in describe_demotions(hold_core_cap(stores)) if report.written else ():
            log.info("by hand: %s", render_cause(note))

    def watch() -> None:
        from madeleine.vault.watcher import watch_vault

        watch_vault(stores.vault.root, on_change, stop, context.settings.vault.poll)

    return watch


def _make_sweep(context: HomeContext) -> Callable[[], None]:
    def sweep() -> None:
        reconcile(context.stores)
        for note in separate_copies(context.stores):
            log.info("by hand: %s", render_cause(note))
        hold_core_cap(context.stores)

    return sweep


def _make_warm_up(context: HomeContext) -> Callable[[], None]:
    """Load the model before somebody waits for it, and that of other languages if they are used."""

    def warm() -> None:
        embedder = context.stores.minds.embedder
        if embedder is not None:
            embedder.ask("a first text")
            if foreign := find_text_to_warm_with(context.stores):
                embedder.ask(foreign)
        context.whisperer.warm(context.stores, context.whisper_config)
        release_unused_memory()

    return warm


def _make_cache_flush(context: HomeContext) -> Callable[[], None]:
    """Write what the model made, so that nobody who remembers has to wait for that."""

    def keep() -> None:
        if context.stores.minds.embedder is not None:
            context.stores.minds.embedder.flush()

    return keep


def _make_embedding_work(context: HomeContext, stop: threading.Event) -> Callable[[], None]:
    """Give vectors to what has none: after a change of model, or once it is back."""

    def go_on(done: int, total: int) -> None:
        if stop.is_set():
            raise _EmbeddingStopped

    def embed() -> None:
        stores = context.stores
        if stores.minds.embedder is None or not stores.search.unembedded_ids(1):
            return
        try:
            done = embed_missing(stores, go_on)
        except _EmbeddingStopped:
            return  # what has a vector by now keeps it
        if done:
            log.info("%d memories got a vector", done)

    return embed


class _EmbeddingStopped(Exception):
    """The daemon ends while vectors are being made."""


class DeviceJournalWatch:
    """Looks whether a synced folder brought journal lines of other devices."""

    def __init__(self, context: HomeContext) -> None:
        self._context = context
        self._folder = context.home / "journal"
        self._seen = self._stamp_files()

    def look(self) -> None:
        """Read what is new; a look that finds nothing new only asks for sizes and times."""
        looks = self._stamp_files()
        if looks == self._seen:
            return
        stores = self._context.stores
        with stores.writing:
            problems = replay_journal(stores.journal, stores.index)
        known = self._context.journal_problems
        known.extend(each for each in problems if each not in known)
        self._seen = looks

    def _stamp_files(self) -> FileStamps:
        own = f"{self._context.stores.journal.device}-"
        files = [each for each in self._folder.glob("*.jsonl") if not each.name.startswith(own)]
        found = [(each.name, each.stat()) for each in files]
        return {name: (stat.st_mtime_ns, stat.st_size) for name, stat in found}


class BackupScheduler:
    """Makes backups that nobody asked for. One that failed is told until it is tried again."""

    def __init__(self, context: HomeContext) -> None:
        self._context = context
        self._failed: MadeleineError | None = None
        self._again: datetime | None = None

    def look(self) -> None:
        """Make one if it is due."""
        context, now = self._context, self._context.stores.clock.now()
        if self._failed is not None and self._again is not None and now < self._again:
            raise self._failed
        if not is_backup_due(context.backup_folder, context.settings.backup.interval_hours, now):
            return
        self._failed = None
        try:
            done = context.back_up()
        except MadeleineError as error:
            self._failed, self._again = error, now + BACKUP_RETRY
            raise
        log.info("backed up %d files to %s", len(done.manifest.files), done.path.name)


class SyncScheduler:
    """Meets other machines by itself. A try that failed is told until the next one."""

    def __init__(self, context: HomeContext) -> None:
        self._context = context
        self._failed: MadeleineError | None = None
        self._due: datetime | None = None

    def look(self) -> None:
        """Sync if it is time."""
        context, now = self._context, self._context.stores.clock.now()
        if self._due is not None and now < self._due:
            if self._failed is not None:
                raise self._failed
            return
        self._due = now + timedelta(minutes=context.settings.sync.every)
        self._failed = None
        try:
            done = context.sync.run()
        except UnderWay:
            return
        except MadeleineError as error:
            self._failed = error
            raise
        if done.sent or done.received or done.written:
            log.info(
                "synced: %d sent, %d received, %d memories written, %d merged",
                done.sent,
                done.received,
                done.written,
                done.merged,
            )
