"""What readers give, and how the things they find are named."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from madeleine.errors import InvalidValue, Rejected
from madeleine.model.times import format_time, parse_time

Json = dict[str, object]

IMPORTED = uuid.UUID("a0c6f1de-5a57-5c0e-8d0e-6f1f3a2b9c47")  # where ids of imported things live
NAMED_AT_MOST = 5  # of many alike, so many are named and the rest counted


@dataclass(frozen=True, slots=True)
class ImportItem:
    """One memory, as the fields of `model.incoming.IncomingMemory`, and where it was found."""

    values: Json
    place: str


@dataclass(frozen=True, slots=True)
class ImportProblem:
    """Something that cannot be brought in; the rest goes on."""

    place: str
    problem: str
    cut: bool = False
    """Whether the end of it all is missing, so that nobody can say what there was."""


@dataclass(frozen=True, slots=True)
class ImportNote:
    """Something worth saying about the whole."""

    text: str


@dataclass(frozen=True, slots=True)
class ImportTotal:
    """How many there are to look at, when that is known before the end."""

    count: int


@dataclass(frozen=True, slots=True)
class ForeignServer:
    """A server of another program, and what it asks for."""

    url: str
    key: str = field(default="", repr=False)
    admin_key: str = field(default="", repr=False)


ReaderOutput: TypeAlias = ImportItem | ImportProblem | ImportNote | ImportTotal


class NotThatFormat(Rejected):
    """What is at a path is not what the format says."""

    kind = "not_that_format"

    def __init__(self, path: object, problem: str, hint: str = "") -> None:
        super().__init__(
            f"{path}: {problem}",
            hint or "`madeleine import --help` lists formats",
            path=path,
            problem=problem,
        )


def stable_id(form: str, *names: str) -> str:
    """Return the id of a thing by what it is called at its source: the same every time."""
    called = "\n".join((form, *names)).encode("utf-8", "backslashreplace")  # JSON has odd texts
    return str(uuid.uuid5(IMPORTED, called.decode("utf-8")))


def given_id(form: str, value: object, *names: str) -> str:
    """Return the id that a thing brings along; one that is no UUID is made into one."""
    try:
        return str(uuid.UUID(str(value)))
    except ValueError:
        return stable_id(form, *names, str(value))


def read_foreign_time(value: object) -> str | None:
    """Return an instant that another program wrote; nothing when it is none that we can read."""
    if not isinstance(value, str) or not value.strip():
        return None
    try:
        return format_time(parse_time("time", value))
    except InvalidValue:
        return None


def drop_empty(**values: object) -> Json:
    """Return the values that say something."""
    return {name: value for name, value in values.items() if value not in (None, "", [], (), {})}


def render_places(places: Sequence[str]) -> str:
    """Return the first of many places, and that there are more."""
    return "; ".join(places[:NAMED_AT_MOST]) + ("; …" if len(places) > NAMED_AT_MOST else "")


@dataclass(slots=True)
class DanglingLinks:
    """Links that lead nowhere, told once at the end."""

    places: list[str] = field(default_factory=list)

    def add(self, place: str, target: str) -> None:
        self.places.append(f"{place} → {target}")

    def told(self) -> Iterator[ImportNote]:
        if not self.places:
            return
        count = len(self.places)
        links = "1 link leads nowhere" if count == 1 else f"{count:,} links lead nowhere"
        yield ImportNote(f"{links}, left as text: {render_places(self.places)}")
