"""Moving in and out, and backups: what these operations do."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from madeleine.api import answer_texts
from madeleine.api.contract.requests import (
    BackupBody,
    ExportQuery,
    ImportBody,
    SkillsQuery,
    SpaceQuery,
)
from madeleine.api.contract.responses import (
    BackupList,
    BackupReport,
    BackupStatus,
    ExportPage,
    ImportOutcome,
    ImportReport,
    KeptBackup,
    RunningBackup,
    SkillEntry,
    SkillList,
)
from madeleine.api.operation import Operation, operation
from madeleine.api.performing import perform_in_context
from madeleine.api.request_fields import read_default_space
from madeleine.api.shared_writing import BatchDispatcher
from madeleine.errors import InvalidValue, MadeleineError
from madeleine.ingest.backups.rotation import list_backups
from madeleine.ingest.exporting.pages import ExportedPage, read_page, read_trash
from madeleine.ingest.exporting.skills import find_skills
from madeleine.model.draft import Draft, read_one_line, read_space
from madeleine.model.incoming import ImportBatch, IncomingMemory, read_incoming
from madeleine.model.memory import parse_id
from madeleine.model.people import Role
from madeleine.model.query import Filter, read_filter
from madeleine.model.request_reader import RequestReader
from madeleine.model.times import format_time
from madeleine.write.import_memories import ImportedMemory, ImportFate, import_memories

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.api.reach import CallerReach
    from madeleine.bootstrap import HomeContext

MAX_ITEMS = 10_000  # in one batch, as of remember_many
DEFAULT_PAGE_SIZE = 200
MAX_PAGE_SIZE = 1_000
MAX_FORMAT_CHARS = 60

ImportedOrError = ImportedMemory | MadeleineError


# -- in ------------------------------------------------------------------------------------


def _import_where_it_belongs(
    operation: Operation[ImportReport], reached: CallerReach, call: OperationCall
) -> ImportReport:
    """Bring in what is to be imported, as one run wherever it goes."""
    run = call.body.get("run") or reached.context.stores.new_id()
    batch = BatchDispatcher(
        reached, operation, replace(call, body={**call.body, "run": run}), ImportOutcome
    )
    batch.sort(lambda item: _read_placement(item, read_default_space(call)))
    told: Sequence[ImportReport] = batch.carry_out()
    counts: Counter[str] = Counter()
    for each in told:
        counts.update(each.counts)
    refused = sum(each.error is not None for each in batch.results)
    return replace(
        told[0],
        text=answer_texts.append_notes("; ".join(each.text for each in told), batch.notes),
        results=batch.results,
        counts={**counts, "refused": refused},
    )


def _read_placement(values: object, space: str | None) -> Draft:
    """Return so much of what is to be imported as says where it belongs."""
    reader = RequestReader(values, "the item")
    given = read_space(reader.text("space")) if reader.has("space") else space
    return Draft("", space=given, about_self=reader.flag("about_self"))


@operation(
    "import",
    "POST",
    "/admin/import",
    "bring memories in from elsewhere; what is here already is not added twice",
    role=Role.OWNER,
    body=ImportBody,
    query=SpaceQuery,
    answer=ImportReport,
    admin=True,
    unbounded=True,
    shared=_import_where_it_belongs,
)
def receive_import(context: HomeContext, call: OperationCall) -> ImportReport:
    """Bring memories in from elsewhere."""
    reader = RequestReader(call.body)
    space = read_space(RequestReader(call.query).text("default_space"))
    items = reader.items("items", lambda item: item)
    form = read_one_line("format", reader.text("format"), MAX_FORMAT_CHARS) or "unknown"
    run = reader.raw("run")
    how = ImportBatch(
        by=f"import:{form}",
        run=context.stores.new_id() if run is None else parse_id("run", run),
        dry_run=reader.flag("dry_run"),
    )
    reader.done()
    if items is None or len(items) > MAX_ITEMS:
        raise InvalidValue("items", "is missing or too long", hint=f"at most {MAX_ITEMS:,}")
    read = [_read_incoming_or_error(context, each, space) for each in items]
    found = [each for each in read if isinstance(each, IncomingMemory)]
    brought = iter(import_memories(context.stores, found, how))
    return _build_import_report(
        [next(brought) if isinstance(each, IncomingMemory) else each for each in read], how
    )


def _read_incoming_or_error(
    context: HomeContext, item: object, space: str | None
) -> IncomingMemory | MadeleineError:
    try:
        return read_incoming(item, context.stores.config.limits, space)
    except MadeleineError as refused:
        return refused


def _build_import_report(outcomes: list[ImportedOrError], how: ImportBatch) -> ImportReport:
    counts = Counter(each.fate.value for each in outcomes if isinstance(each, ImportedMemory))
    refused = sum(isinstance(each, MadeleineError) for each in outcomes)
    told = [f"{counts[fate.value]:,} {fate.value}" for fate in ImportFate if counts[fate.value]]
    told += [f"{refused:,} refused"] if refused else []
    return ImportReport(
        text=f"{'Would be: ' if how.dry_run else ''}{', '.join(told) or 'nothing to bring in'}",
        run=how.run,
        results=[_build_import_outcome(each) for each in outcomes],
        counts={**{fate.value: counts[fate.value] for fate in ImportFate}, "refused": refused},
    )


def _build_import_outcome(outcome: ImportedOrError) -> ImportOutcome:
    if isinstance(outcome, MadeleineError):
        return ImportOutcome(error=outcome)
    return ImportOutcome(
        node_id=outcome.memory_id, outcome=outcome.fate.value, note=outcome.note or None
    )


# -- out -----------------------------------------------------------------------------------


def _export_own_and_named(
    operation: Operation[ExportPage], reached: CallerReach, call: OperationCall
) -> ExportPage:
    """Give out what is the caller's own, and what they share only if its space is named."""
    chosen = read_filter(RequestReader(call.query))
    named = [each for each in reached.shared if each.space in chosen.spaces]
    reached.own.check(operation.name, operation.role)
    for place in named:
        place.check(operation.name, Role.READER)
    pages = [perform_in_context(each.context, operation, call) for each in (reached.own, *named)]
    return _merge_export_pages(pages, int(str(call.query.get("limit") or DEFAULT_PAGE_SIZE)))


def _merge_export_pages(pages: Sequence[ExportPage], limit: int) -> ExportPage:
    """Return one page of several, in the order of ids, no further than the shortest of them."""
    last = min((page.next for page in pages if page.next is not None), default=None)
    items = sorted(
        (item for page in pages for item in page.items), key=lambda item: str(item["id"])
    )
    there = [each for each in items if last is None or str(each["id"]) <= last]
    if len(there) > limit and not any(each.get("trashed") for each in there):
        there = there[:limit]
        last = str(there[-1]["id"])
    return ExportPage(
        text=answer_texts.render_count(len(there), "memory"),
        items=there,
        next=last,
        total=sum(page.total for page in pages),
    )


@operation(
    "export",
    "GET",
    "/admin/export",
    "a page of memories with all that belongs to them, in the order of their ids",
    role=Role.OWNER,
    query=ExportQuery,
    answer=ExportPage,
    admin=True,
    shared=_export_own_and_named,
)
def read_export_page(context: HomeContext, call: OperationCall) -> ExportPage:
    """Return a page of memories with all that belongs to them."""
    reader = RequestReader(call.query)
    chosen = replace(read_filter(reader), exchanges=True)
    after = reader.text("after") or ""
    limit = reader.whole("limit", DEFAULT_PAGE_SIZE, 1, MAX_PAGE_SIZE)
    files, trash = reader.flag("files"), reader.flag("trash")
    reader.done()
    stores, now = context.stores, context.stores.clock.now()
    if trash:
        page = read_trash(stores, files)
    else:
        page = read_page(stores, chosen, now, after, limit, files)
    return _build_export_page(context, chosen, page)


def _build_export_page(context: HomeContext, chosen: Filter, page: ExportedPage) -> ExportPage:
    total = context.stores.search.count(chosen, context.stores.clock.now())
    return ExportPage(
        text=answer_texts.render_count(len(page.items), "memory"),
        items=list(page.items),
        next=page.next,
        total=total,
    )


@operation(
    "skills",
    "GET",
    "/agent/skills",
    "procedures that were used and worked, each as an Agent Skill to be reviewed",
    role=Role.READER,
    query=SkillsQuery,
    answer=SkillList,
)
def list_skills(context: HomeContext, call: OperationCall) -> SkillList:
    reader = RequestReader(call.query)
    least = reader.whole("least", 1, 1, MAX_PAGE_SIZE)
    spaces = tuple(read_space(each) for each in reader.texts("spaces") or ())
    reader.done()
    found = find_skills(context.stores, least, spaces)
    lines = [f"  {each.name}: {each.description}" for each in found]
    return SkillList(
        text="\n".join([answer_texts.render_count(len(found), "skill"), *lines]),
        skills=[
            SkillEntry(
                name=each.name,
                description=each.description,
                text=each.text,
                memory=each.memory.id,
                title=each.memory.headline,
                space=each.memory.space,
                source=each.memory.source,
                worked=each.worked,
                failed=each.failed,
            )
            for each in found
        ],
    )


# -- backups -------------------------------------------------------------------------------


@operation(
    "backup",
    "POST",
    "/admin/backup",
    "make a backup of vault, journal and settings, and let the oldest go",
    role=Role.ADMIN,
    body=BackupBody,
    answer=BackupReport,
    admin=True,
    unbounded=True,
    server_path="to",
)
def make_backup(context: HomeContext, call: OperationCall) -> BackupReport:
    """Make a backup."""
    reader = RequestReader(call.body)
    to = reader.text("to")
    reader.done()
    if to is not None and not Path(to).is_absolute():
        raise InvalidValue("to", f"is {to!r}", hint="a path from / on")
    began = time.monotonic()
    done = context.back_up(None if to is None else Path(to))
    notes = [f"could not be read and is not in the backup: {each}" for each in done.left_out]
    count = answer_texts.render_count(done.manifest.memories, "memory")
    return BackupReport(
        text=f"Backed up {count} to {done.path}",
        path=str(done.path),
        made=done.manifest.made,
        memories=done.manifest.memories,
        files=len(done.manifest.files),
        bytes=done.size,
        removed=[str(each) for each in done.removed],
        seconds=round(time.monotonic() - began, 3),
        notes=notes,
    )


def read_backup_status(context: HomeContext) -> BackupStatus:
    """Return what status says of backups."""
    kept = list_backups(context.backup_folder)
    newest = format_time(kept[0].made) if kept else None
    return BackupStatus(folder=str(context.backup_folder), count=len(kept), newest=newest)


@operation(
    "backups",
    "GET",
    "/admin/backup",
    "the backups that there are, newest first",
    role=Role.ADMIN,
    answer=BackupList,
    admin=True,
)
def report_backups(context: HomeContext, call: OperationCall) -> BackupList:
    """Return the backups that there are, newest first."""
    folder = context.backup_folder
    found = [
        KeptBackup(path=str(each.path), made=format_time(each.made), bytes=each.size)
        for each in list_backups(folder)
    ]
    text = answer_texts.render_count(len(found), "backup")
    return BackupList(
        text=f"{text} in {folder}",
        folder=str(folder),
        backups=found,
        running=_build_running_backup(context.backing_up),
    )


def _build_running_backup(backing_up: tuple[int, int] | None) -> RunningBackup | None:
    if backing_up is None:
        return None
    done, total = backing_up
    return RunningBackup(id="backup", done=done, total=total)
