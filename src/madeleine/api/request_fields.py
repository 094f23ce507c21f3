"""Fields of requests: the types that are declared for them, and what several requests share.

Over HTTP every parameter of a query is a text, or several when it is repeated. What reads as its
type becomes it; what does not stays as it came, and the operation's reader says what is wrong with
it. Values that are typed already, from Python or the command line, pass through.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from madeleine.api.contract.memories import SpokenTime
from madeleine.api.contract.schema import strip_none
from madeleine.errors import InvalidValue
from madeleine.language.times import TimeSpan, read_times
from madeleine.model.draft import read_one_line, read_space
from madeleine.model.request_reader import RequestReader
from madeleine.model.times import format_time, parse_time
from madeleine.write.branches import find_working_space

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.api.contract.shape import ShapeField
    from madeleine.write.stores import Stores

MAX_REASON_CHARS = 1_000
_WHOLE_NUMBER_PATTERN = re.compile(r"-?[0-9]{1,18}\Z")
_FLAG_BY_TEXT = {"true": True, "false": False}
SPOKEN_TIMES = "such as yesterday, monday, 3 days ago, 2026-11-01 or 2026-11-01T18:04:00Z"


# -- by their types -------------------------------------------------------------------------


def parse_query(declared: Iterable[ShapeField], query: Mapping[str, object]) -> dict[str, object]:
    """Return the parameters with the types that are declared for them."""
    known = {field.wire: field for field in declared}
    return {name: _parse_value(known.get(name), value) for name, value in query.items()}


def _parse_value(field: ShapeField | None, value: object) -> object:
    if field is None:
        return value
    kind = _bare_type(field)
    if kind is tuple:
        return _split_texts(value)
    if isinstance(value, list):
        raise InvalidValue(field.wire, "is given more than once")
    if isinstance(value, str) and kind is int and _WHOLE_NUMBER_PATTERN.match(value):
        return int(value)
    if isinstance(value, str) and kind is bool:
        return _FLAG_BY_TEXT.get(value, value)
    return value


def _bare_type(field: ShapeField) -> Any:
    """Return the type of a parameter without what is said about it."""
    kind = strip_none(field.type)
    origin = typing.get_origin(kind)
    return typing.get_args(kind)[0] if origin is typing.Annotated else origin or kind


def _split_texts(value: object) -> object:
    """Take a list apart that was given by repetition, by commas, or by both."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
        return _split_texts(",".join(value))
    return value


# -- shared by several requests -------------------------------------------------------------


def read_default_space(call: OperationCall) -> str | None:
    """Return the space of a request that names none itself."""
    reader = RequestReader(call.query)
    space = read_space(reader.text("default_space"))
    reader.done()
    return space


def read_asked_space(
    stores: Stores, reader: RequestReader, default: str | None, is_local: bool
) -> str | None:
    """Return the space that a request is about: the one that it names, else that of its folder. The
    folder of a caller elsewhere is a name, which nothing on this disk is looked up by."""
    said, folder = reader.text("space"), reader.text("cwd")
    named = read_space(said) or default
    if said is None and named is None and folder is not None:
        return find_working_space(stores, folder, is_local)
    return named


def read_spoken_time(
    reader: RequestReader, field: str, now: datetime
) -> tuple[datetime, datetime] | None:
    """Return the first moment of a time that people say, such as `yesterday`, `monday`, `3 days
    ago` or `2026-11-01`, and the first after it; of an instant, twice the instant."""
    text = reader.text(field)
    if text is None:
        return None
    said = text.strip()
    span = _read_whole_time(said, now)
    if span is not None and span.start is not None and span.end is not None:
        return span.start, span.end
    try:
        exact = parse_time(field, said)
    except InvalidValue as error:
        raise InvalidValue(field, f"is {text!r}, not a time", hint=SPOKEN_TIMES) from error
    return exact, exact


def resolve_spoken_times(
    declared: Iterable[ShapeField], values: Mapping[str, object], now: datetime
) -> Mapping[str, object]:
    """Return what a request holds with the instants that its spoken times mean."""
    spoken = {each.wire for each in declared if strip_none(each.type) == SpokenTime}
    said = {name: value for name, value in values.items() if name in spoken}
    found = {
        name: format_time(_resolve_time(name, value, now))
        for name, value in said.items()
        if isinstance(value, str)
    }
    return {**values, **found} if found else values


def _resolve_time(field: str, said: str, now: datetime) -> datetime:
    """Return the first moment of a time as people say it; of an instant, the instant."""
    try:
        return parse_time(field, said)
    except InvalidValue as error:
        named = _read_whole_time(said.strip(), now) or _read_whole_time(f"since {said}", now)
        moment = None if named is None else named.start or named.end
        if moment is None:
            raise InvalidValue(field, f"is {said!r}, not a time", hint=SPOKEN_TIMES) from error
        return moment


def _read_whole_time(said: str, now: datetime) -> TimeSpan | None:
    """Return the time that all of a text says."""
    found = (each for each in read_times(said, now) if each.at == (0, len(said)))
    return next(found, None)


def read_reason(reader: RequestReader) -> str | None:
    return read_one_line("reason", reader.text("reason"), MAX_REASON_CHARS)
