"""Doing what a refused write left undone, before the next one."""

from __future__ import annotations

from madeleine.write.reconcile import reconcile_paths
from madeleine.write.record import replay_journal
from madeleine.write.recover import recover_changes
from madeleine.write.stores import Stores


def run_pending_repairs(stores: Stores) -> None:
    """Bring files, journal and index together again after a write that the disk refused.

    Raises what still stands in the way; the repairs stay pending until they are made.
    """
    if not stores.pending_repairs:
        return
    with stores.writing:
        if stores.pending_repairs.events:
            replay_journal(stores.journal, stores.index)
            stores.pending_repairs.events = False
        if stores.pending_repairs.changes:
            recover_changes(stores)
            stores.pending_repairs.changes = False
        paths = sorted(stores.pending_repairs.paths)
    reconcile_paths(stores, paths)
    stores.pending_repairs.paths.difference_update(paths)
