"""What was changed: merges and all other recorded changes, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from madeleine.api import answers, reach
from madeleine.api.contract.requests import AuditQuery, HistoryQuery, LogQuery
from madeleine.api.contract.responses import EventPage, LogPage, MergePage, UndoneChanges
from madeleine.api.memory_operations import undo_changes
from madeleine.api.operation import Operation, operation
from madeleine.api.performing import perform_in_place
from madeleine.api.recorded_events import (
    DEFAULT_EVENTS,
    MAX_EVENTS,
    find_newest_events,
    make_event_reader,
    read_event_limit,
    read_outcomes,
)
from madeleine.api.request_fields import read_spoken_time
from madeleine.api.shared_behaviour import at_holder, joined
from madeleine.errors import NoSuchChange
from madeleine.model.cause import ActivityKind
from madeleine.model.draft import read_space
from madeleine.model.event import EventKind
from madeleine.model.people import Role
from madeleine.model.request_reader import RequestReader
from madeleine.model.words import read_word
from madeleine.write.activity import (
    ActivityAuthor,
    ActivityQuery,
    find_last_night,
    read_activity,
)

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.api.reach import CallerReach
    from madeleine.bootstrap import HomeContext

DEFAULT_ENTRIES = 50
MAX_ENTRIES = 1_000
_AUDITED_KINDS = (EventKind.REMEMBERED, EventKind.CHANGED, EventKind.DECIDED)


@operation(
    "merges",
    "GET",
    "/agent/merges",
    "merges that were made, newest first",
    role=Role.READER,
    query=HistoryQuery,
    answer=MergePage,
    shared=joined("merges"),
)
def list_merges(context: HomeContext, call: OperationCall) -> MergePage:
    events = find_newest_events(
        make_event_reader(context.stores, None),
        read_event_limit(call),
        (EventKind.CHANGED,),
        "merge",
    )
    return answers.build_merge_page(events, read_outcomes(context.stores, events))


@operation(
    "undo_merge",
    "POST",
    "/agent/merges/{id}/undo",
    "take a merge back",
    role=Role.WRITER,
    answer=UndoneChanges,
    shared=at_holder(reach.find_changes),
)
def undo_merge(context: HomeContext, call: OperationCall) -> UndoneChanges:
    found = context.stores.log.changes(call.path_id)
    if not any(each.body.get("verb") == "merge" for each in found):
        raise NoSuchChange(call.path_id)
    return undo_changes.perform(context, call)


def _list_changes_everywhere(
    operation: Operation[EventPage], reached: CallerReach, call: OperationCall
) -> EventPage:
    """Return the changes of a memory where it is kept; without one, those of all places."""
    wanted = call.query.get("node_id")
    if isinstance(wanted, str):
        holder = reached.find_holder(wanted, reach.find_memories_or_trash)
        return perform_in_place(reached, holder, operation, call)
    page: EventPage = joined("events")(operation, reached, call)
    return page


@operation(
    "audit",
    "GET",
    "/agent/audit",
    "every recorded change, newest first",
    role=Role.READER,
    query=AuditQuery,
    answer=EventPage,
    shared=_list_changes_everywhere,
)
def list_changes(context: HomeContext, call: OperationCall) -> EventPage:
    reader = RequestReader(call.query)
    limit = reader.whole("limit", DEFAULT_EVENTS, 1, MAX_EVENTS)
    memory, verb = reader.text("node_id"), reader.text("operation")
    reader.done()
    events = find_newest_events(
        make_event_reader(context.stores, memory), limit, _AUDITED_KINDS, verb
    )
    return answers.build_event_page(events, read_outcomes(context.stores, events))


@operation(
    "log",
    "GET",
    "/agent/log",
    "what happened, a sentence each, newest first, with what takes it back",
    role=Role.READER,
    query=LogQuery,
    answer=LogPage,
    shared=joined("entries"),
)
def show_log(context: HomeContext, call: OperationCall) -> LogPage:
    reader, now = RequestReader(call.query), context.stores.clock.now()
    limit = reader.whole("limit", DEFAULT_ENTRIES, 1, MAX_ENTRIES)
    since = read_spoken_time(reader, "since", now)
    until = read_spoken_time(reader, "until", now)
    by = reader.raw("by")
    author = None if by is None else read_word(ActivityAuthor, "by", by)
    kinds = reader.choices(ActivityKind, "kinds")
    spaces = (read_space(reader.text("space")),) if reader.has("space") else None
    last_night = reader.flag("last_night")
    reader.done()
    night = find_last_night(context.stores) if last_night else None
    if last_night and night is None:
        return answers.build_log_page([], None)
    query = ActivityQuery(
        limit,
        since=since[0] if since else None,
        until=until[1] if until else None,
        author=author,
        kinds=kinds,
        spaces=spaces,
        night=night,
    )
    return answers.build_log_page(read_activity(context.stores, query), night)
