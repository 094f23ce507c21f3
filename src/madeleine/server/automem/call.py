"""A request of a client of AutoMem, and the operations that it is carried out with."""

from __future__ import annotations

import math
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from madeleine.api.call import OperationCall
from madeleine.api.operation import Answer, Operation
from madeleine.api.performing import perform_for
from madeleine.api.reach import CallerReach
from madeleine.errors import InvalidValue, Missing, Rejected
from madeleine.model.codec import Json
from madeleine.model.times import as_utc, parse_time

DEFAULT_AUTHOR = "automem"  # who asks when the client does not say

_TRUE = frozenset(["1", "true", "yes", "y", "on"])
_FALSE = frozenset(["0", "false", "no", "n", "off"])


class AutomemRefusal(Rejected):
    """A request of a client of AutoMem that AutoMem refuses too, in its words."""

    kind = "automem_refused"
    http_status = 400

    def __init__(self, problem: str) -> None:
        super().__init__(problem, problem=problem)


class AutomemMissing(Missing):
    """A memory that a client of AutoMem names, and that is not there, in AutoMem's words."""

    kind = "automem_missing"

    def __init__(self, problem: str = "Memory not found") -> None:
        super().__init__(problem, problem=problem)


class AutomemReply(NamedTuple):
    """An answer in AutoMem's shape."""

    body: Json
    status: int = 200


@dataclass(frozen=True, slots=True)
class AutomemCall:
    """One request: how far it reaches, what it holds, who asks."""

    reach: CallerReach
    id: str = ""
    query: Mapping[str, object] = field(default_factory=dict)
    body: Mapping[str, object] | None = None
    by: str = DEFAULT_AUTHOR
    is_stranger: bool = False
    """Whether an open route is asked by somebody who showed no valid token."""

    def perform(
        self,
        operation: Operation[Answer],
        body: Mapping[str, object] | None = None,
        id: str | None = None,
        query: Mapping[str, object] | None = None,
    ) -> Answer:
        """Carry out an operation of ours as whoever asks."""
        call = OperationCall(id, query or {}, body or {}, self.by)
        return perform_for(self.reach, operation, call)

    def now(self) -> datetime:
        return self.reach.context.stores.clock.now()

    # -- the query -------------------------------------------------------------------------

    def texts(self, *names: str, split: bool = False) -> list[str]:
        """Return the values of a parameter that may be repeated, and of its other names."""
        found: list[str] = []
        for name in names:
            value = self.query.get(name)
            given = value if isinstance(value, list) else [value] if value is not None else []
            for each in given:
                found.extend(str(each).split(",") if split else [str(each)])
        return [each.strip() for each in found if each.strip()]

    def text(self, *names: str) -> str:
        """Return the first value of a parameter, or of one of its other names."""
        return next(iter(self.texts(*names)), "")

    def whole(self, name: str, default: int, low: int, high: int) -> int:
        """Return a number within bounds; what is none is the default."""
        try:
            return min(max(int(self.text(name)), low), high)
        except ValueError:
            return default

    def unit(self, name: str) -> float | None:
        """Return a number from 0 to 1, or nothing."""
        try:
            number = float(self.text(name))
        except ValueError:
            return None
        return None if math.isnan(number) else min(max(number, 0.0), 1.0)

    def flag(self, *names: str, default: bool = False) -> bool:
        said = self.text(*names).lower()
        return said in _TRUE or (default and said not in _FALSE)

    def choice(self, names: Sequence[str], known: Sequence[str]) -> str:
        """Return one of the known words; the first of them for any other."""
        said = self.text(*names).lower()
        return said if said in known else known[0]

    # -- the body --------------------------------------------------------------------------

    def required_body(self, problem: str = "JSON body is required") -> Mapping[str, object]:
        if self.body is None:
            raise AutomemRefusal(problem)
        return self.body

    def valid_id(self) -> str:
        """Return the id in the path; AutoMem looks for it as it is written."""
        if not is_uuid(self.id):
            raise AutomemRefusal("memory_id must be a valid UUID")
        return self.id


def is_uuid(value: object) -> bool:
    try:
        uuid.UUID(str(value))
    except ValueError:
        return False
    return True


def format_moment(moment: datetime) -> str:
    """Return a time as AutoMem writes it: with `+00:00`."""
    return as_utc(moment).astimezone(UTC).isoformat()


def read_moment(value: object, named: str = "") -> datetime | None:
    """Return the time that a request gives, if it gives any."""
    if not value:
        return None
    before = f"{named}: " if named else ""
    if not isinstance(value, str):
        raise AutomemRefusal(f"{before}Timestamp must be a non-empty ISO formatted string")
    try:
        return parse_time("timestamp", value)
    except InvalidValue as error:
        raise AutomemRefusal(f"{before}Invalid ISO timestamp") from error


def read_score(value: object, default: float = 0.5) -> float:
    """Return an importance, a strength or a confidence."""
    if value is None:
        return default
    try:
        number = float(value)  # type: ignore[arg-type]  # what is no number is refused
    except (TypeError, ValueError) as error:
        raise AutomemRefusal("'importance' must be a number") from error
    if not 0 <= number <= 1:
        raise AutomemRefusal("'importance' must be between 0 and 1")
    return number


def read_tags(value: object) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return list(value)
    raise AutomemRefusal("'tags' must be a list of strings or a single string")


def read_object(value: object) -> dict[str, Any]:
    """Return metadata as a client gives them."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise AutomemRefusal("'metadata' must be an object")
    return dict(value)
