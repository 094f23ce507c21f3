"""Where what is remembered or brought in belongs, for a caller who shares spaces.

It goes to the shared space whose name it bears; what describes a person stays with them. A batch
is taken apart, and its outcomes come back in the order of its items.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from madeleine.api import reach
from madeleine.api.performing import perform_in_context, sign_call
from madeleine.api.wording import render_causes
from madeleine.errors import MadeleineError, OtherSpace
from madeleine.model.cause import Cause, NoteKind
from madeleine.model.people import Role
from madeleine.model.request_reader import RequestReader

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.api.contract.responses import ImportOutcome, WriteOutcome
    from madeleine.api.operation import Operation
    from madeleine.api.reach import CallerReach, ReachablePlace
    from madeleine.model.draft import Draft


def find_place(reached: CallerReach, draft: Draft) -> ReachablePlace:
    """Return where a draft belongs. What describes a person stays with them."""
    return reached.own if draft.about_self else reached.at(draft.space)


def refuse_foreign_links(reached: CallerReach, place: ReachablePlace, draft: Draft) -> None:
    """Refuse connections, and replacing, that lead from one place into another."""
    for target in (*(link.target for link in draft.connections), *draft.replaces):
        if reach.find_memories(place.context.stores, target):
            continue
        for other in reached.places():
            if other is not place and reach.find_memories(other.context.stores, target):
                raise OtherSpace(target, other.label)


def space_spelling_notes(reached: CallerReach, draft: Draft) -> tuple[Cause, ...]:
    """Return a note on a draft that stays at home for the spelling of its space alone."""
    meant = None if draft.about_self else reached.find_similar_space(draft.space)
    if meant is None:
        return ()
    return (Cause(NoteKind.NEARLY_SHARED, {"space": draft.space, "shared": meant}),)


class BatchDispatcher:
    """Items on their way to where each belongs, and what comes of them, in their order."""

    def __init__(
        self,
        reached: CallerReach,
        operation: Operation[Any],
        call: OperationCall,
        refusal: type[WriteOutcome | ImportOutcome],
    ) -> None:
        reached.own.check(operation.name, operation.role)
        self._refusal = refusal
        self._reached = reached
        self._operation = operation
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
        place = find_place(self._reached, draft)
        place.check(self._operation.name, Role.WRITER)
        refuse_foreign_links(self._reached, place, draft)
        self._notes |= dict.fromkeys(render_causes(space_spelling_notes(self._reached, draft)))
        return place

    def carry_out(self) -> Sequence[Any]:
        """Carry all of it out, and return the answer of each place."""
        return [self._perform_part(place, numbers) for place, numbers in self._parts.values()]

    def _perform_part(self, place: ReachablePlace, numbers: Sequence[int]) -> Any:
        """Carry out the items that belong to one place."""
        items = [cast("Mapping[str, object]", self._items[number]) for number in numbers]
        signed = [sign_call(self._reached, place, replace(self._call, body=each)) for each in items]
        whole = sign_call(self._reached, place, replace(self._call, body={}))
        given = "items" in self._call.body  # else the operation says that they are missing
        body = {**self._call.body, **({"items": [each.body for each in signed]} if given else {})}
        answer = perform_in_context(place.context, self._operation, replace(whole, body=body))
        self._results |= dict(zip(numbers, answer.results, strict=True))
        return answer
