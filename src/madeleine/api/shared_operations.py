"""Operations that reach more than one context: one person's own memory, and the spaces they share.

What names a memory, a change or a proposal acts where that is kept. What is remembered goes to
the shared space whose name it bears. A question is asked in every place that its filter allows,
and the answers are joined by their scores, which are absolute. Nothing leads from one context into
another: such connections and merges are refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, cast

from madeleine.api import answer_texts, answers, moving_operations, reach
from madeleine.api.call import OperationCall
from madeleine.api.contract.responses import (
    ExportPage,
    HomeStatus,
    ImportOutcome,
    ImportReport,
    RememberedMany,
    WriteOutcome,
)
from madeleine.api.operations import (
    DEFAULT_PAGE_SIZE,
    DOOR_NAMES,
    MAX_PAGE_SIZE,
    perform_operation,
    prepare_operation,
    read_default_space,
    read_prompt,
)
from madeleine.api.page import shared
from madeleine.api.people_operations import PEOPLE_OPERATIONS
from madeleine.api.query_parameters import parse_query
from madeleine.api.reach import CallerReach, IdLookup, ReachablePlace, required_role
from madeleine.api.wording import causes_to_fields, render_causes
from madeleine.errors import (
    MadeleineError,
    NoSuchMemory,
    OnlyAtTheServer,
    OtherSpace,
)
from madeleine.model.cause import Cause, NoteKind
from madeleine.model.draft import Draft, read_draft, read_space
from madeleine.model.embedding import QueryEmbedding
from madeleine.model.people import Caller, Role
from madeleine.model.query import Filter, RecallQuery, read_filter, read_query
from madeleine.model.request_reader import RequestReader
from madeleine.model.times import format_time
from madeleine.recall.candidates import embed_question
from madeleine.recall.recall import RecallMatch, RecallResult, recall
from madeleine.rules.ranked_merge import merge_ranked
from madeleine.whisper.whisper import whisper
from madeleine.write.executor import run_concurrently
from madeleine.write.record_use import record_use
from madeleine.write.stores import Stores

DEFAULT_EXPORT_SIZE = moving_operations.DEFAULT_PAGE_SIZE

SharedOperation = Callable[[CallerReach, OperationCall], Any]
"""Returns a shape of `api/contract`."""


@contextmanager
def prepare_for(
    reached: CallerReach, name: str, call: OperationCall
) -> Iterator[Callable[[], Any]]:
    """Give an operation as far as the caller reaches, if they may do it, for the door to call."""
    if name in PEOPLE_OPERATIONS:
        reached.own.check(name, required_role(name))
        yield partial(PEOPLE_OPERATIONS[name], reached, _parse_call_query(name, call))
        return
    if not reached.is_local:
        _refuse_server_paths(name, call)
    if name == "status" and reached.caller is not None:
        yield partial(_report_status, reached, reached.caller, call)
    elif reached.shared and name in SHARED_OPERATIONS:
        yield partial(SHARED_OPERATIONS[name], reached, _parse_call_query(name, call))
    else:
        with _prepare_in(reached, reached.own, name, call) as operation:
            yield operation


def perform_for(reached: CallerReach, name: str, call: OperationCall) -> Any:
    """Carry out an operation as far as the caller reaches, if they may do it."""
    with prepare_for(reached, name, call) as operation:
        return operation()


def _parse_call_query(name: str, call: OperationCall) -> OperationCall:
    return replace(call, query=parse_query(name, call.query))


def _refuse_server_paths(name: str, call: OperationCall) -> None:
    """Refuse files of the server's machine to who is elsewhere."""
    field = {"ingest_file": "path", "backup": "to"}.get(name)
    if field is not None and call.body.get(field) is not None:
        raise OnlyAtTheServer(field)


def _report_status(reached: CallerReach, caller: Caller, call: OperationCall) -> HomeStatus:
    """Say also who asks. How the server itself stands is nobody's business but an admin's."""
    found: HomeStatus = _perform_in(reached, reached.own, "status", call)
    status = replace(found, person=caller.person, role=caller.role.value)
    return status if caller.role is Role.ADMIN else _hide_server_details(status)


def _hide_server_details(status: HomeStatus) -> HomeStatus:
    """Return a status without what is the server's own: its places, and why a model is missing,
    which names its files."""
    models = (status.embedder, status.reranker)
    why = [each.why_not for each in models if each.why_not]
    return replace(
        status,
        home=None,
        vault=None,
        index_place=None,
        device=None,
        pid=None,
        backup=None,
        daemon=None,
        notes=[note for note in status.notes if not any(each in note for each in why)],
        embedder=replace(status.embedder, why_not=status.embedder.why_not and _HIDDEN_REASON),
        reranker=replace(status.reranker, why_not=status.reranker.why_not and _HIDDEN_REASON),
    )


_HIDDEN_REASON = "whoever runs the server sees why"


@contextmanager
def _prepare_in(
    reached: CallerReach, place: ReachablePlace, name: str, call: OperationCall
) -> Iterator[Callable[[], Any]]:
    """Give an operation in one place. A memory that is named and not there, but within reach, is
    told from one that is nowhere."""
    place.check(name, required_role(name))
    try:
        with prepare_operation(place.context, name, _sign_call(reached, place, call)) as operation:
            yield operation
    except NoSuchMemory as missing:
        for other in reached.places():
            if other is not place and reach.find_memories(other.context.stores, missing.wanted):
                raise OtherSpace(missing.wanted, other.label) from missing
        raise


def _perform_in(reached: CallerReach, place: ReachablePlace, name: str, call: OperationCall) -> Any:
    """Do something in one place."""
    with _prepare_in(reached, place, name, call) as operation:
        return operation()


def _sign_call(reached: CallerReach, place: ReachablePlace, call: OperationCall) -> OperationCall:
    """Return a call that says in a shared space which of its members it is of."""
    if place.space is None or reached.caller is None:
        return call
    person = reached.caller.person
    by = f"person:{person}" if call.by in DOOR_NAMES else f"{call.by}@{person}"
    source = call.body.get("source")
    body = {**call.body, "source": f"{source}@{person}"} if isinstance(source, str) else call.body
    return replace(call, by=by, body=body)


# --- where an id says so --------------------------------------------------------------------


def _make_holder_operation(name: str, held: IdLookup, field: str | None = None) -> SharedOperation:
    """Return the act of doing something where that is kept which the request names: in the
    path, or in a field of its body."""

    def act(reached: CallerReach, call: OperationCall) -> Any:
        wanted = call.path_id if field is None else call.body.get(field)
        place = reached.find_holder(wanted, held) if isinstance(wanted, str) else reached.own
        return _perform_in(reached, place, name, call)

    return act


def _revise(reached: CallerReach, call: OperationCall) -> Any:
    """A memory changes its space only within the context that keeps it."""
    place = reached.find_holder(call.path_id, reach.find_memories)
    if "space" in call.body:
        space = read_space(RequestReader(call.body).text("space"))
        if reached.at(space) is not place and not _is_in_space(place, call.path_id, space):
            raise OtherSpace(call.path_id, place.label)
    return _perform_in(reached, place, "revise", call)


def _is_in_space(place: ReachablePlace, wanted: str, space: str | None) -> bool:
    """Whether a memory is of this space already, wherever others of its name are kept."""
    stores = place.context.stores
    found = stores.search.memories(reach.find_memories(stores, wanted))
    return bool(found) and all(each.space == space for each in found.values())


def _undo(reached: CallerReach, call: OperationCall) -> Any:
    """Take back a change where it was made; an import that went to several places, in each."""
    wanted = call.path_id
    places = [
        each for each in reached.places() if wanted in reach.find_changes(_stores_of(each), wanted)
    ]
    if len(places) < 2:
        return _make_holder_operation("undo", reach.find_changes)(reached, call)
    for place in places:
        place.check("undo", required_role("undo"))
    told = [_perform_in(reached, place, "undo", call) for place in places]
    return replace(
        told[0],
        text="\n".join(each.text for each in told),
        undone=tuple(change for each in told for change in each.undone),
        memories=tuple(memory for each in told for memory in each.memories),
    )


def _stores_of(place: ReachablePlace) -> Stores:
    return place.context.stores


def _take_feedback(reached: CallerReach, call: OperationCall) -> Any:
    """Say how useful a memory was, where it is kept. Whispers are in the caller's own log."""
    wanted = call.body.get("node_id")
    place = (
        reached.find_holder(wanted, reach.find_memories) if isinstance(wanted, str) else reached.own
    )
    if place.space is not None:
        body = {name: value for name, value in call.body.items() if name != "whisper_log_id"}
        call = replace(call, body=body)
    return _perform_in(reached, place, "feedback", call)


def _purge(reached: CallerReach, call: OperationCall) -> Any:
    """Purge where the first of what is named lies; all that lies in the trash, at home."""
    named = call.body.get("memories")
    first = named[0] if isinstance(named, list) and named else None
    place = reached.own
    if isinstance(first, str):
        place = reached.find_holder(first, reach.find_memories_or_trash)
    return _perform_in(reached, place, "purge", call)


def _list_events(reached: CallerReach, call: OperationCall) -> Any:
    wanted = call.query.get("node_id")
    if isinstance(wanted, str):
        return _perform_in(
            reached, reached.find_holder(wanted, reach.find_memories_or_trash), "audit", call
        )
    return _make_joined_operation("audit", "events")(reached, call)


# --- where a space says so ------------------------------------------------------------------


def _remember(reached: CallerReach, call: OperationCall) -> Any:
    draft = _read_draft(reached, call.body, read_default_space(call))
    place = _find_place(reached, draft)
    _refuse_foreign_links(reached, place, draft)
    answer = _perform_in(reached, place, "remember", call)
    added = causes_to_fields("notes", _space_spelling_notes(reached, draft))
    return replace(
        answer,
        text=answer_texts.append_notes(answer.text, added["notes"]),
        **{name: (*getattr(answer, name), *more) for name, more in added.items()},
    )


def _space_spelling_notes(reached: CallerReach, draft: Draft) -> tuple[Cause, ...]:
    """Return a note on a draft that stays at home for the spelling of its space alone."""
    meant = None if draft.about_self else reached.find_similar_space(draft.space)
    if meant is None:
        return ()
    return (Cause(NoteKind.NEARLY_SHARED, {"space": draft.space, "shared": meant}),)


def _read_draft(reached: CallerReach, values: object, space: str | None) -> Draft:
    limits = reached.context.stores.config.limits
    return read_draft(values, limits, space)  # type: ignore[arg-type]  # it checks


def _find_place(reached: CallerReach, draft: Draft) -> ReachablePlace:
    """Return where a draft belongs. What describes a person stays with them."""
    return reached.own if draft.about_self else reached.at(draft.space)


def _refuse_foreign_links(reached: CallerReach, place: ReachablePlace, draft: Draft) -> None:
    """Refuse connections that lead from one place into another."""
    for link in draft.connections:
        if reach.find_memories(place.context.stores, link.target):
            continue
        for other in reached.places():
            if other is not place and reach.find_memories(other.context.stores, link.target):
                raise OtherSpace(link.target, other.label)


def _remember_many(reached: CallerReach, call: OperationCall) -> Any:
    batch = BatchDispatcher(reached, "remember_many", call, WriteOutcome)
    batch.sort(lambda item: _read_draft(reached, item, read_default_space(call)))
    batch.carry_out()
    results: list[WriteOutcome] = batch.results
    refused = sum(each.error is not None for each in results)
    known = sum(each.existing is True for each in results)
    new = answer_texts.render_count(len(results) - refused - known, "memory")
    text = f"{new} written, {known} known before, {refused} refused"
    return RememberedMany(text=answer_texts.append_notes(text, batch.notes), results=tuple(results))


def _import(reached: CallerReach, call: OperationCall) -> Any:
    """Bring in what is to be imported, as one run wherever it goes."""
    run = call.body.get("run") or reached.context.stores.new_id()
    batch = BatchDispatcher(
        reached, "import", replace(call, body={**call.body, "run": run}), ImportOutcome
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


class BatchDispatcher:
    """Items on their way to where each belongs, and what comes of them, in their order."""

    def __init__(
        self,
        reached: CallerReach,
        name: str,
        call: OperationCall,
        refusal: type[WriteOutcome | ImportOutcome],
    ) -> None:
        reached.own.check(name, required_role(name))
        self._refusal = refusal
        self._reached = reached
        self._name = name
        self._call = call
        self._items = RequestReader(call.body).items("items", lambda item: item) or ()
        self._parts: dict[str | None, tuple[ReachablePlace, list[int]]] = {None: (reached.own, [])}
        self._results: dict[int, Any] = {}
        self._notes: dict[str, None] = {}

    @property
    def results(self) -> list[Any]:
        return [self._results[number] for number in range(len(self._items))]

    @property
    def notes(self) -> list[str]:
        """What to say about all of it, each once."""
        return list(self._notes)

    def sort(self, read: Callable[[object], Draft]) -> None:
        """Find out where each item belongs; what cannot be kept there is refused by itself."""
        for number, item in enumerate(self._items):
            try:
                place = self._place_for(read(item))
            except MadeleineError as error:
                self._results[number] = self._refusal(error=error)
            else:
                self._parts.setdefault(place.space, (place, []))[1].append(number)

    def _place_for(self, draft: Draft) -> ReachablePlace:
        place = _find_place(self._reached, draft)
        place.check(self._name, Role.WRITER)
        _refuse_foreign_links(self._reached, place, draft)
        self._notes |= dict.fromkeys(render_causes(_space_spelling_notes(self._reached, draft)))
        return place

    def carry_out(self) -> Sequence[Any]:
        """Carry all of it out, and return the answer of each place."""
        return [self._part(place, numbers) for place, numbers in self._parts.values()]

    def _part(self, place: ReachablePlace, numbers: Sequence[int]) -> Any:
        """Carry out the items that belong to one place."""
        items = [cast("Mapping[str, object]", self._items[number]) for number in numbers]
        signed = [
            _sign_call(self._reached, place, replace(self._call, body=each)) for each in items
        ]
        whole = _sign_call(self._reached, place, replace(self._call, body={}))
        given = "items" in self._call.body  # else the operation says that they are missing
        body = {**self._call.body, **({"items": [each.body for each in signed]} if given else {})}
        answer = perform_operation(place.context, self._name, replace(whole, body=body))
        self._results |= dict(zip(numbers, answer.results, strict=True))
        return answer


def _ingest_file(reached: CallerReach, call: OperationCall) -> Any:
    """Take in a file where its space is kept. A conversation, which has a route of its own,
    stays with the one who said it, whichever project it was about."""
    space = read_space(RequestReader(call.query).text("default_space"))
    return _perform_in(reached, reached.at(space), "ingest_file", call)


# --- questions ------------------------------------------------------------------------------


def _recall(reached: CallerReach, call: OperationCall) -> Any:
    query = read_query(call.body, read_default_space(call))
    reached.own.check("recall", Role.READER)
    places = reached.places_for_spaces(query.filter.spaces)
    _wait_for_uses(places)
    about = (
        reached.find_holder(query.why_not, reach.find_memories) if query.why_not else reached.own
    )
    trace, _ = embed_question(reached.context.stores, query.text)
    asking = [
        partial(_recall_in, place, _query_for_place(query, place, about), trace) for place in places
    ]
    found = run_concurrently(asking)
    hits = merge_ranked([each.hits for each in found], lambda hit: hit.score, query.limit)
    notes = dict.fromkeys(note for each in found for note in each.notes)
    _record_uses(places, found, hits, query)
    silence = None if hits else found[0].silence
    why_not = next((each.why_not for each in found if each.why_not), None)
    return answers.build_recall_answer(
        RecallResult(tuple(hits), silence, tuple(notes), why_not), query.explain
    )


def _recall_in(
    place: ReachablePlace, query: RecallQuery, trace: QueryEmbedding | None
) -> RecallResult:
    return recall(place.context.stores, query, touch=False, trace=trace)


def _wait_for_uses(places: Sequence[ReachablePlace]) -> None:
    """Wait for the uses noted behind earlier answers."""
    for place in places:
        place.context.stores.executor.wait()


def _query_for_place(
    query: RecallQuery, place: ReachablePlace, about: ReachablePlace
) -> RecallQuery:
    """Return a question as it is asked in one place."""
    return replace(
        query,
        filter=_filter_for_place(query.filter, place),
        why_not=query.why_not if place is about else None,
    )


def _filter_for_place(chosen: Filter, place: ReachablePlace) -> Filter:
    """Return a filter for one place: in a shared one, only what bears its name."""
    return chosen if place.space is None else replace(chosen, spaces=(place.space,))


def _record_uses(
    places: Sequence[ReachablePlace],
    found: Sequence[RecallResult],
    hits: Sequence[RecallMatch],
    query: RecallQuery,
) -> None:
    """Note what is shown as used, where it is kept."""
    shown = {id(each) for each in hits}
    for place, each in zip(places, found, strict=True):
        ids = [hit.memory.id for hit in each.hits if id(hit) in shown]
        if ids:
            record_use(place.context.stores, ids, "recalled", query.session_id)


def _whisper(reached: CallerReach, call: OperationCall) -> Any:
    context, prompt = reached.context, read_prompt(call)
    _wait_for_uses([*reached.places()])
    reached.own.check("whisper", Role.READER)
    others = tuple((str(each.space), each.context.stores) for each in reached.shared)
    said = whisper(context.stores, context.whisper_config, context.whisperer, prompt, others)
    return answers.build_whisper_answer(said, prompt.explain)


def _list(reached: CallerReach, call: OperationCall) -> Any:
    """Return a page of all places together, newest first."""
    reached.own.check("list", Role.READER)
    reader = RequestReader(call.query)
    chosen = read_filter(reader)
    limit = reader.whole("limit", DEFAULT_PAGE_SIZE, 1, MAX_PAGE_SIZE)
    offset = reader.whole("offset", 0, 0, 1_000_000_000)
    reader.done()
    now = reached.context.stores.clock.now()
    asked = [
        (each.context, _filter_for_place(chosen, each))
        for each in reached.places_for_spaces(chosen.spaces)
    ]
    pages = [
        context.stores.search.listing(within, now, limit + offset, 0) for context, within in asked
    ]
    newest = merge_ranked(pages, lambda each: each.created.timestamp(), limit + offset)
    total = sum(context.stores.search.count(within, now) for context, within in asked)
    return answers.build_memory_page(newest[offset:], total)


def _export(reached: CallerReach, call: OperationCall) -> Any:
    """Give out what is the caller's own, and what they share only if its space is named."""
    chosen = read_filter(RequestReader(call.query))
    named = [each for each in reached.shared if each.space in chosen.spaces]
    reached.own.check("export", required_role("export"))
    for place in named:
        place.check("export", Role.READER)
    pages = [perform_operation(each.context, "export", call) for each in (reached.own, *named)]
    return _merge_export_pages(pages, int(str(call.query.get("limit") or DEFAULT_EXPORT_SIZE)))


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


def _make_joined_operation(name: str, *lists: str) -> SharedOperation:
    """Return the act of asking in every place, and joining lists of the answers, newest first."""

    def act(reached: CallerReach, call: OperationCall) -> Any:
        told = [(place, _perform_in(reached, place, name, call)) for place in reached.places()]
        newest = {
            each: _sort_newest_first(
                [row for _, answer in told for row in getattr(answer, each)], call
            )
            for each in lists
        }
        return replace(told[0][1], text="\n".join(_render_texts(told)), **newest)

    return act


def _sort_newest_first(rows: Iterable[Any], call: OperationCall) -> tuple[Any, ...]:
    limit = call.query.get("limit")
    ordered = sorted(rows, key=_time_key, reverse=True)  # what has no time keeps its order
    return tuple(ordered[: int(str(limit))] if limit is not None else ordered)


def _time_key(row: object) -> str:
    """Return when something happened or was made, as text that sorts."""
    at = getattr(row, "at", None) or getattr(row, "created", None)
    return format_time(at) if isinstance(at, datetime) else str(at or "")


def _render_texts(told: Sequence[tuple[ReachablePlace, Any]]) -> Iterator[str]:
    for place, answer in told:
        if place.space is None:
            yield answer.text
        elif answer.text:
            yield f"in {place.label}: {answer.text}"


SHARED_OPERATIONS: Mapping[str, SharedOperation] = {
    "remember": _remember,
    "remember_many": _remember_many,
    "recall": _recall,
    "whisper": _whisper,
    "feedback": _take_feedback,
    "show": _make_holder_operation("show", reach.find_memories),
    "list": _list,
    "trash": _make_joined_operation("trash", "memories"),
    "history": _make_holder_operation("history", reach.find_memories_or_trash),
    "revise": _revise,
    "retire": _make_holder_operation("retire", reach.find_memories),
    "forget": _make_holder_operation("forget", reach.find_memories),
    "restore": _make_holder_operation("restore", reach.find_memories_or_trash),
    "link": _make_holder_operation("link", reach.find_memories, "source_id"),
    "unlink": _make_holder_operation("unlink", reach.find_memories, "source_id"),
    "merge": _make_holder_operation("merge", reach.find_memories, "keep"),
    "undo": _undo,
    "undo_merge": _make_holder_operation("undo_merge", reach.find_changes),
    "proposals": _make_joined_operation("proposals", "proposals"),
    "proposal": _make_holder_operation("proposal", reach.find_proposals),
    "decide": _make_holder_operation("decide", reach.find_proposals),
    "merges": _make_joined_operation("merges", "merges"),
    "audit": _list_events,
    "insights": _make_joined_operation("insights", "evolutions", "tensions"),
    "purge": _purge,
    "import": _import,
    "export": _export,
    "ingest_file": _ingest_file,
    "page_search": shared.search_everywhere,
    "page_list": shared.list_everywhere,
    "page_facets": shared.count_facets_everywhere,
    "page_memory": _make_holder_operation("page_memory", reach.find_memories_or_trash),
    "page_similar": _make_holder_operation("page_similar", reach.find_memories),
    "page_difference": _make_holder_operation("page_difference", reach.find_memories_or_trash),
    "page_graph_near": _make_holder_operation("page_graph_near", reach.find_memories),
    "page_change": _make_holder_operation("page_change", reach.find_changes),
    "page_proposals": shared.list_proposals_everywhere,
    "page_proposal": _make_holder_operation("page_proposal", reach.find_proposals),
}
"""What reaches further than the caller's own context. Everything else stays there."""
