"""Upkeep that somebody asks for: making the index anew, and tidying the journal.

Each run leaves a report in the journal (I8), also when it fails.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from madeleine.errors import MadeleineError, UnderWay
from madeleine.minds.port import Minds
from madeleine.model.event import EventKind
from madeleine.vault.compaction import CompactionReport
from madeleine.write.copied_files import separate_copies
from madeleine.write.reconcile import ProgressCallback, ReconcileResult, reconcile
from madeleine.write.record import new_event, record_events, replay_journal
from madeleine.write.stores import PendingRepairs, Stores

REBUILD_LEASE = "rebuild"  # the work of who makes an index say what files and journal say
REBUILD_BATCHES = 8  # chunks, of 512 files each: a page of the index is then written fewer times

GARBAGE_THRESHOLD = 100_000  # values that are still there: some batches

RunNotes = dict[str, object]
EMBED_LATER = Minds(None, "read by the model after the rebuild")


def rebuild(
    stores: Stores, progress: ProgressCallback = lambda done, total: None
) -> ReconcileResult:
    """Make the index anew beside the old one, then put it in its place.

    The old index answers until the new one is whole; a kill midway leaves the old one. Writes
    go on meanwhile: what they changed is caught up under the lock before the exchange. Copied files
    get ids of their own before that, because a new index does not know which of two was first.
    """
    with _hold_upkeep(stores), record_run(stores, "rebuild") as report:
        separate_copies(stores)
        done = _build_fresh_index(stores, progress)
        report.update(files=done.files, written=done.written, unreadable=len(done.unreadable))
    return done


def compact(stores: Stores) -> CompactionReport:
    """Tidy the journal's past months on this device without changing what they say."""
    with record_run(stores, "compact") as report:
        done = stores.journal.compact(stores.clock.now().strftime("%Y-%m"))
        with stores.writing:
            replay_journal(stores.journal, stores.index)
        report.update(files=len(done.files), dropped=len(done.dropped), damaged=done.damaged)
    return done


def _build_fresh_index(stores: Stores, progress: ProgressCallback) -> ReconcileResult:
    beside = stores.index.fresh()
    # Nobody else knows the new index yet: writers need not wait for it.
    fresh = replace(
        stores, index=beside, writing=threading.RLock(), pending_repairs=PendingRepairs()
    )
    changes = stores.search.changes()
    with _look_for_garbage_seldom():
        replay_journal(stores.journal, beside)
        report = reconcile(fresh, progress, REBUILD_BATCHES)
    if changes is None or stores.search.changes() != changes:
        reconcile(fresh)  # what was written meanwhile, while others may still write
    with stores.writing:
        stores.journal.flush()
        replay_journal(stores.journal, beside)
        # No model under the lock (I6): what changed in this very moment is embedded later.
        report.files = reconcile(replace(fresh, minds=EMBED_LATER)).files
        stores.index.replace_with(beside)
    return report


@contextmanager
def _look_for_garbage_seldom() -> Iterator[None]:
    """A rebuild makes many values that go when nobody holds them any more. To look among all that
    a daemon holds for some that do not, after every few hundred, takes a tenth of its time."""
    before = gc.get_threshold()
    gc.set_threshold(GARBAGE_THRESHOLD, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def _hold_upkeep(stores: Stores) -> Iterator[None]:
    if not stores.upkeep.acquire(blocking=False):
        raise UnderWay("a rebuild")
    try:
        with stores.leases.held(REBUILD_LEASE):
            yield
    finally:
        stores.upkeep.release()


@contextmanager
def record_run(stores: Stores, job: str) -> Iterator[RunNotes]:
    """Note what a run did, how long it took, and what went wrong."""
    began = time.monotonic()
    report: RunNotes = {}
    try:
        yield report
    except MadeleineError as error:
        report["error"] = error.message
        raise
    finally:
        report["seconds"] = round(time.monotonic() - began, 3)
        body = {"run": stores.new_id(), "job": job, "report": report}
        record_events(stores, [new_event(stores, EventKind.RUN, body)], durable=False)
