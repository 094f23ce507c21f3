"""Brings the index up to date with files and journal that changed without us.

The watcher sees most edits at once; this finds what it could not see: files on a network disk,
a journal that another device synced here, memories whose model was away. With nothing changed it
costs one look at each file's looks, and no file is read. A core tier that holds more than its cap
after that is held to it (`write/core_cap.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from madeleine.sleep.values import JobContext, Patch
from madeleine.write.core_cap import count_over_cap, hold_core_cap
from madeleine.write.reconcile import embed_missing, reconcile
from madeleine.write.record import replay_journal


def make_index_updater() -> IndexUpdater:
    """Return the job."""
    return IndexUpdater()


class IndexUpdater:
    """The job. It makes no patches: the index follows from what is there, and the cap of the core
    tier from what the index then knows."""

    name = "index_updater"

    def __init__(self) -> None:
        self._behind = False

    def plan(self, context: JobContext) -> Sequence[Patch]:
        changed, gone, broken = _count_stale_files(context)
        self._behind = bool(changed or gone or broken)
        if context.report.dry_run:
            context.report.counts.update(changed=changed, gone=gone, unreadable=broken)
            context.report.counts["over_core_cap"] = count_over_cap(context.stores)
        return []

    def done(self, context: JobContext) -> None:
        stores = context.stores
        with stores.writing:
            replay_journal(stores.journal, stores.index)
        found: dict[str, int] = {}
        if self._behind:
            done = reconcile(stores, context.progress)
            found = {"written": done.written, "dropped": done.dropped}
        demoted = hold_core_cap(stores, context.report.run)
        found["demoted"] = len(demoted)
        context.report.applied += len(demoted)
        if stores.minds.embedder is not None and stores.search.unembedded_ids(1):
            found["read"] = embed_missing(stores, context.progress)
        context.report.counts.update({name: count for name, count in found.items() if count})


def _count_stale_files(context: JobContext) -> tuple[int, int, int]:
    """Return how many files are not as the index knows them, how many are gone, and how many
    could not be read the last time and have to be tried again."""
    stores = context.stores
    if not stores.vault.is_folder:
        return 0, 0, 0  # nobody can change a file there but by a verb
    known = stores.search.fingerprints()
    broken = {each.path for each in stores.search.unreadable()}
    changed = 0
    for found in stores.vault.scan():
        context.report.looked += 1
        looks = known.pop(found.path, None)
        changed += looks != found.fingerprint and found.path not in broken
    closed = tuple(stores.vault.unread_folders)
    gone = [path for path in known if not (closed and path.startswith(closed))]
    return changed, len(gone), len(broken)
