"""How an operation is carried out: in one context, in one place within reach, or for a caller.

A request is checked against its declaration first, so that every door refuses what any other door
refuses. Nothing leads from one context into another: a memory that is named where it is not kept
is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from madeleine.api import reach
from madeleine.api.call import DOOR_NAMES
from madeleine.api.request_fields import parse_query, resolve_spoken_times
from madeleine.errors import DatabaseDown, NoSuchMemory, OnlyAtTheServer, OtherSpace
from madeleine.model.request_reader import RequestReader

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.api.operation import Answer, Operation
    from madeleine.api.reach import CallerReach, ReachablePlace
    from madeleine.bootstrap import HomeContext


# -- in one context ------------------------------------------------------------------------


@contextmanager
def prepare_in_context(
    context: HomeContext, operation: Operation[Answer], call: OperationCall
) -> Iterator[Callable[[], Answer]]:
    """Give the operation with its request read, for whoever asks to call. Uses noted behind
    earlier answers are written before it, and what runs by itself stands still meanwhile.

    It is called from the door itself, and not from here, so that few calls stand between a door
    and a verb.
    """
    context.stores.executor.wait()
    if operation.body is None:
        RequestReader(call.body).done()
    if operation.query is None:
        RequestReader(call.query).done()
    doing = partial(operation.perform, context, _parse_call(operation, call, context))
    if operation.is_read_only and context.is_over_a_network:
        doing = partial(_retry_read, doing)
    with context.stores.priority_gate.waited_for() if operation.quick else nullcontext():
        yield doing


def _parse_call(
    operation: Operation[Any], call: OperationCall, context: HomeContext
) -> OperationCall:
    """Return a call with its values as the operation declares them."""
    now = context.stores.clock.now()
    query = parse_query(operation.query_fields, call.query)
    return replace(
        call,
        query=resolve_spoken_times(operation.query_fields, query, now),
        body=resolve_spoken_times(operation.body_fields, call.body, now),
    )


def _retry_read(doing: Callable[[], Answer]) -> Answer:
    """Carry out an operation that only reads, once more if the database went away."""
    try:
        return doing()
    except DatabaseDown:
        return doing()  # another connection, or another server by now


def perform_in_context(
    context: HomeContext, operation: Operation[Answer], call: OperationCall
) -> Answer:
    """Carry out an operation in one context."""
    with prepare_in_context(context, operation, call) as doing:
        return doing()


# -- as far as a caller reaches ------------------------------------------------------------


@contextmanager
def prepare_for(
    reached: CallerReach, operation: Operation[Answer], call: OperationCall
) -> Iterator[Callable[[], Answer]]:
    """Give an operation as far as the caller reaches, if they may do it, for the door to call."""
    if operation.about_people:
        reached.own.check(operation.name, operation.role)
    if not reached.is_local:
        _refuse_server_path(operation, call)
        call = replace(call, is_local=False)
    if operation.shared is not None and (reached.shared or operation.for_every_caller):
        parsed = _parse_call(operation, call, reached.context)
        yield partial(operation.shared, operation, reached, parsed)
    else:
        with _prepare_in_place(reached, reached.own, operation, call) as doing:
            yield doing


def perform_for(reached: CallerReach, operation: Operation[Answer], call: OperationCall) -> Answer:
    """Carry out an operation as far as the caller reaches, if they may do it."""
    with prepare_for(reached, operation, call) as doing:
        return doing()


def _refuse_server_path(operation: Operation[Any], call: OperationCall) -> None:
    """Only local callers may name files on the server."""
    field = operation.server_path
    if field is not None and (call.body.get(field) or call.query.get(field)) is not None:
        raise OnlyAtTheServer(field)


@contextmanager
def _prepare_in_place(
    reached: CallerReach, place: ReachablePlace, operation: Operation[Answer], call: OperationCall
) -> Iterator[Callable[[], Answer]]:
    """Give an operation in one place. A memory that is named and not there, but within reach, is
    told from one that is nowhere."""
    place.check(operation.name, operation.role)
    signed = sign_call(reached, place, call)
    try:
        with prepare_in_context(place.context, operation, signed) as doing:
            yield doing
    except NoSuchMemory as missing:
        for other in reached.places():
            if other is not place and reach.find_memories(other.context.stores, missing.wanted):
                raise OtherSpace(missing.wanted, other.label) from missing
        raise


def perform_in_place(
    reached: CallerReach, place: ReachablePlace, operation: Operation[Answer], call: OperationCall
) -> Answer:
    """Carry out an operation in one place, if the caller may do it there."""
    with _prepare_in_place(reached, place, operation, call) as doing:
        return doing()


def sign_call(reached: CallerReach, place: ReachablePlace, call: OperationCall) -> OperationCall:
    """Return a call that says in a shared space which of its members it is of."""
    if place.space is None or reached.caller is None:
        return call
    person = reached.caller.person
    by = f"person:{person}" if call.by in DOOR_NAMES else f"{call.by}@{person}"
    source = call.body.get("source")
    body = {**call.body, "source": f"{source}@{person}"} if isinstance(source, str) else call.body
    return replace(call, by=by, body=body)
