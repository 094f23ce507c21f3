"""Reading values out of what came through a door.

A `RequestReader` takes a mapping apart field by field. Every check of a request stands here once:
a wrong kind of value, a number out of range and a name nobody knows are `Rejected` with the
field's name. Nothing is guessed and nothing is quietly left out.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TypeVar

from madeleine.errors import InvalidValue, Rejected
from madeleine.model.times import parse_time
from madeleine.model.words import Word, read_word

T = TypeVar("T")


class RequestReader:
    """One mapping being read; `done` complains about the keys nobody asked for."""

    def __init__(self, values: object, what: str = "the request") -> None:
        if not isinstance(values, Mapping):
            raise Rejected(f"{what} is not an object", hint="send a JSON object")
        self._values: Mapping[str, object] = values
        self._asked: set[str] = set()
        self._what = what

    def has(self, field: str) -> bool:
        """Whether the field was given at all; an explicit null counts as given."""
        self._asked.add(field)
        return field in self._values

    def raw(self, field: str) -> object:
        self._asked.add(field)
        return self._values.get(field)

    def text(self, field: str) -> str | None:
        value = self.raw(field)
        if value is None:
            return None
        if not isinstance(value, str):
            raise InvalidValue(field, f"is {value!r}, not a text", hint="a text in quotes")
        return check_unicode(field, value)

    def required_text(self, field: str) -> str:
        value = self.text(field)
        if value is None:
            raise InvalidValue(field, "is missing", hint="it is required")
        return value

    def choice(self, kind: type[Word], field: str, default: Word) -> Word:
        value = self.raw(field)
        return default if value is None else read_word(kind, field, value)

    def choices(self, kind: type[Word], field: str) -> tuple[Word, ...] | None:
        return self.items(field, lambda value: read_word(kind, field, value))

    def texts(self, field: str) -> tuple[str, ...] | None:
        return self.items(field, lambda value: _read_text_item(field, value))

    def items(self, field: str, read: Callable[[object], T]) -> tuple[T, ...] | None:
        value = self.raw(field)
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            raise InvalidValue(field, f"is {value!r}, not a list", hint='such as ["one", "two"]')
        return tuple(read(item) for item in value)

    def unit(self, field: str, default: float) -> float:
        """A number from 0 to 1."""
        value = self.raw(field)
        return default if value is None else read_unit_number(field, value)

    def whole(self, field: str, default: int, low: int, high: int) -> int:
        value = self.raw(field)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise InvalidValue(
                field, f"is {value!r}", hint=f"a whole number from {low:,} to {high:,}"
            )
        return value

    def flag(self, field: str, default: bool = False) -> bool:
        value = self.raw(field)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise InvalidValue(field, f"is {value!r}", hint="true or false")
        return value

    def time(self, field: str) -> datetime | None:
        value = self.raw(field)
        return None if value is None else parse_time(field, value)

    def done(self) -> None:
        """Reject what nobody asked for: a mistyped field must not be lost without a word."""
        for unknown in self._values.keys() - self._asked:
            near = difflib.get_close_matches(str(unknown), self._asked, 1)
            known = ", ".join(sorted(self._asked))
            hint = f"did you mean `{near[0]}`?" if near else f"known fields: {known}"
            raise Rejected(f"{self._what} has an unknown field `{unknown}`", hint)


def read_unit_number(field: str, value: object) -> float:
    """Return `value` as a float from 0 to 1, or say why it is not one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidValue(field, f"is {value!r}, not a number", hint="from 0 to 1, such as 0.5")
    if not 0 <= value <= 1:  # nor is anything that is no number
        raise InvalidValue(field, f"is {value}; it takes a number from 0 to 1", hint="such as 0.5")
    return float(value)


def check_unicode(field: str, value: str) -> str:
    """Return `value` if it can be written as UTF-8; half a surrogate pair cannot."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidValue(
            field, f"is not valid Unicode at character {error.start}", hint="send it as UTF-8"
        ) from error
    return value


def _read_text_item(field: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidValue(field, f"holds {value!r}, not a text", hint="texts in quotes")
    return check_unicode(field, value)
