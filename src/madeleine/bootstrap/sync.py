"""Syncing an open home with other machines of the same person."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from madeleine.errors import MadeleineError, Rejected, UnderWay
from madeleine.model.times import parse_time
from madeleine.settings import Settings
from madeleine.write.stores import Stores

if TYPE_CHECKING:
    from madeleine.sync.ledger import Ledger
    from madeleine.sync.run import SyncReport

SYNC_FOLDER = "sync"  # in the home
LEDGER_NAME = "ledger.db"
SYNC = "a sync"
_CREDENTIALS = re.compile(r"(?<=://)[^/@]+@")


@dataclass(frozen=True, slots=True)
class SyncState:
    """How this home stands with other machines."""

    place: str
    every_minutes: int
    last: datetime | None = None
    """When it last met them."""
    problem: str | None = None
    """What the last try ran into, if it did."""
    changed: int = 0
    """Files that changed here since."""
    waiting: int = 0
    """Versions of others that came before those that they were made from."""
    unread: int = 0
    """Memories of which something came that could not be written here yet."""
    held: tuple[tuple[str, str], ...] = ()
    """Memories that do not leave this machine, and why."""


class HomeSync:
    """One home's syncs, one at a time."""

    def __init__(self, home: Path, settings: Settings, stores: Stores) -> None:
        self._folder = home / SYNC_FOLDER
        self._settings = settings.sync
        self._stores = stores
        self._under_way = threading.Lock()

    def run(self, to: str | None = None) -> SyncReport:
        """Sync once, with the place in the settings or another one."""
        from madeleine.sync.places.opening import open_place
        from madeleine.sync.privacy import read_spaces
        from madeleine.sync.run import synchronise

        wanted = to or self._settings.place
        if not wanted:
            raise Rejected(
                "no place is set where machines meet",
                hint="madeleine config set sync.place /a/folder, or --to PLACE",
            )
        if not self._stores.vault.is_folder:
            raise Rejected(
                "the memories are in a database, where all machines can meet already",
                hint="sync is for homes whose memories are files",
            )
        place = open_place(wanted, self._folder / "git", self._settings.timeout_seconds)
        spaces = read_spaces(self._settings.private_spaces)
        if not self._under_way.acquire(blocking=False):
            raise UnderWay(SYNC)
        try:
            with self._ledger() as ledger:
                try:
                    report = synchronise(self._stores, ledger, place, spaces)
                except MadeleineError as error:
                    ledger.set_meta("problem", error.message)
                    raise
                ledger.set_meta("problem", "")
                return report
        finally:
            self._under_way.release()

    def read_state(self) -> SyncState:
        """Return how it stands; nothing is asked of the network."""
        from madeleine.sync.capture import count_changed

        place = _CREDENTIALS.sub("", self._settings.place)
        state = SyncState(place, self._settings.every)
        if not (self._folder / LEDGER_NAME).exists():
            return state
        with self._ledger() as ledger:
            last = ledger.get_meta("last")
            held = {m: f.held for m, f in ledger.local_files().items() if f.held is not None}
            return SyncState(
                place or ledger.get_meta("last_place") or "",
                self._settings.every,
                parse_time("last", last) if last else None,
                ledger.get_meta("problem") or None,
                count_changed(self._stores, ledger),
                ledger.waiting_versions(),
                len(ledger.attention()),
                tuple(sorted(held.items())),
            )

    @contextmanager
    def _ledger(self) -> Iterator[Ledger]:
        from madeleine.sync.ledger import Ledger

        ledger = Ledger(self._folder / LEDGER_NAME)
        try:
            yield ledger
        finally:
            ledger.close()
