"""Putting a backup in place of what a home holds."""

from __future__ import annotations

from pathlib import Path

from madeleine.bootstrap.clock import SystemClock
from madeleine.bootstrap.config import load_settings
from madeleine.bootstrap.home import LOCK_WAIT_SECONDS, HomeLock, make_folders, vault_folder
from madeleine.errors import NotInFiles
from madeleine.ingest.backups.restoring import Restored, finish, refuse_inside, restore
from madeleine.write.reconcile import ProgressCallback


def restore_home(
    home: Path, archive: Path, progress: ProgressCallback = lambda done, total: None
) -> Restored:
    """Put a backup in place of what a home holds, which is put aside. Nobody may have it open."""
    now = SystemClock().now()
    refuse_inside(home)
    settings = load_settings(home)
    if settings.store.truth == "database":
        raise NotInFiles("a backup is restored")
    make_folders(home)
    lock = HomeLock(home)
    lock.take(LOCK_WAIT_SECONDS)
    try:
        finish(home)
        return restore(home, vault_folder(home, settings), archive, now, progress)
    finally:
        lock.release()
