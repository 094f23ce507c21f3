"""The home as a whole: what there is and what is wrong, and setting it right."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from madeleine.api import (
    answers,
    ingest_operations,
    moving_operations,
    reach,
    sleep_operations,
    sync_operations,
)
from madeleine.api.contract.requests import PurgeBody, StatsQuery
from madeleine.api.contract.responses import (
    CompactReport,
    EmbedderStatus,
    Health,
    HomeStatus,
    JournalStatus,
    PurgeReceipt,
    RebuildReport,
    ReconcileReport,
    RelationsStatus,
    RerankerStatus,
    Stats,
)
from madeleine.api.operation import Operation, operation
from madeleine.api.performing import perform_in_place
from madeleine.api.stats import MAX_DAYS, count_stats
from madeleine.errors import Rejected
from madeleine.minds.multilingual import MultilingualEmbedder
from madeleine.model.codec import Json
from madeleine.model.event import Event, EventKind
from madeleine.model.people import Role
from madeleine.model.request_reader import RequestReader
from madeleine.model.times import format_time
from madeleine.version import __version__
from madeleine.write.copied_files import separate_copies
from madeleine.write.core_cap import describe_demotions, hold_core_cap
from madeleine.write.languages import find_other_languages
from madeleine.write.purge import purge
from madeleine.write.reconcile import reconcile_and_embed
from madeleine.write.stores import Stores
from madeleine.write.upkeep import compact, rebuild

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.api.reach import CallerReach
    from madeleine.bootstrap import HomeContext

MAX_RUNS_SHOWN = 10
_HIDDEN_REASON = "whoever runs the server sees why"


# -- what there is -------------------------------------------------------------------------


@operation(
    "health",
    "GET",
    "/admin/health",
    "whether the daemon answers",
    role=Role.READER,
    answer=Health,
    open=True,
)
def report_health(context: HomeContext, call: OperationCall) -> Health:
    return Health(status="ok", version=__version__)


def _report_status_to_caller(
    operation: Operation[HomeStatus], reached: CallerReach, call: OperationCall
) -> HomeStatus:
    """Say also who asks. How the server itself stands is nobody's business but an admin's."""
    found = perform_in_place(reached, reached.own, operation, call)
    caller = reached.caller
    if caller is None:
        return found
    status = replace(found, person=caller.person, role=caller.role.value)
    return status if caller.role is Role.ADMIN else _hide_server_details(status)


def _hide_server_details(status: HomeStatus) -> HomeStatus:
    """Return a status without what is the server's own: its places, and why a model is missing,
    which names its files."""
    models = (status.embedder, status.reranker, status.relations)
    why = [each.why_not for each in models if each and each.why_not]
    return replace(
        status,
        home=None,
        vault=None,
        index_place=None,
        device=None,
        pid=None,
        backup=None,
        sync=None,
        daemon=None,
        notes=[note for note in status.notes if not any(each in note for each in why)],
        embedder=replace(
            status.embedder,
            why_not=status.embedder.why_not and _HIDDEN_REASON,
            problem=status.embedder.problem and _HIDDEN_REASON,
        ),
        reranker=replace(status.reranker, why_not=status.reranker.why_not and _HIDDEN_REASON),
        relations=status.relations
        and replace(status.relations, why_not=status.relations.why_not and _HIDDEN_REASON),
    )


def _describe_embedder(stores: Stores, unembedded: int) -> EmbedderStatus:
    minds = stores.minds
    both = minds.embedder if isinstance(minds.embedder, MultilingualEmbedder) else None
    name = minds.embedder.name if minds.embedder else None
    return EmbedderStatus(
        name=both.english_name if both else name,
        why_not=minds.why_not or None,
        others=both.others_name if both else None,
        why_only_english=minds.why_only_english or None,
        languages=find_other_languages(stores),
        unembedded=unembedded,
        problem=minds.embedder.problem or None if minds.embedder else None,
    )


@operation(
    "status",
    "GET",
    "/admin/status",
    "what there is and what is wrong",
    role=Role.READER,
    answer=HomeStatus,
    shared=_report_status_to_caller,
    for_every_caller=True,
)
def report_status(context: HomeContext, call: OperationCall) -> HomeStatus:
    stores = context.stores
    counts = stores.search.counts()
    minds = stores.minds
    return HomeStatus(
        version=__version__,
        home=str(context.home),
        vault=stores.vault.place,
        device=stores.journal.device,
        pid=os.getpid(),
        counts=answers.build_memory_counts(counts),
        embedder=_describe_embedder(stores, counts.unembedded),
        reranker=RerankerStatus(
            name=minds.reranker.name if minds.reranker else None,
            why_not=minds.why_no_reranker or None,
        ),
        relations=RelationsStatus(
            name=minds.relations.name if minds.relations else None,
            why_not=minds.why_no_relations or None,
        ),
        unreadable=[answers.build_unreadable_file(each) for each in stores.search.unreadable()],
        unread_files=stores.reading.waiting,
        ignored=stores.vault.ignored_files,
        journal=JournalStatus(
            files=len(stores.journal.names()),
            problems=_journal_problems(context),
        ),
        index_place=context.index_place,
        index_bytes=None if context.index_place else _index_size(context.home),
        runs=[
            _run_to_json(each)
            for each in stores.log.recent_events([EventKind.RUN.value], MAX_RUNS_SHOWN)
        ],
        sleep=sleep_operations.read_sleep_status(context),
        backup=moving_operations.read_backup_status(context),
        sync=sync_operations.read_sync_status(context),
        ingest=ingest_operations.read_intake_status(context),
        notes=list(context.notes),
        daemon=None,
    )


def _journal_problems(context: HomeContext) -> list[str]:
    torn = [f"{each.path}:{each.line}: {each.problem}" for each in context.stores.log.torn_lines()]
    return list(dict.fromkeys([*torn, *context.journal_problems]))


def _run_to_json(event: Event) -> Json:
    """What a job's last run did (I8)."""
    return {"at": format_time(event.at), **event.body}


def _index_size(home: Path) -> int:
    return sum(_file_size(home / name) for name in ("index.db", "index.db-wal"))


def _file_size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


@operation(
    "stats",
    "GET",
    "/stats",
    "how much there is, and how much was whispered and remembered lately",
    role=Role.READER,
    query=StatsQuery,
    answer=Stats,
)
def report_stats(context: HomeContext, call: OperationCall) -> Stats:
    reader = RequestReader(call.query)
    days = reader.whole("days", 0, 1, MAX_DAYS)
    reader.done()
    return count_stats(context, days)


# -- setting it right ----------------------------------------------------------------------


@operation(
    "reconcile",
    "POST",
    "/admin/reconcile",
    "make the index say what the files say",
    role=Role.OWNER,
    answer=ReconcileReport,
    unbounded=True,
)
def reconcile_index(context: HomeContext, call: OperationCall) -> ReconcileReport:
    report = reconcile_and_embed(context.stores)
    if separated := separate_copies(context.stores):
        report = reconcile_and_embed(context.stores)
        report.notes.extend(separated)
    report.notes.extend(describe_demotions(hold_core_cap(context.stores)))
    return answers.build_reconcile_report(report)


@operation(
    "rebuild",
    "POST",
    "/admin/rebuild",
    "make the index anew from files and journal",
    role=Role.OWNER,
    answer=RebuildReport,
    unbounded=True,
)
def rebuild_index(context: HomeContext, call: OperationCall) -> RebuildReport:
    began = time.monotonic()
    report = rebuild(context.stores)
    report.notes.extend(describe_demotions(hold_core_cap(context.stores)))
    return answers.build_rebuild_report(report, time.monotonic() - began)


def _purge_at_holder(
    operation: Operation[PurgeReceipt], reached: CallerReach, call: OperationCall
) -> PurgeReceipt:
    """Purge where the first of what is named lies; all that lies in the trash, at home."""
    named = call.body.get("memories")
    first = named[0] if isinstance(named, list) and named else None
    place = reached.own
    if isinstance(first, str):
        place = reached.find_holder(first, reach.find_memories_or_trash)
    return perform_in_place(reached, place, operation, call)


@operation(
    "purge",
    "POST",
    "/admin/purge",
    "remove forgotten memories for good: there is no way back",
    role=Role.OWNER,
    body=PurgeBody,
    answer=PurgeReceipt,
    admin=True,
    shared=_purge_at_holder,
)
def purge_memories(context: HomeContext, call: OperationCall) -> PurgeReceipt:
    reader = RequestReader(call.body)
    named, whole = reader.texts("memories"), reader.flag("all")
    reader.done()
    if whole == bool(named):
        raise Rejected("say which memories to purge, or `all`", hint="one of the two")
    return answers.build_purge_receipt(purge(context.stores, None if whole else named))


@operation(
    "compact",
    "POST",
    "/admin/compact",
    "tidy the journal's past months without changing what they say",
    role=Role.OWNER,
    answer=CompactReport,
    unbounded=True,
)
def compact_journal(context: HomeContext, call: OperationCall) -> CompactReport:
    return answers.build_compact_report(compact(context.stores))
