"""Putting a backup in place of what a home holds."""

from __future__ import annotations

from pathlib import Path

from madeleine.bootstrap.clock import SystemClock
from madeleine.bootstrap.config import load_settings
from madeleine.bootstrap.home import LOCK_TIMEOUT_SECONDS, HomeLock, make_folders, vault_folder
from madeleine.errors import NotInFiles
from madeleine.ingest.backups.restoring import (
    RestoreResult,
    finish_restore,
    refuse_nested_home,
    restore_backup,
)
from madeleine.write.reconcile import ProgressCallback


def restore_home(
    home: Path, archive: Path, progress: ProgressCallback = lambda done, total: None
) -> RestoreResult:
    """Put a backup in place of what a home holds, which is put aside. Nobody may have it open."""
    now = SystemClock().now()
    refuse_nested_home(home)
    settings = load_settings(home)
    if settings.store.truth == "database":
        raise NotInFiles("a backup is restored")
    make_folders(home)
    lock = HomeLock(home)
    lock.take(LOCK_TIMEOUT_SECONDS)
    try:
        finish_restore(home)
        return restore_backup(home, vault_folder(home, settings), archive, now, progress)
    finally:
        lock.release()
