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

from madeleine.api import answers, ingesting, moving, people, sleeping
from madeleine.api.call import Call
from madeleine.api.contract.responses import (
    EmbedderStatus,
    Health,
    HomeStatus,
    JournalStatus,
    RerankerStatus,
)
from madeleine.api.contract.table import SHAPES
from madeleine.api.counting import stats
from madeleine.api.page import graph as page_graph
from madeleine.api.page import home, nights, proposals, searching, timeline, whispers
from madeleine.api.page import memory as page_memory
from madeleine.api.params import typed_query
from madeleine.api.routes import BY_NAME
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
from madeleine.model.reading import RequestReader
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
from madeleine.write.core import describe_demotions, hold_core_cap
from madeleine.write.forget import forget, restore
from madeleine.write.merge import SeenVersions, merge
from madeleine.write.proposals import decide_proposal, reopen_proposal
from madeleine.write.purge import purge
from madeleine.write.reconcile import reconcile_and_embed
from madeleine.write.remember import RememberResult, remember
from madeleine.write.remember_many import remember_many
from madeleine.write.resolve import get_stored
from madeleine.write.revise import retire, revise
from madeleine.write.show import read_history, show
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from madeleine.write.upkeep import compact, rebuild
from madeleine.write.use import record_use

ITEMS_AT_MOST = 10_000  # in one batch: a minute's work, and an answer that fits in memory
PAGE = 50
PAGE_AT_MOST = 1_000
EVENTS = 100
EVENTS_AT_MOST = 10_000
REASON_CHARS = 1_000
RUNS_SHOWN = 10
DOORS = ("http", "cli", "python", "page")  # who asks when nobody says who


Operation = Callable[[HomeContext, Call], object]
"""Returns a shape of `api/contract`."""


@contextmanager
def prepare_operation(context: HomeContext, name: str, call: Call) -> Iterator[Callable[[], Any]]:
    """Give the operation called `name` with its request read, for whoever asks to call. Uses noted
    behind earlier answers are written before it, and what runs by itself stands still meanwhile.

    It is called from the door itself, and not from here, so that few calls stand between a door
    and a verb.
    """
    context.stores.executor.wait()
    route = BY_NAME[name]
    if SHAPES[name].body is None:
        RequestReader(call.body).done()
    if SHAPES[name].query is None:
        RequestReader(call.query).done()
    typed = replace(call, query=typed_query(name, call.query))
    only_reads = route.method == "GET" or route.only_reads
    operation = partial(OPERATIONS[name], context, typed)
    if only_reads and context.is_over_a_network:
        operation = partial(_read_again, operation)
    with context.stores.priority_gate.waited_for() if route.quick else nullcontext():
        yield operation


def _read_again(operation: Callable[[], Any]) -> Any:
    """Carry out an operation that only reads, once more if the database went away."""
    try:
        return operation()
    except DatabaseDown:
        return operation()  # another connection, or another server by now


def perform(context: HomeContext, name: str, call: Call) -> Any:
    """Carry out the operation called `name`."""
    with prepare_operation(context, name, call) as operation:
        return operation()


# -- writing -------------------------------------------------------------------------------


def _remember(context: HomeContext, call: Call) -> object:
    draft = _draft(context.stores, call.body, default_space(call), call.by)
    return answers.remembered(remember(context.stores, draft))


def _remember_many(context: HomeContext, call: Call) -> object:
    space = default_space(call)
    reader = RequestReader(call.body)
    items = reader.items("items", lambda item: item)
    reader.done()
    if items is None:
        raise InvalidValue("items", "is missing", hint="send a list of drafts")
    if len(items) > ITEMS_AT_MOST:
        problem = f"holds {len(items):,}; the limit is {ITEMS_AT_MOST:,}"
        raise InvalidValue("items", problem, hint="send several batches")
    drafts = [_draft_or_error(context.stores, item, space, call.by) for item in items]
    return answers.remembered_many(_written(context.stores, drafts))


def _written(
    stores: Stores, drafts: Sequence[Draft | MadeleineError]
) -> list[RememberResult | MadeleineError]:
    """Write the drafts among them; what was refused when it was read keeps its place."""
    outcomes = iter(remember_many(stores, [each for each in drafts if isinstance(each, Draft)]))
    return [next(outcomes) if isinstance(each, Draft) else each for each in drafts]


def _draft_or_error(
    stores: Stores, item: object, space: str | None, by: str
) -> Draft | MadeleineError:
    try:
        return _draft(stores, item, space, by)
    except MadeleineError as refused:
        return refused


def _draft(stores: Stores, values: object, space: str | None, by: str) -> Draft:
    """Read a draft. One that does not name its source comes from whoever asks."""
    if isinstance(values, Mapping) and values.get("source") is None:
        values = {**values, "source": "agent:unknown" if by == "http" else _source(by)}
    return read_draft(values, stores.config.limits, space)  # type: ignore[arg-type]  # it checks


def _source(by: str) -> str:
    return by if by in DOORS or ":" in by else f"agent:{by}"


def _revise(context: HomeContext, call: Call) -> object:
    revision = read_revision(call.body, context.stores.config.limits)
    return answers.changed(revise(context.stores, call.named, revision, by=call.by), "Revised")


def _retire(context: HomeContext, call: Call) -> object:
    reader = RequestReader(call.body)
    reason, successor = _reason(reader), reader.text("superseded_by")
    reader.done()
    done = retire(context.stores, call.named, reason, successor, by=call.by)
    return answers.changed(done, "Retired")


def _forget(context: HomeContext, call: Call) -> object:
    reader = RequestReader(call.query)
    reason = _reason(reader)
    reader.done()
    return answers.forgotten(forget(context.stores, call.named, by=call.by, reason=reason))


def _restore(context: HomeContext, call: Call) -> object:
    return answers.changed(restore(context.stores, call.named, by=call.by), "Restored")


def _link(context: HomeContext, call: Call) -> object:
    reader = RequestReader(call.body)
    source = reader.required_text("source_id")
    connection = Connection(
        target=reader.required_text("target_id"),
        edge=reader.choice(Edge, "edge", Edge.RELATED_TO),
        weight=reader.unit("weight", 0.5),
        reason=_reason(reader),
        kind=read_one_line("kind", reader.text("kind"), 100),
    )
    reader.done()
    return answers.changed(link(context.stores, source, connection, by=call.by), "Linked")


def _unlink(context: HomeContext, call: Call) -> object:
    reader = RequestReader(call.body)
    source, target = reader.required_text("source_id"), reader.required_text("target_id")
    edge = read_word(Edge, "edge", reader.raw("edge")) if reader.raw("edge") is not None else None
    reader.done()
    return answers.changed(unlink(context.stores, source, target, edge, by=call.by), "Unlinked")


def _merge(context: HomeContext, call: Call) -> object:
    limits = context.stores.config.limits
    reader = RequestReader(call.body)
    keep, drop = reader.required_text("keep"), reader.required_text("drop")
    title = read_one_line("title", reader.text("title"), limits.title_chars)
    text = reader.text("content")
    content = None if text is None else check_content(text, limits)
    reason = _reason(reader)
    seen = SeenVersions(reader.text("if_keep_version"), reader.text("if_drop_version"))
    reader.done()
    return answers.merged(
        merge(context.stores, keep, drop, title, content, by=call.by, reason=reason, seen=seen)
    )


def _undo(context: HomeContext, call: Call) -> object:
    return answers.undone(undo(context.stores, call.named, by=call.by))


def _undo_merge(context: HomeContext, call: Call) -> object:
    found = context.stores.log.changes(call.named)
    if not any(each.body.get("verb") == "merge" for each in found):
        raise NoSuchChange(call.named)
    return _undo(context, call)


# -- reading -------------------------------------------------------------------------------


def _recall(context: HomeContext, call: Call) -> object:
    query = read_query(call.body, default_space(call))
    return answers.recalled(recall(context.stores, query), query.explain)


def _whisper(context: HomeContext, call: Call) -> object:
    prompt = read_prompt(call)
    said = whisper(context.stores, context.whisper_config, context.whisperer, prompt)
    return answers.whispered(said, prompt.explain)


def read_prompt(call: Call) -> Prompt:
    """Return the prompt that a request is about."""
    reader = RequestReader(call.body)
    prompt = Prompt(
        text=reader.text("prompt") or "",
        space=read_space(reader.text("space")) or default_space(call),
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


def _whisper_why(context: HomeContext, call: Call) -> object:
    reader = RequestReader(call.query)
    session = reader.text("session_id")
    reader.done()
    entries = context.stores.log.whispers(1, session)
    return answers.whisper_why(entries[0] if entries else None, context.whisper_config)


def _whisper_report(context: HomeContext, call: Call) -> object:
    return answers.whisper_report(
        measure_hold_out(context.stores, context.whisper_config), context.whisper_config
    )


def _feedback(context: HomeContext, call: Call) -> object:
    reader = RequestReader(call.body)
    memory_id = get_stored(context.stores, reader.required_text("node_id")).memory.id
    if reader.raw("signal") is None:
        raise InvalidValue("signal", "is missing", hint="it is required")
    signal = reader.whole("signal", 0, -1, 1)
    source = reader.text("source") or "explicit"
    whisper_id = reader.text("whisper_log_id")
    reader.done()
    give_feedback(context.stores, memory_id, signal, source, whisper_id)
    return answers.noted(memory_id, signal)


def _show(context: HomeContext, call: Call) -> object:
    reader = RequestReader(call.query)
    session = reader.text("session_id")
    reader.done()
    seen = show(context.stores, call.named)
    memory_id = seen.stored.memory.id
    ends = {row.source for row in seen.edges} | {row.connection.target for row in seen.edges}
    notes = record_use(context.stores, [memory_id], "opened", session, wait=True)
    return answers.shown(seen, context.stores.search.memories(ends - {memory_id}), notes)


def _list(context: HomeContext, call: Call) -> object:
    reader = RequestReader(call.query)
    chosen = read_filter(reader)
    limit = reader.whole("limit", PAGE, 1, PAGE_AT_MOST)
    offset = reader.whole("offset", 0, 0, 1_000_000_000)
    reader.done()
    search, now = context.stores.search, context.stores.clock.now()
    return answers.listed(search.listing(chosen, now, limit, offset), search.count(chosen, now))


def _trash(context: HomeContext, call: Call) -> object:
    found = sorted(context.stores.vault.trashed(), key=lambda each: each.path)
    return answers.trashed(found)


def _history(context: HomeContext, call: Call) -> object:
    memory_id, events = read_history(context.stores, call.named, _limit(call))
    return answers.history(memory_id, events, _outcomes(context.stores, events))


def _audit(context: HomeContext, call: Call) -> object:
    reader = RequestReader(call.query)
    limit = reader.whole("limit", EVENTS, 1, EVENTS_AT_MOST)
    memory, verb = reader.text("node_id"), reader.text("operation")
    reader.done()
    events = _newest(_reading(context.stores, memory), limit, _RECORDED, verb)
    return answers.happenings(events, _outcomes(context.stores, events))


def _merges(context: HomeContext, call: Call) -> object:
    events = _newest(_reading(context.stores, None), _limit(call), (EventKind.CHANGED,), "merge")
    return answers.merges(events, _outcomes(context.stores, events))


_RECORDED = (EventKind.REMEMBERED, EventKind.CHANGED, EventKind.DECIDED)
_Reading = Callable[[Sequence[EventKind], int], Sequence[Event]]


def _reading(stores: Stores, memory: str | None) -> _Reading:
    """Return how to read so many events, newest first: of one memory, or of all."""
    if memory is None:
        return lambda kinds, many: stores.log.recent_events(kinds, many)
    return lambda kinds, many: read_history(stores, memory, many)[1]


def _newest(
    read: _Reading, limit: int, kinds: Sequence[EventKind], verb: str | None = None
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


def _outcomes(stores: Stores, events: Sequence[Event]) -> dict[str, str | None]:
    changes = {change for each in events if (change := answers.change_of(each))}
    return {change: stores.log.outcome(change) for change in changes}


# -- proposals -----------------------------------------------------------------------------


def _proposals(context: HomeContext, call: Call) -> object:
    reader = RequestReader(call.query)
    wanted = reader.text("status") or ProposalStatus.PENDING.value
    reader.done()
    known = [*(each.value for each in ProposalStatus), "all"]
    if wanted not in known:
        raise UnknownWord("status", wanted, known)
    status = None if wanted == "all" else ProposalStatus(wanted)
    return answers.proposals(context.stores.log.proposals(status))


def _decide(context: HomeContext, call: Call) -> object:
    reader = RequestReader(call.body)
    action = reader.required_text("action")
    reader.done()
    known = [each.value for each in ProposalStatus if each is not ProposalStatus.EXPIRED]
    if action not in known:
        raise UnknownWord("action", action, known)
    if action == ProposalStatus.PENDING.value:
        return answers.decided(reopen_proposal(context.stores, call.named, by=call.by))
    return answers.decided(
        decide_proposal(context.stores, call.named, ProposalStatus(action), by=call.by)
    )


# -- the home ------------------------------------------------------------------------------


def _health(context: HomeContext, call: Call) -> object:
    return Health(status="ok", version=__version__)


def _status(context: HomeContext, call: Call) -> object:
    stores = context.stores
    counts = stores.search.counts()
    minds = stores.minds
    return HomeStatus(
        version=__version__,
        home=str(context.home),
        vault=stores.vault.place,
        device=stores.journal.device,
        pid=os.getpid(),
        counts=answers.counts_of(counts),
        embedder=EmbedderStatus(
            name=minds.embedder.name if minds.embedder else None,
            why_not=minds.why_not or None,
            unembedded=counts.unembedded,
        ),
        reranker=RerankerStatus(
            name=minds.reranker.name if minds.reranker else None,
            why_not=minds.why_no_reranker or None,
        ),
        unreadable=[answers.unreadable_file(each) for each in stores.search.unreadable()],
        journal=JournalStatus(
            files=len(stores.journal.names()),
            problems=_journal_problems(context),
        ),
        index_place=context.index_place,
        index_bytes=None if context.index_place else _index_size(context.home),
        runs=[_run(each) for each in stores.log.recent_events([EventKind.RUN.value], RUNS_SHOWN)],
        sleep=sleeping.standing(context),
        backup=moving.standing(context),
        ingest=ingesting.standing(context),
        notes=list(context.notes),
        daemon=None,
    )


def _journal_problems(context: HomeContext) -> list[str]:
    torn = [f"{each.path}:{each.line}: {each.problem}" for each in context.stores.log.torn()]
    return list(dict.fromkeys([*torn, *context.journal_problems]))


def _run(event: Event) -> Json:
    """What a job's last run did (I8)."""
    return {"at": format_time(event.at), **event.body}


def _index_size(home: Path) -> int:
    return sum(_size(home / name) for name in ("index.db", "index.db-wal"))


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _reconcile(context: HomeContext, call: Call) -> object:
    report = reconcile_and_embed(context.stores)
    report.notes.extend(describe_demotions(hold_core_cap(context.stores)))
    return answers.reconciled(report)


def _rebuild(context: HomeContext, call: Call) -> object:
    began = time.monotonic()
    report = rebuild(context.stores)
    report.notes.extend(describe_demotions(hold_core_cap(context.stores)))
    return answers.rebuilt(report, time.monotonic() - began)


def _purge(context: HomeContext, call: Call) -> object:
    reader = RequestReader(call.body)
    named, whole = reader.texts("memories"), reader.flag("all")
    reader.done()
    if whole == bool(named):
        raise Rejected("say which memories to purge, or `all`", hint="one of the two")
    return answers.purged(purge(context.stores, None if whole else named))


def _compact(context: HomeContext, call: Call) -> object:
    return answers.compacted(compact(context.stores))


def _stop(context: HomeContext, call: Call) -> object:
    raise DaemonDown(str(context.home))


# -- pieces --------------------------------------------------------------------------------


def default_space(call: Call) -> str | None:
    """Return the space of a request that names none itself."""
    reader = RequestReader(call.query)
    space = read_space(reader.text("default_space"))
    reader.done()
    return space


def _reason(reader: RequestReader) -> str | None:
    return read_one_line("reason", reader.text("reason"), REASON_CHARS)


def _limit(call: Call) -> int:
    reader = RequestReader(call.query)
    limit = reader.whole("limit", EVENTS, 1, EVENTS_AT_MOST)
    reader.done()
    return limit


OPERATIONS: Mapping[str, Operation] = {
    "remember": _remember,
    "remember_many": _remember_many,
    "recall": _recall,
    "whisper": _whisper,
    "whisper_why": _whisper_why,
    "whisper_report": _whisper_report,
    "feedback": _feedback,
    "show": _show,
    "list": _list,
    "trash": _trash,
    "history": _history,
    "revise": _revise,
    "retire": _retire,
    "forget": _forget,
    "restore": _restore,
    "link": _link,
    "unlink": _unlink,
    "merge": _merge,
    "undo": _undo,
    "proposals": _proposals,
    "proposal": sleeping.proposal,
    "decide": _decide,
    "merges": _merges,
    "undo_merge": _undo_merge,
    "audit": _audit,
    "insights": sleeping.insights,
    "maintenance": sleeping.maintenance,
    "hand_in": sleeping.hand_in_verdicts,
    "tasks": sleeping.tasks,
    "consolidate": sleeping.consolidate,
    "consolidate_status": sleeping.consolidate_status,
    "run_all": sleeping.run_all,
    "run_task": sleeping.run_task,
    "stop_task": sleeping.stop_task,
    "pause_task": sleeping.pause_task,
    "resume_task": sleeping.resume_task,
    "health": _health,
    "status": _status,
    "stats": stats,
    "reconcile": _reconcile,
    "rebuild": _rebuild,
    "purge": _purge,
    "compact": _compact,
    "import": moving.take_in,
    "export": moving.give_out,
    "backup": moving.back_up,
    "backups": moving.backups,
    "ingest_conversation": ingesting.conversation,
    "ingest_file": ingesting.file,
    "stop": _stop,
    **dict.fromkeys(people.PEOPLE, people.nobody),
    "page_link": _stop,
    "page_search": searching.search,
    "page_list": searching.listing,
    "page_facets": searching.facets,
    "page_graph": page_graph.overview,
    "page_graph_space": page_graph.region,
    "page_graph_near": page_graph.surroundings,
    "page_graph_paths": page_graph.paths,
    "page_memory": page_memory.memory,
    "page_similar": page_memory.similar,
    "page_difference": page_memory.difference,
    "page_time": timeline.timeline,
    "page_time_bars": timeline.bars,
    "page_time_day": timeline.day,
    "page_time_turns": timeline.turns,
    "page_home": home.home,
    "page_whispers": whispers.whispers,
    "page_whisper": whispers.whisper,
    "page_why_not": whispers.missed,
    "page_sleep": nights.sleep,
    "page_runs": nights.runs,
    "page_run": nights.run,
    "page_change": nights.change,
    "page_proposals": proposals.proposals,
    "page_proposal": proposals.proposal,
}
