"""Paying what a refused write left undone, before the next one."""

from __future__ import annotations

from madeleine.write.reconcile import reconcile_paths
from madeleine.write.record import replay
from madeleine.write.recover import recover
from madeleine.write.stores import Stores


def heal(stores: Stores) -> None:
    """Bring files, journal and index together again after a write that the disk refused.

    Raises what still stands in the way; the debts stay until they are paid.
    """
    if not stores.debts:
        return
    with stores.writing:
        if stores.debts.events:
            replay(stores.journal, stores.index)
            stores.debts.events = False
        if stores.debts.changes:
            recover(stores)
            stores.debts.changes = False
        paths = sorted(stores.debts.paths)
    reconcile_paths(stores, paths)
    stores.debts.paths.difference_update(paths)
