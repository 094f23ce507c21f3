"""Moving in and out, and backups: what these operations do."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from madeleine.api import texts
from madeleine.api.contract.responses import (
    BackupList,
    BackupReport,
    BackupStatus,
    ExportPage,
    ImportOutcome,
    ImportReport,
    KeptBackup,
    RunningBackup,
)
from madeleine.errors import InvalidValue, MadeleineError
from madeleine.ingest.backups.keeping import list_backups
from madeleine.ingest.exporting.pages import ExportedPage, read_page, read_trash
from madeleine.model.draft import read_one_line, read_space
from madeleine.model.incoming import ImportBatch, IncomingMemory, read_incoming
from madeleine.model.memory import parse_id
from madeleine.model.query import Filter, read_filter
from madeleine.model.reading import RequestReader
from madeleine.model.times import format_time
from madeleine.write.bring_in import ImportedMemory, ImportFate, import_memories

if TYPE_CHECKING:
    from madeleine.api.call import Call
    from madeleine.bootstrap import HomeContext

ITEMS_AT_MOST = 10_000  # in one batch, as of remember_many
PAGE = 200
PAGE_AT_MOST = 1_000
NAME_CHARS = 60

Outcome = ImportedMemory | MadeleineError


# -- in ------------------------------------------------------------------------------------


def take_in(context: HomeContext, call: Call) -> ImportReport:
    """Bring memories in from elsewhere."""
    reader = RequestReader(call.body)
    space = read_space(RequestReader(call.query).text("default_space"))
    items = reader.items("items", lambda item: item)
    form = read_one_line("format", reader.text("format"), NAME_CHARS) or "unknown"
    run = reader.raw("run")
    how = ImportBatch(
        by=f"import:{form}",
        run=context.stores.new_id() if run is None else parse_id("run", run),
        dry_run=reader.flag("dry_run"),
    )
    reader.done()
    if items is None or len(items) > ITEMS_AT_MOST:
        raise InvalidValue("items", "is missing or too long", hint=f"at most {ITEMS_AT_MOST:,}")
    read = [_incoming(context, each, space) for each in items]
    found = [each for each in read if isinstance(each, IncomingMemory)]
    brought = iter(import_memories(context.stores, found, how))
    return _brought(
        [next(brought) if isinstance(each, IncomingMemory) else each for each in read], how
    )


def _incoming(
    context: HomeContext, item: object, space: str | None
) -> IncomingMemory | MadeleineError:
    try:
        return read_incoming(item, context.stores.config.limits, space)
    except MadeleineError as refused:
        return refused


def _brought(outcomes: list[Outcome], how: ImportBatch) -> ImportReport:
    counts = Counter(each.fate.value for each in outcomes if isinstance(each, ImportedMemory))
    refused = sum(isinstance(each, MadeleineError) for each in outcomes)
    told = [f"{counts[fate.value]:,} {fate.value}" for fate in ImportFate if counts[fate.value]]
    told += [f"{refused:,} refused"] if refused else []
    return ImportReport(
        text=f"{'Would be: ' if how.dry_run else ''}{', '.join(told) or 'nothing to bring in'}",
        run=how.run,
        results=[_result(each) for each in outcomes],
        counts={**{fate.value: counts[fate.value] for fate in ImportFate}, "refused": refused},
    )


def _result(outcome: Outcome) -> ImportOutcome:
    if isinstance(outcome, MadeleineError):
        return ImportOutcome(error=outcome)
    return ImportOutcome(
        node_id=outcome.memory_id, outcome=outcome.fate.value, note=outcome.note or None
    )


# -- out -----------------------------------------------------------------------------------


def give_out(context: HomeContext, call: Call) -> ExportPage:
    """Return a page of memories with all that belongs to them."""
    reader = RequestReader(call.query)
    chosen = read_filter(reader)
    after = reader.text("after") or ""
    limit = reader.whole("limit", PAGE, 1, PAGE_AT_MOST)
    files, trash = reader.flag("files"), reader.flag("trash")
    reader.done()
    stores, now = context.stores, context.stores.clock.now()
    if trash:
        page = read_trash(stores, files)
    else:
        page = read_page(stores, chosen, now, after, limit, files)
    return _page(context, chosen, page)


def _page(context: HomeContext, chosen: Filter, page: ExportedPage) -> ExportPage:
    total = context.stores.search.count(chosen, context.stores.clock.now())
    return ExportPage(
        text=texts.count(len(page.items), "memory"),
        items=list(page.items),
        next=page.next,
        total=total,
    )


# -- backups -------------------------------------------------------------------------------


def back_up(context: HomeContext, call: Call) -> BackupReport:
    """Make a backup."""
    reader = RequestReader(call.body)
    to = reader.text("to")
    reader.done()
    if to is not None and not Path(to).is_absolute():
        raise InvalidValue("to", f"is {to!r}", hint="a path from / on")
    began = time.monotonic()
    done = context.back_up(None if to is None else Path(to))
    notes = [f"could not be read and is not in the backup: {each}" for each in done.left_out]
    return BackupReport(
        text=f"Backed up {texts.count(done.manifest.memories, 'memory')} to {done.path}",
        path=str(done.path),
        made=done.manifest.made,
        memories=done.manifest.memories,
        files=len(done.manifest.files),
        bytes=done.size,
        removed=[str(each) for each in done.removed],
        seconds=round(time.monotonic() - began, 3),
        notes=notes,
    )


def standing(context: HomeContext) -> BackupStatus:
    """Return what status says of backups."""
    kept = list_backups(context.backup_folder)
    newest = format_time(kept[0].made) if kept else None
    return BackupStatus(folder=str(context.backup_folder), count=len(kept), newest=newest)


def backups(context: HomeContext, call: Call) -> BackupList:
    """Return the backups that there are, newest first."""
    folder = context.backup_folder
    found = [
        KeptBackup(path=str(each.path), made=format_time(each.made), bytes=each.size)
        for each in list_backups(folder)
    ]
    text = texts.count(len(found), "backup")
    return BackupList(
        text=f"{text} in {folder}",
        folder=str(folder),
        backups=found,
        running=_running(context.backing_up),
    )


def _running(backing_up: tuple[int, int] | None) -> RunningBackup | None:
    if backing_up is None:
        return None
    done, total = backing_up
    return RunningBackup(id="backup", done=done, total=total)
