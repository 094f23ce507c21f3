"""What each operation of the table does: read the request, call the verb, return its answer.

Nothing is decided here. A request is taken apart by the readers in model/, so that a door
rejects what any other door rejects; a field nobody knows is refused, never lost.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from madeleine.api import (
    answers,
    ingest_operations,
    moving_operations,
    people_operations,
    sleep_operations,
)
from madeleine.api.call import OperationCall
from madeleine.api.contract.responses import (
    EmbedderStatus,
    Health,
    HomeStatus,
    JournalStatus,
    RerankerStatus,
)
from madeleine.api.contract.table import SHAPES_BY_OPERATION
from madeleine.api.page import graph as page_graph
from madeleine.api.page import home, proposals, search, sleep, timeline, whispers
from madeleine.api.page import memory as page_memory
from madeleine.api.query_parameters import parse_query
from madeleine.api.routes import ROUTE_BY_NAME
from madeleine.api.stats import count_stats
from madeleine.bootstrap import HomeContext
from madeleine.errors import (
    DaemonDown,
    DatabaseDown,
    InvalidValue,
    MadeleineError,
    NoSuchChange,
    Rejected,
    UnknownWord,
)
from madeleine.model.codec import Json
from madeleine.model.draft import Draft, check_content, read_draft, read_one_line, read_space
from madeleine.model.event import Event, EventKind
from madeleine.model.memory import Connection
from madeleine.model.proposal import ProposalStatus
from madeleine.model.query import read_filter, read_query
from madeleine.model.request_reader import RequestReader
from madeleine.model.revision import read_revision
from madeleine.model.times import format_time
from madeleine.model.words import Edge, read_word
from madeleine.recall.recall import recall
from madeleine.version import __version__
from madeleine.whisper.learning import give_feedback
from madeleine.whisper.report import measure_hold_out
from madeleine.whisper.values import Prompt
from madeleine.whisper.whisper import whisper
from madeleine.write.connections import link, unlink
from madeleine.write.core_cap import describe_demotions, hold_core_cap
from madeleine.write.forget import forget, restore
from madeleine.write.merge import SeenVersions, merge
from madeleine.write.proposals import decide_proposal, reopen_proposal
from madeleine.write.purge import purge
from madeleine.write.reconcile import reconcile_and_embed
from madeleine.write.record_use import record_use
from madeleine.write.remember import RememberResult, remember
from madeleine.write.remember_many import remember_many
from madeleine.write.resolve import get_stored
from madeleine.write.revise import retire, revise
from madeleine.write.show import read_history, show
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from madeleine.write.upkeep import compact, rebuild

MAX_ITEMS = 10_000  # in one batch: a minute's work, and an answer that fits in memory
DEFAULT_PAGE_SIZE = 50
MAX_PAGE_SIZE = 1_000
DEFAULT_EVENTS = 100
MAX_EVENTS = 10_000
MAX_REASON_CHARS = 1_000
MAX_RUNS_SHOWN = 10
DOOR_NAMES = ("http", "cli", "python", "page")  # who asks when nobody says who


Operation = Callable[[HomeContext, OperationCall], object]
"""Returns a shape of `api/contract`."""


@contextmanager
def prepare_operation(
    context: HomeContext, name: str, call: OperationCall
) -> Iterator[Callable[[], Any]]:
    """Give the operation called `name` with its request read, for whoever asks to call. Uses noted
    behind earlier answers are written before it, and what runs by itself stands still meanwhile.

    It is called from the door itself, and not from here, so that few calls stand between a door
    and a verb.
    """
    context.stores.executor.wait()
    route = ROUTE_BY_NAME[name]
    if SHAPES_BY_OPERATION[name].body is None:
        RequestReader(call.body).done()
    if SHAPES_BY_OPERATION[name].query is None:
        RequestReader(call.query).done()
    typed = replace(call, query=parse_query(name, call.query))
    only_reads = route.method == "GET" or route.only_reads
    operation = partial(OPERATIONS[name], context, typed)
    if only_reads and context.is_over_a_network:
        operation = partial(_retry_read, operation)
    with context.stores.priority_gate.waited_for() if route.quick else nullcontext():
        yield operation


def _retry_read(operation: Callable[[], Any]) -> Any:
    """Carry out an operation that only reads, once more if the database went away."""
    try:
        return operation()
    except DatabaseDown:
        return operation()  # another connection, or another server by now


def perform_operation(context: HomeContext, name: str, call: OperationCall) -> Any:
    """Carry out the operation called `name`."""
    with prepare_operation(context, name, call) as operation:
        return operation()


# -- writing -------------------------------------------------------------------------------


def _remember(context: HomeContext, call: OperationCall) -> object:
    draft = _read_draft(context.stores, call.body, read_default_space(call), call.by)
    return answers.build_remembered_memory(remember(context.stores, draft))


def _remember_many(context: HomeContext, call: OperationCall) -> object:
    space = read_default_space(call)
    reader = RequestReader(call.body)
    items = reader.items("items", lambda item: item)
    reader.done()
    if items is None:
        raise InvalidValue("items", "is missing", hint="send a list of drafts")
    if len(items) > MAX_ITEMS:
        problem = f"holds {len(items):,}; the limit is {MAX_ITEMS:,}"
        raise InvalidValue("items", problem, hint="send several batches")
    drafts = [_read_draft_or_error(context.stores, item, space, call.by) for item in items]
    return answers.build_remembered_many(_write_drafts(context.stores, drafts))


def _write_drafts(
    stores: Stores, drafts: Sequence[Draft | MadeleineError]
) -> list[RememberResult | MadeleineError]:
    """Write the drafts among them; what was refused when it was read keeps its place."""
    outcomes = iter(remember_many(stores, [each for each in drafts if isinstance(each, Draft)]))
    return [next(outcomes) if isinstance(each, Draft) else each for each in drafts]


def _read_draft_or_error(
    stores: Stores, item: object, space: str | None, by: str
) -> Draft | MadeleineError:
    try:
        return _read_draft(stores, item, space, by)
    except MadeleineError as refused:
        return refused


def _read_draft(stores: Stores, values: object, space: str | None, by: str) -> Draft:
    """Read a draft. One that does not name its source comes from whoever asks."""
    if isinstance(values, Mapping) and values.get("source") is None:
        values = {**values, "source": "agent:unknown" if by == "http" else _draft_source(by)}
    return read_draft(values, stores.config.limits, space)  # type: ignore[arg-type]  # it checks


def _draft_source(by: str) -> str:
    return by if by in DOOR_NAMES or ":" in by else f"agent:{by}"


def _revise(context: HomeContext, call: OperationCall) -> object:
    revision = read_revision(call.body, context.stores.config.limits)
    return answers.build_changed_memory(
        revise(context.stores, call.path_id, revision, by=call.by), "Revised"
    )


def _retire(context: HomeContext, call: OperationCall) -> object:
    reader = RequestReader(call.body)
    reason, successor = _read_reason(reader), reader.text("superseded_by")
    reader.done()
    done = retire(context.stores, call.path_id, reason, successor, by=call.by)
    return answers.build_changed_memory(done, "Retired")


def _forget(context: HomeContext, call: OperationCall) -> object:
    reader = RequestReader(call.query)
    reason = _read_reason(reader)
    reader.done()
    return answers.build_forgotten_memory(
        forget(context.stores, call.path_id, by=call.by, reason=reason)
    )


def _restore(context: HomeContext, call: OperationCall) -> object:
    return answers.build_changed_memory(
        restore(context.stores, call.path_id, by=call.by), "Restored"
    )


def _link(context: HomeContext, call: OperationCall) -> object:
    reader = RequestReader(call.body)
    source = reader.required_text("source_id")
    connection = Connection(
        target=reader.required_text("target_id"),
        edge=reader.choice(Edge, "edge", Edge.RELATED_TO),
        weight=reader.unit("weight", 0.5),
        reason=_read_reason(reader),
        kind=read_one_line("kind", reader.text("kind"), 100),
    )
    reader.done()
    return answers.build_changed_memory(
        link(context.stores, source, connection, by=call.by), "Linked"
    )


def _unlink(context: HomeContext, call: OperationCall) -> object:
    reader = RequestReader(call.body)
    source, target = reader.required_text("source_id"), reader.required_text("target_id")
    edge = read_word(Edge, "edge", reader.raw("edge")) if reader.raw("edge") is not None else None
    reader.done()
    return answers.build_changed_memory(
        unlink(context.stores, source, target, edge, by=call.by), "Unlinked"
    )


def _merge(context: HomeContext, call: OperationCall) -> object:
    limits = context.stores.config.limits
    reader = RequestReader(call.body)
    keep, drop = reader.required_text("keep"), reader.required_text("drop")
    title = read_one_line("title", reader.text("title"), limits.title_chars)
    text = reader.text("content")
    content = None if text is None else check_content(text, limits)
    reason = _read_reason(reader)
    seen = SeenVersions(reader.text("if_keep_version"), reader.text("if_drop_version"))
    reader.done()
    return answers.build_merged_memory(
        merge(context.stores, keep, drop, title, content, by=call.by, reason=reason, seen=seen)
    )


def _undo(context: HomeContext, call: OperationCall) -> object:
    return answers.build_undone_changes(undo(context.stores, call.path_id, by=call.by))


def _undo_merge(context: HomeContext, call: OperationCall) -> object:
    found = context.stores.log.changes(call.path_id)
    if not any(each.body.get("verb") == "merge" for each in found):
        raise NoSuchChange(call.path_id)
    return _undo(context, call)


# -- reading -------------------------------------------------------------------------------


def _recall(context: HomeContext, call: OperationCall) -> object:
    query = read_query(call.body, read_default_space(call))
    return answers.build_recall_answer(recall(context.stores, query), query.explain)


def _whisper(context: HomeContext, call: OperationCall) -> object:
    prompt = read_prompt(call)
    said = whisper(context.stores, context.whisper_config, context.whisperer, prompt)
    return answers.build_whisper_answer(said, prompt.explain)


def read_prompt(call: OperationCall) -> Prompt:
    """Return the prompt that a request is about."""
    reader = RequestReader(call.body)
    prompt = Prompt(
        text=reader.text("prompt") or "",
        space=read_space(reader.text("space")) or read_default_space(call),
        session_id=reader.text("session_id"),
        cwd=reader.text("cwd"),
        explain=reader.flag("explain"),
        due=call.due,
        awaits_receipt=call.awaits_receipt,
    )
    if "prompt" not in call.body:
        raise InvalidValue("prompt", "is missing", hint="send what was typed")
    reader.done()
    return prompt


def _explain_whisper(context: HomeContext, call: OperationCall) -> object:
    reader = RequestReader(call.query)
    session = reader.text("session_id")
    reader.done()
    entries = context.stores.log.whispers(1, session)
    return answers.build_whisper_reason(entries[0] if entries else None, context.whisper_config)


def _report_whispers(context: HomeContext, call: OperationCall) -> object:
    return answers.build_whisper_report(
        measure_hold_out(context.stores, context.whisper_config), context.whisper_config
    )


def _take_feedback(context: HomeContext, call: OperationCall) -> object:
    reader = RequestReader(call.body)
    memory_id = get_stored(context.stores, reader.required_text("node_id")).memory.id
    if reader.raw("signal") is None:
        raise InvalidValue("signal", "is missing", hint="it is required")
    signal = reader.whole("signal", 0, -1, 1)
    source = reader.text("source") or "explicit"
    whisper_id = reader.text("whisper_log_id")
    reader.done()
    give_feedback(context.stores, memory_id, signal, source, whisper_id)
    return answers.build_noted_feedback(memory_id, signal)


def _show(context: HomeContext, call: OperationCall) -> object:
    reader = RequestReader(call.query)
    session = reader.text("session_id")
    reader.done()
    seen = show(context.stores, call.path_id)
    memory_id = seen.stored.memory.id
    ends = {row.source for row in seen.edges} | {row.connection.target for row in seen.edges}
    notes = record_use(context.stores, [memory_id], "opened", session, wait=True)
    return answers.build_shown_memory(
        seen, context.stores.search.memories(ends - {memory_id}), notes
    )


def _list(context: HomeContext, call: OperationCall) -> object:
    reader = RequestReader(call.query)
    chosen = read_filter(reader)
    limit = reader.whole("limit", DEFAULT_PAGE_SIZE, 1, MAX_PAGE_SIZE)
    offset = reader.whole("offset", 0, 0, 1_000_000_000)
    reader.done()
    search, now = context.stores.search, context.stores.clock.now()
    return answers.build_memory_page(
        search.listing(chosen, now, limit, offset), search.count(chosen, now)
    )


def _list_trash(context: HomeContext, call: OperationCall) -> object:
    found = sorted(context.stores.vault.trashed(), key=lambda each: each.path)
    return answers.build_trash_page(found)


def _list_history(context: HomeContext, call: OperationCall) -> object:
    memory_id, events = read_history(context.stores, call.path_id, _read_limit(call))
    return answers.build_memory_history(memory_id, events, _read_outcomes(context.stores, events))


def _list_events(context: HomeContext, call: OperationCall) -> object:
    reader = RequestReader(call.query)
    limit = reader.whole("limit", DEFAULT_EVENTS, 1, MAX_EVENTS)
    memory, verb = reader.text("node_id"), reader.text("operation")
    reader.done()
    events = _find_newest_events(
        _make_event_reader(context.stores, memory), limit, _AUDITED_KINDS, verb
    )
    return answers.build_event_page(events, _read_outcomes(context.stores, events))


def _list_merges(context: HomeContext, call: OperationCall) -> object:
    events = _find_newest_events(
        _make_event_reader(context.stores, None), _read_limit(call), (EventKind.CHANGED,), "merge"
    )
    return answers.build_merge_page(events, _read_outcomes(context.stores, events))


_AUDITED_KINDS = (EventKind.REMEMBERED, EventKind.CHANGED, EventKind.DECIDED)
_ReadEvents = Callable[[Sequence[EventKind], int], Sequence[Event]]


def _make_event_reader(stores: Stores, memory: str | None) -> _ReadEvents:
    """Return how to read so many events, newest first: of one memory, or of all."""
    if memory is None:
        return lambda kinds, many: stores.log.recent_events(kinds, many)
    return lambda kinds, many: read_history(stores, memory, many)[1]


def _find_newest_events(
    read: _ReadEvents, limit: int, kinds: Sequence[EventKind], verb: str | None = None
) -> list[Event]:
    """Return the newest events of these kinds and this verb, whatever lies between them."""
    looked = limit
    while True:
        events = read(kinds, looked)
        found = [each for each in events if each.kind in kinds]
        if verb is not None:
            found = [each for each in found if each.body.get("verb") == verb]
        if len(found) >= limit or len(events) < looked:
            return found[:limit]
        looked *= 8


def _read_outcomes(stores: Stores, events: Sequence[Event]) -> dict[str, str | None]:
    changes = {change for each in events if (change := answers.event_change_id(each))}
    return {change: stores.log.outcome(change) for change in changes}


# -- proposals -----------------------------------------------------------------------------


def _list_proposals(context: HomeContext, call: OperationCall) -> object:
    reader = RequestReader(call.query)
    wanted = reader.text("status") or ProposalStatus.PENDING.value
    reader.done()
    known = [*(each.value for each in ProposalStatus), "all"]
    if wanted not in known:
        raise UnknownWord("status", wanted, known)
    status = None if wanted == "all" else ProposalStatus(wanted)
    return answers.build_proposal_page(context.stores.log.proposals(status))


def _decide(context: HomeContext, call: OperationCall) -> object:
    reader = RequestReader(call.body)
    action = reader.required_text("action")
    reader.done()
    known = [each.value for each in ProposalStatus if each is not ProposalStatus.EXPIRED]
    if action not in known:
        raise UnknownWord("action", action, known)
    if action == ProposalStatus.PENDING.value:
        return answers.build_decided_proposal(
            reopen_proposal(context.stores, call.path_id, by=call.by)
        )
    return answers.build_decided_proposal(
        decide_proposal(context.stores, call.path_id, ProposalStatus(action), by=call.by)
    )


# -- the home ------------------------------------------------------------------------------


def _report_health(context: HomeContext, call: OperationCall) -> object:
    return Health(status="ok", version=__version__)


def _report_status(context: HomeContext, call: OperationCall) -> object:
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
        embedder=EmbedderStatus(
            name=minds.embedder.name if minds.embedder else None,
            why_not=minds.why_not or None,
            unembedded=counts.unembedded,
        ),
        reranker=RerankerStatus(
            name=minds.reranker.name if minds.reranker else None,
            why_not=minds.why_no_reranker or None,
        ),
        unreadable=[answers.build_unreadable_file(each) for each in stores.search.unreadable()],
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
        ingest=ingest_operations.read_intake_status(context),
        notes=list(context.notes),
        daemon=None,
    )


def _journal_problems(context: HomeContext) -> list[str]:
    torn = [f"{each.path}:{each.line}: {each.problem}" for each in context.stores.log.torn()]
    return list(dict.fromkeys([*torn, *context.journal_problems]))


def _run_to_json(event: Event) -> Json:
    """What a job's last run did (I8)."""
    return {"at": format_time(event.at), **event.body}


def _index_size(home: Path) -> int:
    return sum(_file_size(home / name) for name in ("index.db", "index.db-wal"))


def _file_size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _reconcile(context: HomeContext, call: OperationCall) -> object:
    report = reconcile_and_embed(context.stores)
    report.notes.extend(describe_demotions(hold_core_cap(context.stores)))
    return answers.build_reconcile_report(report)


def _rebuild(context: HomeContext, call: OperationCall) -> object:
    began = time.monotonic()
    report = rebuild(context.stores)
    report.notes.extend(describe_demotions(hold_core_cap(context.stores)))
    return answers.build_rebuild_report(report, time.monotonic() - began)


def _purge(context: HomeContext, call: OperationCall) -> object:
    reader = RequestReader(call.body)
    named, whole = reader.texts("memories"), reader.flag("all")
    reader.done()
    if whole == bool(named):
        raise Rejected("say which memories to purge, or `all`", hint="one of the two")
    return answers.build_purge_receipt(purge(context.stores, None if whole else named))


def _compact(context: HomeContext, call: OperationCall) -> object:
    return answers.build_compact_report(compact(context.stores))


def _refuse_without_daemon(context: HomeContext, call: OperationCall) -> object:
    raise DaemonDown(str(context.home))


# -- pieces --------------------------------------------------------------------------------


def read_default_space(call: OperationCall) -> str | None:
    """Return the space of a request that names none itself."""
    reader = RequestReader(call.query)
    space = read_space(reader.text("default_space"))
    reader.done()
    return space


def _read_reason(reader: RequestReader) -> str | None:
    return read_one_line("reason", reader.text("reason"), MAX_REASON_CHARS)


def _read_limit(call: OperationCall) -> int:
    reader = RequestReader(call.query)
    limit = reader.whole("limit", DEFAULT_EVENTS, 1, MAX_EVENTS)
    reader.done()
    return limit


OPERATIONS: Mapping[str, Operation] = {
    "remember": _remember,
    "remember_many": _remember_many,
    "recall": _recall,
    "whisper": _whisper,
    "whisper_why": _explain_whisper,
    "whisper_report": _report_whispers,
    "feedback": _take_feedback,
    "show": _show,
    "list": _list,
    "trash": _list_trash,
    "history": _list_history,
    "revise": _revise,
    "retire": _retire,
    "forget": _forget,
    "restore": _restore,
    "link": _link,
    "unlink": _unlink,
    "merge": _merge,
    "undo": _undo,
    "proposals": _list_proposals,
    "proposal": sleep_operations.show_proposal_difference,
    "decide": _decide,
    "merges": _list_merges,
    "undo_merge": _undo_merge,
    "audit": _list_events,
    "insights": sleep_operations.list_insights,
    "maintenance": sleep_operations.give_maintenance_batch,
    "hand_in": sleep_operations.hand_in_verdicts,
    "tasks": sleep_operations.list_jobs,
    "consolidate": sleep_operations.consolidate,
    "consolidate_status": sleep_operations.read_consolidation_status,
    "run_all": sleep_operations.run_all,
    "run_task": sleep_operations.run_task,
    "stop_task": sleep_operations.stop_task,
    "pause_task": sleep_operations.pause_task,
    "resume_task": sleep_operations.resume_task,
    "health": _report_health,
    "status": _report_status,
    "stats": count_stats,
    "reconcile": _reconcile,
    "rebuild": _rebuild,
    "purge": _purge,
    "compact": _compact,
    "import": moving_operations.receive_import,
    "export": moving_operations.read_export_page,
    "backup": moving_operations.make_backup,
    "backups": moving_operations.report_backups,
    "ingest_conversation": ingest_operations.receive_conversation,
    "ingest_file": ingest_operations.receive_file,
    "stop": _refuse_without_daemon,
    **dict.fromkeys(people_operations.PEOPLE_OPERATIONS, people_operations.refuse_without_people),
    "page_link": _refuse_without_daemon,
    "page_search": search.search_memories,
    "page_list": search.list_memories,
    "page_facets": search.count_facets,
    "page_graph": page_graph.show_overview,
    "page_graph_space": page_graph.show_region,
    "page_graph_near": page_graph.show_surroundings,
    "page_graph_paths": page_graph.show_paths,
    "page_memory": page_memory.show_memory,
    "page_similar": page_memory.find_similar,
    "page_difference": page_memory.show_difference,
    "page_time": timeline.show_timeline,
    "page_time_bars": timeline.show_growth,
    "page_time_day": timeline.show_day,
    "page_time_turns": timeline.list_turns,
    "page_home": home.show_home,
    "page_whispers": whispers.list_whispers,
    "page_whisper": whispers.show_whisper,
    "page_why_not": whispers.show_missed,
    "page_sleep": sleep.show_sleep,
    "page_runs": sleep.list_runs,
    "page_run": sleep.show_run,
    "page_change": sleep.show_change,
    "page_proposals": proposals.list_proposals,
    "page_proposal": proposals.show_proposal_detail,
}
