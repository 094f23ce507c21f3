"""Query parameters by their declared types.

Over HTTP every parameter is a text, or several when it is repeated. What reads as its type
becomes it; what does not stays as it came, and the operation's reader says what is wrong with
it. Values that are typed already, from Python or the command line, pass through.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Iterable, Mapping
from typing import Any

from madeleine.api.contract.schema import strip_none
from madeleine.api.contract.shape import ShapeField
from madeleine.errors import InvalidValue

_WHOLE_NUMBER_PATTERN = re.compile(r"-?[0-9]{1,18}\Z")
_FLAG_BY_TEXT = {"true": True, "false": False}


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
