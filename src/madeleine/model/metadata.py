"""Metadata: a JSON object that other programs keep beside a memory.

Madeleine stores it and gives it back; nothing is searched, scored or decided by it. It is kept as
the text of its JSON, so that a memory can be compared, hashed and written without looking inside.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from madeleine.errors import InvalidValue

MAX_METADATA_BYTES = 65_536
MAX_DEPTH = 8  # a file's front matter may be nested twelve levels deep

# What YAML or an editor takes for the end of a line, or does not show.
_UNSEEN = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")


class Metadata(Mapping[str, object]):
    """An object of JSON that does not change."""

    __slots__ = ("text",)

    def __init__(self, values: Mapping[str, object]) -> None:
        self.text = _UNSEEN.sub(_escape, json.dumps(dict(values), ensure_ascii=False))

    def __getitem__(self, name: str) -> object:
        return self.to_json()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.to_json())

    def __len__(self) -> int:
        return len(self.to_json())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Metadata):
            return self.text == other.text
        return isinstance(other, Mapping) and self.to_json() == dict(other)

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Metadata({self.text})"

    def to_json(self) -> dict[str, Any]:
        """Return a copy that may be changed."""
        values: dict[str, Any] = json.loads(self.text)
        return values


def read_metadata(values: object) -> Metadata | None:
    """Return the metadata that a request gives; an empty object is none."""
    if values is None:
        return None
    if not isinstance(values, Mapping):
        raise InvalidValue("metadata", "is not an object", hint='such as {"ticket": "A-17"}')
    _check_json(values, 1)
    found = Metadata(values)
    size = len(found.text.encode("utf-8"))
    if size > MAX_METADATA_BYTES:
        problem = f"is {size:,} bytes as JSON"
        raise InvalidValue("metadata", problem, hint=f"at most {MAX_METADATA_BYTES:,}")
    return found if values else None


def _check_json(value: object, depth: int) -> None:
    """Refuse what JSON has no word for, and what is nested deeper than a file may be."""
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) for name in value):
            raise InvalidValue("metadata", "has a key that is not a text", hint="texts in quotes")
        inner = list(value.values())
    elif isinstance(value, list | tuple):
        inner = list(value)
    else:
        _check_scalar(value)
        return
    if depth >= MAX_DEPTH:
        raise InvalidValue("metadata", "is nested too deeply", hint=f"at most {MAX_DEPTH} levels")
    for each in inner:
        _check_json(each, depth + 1)


def _check_scalar(value: object) -> None:
    is_number = isinstance(value, float) and math.isfinite(value)
    if not (is_number or value is None or isinstance(value, str | bool | int)):
        raise InvalidValue("metadata", f"holds {value!r}", hint="values that JSON has")


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
