"""Memories: look at them, list them, and change them, always with a way back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from madeleine.api import answers, reach
from madeleine.api.contract.requests import (
    ConnectedBody,
    ForgetQuery,
    HistoryQuery,
    LinkBody,
    ListQuery,
    MergeBody,
    RetireBody,
    ReviseBody,
    ShowQuery,
    UnlinkBody,
)
from madeleine.api.contract.responses import (
    ChangedMemory,
    ConnectedMemories,
    ForgottenMemory,
    MemoryHistory,
    MemoryPage,
    MergedMemory,
    ShownMemory,
    TrashPage,
    UndoneChanges,
)
from madeleine.api.operation import Operation, operation
from madeleine.api.performing import perform_in_place
from madeleine.api.recorded_events import read_event_limit, read_outcomes
from madeleine.api.remember_operations import read_author
from madeleine.api.request_fields import read_reason
from madeleine.api.shared_behaviour import at_holder, filter_for_place, joined
from madeleine.errors import InvalidValue, OtherSpace
from madeleine.model.draft import check_content, read_one_line, read_space
from madeleine.model.memory import Connection
from madeleine.model.people import Role
from madeleine.model.query import Filter, read_filter
from madeleine.model.request_reader import RequestReader
from madeleine.model.revision import read_revision
from madeleine.model.words import Edge, read_word
from madeleine.recall.standing_listing import find_standing_activity
from madeleine.rules.ranked_merge import merge_ranked
from madeleine.write.approval import revise_as
from madeleine.write.connections import link, unlink
from madeleine.write.forget import forget, restore
from madeleine.write.merge import SeenVersions, merge
from madeleine.write.record_use import record_use
from madeleine.write.revise import retire
from madeleine.write.show import read_history, show
from madeleine.write.undo import undo

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.api.reach import CallerReach, ReachablePlace
    from madeleine.bootstrap import HomeContext

DEFAULT_PAGE_SIZE = 50
MAX_PAGE_SIZE = 1_000
DEFAULT_ARROWS = 12
MAX_ARROWS = 100
MAX_ASKED_IDS = 200


# -- reading -------------------------------------------------------------------------------


@operation(
    "show",
    "GET",
    "/agent/recall/{id}",
    "one memory whole, with connections and neighbours",
    role=Role.READER,
    query=ShowQuery,
    answer=ShownMemory,
    quick=True,
    shared=at_holder(reach.find_memories),
)
def show_memory(context: HomeContext, call: OperationCall) -> ShownMemory:
    reader = RequestReader(call.query)
    session = reader.text("session_id")
    reader.done()
    seen = show(context.stores, call.path_id)
    memory_id = seen.stored.memory.id
    ends = {row.source for row in seen.edges} | {row.connection.target for row in seen.edges}
    notes = record_use(context.stores, [memory_id], "opened", session, wait=True)
    return answers.build_shown_memory(
        seen,
        context.stores.search.memories(ends - {memory_id}),
        notes,
        find_standing_activity(context.stores, seen.stored.memory),
    )


def _gather_connected_everywhere(
    operation: Operation[ConnectedMemories], reached: CallerReach, call: OperationCall
) -> ConnectedMemories:
    """Return what is connected in each place: nothing leads from one into another."""
    told = [perform_in_place(reached, each, operation, call) for each in reached.places()]
    return answers.build_connected_memories(
        [memory for each in told for memory in each.memories],
        [arrow for each in told for arrow in each.arrows],
    )


@operation(
    "connected",
    "POST",
    "/agent/connected",
    "memories by their ids, with those that they are connected with; not noted as a use",
    role=Role.READER,
    body=ConnectedBody,
    answer=ConnectedMemories,
    only_reads=True,
    shared=_gather_connected_everywhere,
)
def gather_connected(context: HomeContext, call: OperationCall) -> ConnectedMemories:
    reader = RequestReader(call.body)
    ids = reader.texts("ids")
    limit = reader.whole("limit", DEFAULT_ARROWS, 1, MAX_ARROWS)
    reader.done()
    if ids is None or len(ids) > MAX_ASKED_IDS:
        raise InvalidValue("ids", f"holds {len(ids or ())}", hint=f"1 to {MAX_ASKED_IDS} of them")
    stores = context.stores
    asked = stores.search.memories(dict.fromkeys(each.strip().lower() for each in ids))
    rows = stores.graph.arrows(list(asked), limit)
    ends = {end for row in rows for end in (row.source, row.connection.target)}
    others = stores.search.memories(ends - asked.keys())
    return answers.build_connected_memories(
        [*asked.values(), *others.values()], [answers.build_arrow(row) for row in rows]
    )


def _list_everywhere(
    operation: Operation[MemoryPage], reached: CallerReach, call: OperationCall
) -> MemoryPage:
    """Return a page of all places together, newest first."""
    reached.own.check(operation.name, operation.role)
    chosen, limit, offset = _read_listing(call)
    now = reached.context.stores.clock.now()
    asked = [
        (each.context, filter_for_place(chosen, each))
        for each in reached.places_for_spaces(chosen.spaces)
    ]
    pages = [
        context.stores.search.listing(within, now, limit + offset, 0) for context, within in asked
    ]
    newest = merge_ranked(pages, lambda each: each.created.timestamp(), limit + offset)
    total = sum(context.stores.search.count(within, now) for context, within in asked)
    return answers.build_memory_page(newest[offset:], total)


@operation(
    "list",
    "GET",
    "/agent/list",
    "memories, newest first",
    role=Role.READER,
    query=ListQuery,
    answer=MemoryPage,
    quick=True,
    shared=_list_everywhere,
)
def list_memories(context: HomeContext, call: OperationCall) -> MemoryPage:
    chosen, limit, offset = _read_listing(call)
    search, now = context.stores.search, context.stores.clock.now()
    return answers.build_memory_page(
        search.listing(chosen, now, limit, offset), search.count(chosen, now)
    )


def _read_listing(call: OperationCall) -> tuple[Filter, int, int]:
    """Return which memories are listed, how many at most, and after how many."""
    reader = RequestReader(call.query)
    chosen = read_filter(reader)
    limit = reader.whole("limit", DEFAULT_PAGE_SIZE, 1, MAX_PAGE_SIZE)
    offset = reader.whole("offset", 0, 0, 1_000_000_000)
    reader.done()
    return chosen, limit, offset


@operation(
    "trash",
    "GET",
    "/agent/trash",
    "what was forgotten and can be restored",
    role=Role.READER,
    answer=TrashPage,
    shared=joined("memories"),
)
def list_trash(context: HomeContext, call: OperationCall) -> TrashPage:
    found = sorted(context.stores.vault.trashed_memories(), key=lambda each: each.path)
    return answers.build_trash_page(found)


@operation(
    "history",
    "GET",
    "/agent/history/{id}",
    "what happened to a memory, newest first",
    role=Role.READER,
    query=HistoryQuery,
    answer=MemoryHistory,
    shared=at_holder(reach.find_memories_or_trash),
)
def list_history(context: HomeContext, call: OperationCall) -> MemoryHistory:
    memory_id, events = read_history(context.stores, call.path_id, read_event_limit(call))
    return answers.build_memory_history(memory_id, events, read_outcomes(context.stores, events))


# -- changing ------------------------------------------------------------------------------


def _revise_at_holder(
    operation: Operation[ChangedMemory], reached: CallerReach, call: OperationCall
) -> ChangedMemory:
    """A memory changes its space only within the context that keeps it."""
    place = reached.find_holder(call.path_id, reach.find_memories)
    if "space" in call.body:
        space = read_space(RequestReader(call.body).text("space"))
        if reached.at(space) is not place and not _is_in_space(place, call.path_id, space):
            raise OtherSpace(call.path_id, place.label)
    return perform_in_place(reached, place, operation, call)


def _is_in_space(place: ReachablePlace, wanted: str, space: str | None) -> bool:
    """Whether a memory is of this space already, wherever others of its name are kept."""
    stores = place.context.stores
    found = stores.search.memories(reach.find_memories(stores, wanted))
    return bool(found) and all(each.space == space for each in found.values())


@operation(
    "revise",
    "POST",
    "/agent/update/{id}",
    "change what a memory says; null clears a field",
    role=Role.WRITER,
    body=ReviseBody,
    answer=ChangedMemory,
    shared=_revise_at_holder,
)
def revise_memory(context: HomeContext, call: OperationCall) -> ChangedMemory:
    revision = read_revision(call.body, context.stores.config.limits)
    author = read_author(call.by)
    done = revise_as(context.stores, call.path_id, revision, call.by, author)
    return answers.build_changed_memory(done, "Revised")


@operation(
    "retire",
    "POST",
    "/agent/outdated/{id}",
    "mark a memory as no longer true",
    role=Role.WRITER,
    body=RetireBody,
    answer=ChangedMemory,
    shared=at_holder(reach.find_memories),
)
def retire_memory(context: HomeContext, call: OperationCall) -> ChangedMemory:
    reader = RequestReader(call.body)
    reason, successor = read_reason(reader), reader.text("superseded_by")
    reader.done()
    done = retire(context.stores, call.path_id, reason, successor, by=call.by)
    return answers.build_changed_memory(done, "Retired")


@operation(
    "forget",
    "DELETE",
    "/agent/recall/{id}",
    "move a memory to the trash",
    role=Role.WRITER,
    query=ForgetQuery,
    answer=ForgottenMemory,
    shared=at_holder(reach.find_memories),
)
def forget_memory(context: HomeContext, call: OperationCall) -> ForgottenMemory:
    reader = RequestReader(call.query)
    reason = read_reason(reader)
    reader.done()
    return answers.build_forgotten_memory(
        forget(context.stores, call.path_id, by=call.by, reason=reason)
    )


@operation(
    "restore",
    "POST",
    "/agent/restore/{id}",
    "bring a forgotten memory back",
    role=Role.WRITER,
    answer=ChangedMemory,
    shared=at_holder(reach.find_memories_or_trash),
)
def restore_memory(context: HomeContext, call: OperationCall) -> ChangedMemory:
    return answers.build_changed_memory(
        restore(context.stores, call.path_id, by=call.by), "Restored"
    )


@operation(
    "link",
    "POST",
    "/agent/connect",
    "connect two memories",
    role=Role.WRITER,
    body=LinkBody,
    answer=ChangedMemory,
    shared=at_holder(reach.find_memories, "source_id"),
)
def link_memories(context: HomeContext, call: OperationCall) -> ChangedMemory:
    reader = RequestReader(call.body)
    source = reader.required_text("source_id")
    connection = Connection(
        target=reader.required_text("target_id"),
        edge=reader.choice(Edge, "edge", Edge.RELATED_TO),
        weight=reader.unit("weight", 0.5),
        reason=read_reason(reader),
        kind=read_one_line("kind", reader.text("kind"), 100),
    )
    reader.done()
    return answers.build_changed_memory(
        link(context.stores, source, connection, by=call.by), "Linked"
    )


@operation(
    "unlink",
    "POST",
    "/agent/disconnect",
    "take a connection away",
    role=Role.WRITER,
    body=UnlinkBody,
    answer=ChangedMemory,
    shared=at_holder(reach.find_memories, "source_id"),
)
def unlink_memories(context: HomeContext, call: OperationCall) -> ChangedMemory:
    reader = RequestReader(call.body)
    source, target = reader.required_text("source_id"), reader.required_text("target_id")
    edge = read_word(Edge, "edge", reader.raw("edge")) if reader.raw("edge") is not None else None
    reader.done()
    return answers.build_changed_memory(
        unlink(context.stores, source, target, edge, by=call.by), "Unlinked"
    )


@operation(
    "merge",
    "POST",
    "/agent/merge",
    "make one memory of two",
    role=Role.WRITER,
    body=MergeBody,
    answer=MergedMemory,
    shared=at_holder(reach.find_memories, "keep"),
)
def merge_memories(context: HomeContext, call: OperationCall) -> MergedMemory:
    limits = context.stores.config.limits
    reader = RequestReader(call.body)
    keep, drop = reader.required_text("keep"), reader.required_text("drop")
    title = read_one_line("title", reader.text("title"), limits.title_chars)
    text = reader.text("content")
    content = None if text is None else check_content(text, limits)
    reason = read_reason(reader)
    seen = SeenVersions(reader.text("if_keep_version"), reader.text("if_drop_version"))
    reader.done()
    return answers.build_merged_memory(
        merge(context.stores, keep, drop, title, content, by=call.by, reason=reason, seen=seen)
    )


def _undo_everywhere(
    operation: Operation[UndoneChanges], reached: CallerReach, call: OperationCall
) -> UndoneChanges:
    """Take back a change where it was made; what was done in several places at once, in each."""
    wanted = call.path_id
    held = {each: reach.find_undoable(each.context.stores, wanted) for each in reached.places()}
    known = {each for found in held.values() for each in found}
    meant = wanted if wanted in known or len(known) != 1 else known.pop()
    places = [each for each, found in held.items() if meant in found]
    if len(places) < 2:
        holder = reached.find_holder(wanted, reach.find_undoable)
        return perform_in_place(reached, holder, operation, call)
    for place in places:
        place.check(operation.name, operation.role)
    told = [perform_in_place(reached, place, operation, call) for place in places]
    return replace(
        told[0],
        text="\n".join(each.text for each in told),
        undone=tuple(change for each in told for change in each.undone),
        memories=tuple(memory for each in told for memory in each.memories),
        questions=tuple(question for each in told for question in each.questions),
    )


@operation(
    "undo",
    "POST",
    "/agent/undo/{id}",
    "take back a change, a run, or a whole night by the `request` that it answered with",
    role=Role.WRITER,
    answer=UndoneChanges,
    shared=_undo_everywhere,
)
def undo_changes(context: HomeContext, call: OperationCall) -> UndoneChanges:
    return answers.build_undone_changes(undo(context.stores, call.path_id, by=call.by))
