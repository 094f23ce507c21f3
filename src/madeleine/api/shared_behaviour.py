"""What several operations do alike for a caller who shares spaces.

What names a memory, a change or a proposal acts where that is kept; a list is asked for in every
place, and joined. An operation whose declaration names neither stays in the caller's own memory,
and one that has its own way, has it beside its declaration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from madeleine.api.performing import perform_in_place
from madeleine.model.times import format_time

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.api.operation import Operation, SharedBehaviour
    from madeleine.api.reach import CallerReach, IdLookup, ReachablePlace
    from madeleine.model.query import Filter


def at_holder(held: IdLookup, field: str | None = None) -> SharedBehaviour[Any]:
    """Return the act of doing something where that is kept which the request names: in the
    path, or in a field of its body."""

    def act(operation: Operation[Any], reached: CallerReach, call: OperationCall) -> Any:
        wanted = call.path_id if field is None else call.body.get(field)
        place = reached.find_holder(wanted, held) if isinstance(wanted, str) else reached.own
        return perform_in_place(reached, place, operation, call)

    return act


def joined(*lists: str) -> SharedBehaviour[Any]:
    """Return the act of asking in every place, and joining lists of the answers, newest first."""

    def act(operation: Operation[Any], reached: CallerReach, call: OperationCall) -> Any:
        told = [
            (place, perform_in_place(reached, place, operation, call)) for place in reached.places()
        ]
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


def filter_for_place(chosen: Filter, place: ReachablePlace) -> Filter:
    """Return a filter for one place: in a shared one, only what bears its name."""
    return chosen if place.space is None else replace(chosen, spaces=(place.space,))
