"""Remembering: one memory, or many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from madeleine.api import answer_texts, answers
from madeleine.api.call import DOOR_NAMES
from madeleine.api.contract.requests import MemoryDraft, RememberManyBody, SpaceQuery
from madeleine.api.contract.responses import RememberedMany, RememberedMemory, WriteOutcome
from madeleine.api.operation import Operation, operation
from madeleine.api.performing import perform_in_place
from madeleine.api.request_fields import read_default_space
from madeleine.api.shared_writing import (
    BatchDispatcher,
    find_place,
    refuse_foreign_links,
    space_spelling_notes,
)
from madeleine.api.wording import causes_to_fields
from madeleine.errors import InvalidValue, MadeleineError
from madeleine.model.draft import Draft, read_draft
from madeleine.model.people import Role
from madeleine.model.request_reader import RequestReader
from madeleine.write.agent_writes import (
    AGENT_PREFIX,
    refuse_excluded_draft,
    waits_for_approval,
)
from madeleine.write.approval import hold_draft, remember_as
from madeleine.write.remember import RememberResult
from madeleine.write.remember_many import remember_many

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.api.reach import CallerReach
    from madeleine.bootstrap import HomeContext
    from madeleine.write.stores import Stores

UNKNOWN_AGENT = f"{AGENT_PREFIX}unknown"
MAX_ITEMS = 10_000  # in one batch: a minute's work, and an answer that fits in memory


# -- one -----------------------------------------------------------------------------------


def _remember_where_it_belongs(
    operation: Operation[RememberedMemory], reached: CallerReach, call: OperationCall
) -> RememberedMemory:
    draft = _read_placed_draft(reached, call.body, read_default_space(call))
    place = find_place(reached, draft)
    refuse_foreign_links(reached, place, draft)
    answer = perform_in_place(reached, place, operation, call)
    added = causes_to_fields("notes", space_spelling_notes(reached, draft))
    return replace(
        answer,
        text=answer_texts.append_notes(answer.text, added["notes"]),
        notes=(*answer.notes, *added["notes"]),
        notes_parts=(*answer.notes_parts, *added["notes_parts"]),
    )


def _read_placed_draft(reached: CallerReach, values: object, space: str | None) -> Draft:
    """Read a draft to see where it belongs."""
    limits = reached.context.stores.config.limits
    return read_draft(values, limits, space)  # type: ignore[arg-type]  # it checks


@operation(
    "remember",
    "POST",
    "/agent/remember",
    "write one memory",
    role=Role.WRITER,
    body=MemoryDraft,
    query=SpaceQuery,
    answer=RememberedMemory,
    quick=True,
    shared=_remember_where_it_belongs,
)
def remember_memory(context: HomeContext, call: OperationCall) -> RememberedMemory:
    draft = _read_draft(context.stores, call.body, read_default_space(call), call.by)
    done = remember_as(context.stores, draft, read_author(call.by))
    return answers.build_remembered_memory(done)


def _read_draft(stores: Stores, values: object, space: str | None, by: str) -> Draft:
    """Read a draft. One that does not name its source comes from whoever asks."""
    if isinstance(values, Mapping) and values.get("source") is None:
        values = {**values, "source": read_author(by)}
    return read_draft(values, stores.config.limits, space)  # type: ignore[arg-type]  # it checks


def read_author(by: str) -> str:
    """Return who writes. A request over HTTP that names nobody is some agent's."""
    if by == "http":
        return UNKNOWN_AGENT
    return by if by in DOOR_NAMES or ":" in by else f"{AGENT_PREFIX}{by}"


# -- many ----------------------------------------------------------------------------------


def _remember_each_where_it_belongs(
    operation: Operation[RememberedMany], reached: CallerReach, call: OperationCall
) -> RememberedMany:
    batch = BatchDispatcher(reached, operation, call, WriteOutcome)
    batch.sort(lambda item: _read_placed_draft(reached, item, read_default_space(call)))
    batch.carry_out()
    results: list[WriteOutcome] = batch.results
    refused = sum(each.error is not None for each in results)
    known = sum(each.existing is True for each in results)
    new = answer_texts.render_count(len(results) - refused - known, "memory")
    text = f"{new} written, {known} known before, {refused} refused"
    return RememberedMany(text=answer_texts.append_notes(text, batch.notes), results=tuple(results))


@operation(
    "remember_many",
    "POST",
    "/agent/remember/batch",
    "write many memories",
    role=Role.WRITER,
    body=RememberManyBody,
    query=SpaceQuery,
    answer=RememberedMany,
    unbounded=True,
    shared=_remember_each_where_it_belongs,
)
def remember_memories(context: HomeContext, call: OperationCall) -> RememberedMany:
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
    author = read_author(call.by)
    return answers.build_remembered_many(_write_drafts(context.stores, drafts, author))


def _read_draft_or_error(
    stores: Stores, item: object, space: str | None, by: str
) -> Draft | MadeleineError:
    try:
        return _read_draft(stores, item, space, by)
    except MadeleineError as refused:
        return refused


def _write_drafts(
    stores: Stores, given: Sequence[Draft | MadeleineError], by: str
) -> list[RememberResult | MadeleineError]:
    """Write the drafts among them; what was refused when it was read keeps its place."""
    drafts = [_refuse_excluded(stores, each, by) for each in given]
    if waits_for_approval(stores.config, by):
        return [_hold_or_error(stores, each, by) for each in drafts]
    outcomes = iter(remember_many(stores, [each for each in drafts if isinstance(each, Draft)]))
    return [next(outcomes) if isinstance(each, Draft) else each for each in drafts]


def _refuse_excluded(
    stores: Stores, draft: Draft | MadeleineError, by: str
) -> Draft | MadeleineError:
    try:
        if isinstance(draft, Draft):
            refuse_excluded_draft(stores.config, draft, by)
    except MadeleineError as refused:
        return refused
    return draft


def _hold_or_error(
    stores: Stores, draft: Draft | MadeleineError, by: str
) -> RememberResult | MadeleineError:
    if not isinstance(draft, Draft):
        return draft
    try:
        return hold_draft(stores, draft, by)
    except MadeleineError as refused:
        return refused
