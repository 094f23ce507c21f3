"""How values travel: Cypher's literals on the way there, typed cells on the way back.

Parameters are text in front of a query. A string is quoted by us and holds no NUL; bytes and
columns of numbers go as base64, which numpy reads where it lies. What comes back is asked for
as lists and plain values only, so that a cell is a number for its type and the value.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from madeleine.model.nul_escaping import escape_nul, unescape_nul

NULL, STRING, INTEGER, BOOLEAN, DOUBLE, ARRAY = range(1, 7)
_UNCHANGED_KINDS = (INTEGER, NULL)


def render_parameters(parameters: Mapping[str, object]) -> str:
    """Return what goes in front of a query."""
    if not parameters:
        return ""
    return (
        "CYPHER "
        + " ".join(f"{key}={render_literal(each)}" for key, each in parameters.items())
        + " "
    )


def render_literal(value: object) -> str:
    """Return a value as Cypher writes it."""
    if isinstance(value, str):
        return '"' + escape_nul(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, bytes):
        return '"' + base64.b64encode(value).decode() + '"'
    if isinstance(value, np.ndarray):
        return str(value.tolist())
    return _render_compound(value)


def _render_compound(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key}:{render_literal(each)}" for key, each in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ",".join(map(render_literal, value)) + "]"
    raise TypeError(f"{type(value).__name__} cannot be sent")


def parse_cell(cell: Sequence[Any]) -> Any:
    """Return a cell's value."""
    return _parse_cells([cell])[0]


def _parse_cells(cells: Sequence[Any]) -> list[Any]:
    """Return the values of cells. One expression, because an answer has tens of thousands."""
    return [
        value
        if kind in _UNCHANGED_KINDS
        else unescape_nul(value)
        if kind == STRING
        else _parse_cells(value)
        if kind == ARRAY
        else float(value)
        if kind == DOUBLE
        else value == "true"
        for kind, value in cells
    ]


def decode_bytes(text: str | None) -> bytes:
    """Return bytes that were kept as base64."""
    return base64.b64decode(text) if text else b""


def encode_table(table: NDArray[np.int64]) -> bytes:
    return table.astype("<i8").tobytes()


def decode_table(text: str | None, columns: int) -> NDArray[np.int64]:
    """Return a table of whole numbers that was `encode_table`."""
    return np.frombuffer(decode_bytes(text), "<i8").reshape(-1, columns).astype(np.int64)


def hash_key(*parts: object) -> str:
    """Return what something is found by. FalkorDB's indexes read past spaces at either end of a
    text and know no empty one, so whatever people name is looked up by its hash."""
    whole = json.dumps(parts).encode()
    return hashlib.blake2b(whole, digest_size=16).hexdigest()


def number_keys(numbers: Iterable[int]) -> list[str]:
    """Return what is found by its number. Looking up a text is many times quicker than looking
    up a number, which FalkorDB keeps in ranges."""
    return [str(each) for each in numbers]


def float_to_text(number: float | None) -> str | None:
    """Return a number as it is kept: FalkorDB gives back fifteen digits, which are too few."""
    return None if number is None else repr(float(number))


def float_from_text(text: str | None) -> float | None:
    return None if text is None else float(text)
