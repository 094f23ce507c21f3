"""How values travel: texts with a NUL, whole columns as arrays, vectors in their own bytes.

PostgreSQL keeps no NUL in a text, and a memory may hold one; it is written as a character that
stands for nothing, and comes back as it was. A column of numbers comes as one array, which
numpy reads where it lies: a question has hundreds of candidates, and a Python object for each
number of each would take longer than finding them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.pq import Format
from psycopg.types import TypeInfo
from psycopg.types.string import StrDumper, TextLoader

from madeleine.model.nul_escaping import escape_nul, unescape_nul
from madeleine.model.vector import Vector

ARRAY_DTYPES: dict[str, np.dtype[Any]] = {
    "int2": np.dtype(">i2"),
    "int4": np.dtype(">i4"),
    "int8": np.dtype(">i8"),
    "float4": np.dtype(">f4"),
    "float8": np.dtype(">f8"),
    "bool": np.dtype("?"),
}
ARRAY_HEADER_BYTES, DIMENSION_HEADER_BYTES = (
    12,
    8,
)  # bytes: dimensions, flags, type; length and first place
VECTOR_HEADER_BYTES = 4  # bytes: how many numbers, and two unused


@dataclass(frozen=True, slots=True)
class HalfVector:
    """A vector that goes to PostgreSQL as a `halfvec`."""

    numbers: Vector | NDArray[np.float16]


@dataclass(frozen=True, slots=True)
class FullVector:
    """A vector that goes to PostgreSQL as a `vector`."""

    numbers: Vector


class _TextDumper(StrDumper):
    def dump(self, obj: str) -> Buffer | None:
        return super().dump(escape_nul(obj))


class _EscapedTextLoader(TextLoader):
    def load(self, data: Buffer) -> bytes | str:
        text = super().load(data)
        return unescape_nul(text) if isinstance(text, str) else text


class _BinaryTextLoader(_EscapedTextLoader):
    format = Format.BINARY


class _HalfDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: HalfVector) -> Buffer | None:
        return _vector_header(obj.numbers) + obj.numbers.astype(">f2").tobytes()


class _FullDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: FullVector) -> Buffer | None:
        return _vector_header(obj.numbers) + obj.numbers.astype(">f4").tobytes()


class _HalfLoader(Loader):
    """Vectors come back as the bytes of their numbers, so that many make one matrix."""

    format = Format.BINARY

    def load(self, data: Buffer) -> bytes:
        return bytes(data[VECTOR_HEADER_BYTES:])


def _vector_header(numbers: NDArray[Any]) -> bytes:
    return np.array([len(numbers), 0], ">i2").tobytes()


def _array_loader(kind: np.dtype[Any]) -> type[Loader]:
    """Return a loader of arrays without holes: after its head each number follows its length.
    Those of several dimensions come as one row."""
    layout = np.dtype([("length", ">i4"), ("value", kind)])
    native = kind.newbyteorder("=")

    class ArrayLoader(Loader):
        format = Format.BINARY

        def load(self, data: Buffer) -> NDArray[Any]:
            start = ARRAY_HEADER_BYTES + DIMENSION_HEADER_BYTES * int.from_bytes(data[:4])
            return np.frombuffer(data, layout, offset=start)["value"].astype(native)

    return ArrayLoader


def unpack_half_vectors(rows: list[bytes], dimension: int) -> NDArray[np.float32]:
    """Return vectors that came as bytes, one to a row."""
    numbers = np.frombuffer(b"".join(rows), ">f2").astype(np.float32)
    return numbers.reshape(len(rows), dimension)


def unpack_joined_vectors(sent: bytes, dimension: int) -> NDArray[np.float32]:
    """Return vectors that were sent as one value, end to end, one to a row."""
    layout = np.dtype([("head", f"V{VECTOR_HEADER_BYTES}"), ("numbers", ">f2", (dimension,))])
    return np.frombuffer(sent, layout)["numbers"].astype(np.float32)


def register_adapters(connection: psycopg.Connection) -> None:
    """Teach a connection all of this; its database has pgvector."""
    known = connection.adapters
    known.register_dumper(str, _TextDumper)
    for name, loader in (("text", _EscapedTextLoader), ("text", _BinaryTextLoader)):
        known.register_loader(name, loader)
    for name, kind in ARRAY_DTYPES.items():
        known.register_loader(psycopg.adapters.types[name].array_oid, _array_loader(kind))
    _register_vector(connection, "halfvec", HalfVector, _HalfDumper)
    _register_vector(connection, "vector", FullVector, _FullDumper)


def _register_vector(
    connection: psycopg.Connection, name: str, kind: type, dumper: type[Dumper]
) -> None:
    found = TypeInfo.fetch(connection, name)
    if found is not None:
        found.register(connection)
        with_oid: Callable[..., type] = type
        known = connection.adapters
        known.register_dumper(kind, with_oid(dumper.__name__, (dumper,), {"oid": found.oid}))
        known.register_loader(found.oid, _HalfLoader)
