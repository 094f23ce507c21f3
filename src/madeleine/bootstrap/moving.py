"""Moving a home's memory from files into a database, and back."""

from __future__ import annotations

import os
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from madeleine.bootstrap.clock import SystemClock
from madeleine.bootstrap.config import load_settings
from madeleine.bootstrap.context import HomeContext
from madeleine.bootstrap.home import (
    LOCK_TIMEOUT_SECONDS,
    MOVING_FILE,
    HomeLock,
    is_moving_to,
    make_folders,
    vault_folder,
)
from madeleine.bootstrap.index import check_store
from madeleine.bootstrap.opening import SERVER_DEVICE, open_home, open_homes
from madeleine.ingest.backups import restoring
from madeleine.ingest.moving import (
    PLACE,
    FileEndpoint,
    MoveResult,
    MoveTargetTaken,
    NothingToMove,
    PlaceFixed,
    move_memory,
)
from madeleine.model.config_text import change_settings
from madeleine.model.people import read_person_name
from madeleine.settings import Settings, find_store_variables, read_settings
from madeleine.settings.config_file import config_path, read_config_text, write_config_text
from madeleine.settings.sections import StoreConfig
from madeleine.write.reconcile import ProgressCallback, reconcile
from madeleine.write.upkeep import REBUILD_LEASE

if TYPE_CHECKING:
    from madeleine.database.shared_database import SharedDatabase
    from madeleine.vault.database.endpoint import DatabaseEndpoint

LEASE_POLL_SECONDS = 0.5  # between two looks whether a lease is over


@dataclass(frozen=True, slots=True)
class MovedHome:
    """A memory that was moved: what both ends say, and what the index there holds."""

    place: str
    moved: MoveResult
    in_index: int
    left_out: tuple[str, ...] = ()
    aside: tuple[Path, ...] = ()


def move_home(
    home: Path,
    to: str,
    tenant: str | None = None,
    progress: ProgressCallback = lambda done, total: None,
    tell: Callable[[str], None] = lambda text: None,
) -> MovedHome:
    """Move a home's memory into the database at `to`, or back into `files`. Only when it is there
    whole and compared, the settings name the new place; killed before, the next try goes on.
    `tell` is told what it waits for."""
    settings = load_settings(home)
    make_folders(home)
    if to == "files":
        _refuse_fixed_place(home, None)
        return _move_into_files(home, settings, progress)
    name = settings.store.tenant if tenant is None else read_person_name(tenant, "tenant")
    store = replace(settings.store, url=to, truth="database", tenant=name)
    check_store(replace(settings, store=store))
    _refuse_fixed_place(home, store)
    return _move_into_database(home, settings, replace(settings, store=store), progress, tell)


def _refuse_fixed_place(home: Path, store: StoreConfig | None) -> None:
    """Refuse a move after which the environment would still name another place."""
    table = tomllib.loads(_render_store_settings(home, store))
    wanted, found = read_settings(table, {}).store, read_settings(table, os.environ).store
    names = ("url", "truth") if store is None else ("url", "truth", "tenant")
    if any(getattr(found, name) != getattr(wanted, name) for name in names):
        raise PlaceFixed(find_store_variables(os.environ))


def _move_into_database(
    home: Path,
    old: Settings,
    new: Settings,
    progress: ProgressCallback,
    tell: Callable[[str], None],
) -> MovedHome:
    """Move files into a database. They stay where they are, and are read no more."""
    if old.store.truth == "database":
        raise NothingToMove("a database")
    open_home(home, progress=progress).close()  # finishes what was interrupted
    lock = HomeLock(home)
    lock.take(LOCK_TIMEOUT_SECONDS)
    try:
        source = FileEndpoint(vault_folder(home, old), home / "journal")
        with _open_database_side(new) as target:
            _refuse_taken_place(home, target)
            done = move_memory(source, target, progress)
        _await_rebuild_lease(new.store, tell)
        in_index = _fill_index(open_homes(home, new, None, progress).first, progress)
        _write_store_settings(home, new.store)
        (home / "run" / MOVING_FILE).unlink()
    finally:
        lock.release()
    return MovedHome(target.place, done, in_index, tuple(source.left_out))


def _move_into_files(home: Path, settings: Settings, progress: ProgressCallback) -> MovedHome:
    """Move a memory out of a database into files. What lies in their place is put aside."""
    if settings.store.truth == "files":
        raise NothingToMove("files")
    stamp = _read_move_stamp(home)
    folders = (vault_folder(home, settings).resolve(), (home / "journal").resolve())
    exchanges = [restoring.exchange_of(folder, stamp) for folder in folders]
    target = FileEndpoint(exchanges[0].staged, exchanges[1].staged)
    with _open_database_side(settings) as source:
        first = move_memory(source, target, progress)
        with source.writing():
            rest = move_memory(source, target, progress)  # what changed meanwhile
    done = replace(rest, copied=first.copied + rest.copied)
    restoring.write_mark(home, exchanges)
    restoring.finish_restore(home)
    _write_store_settings(home, None)
    (home / "run" / MOVING_FILE).unlink()
    in_index = _fill_index(open_home(home, progress=progress), progress)
    aside = tuple(each.aside for each in exchanges if each.aside.exists())
    return MovedHome(str(folders[0]), done, in_index, aside=aside)


@contextmanager
def _open_database_side(settings: Settings) -> Iterator[DatabaseEndpoint]:
    with _open_shared_database(settings.store) as fleet:
        from madeleine.vault.database.endpoint import DatabaseEndpoint

        yield DatabaseEndpoint(fleet.tenant(settings.store.tenant), SERVER_DEVICE)


@contextmanager
def _open_shared_database(store: StoreConfig) -> Iterator[SharedDatabase]:
    """Lend the connections to a database, for what is no server."""
    from madeleine.database.shared_database import SharedDatabase

    fleet = SharedDatabase(store.url, store.lease_seconds)
    try:
        yield fleet
    finally:
        fleet.close()


def _await_rebuild_lease(store: StoreConfig, tell: Callable[[str], None]) -> None:
    """Wait while the lease of a move lasts that was killed as it filled the index. One that lasts
    longer is renewed by somebody who still works."""
    with _open_shared_database(store) as fleet:
        leases = fleet.leases(fleet.tenant(store.tenant))
        if leases.doing(REBUILD_LEASE) is None:
            return
        tell(f"a move was killed before; going on within {store.lease_seconds:g} seconds")
        deadline = time.monotonic() + store.lease_seconds + LEASE_POLL_SECONDS
        while leases.doing(REBUILD_LEASE) is not None and time.monotonic() < deadline:
            time.sleep(LEASE_POLL_SECONDS)


def _refuse_taken_place(home: Path, target: DatabaseEndpoint) -> None:
    """Refuse a place where there is a memory, unless a move of ours began there."""
    if is_moving_to(home, target.place):
        return
    there = target.listed()
    if there:
        raise MoveTargetTaken(target.place, len(there))
    (home / "run" / MOVING_FILE).write_text(target.place, encoding="utf-8")


def _read_move_stamp(home: Path) -> str:
    """Return the time in the names of what a move puts in place: that of its first try."""
    mark = home / "run" / MOVING_FILE
    if not mark.exists():
        mark.write_text(SystemClock().now().strftime("%Y%m%dT%H%M%S"), encoding="utf-8")
    return mark.read_text(encoding="utf-8")


def _fill_index(context: HomeContext, progress: ProgressCallback) -> int:
    """Make the index of a home say what its files say; return how many memories it holds."""
    try:
        reconcile(context.stores, progress)
        counts = context.stores.search.counts()
        return counts.memories + counts.exchanges
    finally:
        context.close()


def _write_store_settings(home: Path, store: StoreConfig | None) -> None:
    """Let the settings name where the memory is: in a database, or in files as without any."""
    write_config_text(config_path(home), _render_store_settings(home, store))


def _render_store_settings(home: Path, store: StoreConfig | None) -> str:
    names = [name.partition(".")[2] for name in PLACE]
    path = config_path(home)
    changes = {f"store.{name}": None if store is None else getattr(store, name) for name in names}
    return change_settings(read_config_text(path), path, changes)
