"""Query parameters by their declared types.

Over HTTP every parameter is a text, or several when it is repeated. What reads as its type
becomes it; what does not stays as it came, and the operation's reader says what is wrong with
it. Values that are typed already, from Python or the command line, pass through.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from madeleine.api.routes import Field, Route
from madeleine.errors import InvalidValue

_WHOLE = re.compile(r"-?[0-9]{1,18}\Z")
_FLAGS = {"true": True, "false": False}


def typed_query(route: Route, query: Mapping[str, object]) -> dict[str, object]:
    """Return the parameters with the types that the route declares."""
    fields = {field.name: field for field in route.query}
    return {name: _typed(fields.get(name), value) for name, value in query.items()}


def _typed(field: Field | None, value: object) -> object:
    if field is None:
        return value
    if field.type.startswith("array"):
        return _texts(value)
    if isinstance(value, list):
        raise InvalidValue(field.name, "is given more than once")
    if isinstance(value, str) and field.type == "integer" and _WHOLE.match(value):
        return int(value)
    if isinstance(value, str) and field.type == "boolean":
        return _FLAGS.get(value, value)
    return value


def _texts(value: object) -> object:
    """Take a list apart that was given by repetition, by commas, or by both."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
        return _texts(",".join(value))
    return value
