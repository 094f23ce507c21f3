"""The loops that keep a house up to date while the daemon runs.

Where the truth is in a database there is nothing to watch: no file can change but by a verb. In
place of that the server listens to what others tell, and does what is due for any tenant.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from madeleine.api.wording import word
from madeleine.bootstrap import House, Houses, folders_in, followed_sessions
from madeleine.errors import MadeleineError, UnderWay
from madeleine.ingest.backups.keeping import is_backup_due
from madeleine.ingest.folders import FolderWatcher
from madeleine.ingest.sessions import SessionWatcher, TranscriptFolder
from madeleine.server.background import Loop
from madeleine.vault.watcher import watch_vault
from madeleine.write.core import describe_demotions, hold_core_cap
from madeleine.write.identity import complete_self
from madeleine.write.reconcile import embed_missing, reconcile, reconcile_paths
from madeleine.write.record import replay_journal

if TYPE_CHECKING:
    from madeleine.database.fleet import SharedDatabase

HOME_SECONDS = 5.0
ROUND_SECONDS = 2.0  # between two looks at what is due in the whole fleet
FLUSH_SECONDS = 1.0  # what a power cut may cost of the notes of use
DEVICES_SECONDS = 5.0
VECTORS_SECONDS = 10.0
CACHE_SECONDS = 2.0  # what a kill may cost of what the model made: it is asked again
SWEEP_SECONDS = 300.0  # the watcher is told of everything, if the system did not lose it
SLEEP_PATIENCE_SECONDS = 1.5  # how long an ending daemon waits for a job that heard it
TIMETABLE_SECONDS = 2.0  # the daemon answers by then, and nobody waits for the scheduler to load
AGENT_WORK_SECONDS = 300.0
BACKUP_SECONDS = 300.0  # between two looks whether one is due, and after the start
BACKUP_AGAIN = timedelta(minutes=30)  # after one that failed: it may be long work
FIRST_SWEEP_SECONDS = 1.0  # edits made while the watcher was being set up

log = logging.getLogger("madeleine.background")

Looks = dict[str, tuple[int, int]]


def make_loops(houses: Houses, stop: threading.Event) -> list[Loop]:
    """Return every loop of a server."""
    house = houses.first
    if house.fleet is not None:
        return [*_common(house, stop), *_fleet(houses, house.fleet, stop)]
    return [*_common(house, stop), *_of_files(house, stop)]


def _common(house: House, stop: threading.Event) -> list[Loop]:
    """Return the loops that there are wherever the truth is."""
    loops = [
        Loop("model", _warming(house)),
        Loop("vectors", _embedding(house, stop), VECTORS_SECONDS),
        Loop("cache", _keeping(house), CACHE_SECONDS, first_seconds=CACHE_SECONDS),
        Loop(
            "sleep",
            lambda: house.sleeper.attend(stop.is_set),
            patience_seconds=SLEEP_PATIENCE_SECONDS,
        ),
    ]
    loops.append(Loop("home", _ending_without(house, stop), HOME_SECONDS))
    if house.settings.judge.kind == "agent":
        loops.append(Loop("agent work", house.look_for_maintenance, AGENT_WORK_SECONDS))
    return [*loops, *_following(house, stop)]


def _of_files(house: House, stop: threading.Event) -> Iterator[Loop]:
    """Give the loops of a house whose truth is files in the home."""
    yield Loop("journal", house.stores.journal.flush, FLUSH_SECONDS)
    yield Loop("devices", OtherDevices(house).look, DEVICES_SECONDS, first_seconds=DEVICES_SECONDS)
    if _keeps_time(house):
        yield Loop("timetable", _timing(house, stop), first_seconds=TIMETABLE_SECONDS)
    if house.settings.backup.enabled:
        yield _backing_up(house)
    if house.settings.vault.watch:
        yield Loop("watcher", _watching(house, stop))
        yield Loop("sweep", _sweeping(house), SWEEP_SECONDS, first_seconds=FIRST_SWEEP_SECONDS)


def _keeps_time(house: House) -> bool:
    return house.settings.sleep.enabled or house.settings.consolidation.enabled


def _fleet(houses: Houses, fleet: SharedDatabase, stop: threading.Event) -> Iterator[Loop]:
    """Give the loops of one server among several."""
    yield Loop("listening", lambda: fleet.listen(houses.hear, stop.is_set))
    if _keeps_time(houses.first):
        houses.arrived = House.keep_time
        yield Loop("timetable", houses.first.keep_time)
        yield Loop(
            "rounds",
            _going_round(houses, stop),
            ROUND_SECONDS,
            first_seconds=ROUND_SECONDS,
            patience_seconds=SLEEP_PATIENCE_SECONDS,
        )


def _going_round(houses: Houses, stop: threading.Event) -> Callable[[], None]:
    """Do what is due, whoever's it is, as long as there is any."""

    def go() -> None:
        for do in houses.work_due():
            do()
            if stop.is_set():
                return

    return go


def _following(house: House, stop: threading.Event) -> Iterator[Loop]:
    """Give the loops that take in notes and sessions, as far as they are set."""
    wanted, intake = house.settings.ingest, house.intake
    if wanted.folders:
        vault = house.stores.vault
        private = [house.home, *([vault.root] if vault.is_folder else [])]
        folders = FolderWatcher(intake, folders_in(wanted.folders), private)
        poll = house.settings.vault.poll
        yield Loop("notes", lambda: folders.watch(stop, poll))
        yield Loop(
            "note sweep", lambda: _counting(house, folders.scan, stop, "notes"), SWEEP_SECONDS
        )
    if wanted.watch_sessions:
        places = [TranscriptFolder(*each) for each in followed_sessions(house.settings)]
        sessions = SessionWatcher(intake, places)
        pause = wanted.session_debounce_seconds
        yield Loop("sessions", lambda: _counting(house, sessions.look, stop, "sessions"), pause)


def _counting(
    house: House, look: Callable[[Callable[[], bool]], int], stop: threading.Event, what: str
) -> None:
    """Look for what is new, unless another server does."""
    try:
        with house.stores.leases.held(what):
            taken = look(lambda: not stop.is_set())
    except UnderWay:
        return
    if taken:
        log.info("taken in: %d %s", taken, what)


def _ending_without(house: House, stop: threading.Event) -> Callable[[], None]:
    """End the daemon when somebody deletes its home: nobody can reach it any more."""

    def look() -> None:
        if not (house.home / "run" / "lock").exists():
            log.warning("the home is gone; ending")
            stop.set()

    return look


def _timing(house: House, stop: threading.Event) -> Callable[[], None]:
    """Say when each job is due, until the daemon ends."""

    def keep_time() -> None:
        from madeleine.sleep.timetable import Timetable

        running = Timetable(house.sleeper, house.intervals, house.stores.clock)
        running.start()
        stop.wait()
        running.end()

    return keep_time


def _backing_up(house: House) -> Loop:
    """Make a backup when the newest one is old enough."""
    return Loop(
        "backup",
        Backups(house).look,
        BACKUP_SECONDS,
        first_seconds=BACKUP_SECONDS,
        patience_seconds=SLEEP_PATIENCE_SECONDS,  # one that is cut off leaves no file
    )


def _watching(house: House, stop: threading.Event) -> Callable[[], None]:
    stores = house.stores

    def on_change(paths: set[str]) -> None:
        report = reconcile_paths(stores, sorted(paths))
        complete_self(stores)
        if report.written or report.dropped:
            log.info("by hand: %d written, %d dropped", report.written, report.dropped)
        for note in describe_demotions(hold_core_cap(stores)) if report.written else ():
            log.info("by hand: %s", word(note))

    return lambda: watch_vault(stores.vault.root, on_change, stop, house.settings.vault.poll)


def _sweeping(house: House) -> Callable[[], None]:
    def sweep() -> None:
        reconcile(house.stores)
        hold_core_cap(house.stores)

    return sweep


def _warming(house: House) -> Callable[[], None]:
    """Load the model before somebody waits for it."""

    def warm() -> None:
        if house.stores.minds.embedder is not None:
            house.stores.minds.embedder.ask("a first text")
        house.whisperer.warm(house.stores, house.whisper_config)

    return warm


def _keeping(house: House) -> Callable[[], None]:
    """Write what the model made, so that nobody who remembers has to wait for that."""

    def keep() -> None:
        if house.stores.minds.embedder is not None:
            house.stores.minds.embedder.flush()

    return keep


def _embedding(house: House, stop: threading.Event) -> Callable[[], None]:
    """Give vectors to what has none: after a change of model, or once it is back."""

    def go_on(done: int, total: int) -> None:
        if stop.is_set():
            raise _Stopped

    def embed() -> None:
        stores = house.stores
        if stores.minds.embedder is None or not stores.search.unembedded(1):
            return
        try:
            done = embed_missing(stores, go_on)
        except _Stopped:
            return  # what has a vector by now keeps it
        if done:
            log.info("%d memories got a vector", done)

    return embed


class _Stopped(Exception):
    """The daemon ends while vectors are being made."""


class OtherDevices:
    """Looks whether a synced folder brought journal lines of other devices."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._folder = house.home / "journal"
        self._seen = self._looks()

    def look(self) -> None:
        """Read what is new; a look that finds nothing new only asks for sizes and times."""
        looks = self._looks()
        if looks == self._seen:
            return
        stores = self._house.stores
        with stores.writing:
            problems = replay_journal(stores.journal, stores.index)
        known = self._house.journal_problems
        known.extend(each for each in problems if each not in known)
        self._seen = looks

    def _looks(self) -> Looks:
        own = f"{self._house.stores.journal.device}-"
        files = [each for each in self._folder.glob("*.jsonl") if not each.name.startswith(own)]
        found = [(each.name, each.stat()) for each in files]
        return {name: (stat.st_mtime_ns, stat.st_size) for name, stat in found}


class Backups:
    """Makes backups that nobody asked for. One that failed is told until it is tried again."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._failed: MadeleineError | None = None
        self._again: datetime | None = None

    def look(self) -> None:
        """Make one if it is due."""
        house, now = self._house, self._house.stores.clock.now()
        if self._failed is not None and self._again is not None and now < self._again:
            raise self._failed
        if not is_backup_due(house.backup_folder, house.settings.backup.interval_hours, now):
            return
        self._failed = None
        try:
            done = house.back_up()
        except MadeleineError as error:
            self._failed, self._again = error, now + BACKUP_AGAIN
            raise
        log.info("backed up %d files to %s", len(done.manifest.files), done.path.name)
